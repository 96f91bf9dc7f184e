package childcheck

import (
	"maps"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// assume tries a template again of which no sample made an object, because it waits for others. It assumes values for what
// it reads of them, and keeps the problems that do not depend on these.
func (t *run) assume() {
	t.assuming, t.count, t.cut = true, 0, 0
	t.tryAll()
	t.groups = slices.DeleteFunc(t.groups, func(g *group) bool { return !t.proven(g) })
}

// assumed returns other children, and related objects, with values for all that the template reads of them.
func (t *run) assumed(children map[string]any) expression.Vars {
	vars := expression.Vars{Children: maps.Clone(children), Related: map[string]any{}}
	there, _ := t.related()
	maps.Copy(vars.Related, there)
	for _, p := range t.programs() {
		for name, paths := range p.ReadsChildren() {
			vars.Children[name] = filled(vars.Children[name], t.typeOfChild(name), paths)
		}
		for name, paths := range p.RelatedPaths() {
			vars.Related[name] = filled(vars.Related[name], t.typeOfRelated(name), paths)
		}
	}
	return vars
}

func (t *run) typeOfChild(name string) schema.Type {
	for _, c := range t.p.Children {
		if c.Name == name {
			is := schema.OfKind(t.d.ChildSchema(name), c.Kind.APIVersion(), c.Kind.Kind)
			if c.ForEach != nil {
				return schema.ListOf(is)
			}
			return is
		}
	}
	return schema.Any()
}

func (t *run) typeOfRelated(name string) schema.Type {
	for _, r := range t.p.Related {
		if r.Name == name {
			is := schema.OfKind(t.d.RelatedSchema(name), r.Kind.APIVersion(), r.Kind.Kind)
			if r.Multiple {
				return schema.ListOf(is)
			}
			return is
		}
	}
	return schema.Any()
}

// filled returns a value of a type that has something at each path.
func filled(value any, is schema.Type, paths [][]string) any {
	for _, path := range paths {
		value = completed(value, is, path)
	}
	return value
}

// completed returns a value that has something at a path.
func completed(value any, is schema.Type, path []string) any {
	if len(path) == 0 {
		if value == nil {
			return exampleOf(is)
		}
		return value
	}
	if list, isList := value.([]any); isList || is.Kind() == schema.Array {
		if len(list) == 0 {
			list = []any{nil}
		}
		out := slices.Clone(list)
		for i := range out {
			out[i] = completed(out[i], is.Item(), path[1:])
		}
		return out
	}
	object, _ := value.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, object)
	of, _ := is.Field(path[0])
	out[path[0]] = completed(out[path[0]], of, path[1:])
	return out
}

// exampleOf returns a value of a type.
func exampleOf(is schema.Type) any {
	switch is.Kind() {
	case schema.Boolean:
		return true
	case schema.Integer, schema.Number:
		return float64(1)
	case schema.Array:
		return []any{exampleOf(is.Item())}
	case schema.Object:
		return map[string]any{}
	default:
		return "example"
	}
}
