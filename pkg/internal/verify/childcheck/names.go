package childcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
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

// Names checks the names of the children of custom resources. One serves all custom
// resources of an operator.
type Names struct {
	d      *definition.Definition
	p      *plan.Plan
	schema func() *resource.Schema
}

// NewNames returns a check for an operator.
func NewNames(d *definition.Definition, p *plan.Plan) *Names {
	return &Names{d, p, sync.OnceValue(func() *resource.Schema { return Schema(d, p) })}
}

// Rejections returns which names of a valid custom resource the API server rejects in its
// children: they are too long, or have characters that the kind of the child does not allow.
// It has one for each field of the custom resource.
func (n *Names) Rejections(object map[string]any, namespace string) []Rejection {
	d, p := n.d, n.p
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	named := func(name string) []nameProblem {
		s := &samples{api: p.API.Kind, place: place{name, namespace}, schema: n.schema(), known: map[string]customResource{}}
		return nameProblems(d, p, s, object)
	}
	found := named(name)
	if len(found) == 0 {
		return nil
	}
	harmless := named("a")
	groups := map[string][]nameProblem{}
	for _, problem := range found {
		same := func(other nameProblem) bool {
			return other.child == problem.child && other.similar(problem.childProblem)
		}
		problem.path = fieldOfName(p, problem)
		if !slices.ContainsFunc(harmless, same) {
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
		r := Rejection{
			Path: field,
			Message: fmt.Sprintf(
				"the API server rejects child %s: %s: %s%s",
				first.child,
				first.Path,
				first.Message,
				diag.Places(len(problems)-1),
			),
		}
		if field == "metadata.name" {
			r.Hint = nameHint(
				name,
				len(d.Operator.Spec.API.Versions) > 0,
				func(name string) bool { return len(named(name)) > len(harmless) },
			)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Rejection) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// nameHint returns how to change the name of a custom resource, and how the definition can
// reject it, if it has the schema.
func nameHint(name string, owned bool, rejected func(name string) bool) string {
	longest := len(name)
	for longest > 0 && rejected(strings.Repeat("a", longest)) {
		longest--
	}
	switch {
	case longest == 0:
		return ""
	case longest == len(name):
		const hint = "use lower-case letters, digits and - in the name, and begin with a letter"
		pattern := map[[2]bool]string{
			{true, false}: "^[a-z0-9-]+$", {false, true}: "^[a-z]", {true, true}: "^[a-z][a-z0-9-]*$",
		}[[2]bool{rejected("a.a"), rejected("0a")}]
		if pattern == "" || !owned {
			return hint
		}
		return fmt.Sprintf(
			`%s; validations: [{rule: "self.metadata.name.matches('%s')"}] in the version of the definition rejects other names`,
			hint,
			pattern,
		)
	case !owned:
		return fmt.Sprintf("use a name of at most %d characters", longest)
	}
	return fmt.Sprintf(
		"use a name of at most %d characters; validations: [{rule: self.metadata.name.size() <= %d}] in the version of the definition "+
			"rejects longer ones",
		longest,
		longest,
	)
}

// nameProblems returns the errors of the children of a custom resource at the place of the
// samples.
func nameProblems(d *definition.Definition, p *plan.Plan, s *samples, object map[string]any) []nameProblem {
	cr := s.at(object)
	var out []nameProblem
	for i, c := range p.Children {
		if c.Object == nil {
			continue
		}
		t := newRun(d, p, i, s)
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

// at returns a custom resource of a user at the place of the samples.
func (s *samples) at(object map[string]any) customResource {
	if s.schema != nil {
		return s.served(object)
	}
	fields := maps.Clone(object)
	metadata, _ := object["metadata"].(map[string]any)
	fields["metadata"] = maps.Clone(metadata)
	return customResource{served: s.place.served(fields, s.api.Namespaced)}
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
