// Package check says whether emitted objects are legal: whether the API server
// and Argo accept them, whether everything they refer to is there, and whether
// they keep the rules that make an operator reliable. Of objects that somebody
// else has written Foreign says the same, as far as one can without the cluster.
//
// The rule of this room: it judges what was emitted, decoded again from the
// JSON that leaves the house, and never asks how it was made. With pkg/simulate
// it alone imports Argo's engine code.
package check

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
	"github.com/argoperator/argoperator/pkg/output"
)

// Problem is one way in which the emitted objects are illegal.
type Problem struct {
	Object  string // Kind/name
	Path    string // inside the object, as the API server writes it (spec.versions[0].schema); "" for the whole
	Code    string // stable, kebab-case: a constant of this package
	Message string
	Hint    string // what to do; may be empty
	Warning bool   // the API server lets it pass
}

// checks in the order of their concern: what the object is by itself, what it
// refers to, what it does, what it costs, what is seen of it. To add one, write its file and a line.
var checks = []func(objects) []Problem{
	names,
	eventBuses,
	eventSources,
	sensors,
	workflows,
	customResources,
	accounts,
	bindings,
	launches,
	arguments,
	dependencies,
	parameters,
	programs,
	requests,
	tokens,
	trials,
	events,
	delivery,
	lifecycle,
	braces,
	separation,
	permissions,
	sizes,
	podSecurity,
	workflowMetrics,
	podMonitors,
	alerts,
}

// Objects checks emitted objects as a whole. An error is a failure of ours: an
// object that cannot be encoded.
func Objects(emitted []manifest.Object) ([]Problem, error) {
	documents, err := output.Documents(emitted)
	if err != nil {
		return nil, err
	}
	return Documents(documents)
}

// Documents is Objects for what is encoded already. It judges what is written,
// and deep copies of the objects.
func Documents(emitted []output.Document) ([]Problem, error) {
	all, problems, err := decode(emitted)
	if err != nil {
		return nil, err
	}
	for _, check := range checks {
		problems = append(problems, check(all)...)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(problems), nil
}

// report collects the problems of one object.
type report struct {
	object   manifest.Object
	problems []Problem
}

func about(object manifest.Object) *report { return &report{object: object} }

// add notes a problem. A nil path is the object as a whole.
func (r *report) add(path *field.Path, code, hint, format string, args ...any) {
	at := ""
	if path != nil {
		at = path.String()
	}
	r.problems = append(r.problems, Problem{
		Object: reference(r.object), Path: at, Code: code,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

func reference(o manifest.Object) string {
	return o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName()
}
