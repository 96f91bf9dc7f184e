package childcheck

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// withKeys returns a valid custom resource with what the expressions read and its schema does not
// name: keys of maps, labels and annotations, and fields of values without a schema. A
// value that becomes one of a type of Kubernetes is an example of that type.
func (s *samples) withKeys(p *plan.Plan, full map[string]any) map[string]any {
	out := full
	put := func(path []string, is func() schema.Type) {
		if !usersKey(path) || !s.isOpen(out, path) {
			return
		}
		for _, value := range examples(is()) {
			changed, ok := insert(out, path, value)
			if object, is := changed.(map[string]any); ok && is && s.admits(object) {
				out = object
				return
			}
		}
	}
	for _, c := range p.Children {
		for _, program := range programsOf(c) {
			for _, part := range program.Parts() {
				if path, is := part.Field(); is {
					put(path, func() schema.Type { return wantedBy(c, part) })
				}
			}
			for _, path := range program.Reads() {
				put(path, schema.Any)
			}
		}
		if c.ForEach == nil || c.Object == nil {
			continue
		}
		for _, list := range c.ForEach.Reads() {
			for _, path := range c.Object.ReadsItem() {
				put(slices.Concat(list, path), schema.Any)
			}
		}
	}
	return out
}

// isOpen reports whether a custom resource may have another value at a path, or one at all, of which its schema
// names no fields.
func (s *samples) isOpen(object map[string]any, path []string) bool {
	if value := schema.ValueAt(object, path...); value != nil && isScalar(value) {
		return false
	}
	place, known := s.schema.At(path...)
	if known && len(place.Fields()) == 0 {
		place, known = place.Under("0")
	}
	return !known || len(place.Fields()) == 0
}

// usersKey reports whether users write a field: the API server sets the status and most of the metadata.
func usersKey(path []string) bool {
	switch {
	case len(path) == 0 || path[0] == "status":
		return false
	case path[0] == "metadata":
		return labelOrAnnotation(path)
	}
	return true
}

// labelOrAnnotation reports whether a field is a label or an annotation.
func labelOrAnnotation(path []string) bool {
	return len(path) == 3 && path[0] == "metadata" && (path[1] == "labels" || path[1] == "annotations")
}

// admits reports whether the API server would store a custom resource as it is.
func (s *samples) admits(object map[string]any) bool {
	whole := runtime.DeepCopyJSON(object)
	return len(s.schema.Prune(whole)) == 0 && len(s.schema.Validate(whole, nil)) == 0
}

// tryKeys tries the template with each key that it writes itself beside those of a map that users write: theirs replace it.
func (t *run) tryKeys(cr customResource) {
	for _, env := range t.environments(cr) {
		for _, object := range t.render(cr, env).objects {
			for _, part := range t.child.Object.Parts() {
				made, _ := schema.ValueAt(object, part.Path...).(map[string]any)
				for _, key := range slices.Sorted(maps.Keys(made)) {
					for _, o := range part.Origins() {
						t.tryKey(cr, o, key)
					}
				}
			}
		}
	}
}

// tryKey tries the template with a key of a map of the custom resource, if it lacks the key and may have it.
func (t *run) tryKey(cr customResource, of expression.Origin, key string) {
	path := append(slices.Clip(of.Path), key)
	if of.Root != "." || !usersKey(path) || schema.ValueAt(cr.served, path...) != nil || !t.samples.isOpen(cr.written, of.Path) {
		return
	}
	changed, ok := insert(cr.written, path, "other")
	if object, is := changed.(map[string]any); ok && is && t.samples.admits(object) {
		t.try(t.samples.served(object), false)
	}
}

// insert returns a value with another at a path, in each item of a list. It replaces nothing but an
// empty value, or one that an example of its type replaces.
func insert(in any, path []string, value any) (changed any, ok bool) {
	if len(path) == 0 {
		if empty(in) || !isScalar(value) && !empty(value) {
			return value, true
		}
		return in, false
	}
	switch in := in.(type) {
	case nil:
		inner, _ := insert(nil, path[1:], value)
		return map[string]any{path[0]: inner}, true
	case map[string]any:
		inner, ok := insert(in[path[0]], path[1:], value)
		if !ok {
			return in, false
		}
		out := maps.Clone(in)
		out[path[0]] = inner
		return out, true
	case []any:
		out := slices.Clone(in)
		for i := range out {
			inner, did := insert(out[i], path, value)
			out[i], ok = inner, ok || did
		}
		return out, ok
	}
	return in, false
}

func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// examples returns values of a type, a likely one first.
func examples(t schema.Type) []any {
	switch t.Kind() { //nolint:exhaustive // the others have fixed values
	case schema.Array:
		var out []any
		for _, item := range examples(t.Item()) {
			out = append(out, []any{item})
		}
		return append(out, []any{})
	case schema.Object:
		if example := coreExample(t); example != nil {
			return []any{example}
		}
	}
	of := map[schema.Kind][]any{
		schema.String: {"a"}, schema.Integer: {int64(1)}, schema.Number: {int64(1)}, schema.Boolean: {true},
		schema.IntOrString: {int64(1)}, schema.Quantity: {"1"}, schema.Object: {map[string]any{}},
	}
	if values, known := of[t.Kind()]; known {
		return values
	}
	return []any{"a", int64(1), true, map[string]any{}, []any{}}
}

// coreExample returns the example of a type that package coretypes has; nil for others.
func coreExample(t schema.Type) (value any) {
	name := schema.Name(t)
	if name == "" { // so the package need not decode its types
		return nil
	}
	s := coretypes.Schema(name)
	if s == nil || s.Example == nil || json.Unmarshal(s.Example.Raw, &value) != nil {
		return nil
	}
	return value
}

// wantedBy returns the type of a part of the template of a child.
func wantedBy(c plan.Child, p expression.Part) schema.Type {
	is, _ := schema.Builtin(c.Kind.APIVersion(), c.Kind.Kind)
	return schema.At(is, p.Path...)
}
