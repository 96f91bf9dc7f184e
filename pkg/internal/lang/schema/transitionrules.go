package schema

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ImmutableByRules returns the fields of a custom kind whose validation rules make
// them immutable.
func ImmutableByRules(s *apiextensionsv1.JSONSchemaProps, path []string) []Immutable {
	if slices.ContainsFunc(s.XValidations, func(r apiextensionsv1.ValidationRule) bool { return withoutSpace(r.Rule) == immutableRule }) {
		return []Immutable{{Path: path}}
	}
	var out []Immutable
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		out = append(out, ImmutableByRules(&p, append(slices.Clone(path), name))...)
	}
	return out
}

// immutableRule is the validation rule of an immutable field, without white space.
const immutableRule = "self==oldSelf"

func withoutSpace(rule string) string { return strings.Join(strings.Fields(rule), "") }

// HasTransitionRule reports whether a transition rule of the schema mentions a field or
// all of its parent. The rule itself is not evaluated.
func HasTransitionRule(s *apiextensionsv1.JSONSchemaProps, path []string) bool {
	for _, rule := range s.XValidations {
		text := withoutSpace(rule.Rule)
		whole := len(path) == 0 || text == immutableRule
		if strings.Contains(text, "oldSelf") && (whole || strings.Contains(text, "oldSelf."+path[0])) {
			return true
		}
	}
	if len(path) == 0 {
		return len(s.Properties) > 0 &&
			!slices.ContainsFunc(slices.Collect(maps.Values(s.Properties)), func(p apiextensionsv1.JSONSchemaProps) bool {
				return !HasTransitionRule(&p, nil)
			})
	}
	if p, known := s.Properties[path[0]]; known {
		return HasTransitionRule(&p, path[1:])
	}
	return s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil &&
		HasTransitionRule(s.AdditionalProperties.Schema, path[1:])
}
