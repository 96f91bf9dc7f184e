// Package check reports what is wrong with the manifests of a generated operator:
// references to objects that do not exist, permissions that are missing or not
// needed, programs that fail on sample events, and broken rules of reliability.
//
// The rule of this package: it reads the JSON that argoperator prints and does not
// know how it was made.
package check

import (
	"cmp"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/admission"
	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/output"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// checks in the order of their concern: what the object is by itself, what it
// refers to, what it does, what it costs, what is seen of it. To add one, write its file and a line.
var checks = []func(argo.Objects) []problem.Problem{
	names,
	admission.EventBuses,
	admission.EventSources,
	admission.Sensors,
	admission.Workflows,
	admission.CustomResources,
	accounts,
	bindings,
	launches,
	arguments,
	dependencies,
	parameters,
	Programs,
	requests,
	tokens,
	trials,
	events,
	delivery,
	lifecycle,
	braces,
	separation,
	permissions,
	admission.Sizes,
	admission.PodSecurity,
	workflowMetrics,
	podMonitors,
	alerts,
}

// Objects checks emitted objects as a whole. An error is a failure of ours: an
// object that cannot be encoded.
func Objects(emitted []manifest.Object) ([]problem.Problem, error) {
	documents, err := output.Documents(emitted)
	if err != nil {
		return nil, err
	}
	return Documents(documents)
}

// Documents is Objects for what is encoded already. It judges what is written,
// and deep copies of the objects.
func Documents(emitted []output.Document) ([]problem.Problem, error) {
	all, problems, err := argo.Decode(emitted)
	if err != nil {
		return nil, err
	}
	for _, check := range checks {
		problems = append(problems, check(all)...)
	}
	slices.SortStableFunc(problems, func(a, b problem.Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(problems), nil
}
