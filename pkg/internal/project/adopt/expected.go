package adopt

import (
	"maps"
	"slices"
	"strings"
)

// expected returns the part of a child that fields of the custom resource set, with
// their defaults, for the project's test; nil if there is none.
func (m *Manifest) expected(value any) any {
	switch v := value.(type) {
	case Expr:
		if text, ok := m.values[v].(string); ok {
			return strings.Replace(text, "${", "$${", 1) // not a condition
		}
		return m.values[v]
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if part := m.expected(inner); part != nil {
				out[key] = part
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		return m.expectedList(v)
	}
	return nil
}

// expectedList returns the expected entries of a list. Those with a name are matched by
// it; without names, each entry is compared.
func (m *Manifest) expectedList(list []any) any {
	var out []any
	named, some := len(list) > 0, false
	for _, value := range list {
		entry, _ := value.(map[string]any)
		name, isText := entry["name"].(string)
		named = named && isText && name != ""
		part := m.expected(value)
		if part != nil {
			some = true
			if part, ok := part.(map[string]any); ok && isText {
				part["name"] = name
			}
		} else if part = map[string]any{}; entry == nil {
			part = value
		}
		out = append(out, part)
	}
	if named {
		out = slices.DeleteFunc(out, func(part any) bool { return len(part.(map[string]any)) == 0 })
	}
	if !some || len(out) == 0 || slices.ContainsFunc(out, func(part any) bool { _, computed := part.(Expr); return computed }) {
		return nil
	}
	return out
}

// remember notes the value that an expression has for a custom resource with defaults.
func (m *Manifest) remember(e Expr, value any) {
	if m.values == nil {
		m.values = map[Expr]any{}
	}
	m.values[e] = value
}

// expect returns the fields that the project's test expects of a child.
func (m *Manifest) expect(p *piece) map[string]any {
	fields := maps.Clone(p.Fields)
	delete(fields, "metadata")
	out, _ := m.expected(fields).(map[string]any)
	return out
}
