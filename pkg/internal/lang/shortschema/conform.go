package shortschema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// checkConsistent reports markers of one field that contradict each other.
func (s *Form) checkConsistent(n *yaml.Node, schema *props, written map[string]marker) {
	contradicts := func(low, high string, bad bool) {
		if m, ok := written[high]; ok && bad {
			s.add(n, m.at, diag.BadMarker, fmt.Sprintf("%s is below %s", high, low), "")
		}
	}
	contradicts("minimum", "maximum", above(schema.Minimum, schema.Maximum))
	contradicts("minLength", "maxLength", above(schema.MinLength, schema.MaxLength))
	contradicts("minItems", "maxItems", above(schema.MinItems, schema.MaxItems))
	contradicts("minProperties", "maxProperties", above(schema.MinProperties, schema.MaxProperties))
	for _, limit := range []string{"Minimum", "Maximum"} {
		m, ok := written["exclusive"+limit]
		if _, with := written[strings.ToLower(limit)]; ok && !with {
			s.add(n, m.at, diag.BadMarker, fmt.Sprintf("exclusive%s=true needs %s", limit, strings.ToLower(limit)), "")
		}
	}
	if m, ok := written["format"]; ok && !slices.Contains(knownFormats(), m.value) {
		s.found.Warn(s.positions.Inside(n, m.value0), diag.UnknownFormat,
			fmt.Sprintf("the API server does not check format %q", m.value), source.Spelling(m.value, knownFormats()))
	}
	m, ok := written["enum"]
	for _, e := range schema.Enum {
		bare := *schema
		bare.Enum = nil
		if problem := Conform(&bare, decodeJSON(e)); ok && problem != "" {
			s.add(n, m.value0, diag.BadMarker, fmt.Sprintf("enum: %s", problem), "")
		}
	}
	if m, ok := written["default"]; ok && schema.Default != nil {
		if problem := Conform(schema, decodeJSON(*schema.Default)); problem != "" {
			s.add(n, m.value0, diag.BadDefault, fmt.Sprintf("default: %s", problem), defaultHint(schema))
		}
	}
}

// defaultHint returns which values a field takes: those of its enum, or of its type.
func defaultHint(s *props) string {
	var allowed []string
	for _, e := range s.Enum {
		allowed = append(allowed, strings.Trim(string(e.Raw), `"`))
	}
	if len(allowed) > 0 {
		return "allowed: " + strings.Join(allowed, ", ")
	}
	if t, ok := typeWithPattern(s.Pattern); ok {
		return "write " + strings.ToLower(t.Doc[:1]) + strings.TrimSuffix(t.Doc[1:], ".")
	}
	return ""
}

func above[N int64 | float64](low, high *N) bool { return low != nil && high != nil && *low > *high }

func decodeJSON(j apiextensionsv1.JSON) any {
	var v any
	if json.Unmarshal(j.Raw, &v) != nil {
		return nil
	}
	return v
}

// Conform returns why the API server would reject a value, or "". It covers the
// validations that the markers of the short form can express.
func Conform(s *props, v any) string {
	if v == nil {
		if s.Nullable || KindOf(s) == "any" {
			return ""
		}
		return fmt.Sprintf("null is not %s", article.With(KindOf(s)))
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e apiextensionsv1.JSON) bool { return reflect.DeepEqual(decodeJSON(e), v) }) {
		return fmt.Sprintf("%s is not in enum", show(v))
	}
	switch kind := KindOf(s); kind {
	case "string":
		return conformString(s, v)
	case "integer", "number":
		return conformNumber(s, v)
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Sprintf("%s is not a boolean", show(v))
		}
	case "int-or-string":
		return conformIntOrString(s, v)
	case "array":
		return conformList(s, v)
	case "map", "object":
		return conformObject(s, v)
	}
	return ""
}

func conformString(s *props, v any) string {
	text, ok := v.(string)
	length := int64(utf8.RuneCountInString(text))
	pattern, err := regexp.Compile(s.Pattern)
	switch {
	case !ok:
		return fmt.Sprintf("%s is not a string", show(v))
	case s.MinLength != nil && length < *s.MinLength:
		return fmt.Sprintf("%s is shorter than minLength %d", show(v), *s.MinLength)
	case s.MaxLength != nil && length > *s.MaxLength:
		return fmt.Sprintf("%s is longer than maxLength %d", show(v), *s.MaxLength)
	case err == nil && !pattern.MatchString(text):
		if t, ok := typeWithPattern(s.Pattern); ok {
			return fmt.Sprintf("%s is not of the type %s", show(v), t.Name)
		}
		return fmt.Sprintf("%s does not match pattern %s", show(v), s.Pattern)
	}
	return ""
}

func conformNumber(s *props, v any) string {
	f, ok := v.(float64)
	switch {
	case !ok || s.Type == "integer" && f != math.Trunc(f):
		return fmt.Sprintf("%s is not %s", show(v), article.With(s.Type))
	case s.Minimum != nil && (f < *s.Minimum || s.ExclusiveMinimum && f == *s.Minimum):
		return fmt.Sprintf("%s is below minimum %g", show(v), *s.Minimum)
	case s.Maximum != nil && (f > *s.Maximum || s.ExclusiveMaximum && f == *s.Maximum):
		return fmt.Sprintf("%s is above maximum %g", show(v), *s.Maximum)
	}
	return ""
}

func conformIntOrString(s *props, v any) string {
	switch v := v.(type) {
	case string:
		return conformString(s, v)
	case float64:
		if v == math.Trunc(v) {
			return ""
		}
	}
	return fmt.Sprintf("%s is neither an integer nor a string", show(v))
}

func conformList(s *props, v any) string {
	list, ok := v.([]any)
	switch {
	case !ok:
		return fmt.Sprintf("%s is not a list", show(v))
	case s.MinItems != nil && int64(len(list)) < *s.MinItems:
		return fmt.Sprintf("%d items are fewer than minItems %d", len(list), *s.MinItems)
	case s.MaxItems != nil && int64(len(list)) > *s.MaxItems:
		return fmt.Sprintf("%d items are more than maxItems %d", len(list), *s.MaxItems)
	}
	for _, item := range list {
		if problem := Conform(s.Items.Schema, item); problem != "" {
			return problem
		}
	}
	return ""
}

func conformObject(s *props, v any) string {
	object, ok := v.(map[string]any)
	switch {
	case !ok:
		return fmt.Sprintf("%s is not an object", show(v))
	case s.MinProperties != nil && int64(len(object)) < *s.MinProperties:
		return fmt.Sprintf("%d properties are fewer than minProperties %d", len(object), *s.MinProperties)
	case s.MaxProperties != nil && int64(len(object)) > *s.MaxProperties:
		return fmt.Sprintf("%d properties are more than maxProperties %d", len(object), *s.MaxProperties)
	}
	for _, name := range s.Required {
		if _, ok := object[name]; !ok && s.Properties[name].Default == nil {
			return fmt.Sprintf("required field %s is missing", name)
		}
	}
	for _, name := range source.SortedKeys(object) {
		field, known := s.Properties[name]
		switch {
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			field = *s.AdditionalProperties.Schema
		case !known && s.XPreserveUnknownFields == nil:
			return fmt.Sprintf("there is no field %s", name)
		}
		if problem := Conform(&field, object[name]); problem != "" {
			return name + ": " + problem
		}
	}
	return ""
}

// show formats a value for a message.
func show(v any) string { return source.Shorten(string(RawJSON(v).Raw)) }
