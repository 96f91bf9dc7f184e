package plan

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schemaLimit says what a schema demands of the values of a field, which values its enum lists, and whether
// there are no others.
func schemaLimit(s *apiextensionsv1.JSONSchemaProps, path []string) (text string, values []string, finite bool) {
	for _, key := range path {
		s = schemaStep(s, key)
	}
	if s == nil {
		return "", nil, false
	}
	if s.Type == "array" && s.Items != nil && s.Items.Schema != nil && len(s.Items.Schema.Enum) > 0 {
		s = s.Items.Schema
	}
	switch {
	case len(s.Enum) > 0:
		for _, v := range s.Enum {
			values = append(values, strings.Trim(string(v.Raw), `"`))
		}
		return "one of " + strings.Join(values, ", "), values, true
	case s.Type == "boolean":
		return "true or false", nil, true
	}
	var parts []string
	if s.Type == "integer" || s.Type == "number" {
		parts = append(parts, "a number")
	}
	if s.Minimum != nil {
		parts = append(parts, fmt.Sprintf("minimum %v", *s.Minimum))
	}
	if s.Maximum != nil {
		parts = append(parts, fmt.Sprintf("maximum %v", *s.Maximum))
	}
	if s.Pattern != "" {
		parts = append(parts, "pattern "+s.Pattern)
	}
	if s.Format != "" {
		parts = append(parts, "format "+s.Format)
	}
	if s.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("maxLength %d", *s.MaxLength))
	}
	return strings.Join(parts, ", "), nil, false
}

// schemaStep returns the schema of a field, an item or a value; nil if there is none.
func schemaStep(s *apiextensionsv1.JSONSchemaProps, key string) *apiextensionsv1.JSONSchemaProps {
	if s == nil {
		return nil
	}
	if field, ok := s.Properties[key]; ok {
		return &field
	}
	if strings.HasPrefix(key, "[") && s.Items != nil {
		return s.Items.Schema
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}
