// Package selfcheck reports problems in the manifests of a generated operator that only
// a defect of argoperator can cause: references to objects that do not exist, missing or
// unused permissions, programs that fail on sample events, and violations of the rules
// for reliability. Tests run it over every example and combination; what a definition can
// cause is checked by package childcheck.
//
// The rule of this package: it reads the JSON that argoperator prints and does not
// know how it was made. Only tests import it.
package selfcheck

import (
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/verify/childcheck"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// checks lists the checks by topic: the object itself, its references, its behavior, its
// cost, its monitoring. To add a check, write its file and add a line here.
var checks = []func(objects) []problem.Problem{
	names,
	eventBuses,
	validEventSources,
	validSensors,
	validCronWorkflows,
	serviceAccounts,
	roleBindings,
	workflowReferences,
	workflowArguments,
	dependencies,
	programs,
	sampleRuns,
	parameters,
	requests,
	tokens,
	eventSources,
	delivery,
	lifecycle,
	sharedAccounts,
	permissions,
	podSecurity,
	workflowMetrics,
	podMonitors,
	rules,
	dashboards,
}

// Objects runs every check on the objects after encoding and decoding them. It
// returns an error if an object cannot be encoded.
func Objects(emitted []manifest.Object) ([]problem.Problem, error) {
	documents, err := output.Documents(emitted)
	if err != nil {
		return nil, err
	}
	decoded, problems, err := decode(documents)
	if err != nil {
		return nil, err
	}
	problems = append(problems, childcheck.Emitted(decoded, true)...)
	all := newObjects(decoded)
	for _, check := range checks {
		problems = append(problems, check(all)...)
	}
	return problem.Sorted(problems), nil
}
