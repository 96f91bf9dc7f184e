package shortschema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// markerRule has the kinds of schema that a marker applies to, none for all, and
// applies the marker.
type markerRule struct {
	fits           []string
	apply          func(s *props, m marker) error
	doc, example   string
	valid, invalid string
}

// Marker describes a marker of the short form.
type Marker struct {
	Name    string
	Doc     string   // for the documentation
	Example string   // a type with the marker
	Fits    []string // the types that it is for; none for all
	Valid   string   // a value of the example, in JSON
	Invalid string   // a value that the API server rejects for the marker, in JSON; "" if there is none
}

// Markers returns the markers, sorted by name.
func Markers() []Marker {
	var out []Marker
	rules := markerRules()
	for _, name := range source.SortedKeys(rules) {
		out = append(out, Marker{name, rules[name].doc, rules[name].example, rules[name].fits, rules[name].valid, rules[name].invalid})
	}
	return out
}

func markerRules() map[string]markerRule {
	numbers, texts := []string{"integer", "number"}, []string{"string"}
	lists, maps := []string{"array"}, []string{"map", "object"}
	return map[string]markerRule{
		"required": {
			nil,
			flag(func(*props) *bool { return new(bool) }),
			"The field must be set.",
			"string | required=true",
			`"a"`,
			"",
		},
		"default": {
			nil,
			applyDefault,
			"The value that the API server sets if the field is omitted.",
			"integer | default=3",
			`5`,
			"",
		},
		"description": {
			nil,
			func(s *props, m marker) error { s.Description = m.value; return nil },
			"The text that `kubectl explain` shows for the field.",
			"string | description=\"The name of the team.\"",
			`"payments"`,
			"",
		},
		"enum": {
			[]string{"string", "integer", "number"},
			applyEnum,
			"The allowed values.",
			"string | enum=small,large",
			`"small"`,
			`"medium"`,
		},
		"minimum": {
			numbers,
			float(func(s *props) **float64 { return &s.Minimum }),
			"The smallest allowed value.",
			"integer | minimum=0",
			`0`,
			`-1`,
		},
		"maximum": {
			numbers,
			float(func(s *props) **float64 { return &s.Maximum }),
			"The largest allowed value.",
			"integer | maximum=100",
			`100`,
			`101`,
		},
		"exclusiveMinimum": {
			numbers,
			flag(func(s *props) *bool { return &s.ExclusiveMinimum }),
			"The value must be greater than `minimum`, not equal.",
			"number | minimum=0 exclusiveMinimum=true",
			`0.1`,
			`0`,
		},
		"exclusiveMaximum": {
			numbers,
			flag(func(s *props) *bool { return &s.ExclusiveMaximum }),
			"The value must be less than `maximum`, not equal.",
			"number | maximum=1 exclusiveMaximum=true",
			`0.9`,
			`1`,
		},
		"multipleOf": {
			numbers,
			float(func(s *props) **float64 { return &s.MultipleOf }),
			"The value must be a multiple of this number.",
			"integer | multipleOf=8",
			`16`,
			`12`,
		},
		"minLength": {
			texts,
			count(func(s *props) **int64 { return &s.MinLength }),
			"The smallest allowed number of characters.",
			"string | minLength=1",
			`"a"`,
			`""`,
		},
		"maxLength": {
			texts,
			count(func(s *props) **int64 { return &s.MaxLength }),
			"The largest allowed number of characters.",
			"string | maxLength=3",
			`"red"`,
			`"blue"`,
		},
		"pattern": {
			texts,
			applyPattern,
			"A regular expression that the value must match. Without `^` and `$`, it may match a part of the value.",
			"string | pattern=\"^v[0-9]+$\"",
			`"v12"`,
			`"12"`,
		},
		"format": {
			[]string{"string", "integer", "number"},
			func(s *props, m marker) error { s.Format = m.value; return nil },
			"A format that the API server checks, such as date-time, ipv4 or uuid.",
			"string | format=ipv4",
			`"192.0.2.1"`,
			`"192.0.2"`,
		},
		"minItems": {
			lists,
			count(func(s *props) **int64 { return &s.MinItems }),
			"The smallest allowed number of items.",
			"[]string | minItems=1",
			`["a"]`,
			`[]`,
		},
		"maxItems": {
			lists,
			count(func(s *props) **int64 { return &s.MaxItems }),
			"The largest allowed number of items.",
			"[]string | maxItems=2",
			`["a", "b"]`,
			`["a", "b", "c"]`,
		},
		"uniqueItems": {
			lists,
			applyUnique,
			"No two items are equal. For items that are texts, numbers or booleans.",
			"[]string | uniqueItems=true",
			`["a", "b"]`,
			`["a", "a"]`,
		},
		"listMapKey": {
			lists,
			applyMapKeys,
			"The fields that tell items apart, separated by commas: no two items have the same. Each needs `required=true` or a default.",
			"[]core/v1.LocalObjectReference | listMapKey=name",
			`[{"name": "a"}, {"name": "b"}]`,
			`[{"name": "a"}, {"name": "a"}]`,
		},
		"minProperties": {
			maps,
			count(func(s *props) **int64 { return &s.MinProperties }),
			"The smallest allowed number of keys.",
			"map[string]string | minProperties=1",
			`{"a": "1"}`,
			`{}`,
		},
		"maxProperties": {
			maps,
			count(func(s *props) **int64 { return &s.MaxProperties }),
			"The largest allowed number of keys.",
			"map[string]string | maxProperties=1",
			`{"a": "1"}`,
			`{"a": "1", "b": "2"}`,
		},
		"nullable": {
			nil,
			flag(func(s *props) *bool { return &s.Nullable }),
			"The API server stores null. Without this marker it treats null as an omitted field.",
			"string | nullable=true",
			`null`,
			"",
		},
		"immutable": {
			nil,
			applyImmutable,
			"The value cannot change. Use it with `required=true` or a default: otherwise users can remove the field and set it again.",
			"string | required=true immutable=true",
			`"a"`,
			`"b"`,
		},
		"validation": {
			nil,
			applyValidation,
			"A CEL rule that must be true; `self` is the value. A field can have several.",
			"integer | validation=\"self % 2 == 0\"",
			`4`,
			`3`,
		},
	}
}

// mark applies markers to a schema and reports those that do not fit. All markers fit
// an unknown type, nil.
func (s *Form) mark(n *yaml.Node, schema *props, text string, offset int) (*props, bool) {
	markers, wrong := lexMarkers(text, offset)
	if wrong != nil {
		if repaired, ok := repairedMarkers(text); ok {
			whole := strings.TrimRight(n.Value[:offset]+repaired, " |")
			s.addFix(n, wrong.at, wrong.code, wrong.message, s.positions.InPlaceOf(n, whole))
		} else {
			s.add(n, wrong.at, wrong.code, wrong.message, wrong.hint)
		}
	}
	unknown, required, seen := schema == nil, false, map[string]marker{}
	if unknown {
		schema = Anything()
	}
	for _, m := range markers {
		rule, ok := s.rule(n, m, schema, unknown, markers)
		if _, again := seen[m.name]; again && m.name != "validation" {
			s.add(n, m.at, diag.BadMarker, fmt.Sprintf("duplicate marker %s", m.name), "remove one of them")
			continue
		}
		seen[m.name] = m
		if !ok || !s.plainValue(n, m, schema) {
			continue
		}
		if err := rule.apply(schema, m); err != nil {
			s.add(n, m.value0, diag.BadMarker, fmt.Sprintf("marker %s: %v", m.name, err), valueHint(m, schema))
		}
		required = required || m.name == "required" && m.value == "true"
	}
	if !unknown {
		s.checkConsistent(n, schema, seen)
	}
	return schema, required
}

// plainValue reports a value that is probably written as in another language.
func (s *Form) plainValue(n *yaml.Node, m marker, schema *props) bool {
	v := m.value
	switch {
	case m.quoted:
	case len(v) > 1 && v[0] == '\'' && v[len(v)-1] == '\'':
		s.add(
			n,
			m.value0,
			diag.BadMarker,
			fmt.Sprintf("marker %s: the single quotes would be part of the value", m.name),
			fmt.Sprintf("write %s=%s", m.name, strconv.Quote(v[1:len(v)-1])),
		)
		return false
	case m.name == "default" && KindOf(schema) == "string" && (v == "null" || v == "nil" || v == "None" || v == "~"):
		s.add(
			n,
			m.value0,
			diag.BadMarker,
			fmt.Sprintf("marker default: %s would be a string", v),
			fmt.Sprintf("remove the marker for no default, or write default=%q for the string", v),
		)
		return false
	case m.name == "pattern" && len(v) > 1 && v[0] == '/' && v[len(v)-1] == '/' && strings.HasPrefix(v[1:], "^"):
		s.add(
			n,
			m.value0,
			diag.BadMarker,
			"marker pattern: the slashes would be part of the pattern",
			fmt.Sprintf("write pattern=%q", v[1:len(v)-1]),
		)
		return false
	}
	return true
}

// rule returns the rule of a marker, and reports a marker that does not exist or does
// not fit.
func (s *Form) rule(n *yaml.Node, m marker, schema *props, unknown bool, all []marker) (markerRule, bool) {
	rules, kind := markerRules(), KindOf(schema)
	field, _, _ := strings.Cut(n.Value, "|")
	rule, ok := rules[m.name]
	if !ok {
		f := diag.Finding{Severity: diag.Error, Code: diag.UnknownMarker, Message: fmt.Sprintf("unknown marker %q", m.name)}
		f.Hint = markerHint(m.name, fitting(rules, kind, unknown))
		f.Position = s.positions.Inside(n, m.at)
		*s.found = append(*s.found, f)
		return rule, false
	}
	if rule.fits != nil && !unknown && !slices.Contains(rule.fits, kind) {
		message := fmt.Sprintf("marker %s does not apply to type %s", m.name, kind)
		switch fix, others, first := entriesHint(field, schema, all); {
		case fix != "" && first != m: // has the same finding
		case fix != "" && others == "":
			s.addFix(n, m.at, diag.BadMarker, message, fix)
		case fix != "":
			s.add(n, m.at, diag.BadMarker, message, fmt.Sprintf("write FIELD | %s: %s", others, fix))
		default:
			s.add(n, m.at, diag.BadMarker, message, "remove it, or write a type it applies to: "+source.Either(rule.fits))
		}
		return rule, false
	}
	return rule, true
}

// valueHint returns an example value of a marker.
func valueHint(m marker, schema *props) string {
	kind := KindOf(schema)
	if before, ok := strings.CutSuffix(m.value, ","); ok && !m.quoted {
		return "separate markers with spaces, not commas: " + m.name + "=" + before
	}
	switch m.name {
	case "uniqueItems":
		if m.value == "true" {
			return ""
		}
		return "write uniqueItems=true, or remove the marker"
	case "required", "nullable", "immutable", "exclusiveMinimum", "exclusiveMaximum":
		return fmt.Sprintf("write %s=true, or remove the marker", m.name)
	case "default":
	case "enum":
		if strings.Contains(m.value, "|") {
			return "write enum=" + strings.ReplaceAll(m.value, "|", ",")
		}
	default:
		return ""
	}
	values := map[string]string{"integer": "3", "number": "0.5", "boolean": "true", "array": "[]", "map": "{}", "object": "{}"}
	if values[kind] == "" {
		return ""
	}
	return "write a value of the type, such as " + m.name + "=" + values[kind]
}

// fitting returns the names of the markers that a type accepts; all of them if the type
// is unknown.
func fitting(rules map[string]markerRule, kind string, unknown bool) []string {
	return slices.DeleteFunc(source.SortedKeys(rules), func(name string) bool {
		fits := rules[name].fits
		return !unknown && fits != nil && !slices.Contains(fits, kind)
	})
}

func markerHint(name string, known []string) string {
	switch word := strings.ToLower(name); {
	case isOptional(name):
		return "remove it: a field without required=true is optional"
	case slices.Contains(known, foreignMarkers()[word]):
		return "did you mean " + foreignMarkers()[word] + "?"
	}
	longer := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(k, name) })
	if len(longer) == 1 {
		return "did you mean " + longer[0] + "?"
	}
	return source.DidYouMean(name, known, "markers here")
}

func float(of func(*props) **float64) func(*props, marker) error {
	return func(s *props, m marker) error {
		f, err := strconv.ParseFloat(m.value, 64)
		if err != nil || f != f || f-f != 0 {
			return fmt.Errorf("%q is not a number", m.value)
		}
		*of(s) = &f
		return nil
	}
}

func count(of func(*props) **int64) func(*props, marker) error {
	return func(s *props, m marker) error {
		i, err := strconv.ParseInt(m.value, 10, 64)
		if err != nil || i < 0 {
			return fmt.Errorf("%q is not a whole number of at least 0", m.value)
		}
		*of(s) = &i
		return nil
	}
}

func flag(of func(*props) *bool) func(*props, marker) error {
	return func(s *props, m marker) error {
		if m.value != "true" && m.value != "false" {
			return fmt.Errorf("%q is not true or false", m.value)
		}
		*of(s) = m.value == "true"
		return nil
	}
}

func applyPattern(s *props, m marker) error {
	s.Pattern = m.value
	_, err := regexp.Compile(m.value)
	return err
}

func applyImmutable(s *props, m marker) error {
	on := false
	err := flag(func(*props) *bool { return &on })(s, m)
	if on {
		s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: "self == oldSelf", Message: "the field is immutable"})
	}
	return err
}

func applyUnique(s *props, m marker) error {
	on := false
	if err := flag(func(*props) *bool { return &on })(s, m); err != nil || !on {
		return err
	}
	if of := itemOf(s); of != nil && slices.Contains([]string{"object", "array", "map", "any"}, KindOf(of)) {
		return fmt.Errorf("items of type %s are not compared as a whole: name the fields that tell them apart with listMapKey", KindOf(of))
	}
	s.XListType = new("set")
	return nil
}

func applyMapKeys(s *props, m marker) error {
	of := itemOf(s)
	for _, key := range strings.Split(m.value, ",") {
		key = strings.TrimSpace(key)
		if key == "" || slices.Contains(s.XListMapKeys, key) {
			return fmt.Errorf("%q is no list of different fields", m.value)
		}
		switch field := fieldOf(of, key); {
		case of == nil || KindOf(of) != "object":
			return fmt.Errorf("the items have no fields: use uniqueItems=true")
		case field == nil:
			return fmt.Errorf("the items have no field %s: write %s", key, source.Either(source.SortedKeys(of.Properties)))
		case slices.Contains([]string{"object", "array", "map", "any", "int-or-string"}, KindOf(field)):
			return fmt.Errorf("the field %s of the items is of type %s: only texts, numbers and booleans tell items apart",
				key, KindOf(field))
		case field.Default == nil && !slices.Contains(of.Required, key):
			return fmt.Errorf("the field %s of the items needs required=true or a default", key)
		}
		s.XListMapKeys = append(s.XListMapKeys, key)
	}
	s.XListType = new("map")
	return nil
}

func applyValidation(s *props, m marker) error {
	if strings.TrimSpace(m.value) == "" {
		return fmt.Errorf("the rule is empty")
	}
	s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: m.value})
	return nil
}

func applyEnum(s *props, m marker) error {
	listed := map[string]bool{}
	for _, word := range enumWords(m.value) {
		if !m.quoted && strings.Contains(word, "|") {
			return fmt.Errorf("%q contains a |: separate the values with commas", word)
		}
		v, err := literal(s, word)
		if err != nil {
			return err
		}
		raw := RawJSON(v)
		if listed[string(raw.Raw)] {
			return fmt.Errorf("%q is listed twice", word)
		}
		listed[string(raw.Raw)] = true
		s.Enum = append(s.Enum, raw)
	}
	return nil
}

// enumWords returns the values of an enum: separated by commas, with or without brackets and
// quotes, or a JSON list.
func enumWords(text string) []string {
	var listed []json.RawMessage
	if json.Unmarshal([]byte(text), &listed) == nil {
		var out []string
		for _, raw := range listed {
			var word string
			if json.Unmarshal(raw, &word) != nil {
				word = string(raw)
			}
			out = append(out, word)
		}
		return out
	}
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		text = strings.TrimSuffix(inner, "]")
	}
	words := strings.Split(text, ",")
	for i, word := range words {
		words[i] = strings.TrimSpace(word)
		if unquoted, err := strconv.Unquote(words[i]); err == nil && words[i][0] == '"' {
			words[i] = unquoted
		}
	}
	return words
}

func applyDefault(s *props, m marker) error {
	v, err := literal(s, m.value)
	if err == nil {
		s.Default = new(RawJSON(v))
	}
	return err
}

// literal parses a value of a schema's type.
func literal(s *props, text string) (any, error) {
	kind := KindOf(s)
	var v any
	switch err := json.Unmarshal([]byte(text), &v); {
	case kind == "string":
		return text, nil
	case err != nil && (kind == "int-or-string" || kind == "any"):
		return text, nil
	case err != nil && (kind == "array" || kind == "map" || kind == "object"):
		return flow(s, text)
	case err != nil:
		return nil, fmt.Errorf("%q is not %s", text, article.With(kind))
	}
	return json.RawMessage(text), nil
}

// flow parses a list or an object as YAML writes it in a line: [a, b], {a: b}. A scalar
// where the schema wants a string is one.
func flow(s *props, text string) (any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) != 1 {
		return nil, fmt.Errorf("%q is not %s", text, article.With(KindOf(s)))
	}
	return flowValue(s, doc.Content[0])
}

func flowValue(s *props, n *yaml.Node) (any, error) {
	switch {
	case n.Kind == yaml.ScalarNode && s != nil && KindOf(s) == "string":
		return n.Value, nil
	case n.Kind == yaml.SequenceNode:
		out := []any{}
		for _, item := range n.Content {
			v, err := flowValue(itemOf(s), item)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case n.Kind == yaml.MappingNode:
		out := map[string]any{}
		for pair := range slices.Chunk(n.Content, 2) {
			v, err := flowValue(fieldOf(s, pair[0].Value), pair[1])
			if err != nil {
				return nil, err
			}
			out[pair[0].Value] = v
		}
		return out, nil
	case n.Kind != yaml.ScalarNode:
		return nil, fmt.Errorf("a marker cannot contain an alias")
	}
	var v any
	err := n.Decode(&v)
	return v, err
}

// itemOf returns the schema of the items of a list, nil if it is unknown.
func itemOf(s *props) *props {
	if s == nil || s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// fieldOf returns the schema of a field or of the values of a map, nil if it is unknown.
func fieldOf(s *props, name string) *props {
	if s == nil {
		return nil
	}
	if field, ok := s.Properties[name]; ok {
		return &field
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}
