package childcheck

import (
	"encoding/json"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// maxObjects limits the objects of one child. Samples that differ more come first.
const maxObjects = 40

// Object is an object that an operator makes of a sample custom resource.
type Object struct {
	Fields map[string]any
	Sample string // the fields of the custom resource that users write, as JSON
}

// Samples are the objects of sample custom resources.
type Samples struct {
	CustomResources []Object
	Children        map[string][]Object // by the child's name
}

// Objects returns sample custom resources with a name and a namespace, and the objects
// that the templates make of them, as the operator applies them. It leaves out objects
// with problems that Findings reports.
func Objects(d *definition.Definition, p *plan.Plan, name, namespace string) Samples {
	s := newSamples(d, p, place{name, namespace})
	out := Samples{Children: map[string][]Object{}}
	if s.schema != nil {
		for _, cr := range append(s.plausible, s.unlikely...) {
			out.CustomResources = append(out.CustomResources, Object{s.named(cr), specOf(cr.written)})
		}
	}
	for i, c := range p.Children {
		if c.Object != nil {
			out.Children[c.Name] = newRun(d, p, i, s).objects()
		}
	}
	return out
}

// named returns a custom resource as a user would apply it.
func (s *samples) named(cr customResource) map[string]any {
	metadata := map[string]any{"name": s.place.name}
	if s.api.Namespaced {
		metadata["namespace"] = s.place.namespace
	}
	out := userFields(cr.written)
	out["apiVersion"], out["kind"], out["metadata"] = s.api.APIVersion(), s.api.Kind, metadata
	return out
}

// objects returns the distinct objects of the child.
func (t *run) objects() []Object {
	var out []Object
	seen := map[string]bool{}
	t.tryAll()
	for _, cr := range t.having {
		written := cr.written
		if written == nil {
			written = cr.served
		}
		for _, object := range t.made(cr) {
			data, err := json.Marshal(object)
			if err != nil || seen[string(data)] {
				continue // Findings reports objects that JSON cannot hold
			}
			seen[string(data)] = true
			out = append(out, Object{t.p.Owned(t.child, object, cr.served), specOf(written)})
			if len(out) == maxObjects {
				return out
			}
		}
	}
	return out
}

// made returns the valid objects of one custom resource.
func (t *run) made(cr customResource) []map[string]any {
	var out []map[string]any
	for _, env := range t.environments(cr) {
		for _, object := range t.render(cr, env).objects {
			if len(t.validator.validate(object)) == 0 {
				out = append(out, object)
			}
		}
	}
	return out
}
