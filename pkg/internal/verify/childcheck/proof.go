package childcheck

import (
	"maps"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// proven reports whether a problem that every sample has is one of every custom resource: the
// template causes it, or values that the samples have all of. What depends on a value that the
// samples have few of, such as free text, is not proven.
func (t *run) proven(g *group) bool {
	if g.problem.key != "template" {
		program := map[string]*expression.Program{"when": t.child.When, "forEach": t.child.ForEach}[g.problem.key]
		return program != nil && !t.open(program)
	}
	open := t.openParts()
	if g.problem.Code == expression.BadExpression { // an expression fails: it depends on all that it reads
		return !slices.ContainsFunc(open, func(p expression.Part) bool { return slices.Equal(p.Path, g.problem.at) })
	}
	at := g.problem.Segments()
	for _, p := range open {
		if t.decides(p, at) {
			return false
		}
	}
	open = slices.DeleteFunc(open, func(p expression.Part) bool { // its fields are known there, but not whether a list has items
		return p.Whole && within(at, p.Path) && p.Types[0].Kind() != schema.Array
	})
	return len(open) == 0 || t.persists(g, open)
}

// reader is an expression, or a part of a template.
type reader interface {
	Reads() [][]string
	UsesOthers() bool
	UsesItem() bool
}

// open reports whether there are more values than the samples have: it reads a field of
// another type than boolean or enum, or another object.
func (t *run) open(r reader) bool {
	if r.UsesOthers() || r.UsesItem() && (t.child.ForEach == nil || t.open(t.child.ForEach)) {
		return true
	}
	root := t.d.Schema(t.d.WorkingVersion())
	return slices.ContainsFunc(r.Reads(), func(path []string) bool { return !isFinite(root, path) })
}

// openParts returns the parts of the template that have more values than the samples.
func (t *run) openParts() []expression.Part {
	return slices.DeleteFunc(t.child.Object.Parts(), func(p expression.Part) bool { return !t.open(p) })
}

// isFinite reports whether a field has few values, which the samples have all of.
func isFinite(s *apiextensionsv1.JSONSchemaProps, path []string) bool {
	if len(path) == 1 && (path[0] == "apiVersion" || path[0] == "kind") {
		return true
	}
	for _, key := range path {
		field, known := apiextensionsv1.JSONSchemaProps{}, false
		if s != nil {
			field, known = s.Properties[key]
		}
		if !known {
			return false
		}
		s = &field
	}
	return s != nil && (s.Type == "boolean" || len(s.Enum) > 0)
}

// decides reports whether the value of an open part may have, at a place of the object, what the
// samples do not have there. The fields of an object are known, unless there may be others.
func (t *run) decides(p expression.Part, at []string) bool {
	if !p.Whole {
		// What is allowed in a text of a built-in kind is known, so literal text can be wrong in it.
		return within(at, p.Path) && t.validator.crd != nil
	}
	_, known := fieldOf(p, at)
	return known
}

// within reports whether a path is another one, or below it.
func within(path, above []string) bool {
	return len(path) >= len(above) && slices.Equal(path[:len(above)], above)
}

// fieldOf returns the type of a place in a whole value; known is false if the place is not in the value, or
// the value never has the field.
func fieldOf(p expression.Part, at []string) (t schema.Type, known bool) {
	if !within(at, p.Path) {
		return schema.Any(), false
	}
	is := p.Types[0]
	for _, key := range at[len(p.Path):] {
		switch is.Kind() {
		case schema.Array:
			is = is.Item()
		case schema.Object:
			if is, known = is.Field(key); !known {
				return is, false
			}
		default:
			return schema.Any(), true
		}
	}
	return is, true
}

// opaque returns the whole value that a problem is in, if the place has no schema; nil otherwise.
func (t *run) opaque(g *group) *expression.Part {
	if g.problem.key != "template" || g.problem.Code == expression.BadExpression {
		return nil
	}
	at := g.problem.Segments()
	for _, p := range t.openParts() {
		if is, known := fieldOf(p, at); p.Whole && known && is.Kind() == schema.Unknown {
			return &p
		}
	}
	return nil
}

// persists reports whether a problem remains when open parts of the template have other values.
func (t *run) persists(g *group, open []expression.Part) bool {
	for _, object := range t.render(g.cr, g.env).objects {
		if before := t.validator.validate(object); slices.ContainsFunc(before, g.is) {
			return !t.vanishes(g, object, before, open)
		}
	}
	return false
}

// is reports whether a problem of an object is that of the group.
func (g *group) is(p problem.Problem) bool {
	return g.problem.similar(childProblem{Problem: p, key: "template", at: p.Segments()})
}

// vanishes reports whether a variant of an object does not have the problem of a group, and no other
// instead: one or all open parts are missing, or have a value from elsewhere in the template.
func (t *run) vanishes(g *group, object map[string]any, before []problem.Problem, open []expression.Part) bool {
	values := []any{nil, "", "a", "1", int64(1), int64(0), true, false, map[string]any{}, []any{}}
	values = append(values, literals(t.template)...)
	tried := func(parts ...expression.Part) bool {
		for _, value := range values {
			var changed any = object
			other := false
			for _, p := range parts {
				next, ok := with(changed, p, value)
				if ok {
					changed, other = next, true
				}
			}
			if other && !slices.ContainsFunc(t.validator.validate(changed.(map[string]any)), func(p problem.Problem) bool {
				known := func(old problem.Problem) bool { return old.Path == p.Path && old.Code == p.Code }
				return g.is(p) || !slices.ContainsFunc(before, known)
			}) {
				return true
			}
		}
		return false
	}
	for _, p := range open {
		if tried(p) {
			return true
		}
	}
	return tried(open...)
}

// literals returns a value and all values in it.
func literals(value any) []any {
	out := []any{value}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			out = append(out, literals(value[key])...)
		}
	case []any:
		for _, item := range value {
			out = append(out, literals(item)...)
		}
	}
	return out
}

// with returns an object with another value of a part, if its type permits the value. nil is no value.
func with(object any, p expression.Part, value any) (changed any, ok bool) {
	if value == nil {
		if !p.Null {
			return object, false
		}
		return replaced(object, p.Path, nil)
	}
	if !p.Permits(value) {
		return object, false
	}
	return replaced(object, p.Path, p.With(value))
}

// replaced returns a value with another value at a path. nil removes the key of an object.
func replaced(in any, path []string, value any) (changed any, ok bool) {
	if len(path) == 0 {
		return value, true
	}
	switch in := in.(type) {
	case map[string]any:
		inner, ok := replaced(in[path[0]], path[1:], value)
		out := maps.Clone(in)
		if out[path[0]] = inner; inner == nil {
			delete(out, path[0])
		}
		return out, ok
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(in) {
			return in, false
		}
		inner, ok := replaced(in[i], path[1:], value)
		out := slices.Clone(in)
		out[i] = inner
		return out, ok && inner != nil
	}
	return in, false
}
