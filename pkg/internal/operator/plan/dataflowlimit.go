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
	of := s
	if s.Type == "array" && s.Items != nil && s.Items.Schema != nil && len(s.Items.Schema.Enum) > 0 {
		of = s.Items.Schema
	}
	for _, v := range of.Enum {
		values = append(values, strings.Trim(string(v.Raw), `"`))
	}
	return strings.Join(limitsOf(s), ", "), values, len(values) > 0 || s.Type == "boolean"
}

// limitsOf returns what a schema demands of a value, of its items and of its fields.
func limitsOf(s *apiextensionsv1.JSONSchemaProps) []string {
	var parts []string
	switch {
	case len(s.Enum) > 0:
		for _, v := range s.Enum {
			parts = append(parts, strings.Trim(string(v.Raw), `"`))
		}
		return []string{"one of " + strings.Join(parts, ", ")}
	case s.Type == "boolean":
		return []string{"true or false"}
	}
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
	if s.MaxItems != nil {
		parts = append(parts, fmt.Sprintf("maxItems %d", *s.MaxItems))
	}
	if s.MaxProperties != nil {
		parts = append(parts, fmt.Sprintf("maxProperties %d", *s.MaxProperties))
	}
	for _, rule := range s.XValidations {
		parts = append(parts, "rule "+rule.Rule)
	}
	if one := each(s); one != nil {
		if of := limitsOf(one); len(of) > 0 {
			parts = append(parts, "each "+strings.Join(of, ", "))
		}
	}
	if len(parts) == 0 && len(s.Properties) > 0 && s.XPreserveUnknownFields == nil && allLimited(s.Properties) {
		parts = append(parts, "those of its fields")
	}
	return parts
}

// each returns the schema of the items or values; nil if there are none.
func each(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	switch {
	case s.Items != nil:
		return s.Items.Schema
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema
	}
	return nil
}

func allLimited(fields map[string]apiextensionsv1.JSONSchemaProps) bool {
	for _, field := range fields {
		if len(limitsOf(&field)) == 0 {
			return false
		}
	}
	return true
}

// schemaStep returns the schema of a field, an item or a value; nil if there is none.
func schemaStep(s *apiextensionsv1.JSONSchemaProps, key string) *apiextensionsv1.JSONSchemaProps {
	if s == nil {
		return nil
	}
	if field, ok := s.Properties[key]; ok {
		return &field
	}
	if strings.HasPrefix(key, "[") || s.Items == nil {
		return each(s)
	}
	return nil
}
