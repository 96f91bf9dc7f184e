// Package check reports problems in the manifests of a generated operator:
// references to objects that do not exist, missing or unused permissions, programs
// that fail on sample events, and violations of the rules for reliability.
//
// Only a few checks depend on what users write in a definition; UserInput runs
// those. The others can fail only through a defect of argoperator; Objects runs
// all of them, in tests over every example and combination.
//
// The rule of this package: it reads the JSON that argoperator prints and does not
// know how it was made.
package check

import (
	"cmp"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// userInput lists the checks that a definition can fail: its schemas, Argo tags in its
// settings, and the size of the objects. Package childcheck tries the expressions.
var userInput = []func(argo.Objects) []problem.Problem{
	admission.CustomResources,
	templateTags,
	admission.Sizes,
}

// ofLogic lists the checks that only a definition with logic can fail: the
// WorkflowTemplates contain its image, command and environment.
var ofLogic = []func(argo.Objects) []problem.Problem{
	tagsInCode,
	admission.Workflows,
}

// internal lists the checks that only a defect of argoperator can fail, by topic:
// the object itself, its references, its behavior, its cost, its monitoring. To add
// a check, write its file and add a line here.
var internal = []func(argo.Objects) []problem.Problem{
	names,
	admission.EventBuses,
	admission.EventSources,
	admission.Sensors,
	serviceAccounts,
	roleBindings,
	workflowReferences,
	workflowArguments,
	dependencies,
	Programs,
	sampleRuns,
	parameters,
	requests,
	tokens,
	eventSources,
	delivery,
	lifecycle,
	sharedAccounts,
	permissions,
	admission.PodSecurity,
	workflowMetrics,
	podMonitors,
	alerts,
}

// UserInput runs the checks that a definition can fail, on the objects as they were
// built.
func UserInput(documents []output.Document, logic bool) []problem.Problem {
	all := argo.Read(documents)
	problems := run(all, userInput)
	if logic {
		problems = append(problems, run(all, ofLogic)...)
	}
	return sorted(problems)
}

// Objects runs every check on the objects after encoding and decoding them. It
// returns an error if an object cannot be encoded, which is a defect of
// argoperator.
func Objects(emitted []manifest.Object) ([]problem.Problem, error) {
	documents, err := output.Documents(emitted)
	if err != nil {
		return nil, err
	}
	all, problems, err := argo.Decode(documents)
	if err != nil {
		return nil, err
	}
	for _, checks := range [][]func(argo.Objects) []problem.Problem{userInput, ofLogic, internal} {
		problems = append(problems, run(all, checks)...)
	}
	return sorted(problems), nil
}

func run(all argo.Objects, checks []func(argo.Objects) []problem.Problem) []problem.Problem {
	var problems []problem.Problem
	for _, check := range checks {
		problems = append(problems, check(all)...)
	}
	return problems
}

// sorted orders problems by object, and removes duplicates that two checks report.
func sorted(problems []problem.Problem) []problem.Problem {
	slices.SortStableFunc(problems, func(a, b problem.Problem) int {
		return cmp.Or(
			cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(problems)
}
