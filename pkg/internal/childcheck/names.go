package childcheck

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/plan"
)

// Rejection is a name that the API server rejects in a child of a custom resource.
type Rejection struct {
	Path          string // of the custom resource: the field with the name, such as metadata.name
	Message, Hint string
}

// nameProblem is a problem of a child that a name causes.
type nameProblem struct {
	childProblem
	child string
	path  []string // of the custom resource
}

// Rejections returns which names of a valid custom resource the API server rejects in its
// children: they are too long, or have characters that the kind of the child does not allow.
// It has one for each field of the custom resource.
func Rejections(d *definition.Definition, p *plan.Plan, object map[string]any, namespace string) []Rejection {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	named := func(name string) []nameProblem { return nameProblems(d, p, object, place{name, namespace}) }
	harmless := named("a")
	groups := map[string][]nameProblem{}
	for _, problem := range named(name) {
		problem.path = fieldOfName(p, problem)
		if !slices.ContainsFunc(harmless, func(other nameProblem) bool {
			return other.child == problem.child && other.similar(problem.childProblem)
		}) {
			problem.path = []string{"metadata", "name"}
		} else if problem.Path != "metadata.name" {
			continue // another value causes it
		}
		field := strings.Join(problem.path, ".")
		groups[field] = append(groups[field], problem)
	}
	var out []Rejection
	for field, problems := range groups {
		first := problems[0]
		r := Rejection{Path: field, Message: fmt.Sprintf("the API server rejects child %s: %s: %s%s", first.child, first.Path, first.Message, diag.Places(len(problems)-1))}
		if field == "metadata.name" {
			r.Hint = nameHint(name, func(name string) bool { return len(named(name)) > len(harmless) })
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Rejection) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// nameHint returns how to change the name of a custom resource.
func nameHint(name string, rejected func(name string) bool) string {
	for n := len(name); n > 0; n-- {
		switch {
		case rejected(strings.Repeat("a", n)):
		case n == len(name):
			return "use lower-case letters, digits and - in the name, and begin with a letter"
		default:
			return fmt.Sprintf("use a name of at most %d characters; validations: [{rule: self.metadata.name.size() <= %d}] in the version of the definition rejects longer ones", n, n)
		}
	}
	return ""
}

// nameProblems returns the errors of the children of a custom resource at a place.
func nameProblems(d *definition.Definition, p *plan.Plan, object map[string]any, at place) []nameProblem {
	s := &samples{api: p.API.Kind, place: at, known: map[string]customResource{}, schema: apiSchema(d, p)}
	var out []nameProblem
	for _, c := range p.Children {
		if c.Object == nil {
			continue
		}
		t := newRun(d, p, c, s)
		cr := customResource{served: at.served(runtime.DeepCopyJSON(object), s.api.Namespaced)}
		if s.schema != nil {
			cr = s.served(runtime.DeepCopyJSON(object))
		}
		for _, env := range t.environments(cr) {
			problems, _ := t.problemsOf(cr, env)
			for _, problem := range problems {
				if !problem.Warning {
					out = append(out, nameProblem{childProblem: problem, child: c.Name})
				}
			}
		}
	}
	return out
}

// fieldOfName returns the field of the custom resource from which a child has its name.
func fieldOfName(p *plan.Plan, problem nameProblem) []string {
	for _, c := range p.Children {
		if c.Name != problem.child || c.ObjectName == nil {
			continue
		}
		for _, path := range c.ObjectName.Reads() {
			if len(path) > 0 && path[0] != "metadata" {
				return path
			}
		}
	}
	return []string{"metadata", "name"}
}
