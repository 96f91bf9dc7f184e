package adopt

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/chart"
	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// valuesSchema is the part of a JSON Schema that the short form of schemas can express.
type valuesSchema struct {
	Type        any                      `json:"type"` // a name, or a list of them
	Description string                   `json:"description"`
	Properties  map[string]*valuesSchema `json:"properties"`
	Additional  json.RawMessage          `json:"additionalProperties"`
	Items       *valuesSchema            `json:"items"`
	Required    []string                 `json:"required"`
	Enum        []any                    `json:"enum"`
	Minimum     *float64                 `json:"minimum"`
	Maximum     *float64                 `json:"maximum"`
	MinLength   *int64                   `json:"minLength"`
	MaxLength   *int64                   `json:"maxLength"`
	Pattern     string                   `json:"pattern"`
	Ref         string                   `json:"$ref"`
	Defs        map[string]*valuesSchema `json:"$defs"`
	Definitions map[string]*valuesSchema `json:"definitions"`
}

// namesOfObjects are values with which every custom resource would have the same objects.
var namesOfObjects = []string{"nameOverride", "fullnameOverride"}

// values makes the values of a chart the fields of the spec: as values.schema.json says,
// else as values.yaml has them, with its comments and its values as defaults.
func (m *chartProject) values(c chart.Chart) {
	var root yaml.Node
	text, _ := c.File("values.yaml")
	if err := yaml.Unmarshal(text, &root); err != nil {
		m.found.Add(diag.Position{File: m.name}, diag.YAMLSyntax, "values.yaml cannot be read: "+err.Error(), "")
		return
	}
	var known valuesSchema
	if text, ok := c.File("values.schema.json"); ok {
		if err := json.Unmarshal(text, &known); err != nil {
			m.found.Warn(diag.Position{File: m.name}, diag.ChangedOnImport, "values.schema.json cannot be read: "+err.Error(), "")
			known = valuesSchema{}
		}
	}
	values := &yaml.Node{}
	if len(root.Content) > 0 && root.Content[0].Kind == yaml.MappingNode {
		values = root.Content[0]
	}
	v := valueFields{root: &known}
	named := func(f scaffold.Field) bool { return slices.Contains(namesOfObjects, f.Name) }
	m.p.API.Spec = slices.DeleteFunc(v.fields(values, &known, 0), named)
	m.p.Notes = append(m.p.Notes,
		"the fields of the spec are the values of the chart: remove from operator.yaml what users must not set")
	if len(v.open) > 0 {
		m.p.Notes = append(m.p.Notes, fmt.Sprintf("the API server drops other keys in %s: if users choose the keys, write a map, such as "+
			"map[string]string", strings.Join(v.open, ", ")))
	}
}

// valueFields converts values to fields.
type valueFields struct {
	root *valuesSchema
	open []string // maps of texts alone, whose keys users may choose
}

// deepest is the depth from which values are objects with any fields.
const deepest = 8

var fieldName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`) })

// fields returns the fields of a mapping, those of values.yaml first.
func (v *valueFields) fields(values *yaml.Node, known *valuesSchema, depth int) []scaffold.Field {
	known = v.resolved(known)
	var out []scaffold.Field
	seen := map[string]bool{}
	for pair := range slices.Chunk(values.Content, 2) {
		key, value := pair[0], pair[1]
		seen[key.Value] = true
		out = append(out, v.field(key.Value, described(key, value), value, known.Properties[key.Value], known.Required, depth))
	}
	for _, name := range slices.Sorted(maps.Keys(known.Properties)) {
		if !seen[name] && fieldName().MatchString(name) {
			out = append(out, v.field(name, "", nil, known.Properties[name], known.Required, depth))
		}
	}
	return out
}

func (v *valueFields) field(name, said string, value *yaml.Node, known *valuesSchema, required []string, depth int) scaffold.Field {
	known = v.resolved(known)
	for value != nil && value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	if known.Description != "" {
		said = known.Description
	}
	if v.nested(name, value, known, depth) {
		if value == nil {
			value = &yaml.Node{}
		}
		if allTexts(value) && len(known.Properties) == 0 && name != "image" {
			v.open = append(v.open, name)
		}
		return scaffold.Field{Name: name, Fields: v.fields(value, known, depth+1)}
	}
	kind := v.kind(name, value, known, depth)
	var markers []string
	if value == nil && slices.Contains(required, name) {
		markers = append(markers, "required=true")
	}
	markers = append(markers, defaultOf(kind, value)...)
	markers = append(markers, limits(kind, known)...)
	if said = shortened(said); said != "" {
		markers = append(markers, "description="+quotedMarker(said))
	}
	if len(markers) > 0 {
		kind += " | " + strings.Join(markers, " ")
	}
	return scaffold.Field{Name: name, Value: kind}
}

// nested reports whether a value becomes a field with fields.
func (v *valueFields) nested(name string, value *yaml.Node, known *valuesSchema, depth int) bool {
	if depth >= deepest || wellKnown(name, value) != "" {
		return false
	}
	if value == nil || value.Kind != yaml.MappingNode || len(value.Content) == 0 {
		return len(known.Properties) > 0
	}
	for pair := range slices.Chunk(value.Content, 2) {
		if !fieldName().MatchString(pair[0].Value) {
			return false
		}
	}
	return true
}

func allTexts(value *yaml.Node) bool {
	for pair := range slices.Chunk(value.Content, 2) {
		if pair[1].ShortTag() != "!!str" {
			return false
		}
	}
	return len(value.Content) > 0
}

// wellKnown returns the type of values that nearly all charts have; empty if the chart means
// something else by the name, which its default shows.
func wellKnown(name string, value *yaml.Node) string {
	types := map[string]string{
		"resources": "core/v1.ResourceRequirements", "tolerations": "[]core/v1.Toleration", "affinity": "core/v1.Affinity",
		"imagePullSecrets": "[]core/v1.LocalObjectReference", "nodeSelector": "map[string]string",
		"podSecurityContext": "core/v1.PodSecurityContext", "securityContext": "core/v1.SecurityContext",
		"livenessProbe": "core/v1.Probe", "readinessProbe": "core/v1.Probe", "startupProbe": "core/v1.Probe",
		"volumes": "[]core/v1.Volume", "volumeMounts": "[]core/v1.VolumeMount",
		"topologySpreadConstraints": "[]core/v1.TopologySpreadConstraint",
	}
	kind := types[name]
	if lower := strings.ToLower(name); kind == "" && (strings.HasSuffix(lower, "annotations") || strings.HasSuffix(lower, "labels")) {
		kind = "map[string]string"
	}
	if kind == "" || !fits(typeOf(kind), value) {
		return ""
	}
	return kind
}

// typeOf returns the type that the short form of wellKnown means.
func typeOf(kind string) schema.Type {
	if item, ok := strings.CutPrefix(kind, "[]"); ok {
		return schema.ListOf(typeOf(item))
	}
	if s := coretypes.Schema(kind); s != nil {
		return schema.OpenAPI(s)
	}
	return schema.Of(schema.Object) // map[string]string
}

// fits reports whether the type has all fields of a default.
func fits(t schema.Type, value *yaml.Node) bool {
	for value != nil && value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	switch {
	case value == nil || value.ShortTag() == "!!null" || t.Kind() == schema.Unknown:
		return true
	case value.Kind == yaml.MappingNode:
		for pair := range slices.Chunk(value.Content, 2) {
			field, known := t.Field(pair[0].Value)
			if !known || !fits(field, pair[1]) {
				return false
			}
		}
		return t.Kind() == schema.Object
	case value.Kind == yaml.SequenceNode:
		return t.Kind() == schema.Array && !slices.ContainsFunc(value.Content, func(one *yaml.Node) bool { return !fits(t.Item(), one) })
	}
	return t.Kind() != schema.Object && t.Kind() != schema.Array
}

// kind returns the type of a value in the short form.
func (v *valueFields) kind(name string, value *yaml.Node, known *valuesSchema, depth int) string {
	if kind := wellKnown(name, value); kind != "" {
		return kind
	}
	switch typed, _ := known.Type.(string); typed {
	case "string", "integer", "number", "boolean":
		return typed
	case "array":
		if items := v.resolved(known.Items); depth < deepest {
			if inner, _ := items.Type.(string); slices.Contains([]string{"string", "integer", "number", "boolean", "object"}, inner) {
				return "[]" + inner
			}
		}
		return "[]any"
	case "object":
		if items := additional(known.Additional); items != "" {
			return "map[string]" + items
		}
		return "object"
	}
	if known.Type != nil || value == nil {
		return "any"
	}
	return kindOfNode(value)
}

func additional(text json.RawMessage) string {
	var of valuesSchema
	if len(text) == 0 || json.Unmarshal(text, &of) != nil {
		return ""
	}
	kind, _ := of.Type.(string)
	if slices.Contains([]string{"string", "integer", "number", "boolean"}, kind) {
		return kind
	}
	return ""
}

func kindOfNode(value *yaml.Node) string {
	switch value.Kind {
	case yaml.MappingNode:
		return "object"
	case yaml.SequenceNode:
		kind := ""
		for _, one := range value.Content {
			if inner := kindOfNode(one); kind == "" || kind == inner {
				kind = inner
			} else {
				return "[]any"
			}
		}
		if slices.Contains([]string{"string", "integer", "boolean", "object"}, kind) {
			return "[]" + kind
		}
		return "[]any"
	}
	kinds := map[string]string{"!!str": "string", "!!int": "integer", "!!float": "number", "!!bool": "boolean"}
	if kind := kinds[value.ShortTag()]; kind != "" {
		return kind
	}
	return "any" // null
}

// defaultOf returns the marker of a default that fits the type.
func defaultOf(kind string, value *yaml.Node) []string {
	if value == nil || value.Kind != yaml.ScalarNode || kindOfNode(value) != kind && !(kind == "number" && kindOfNode(value) == "integer") {
		return nil
	}
	text := value.Value
	switch kind {
	case "string":
		if len(text) > 200 || strings.ContainsAny(text, "\n\r\t") {
			return nil
		}
		text = quotedMarker(text)
	case "integer", "number":
		if _, err := strconv.ParseFloat(text, 64); err != nil || strings.HasPrefix(text, "0") && len(text) > 1 && text[1] != '.' {
			return nil // such as 0o644 or 0x1f
		}
	case "boolean":
		text = strings.ToLower(text)
	}
	return []string{"default=" + text}
}

// limits returns the markers of the limits of a value.
func limits(kind string, known *valuesSchema) []string {
	var out []string
	if len(known.Enum) > 0 && kind == "string" {
		var words []string
		for _, one := range known.Enum {
			word, ok := one.(string)
			if !ok {
				return nil
			}
			words = append(words, quotedMarker(word))
		}
		out = append(out, "enum=["+strings.Join(words, ", ")+"]")
	}
	for _, limit := range []struct {
		name  string
		value *float64
	}{{"minimum", known.Minimum}, {"maximum", known.Maximum}} {
		if limit.value != nil && (kind == "integer" || kind == "number") {
			out = append(out, limit.name+"="+strconv.FormatFloat(*limit.value, 'f', -1, 64))
		}
	}
	if kind != "string" {
		return out
	}
	for _, limit := range []struct {
		name  string
		value *int64
	}{{"minLength", known.MinLength}, {"maxLength", known.MaxLength}} {
		if limit.value != nil {
			out = append(out, fmt.Sprintf("%s=%d", limit.name, *limit.value))
		}
	}
	if _, err := regexp.Compile(known.Pattern); known.Pattern != "" && err == nil {
		out = append(out, "pattern="+quotedMarker(known.Pattern))
	}
	return out
}

// resolved returns a schema that is not nil, without a reference inside the file.
func (v *valueFields) resolved(s *valuesSchema) *valuesSchema {
	for range deepest {
		if s == nil {
			return &valuesSchema{}
		}
		if s.Ref == "" {
			return s
		}
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			s = v.root.Defs[name]
		} else {
			s = v.root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
		}
	}
	return &valuesSchema{}
}

// described returns the comment of a value: the paragraph above it, or the end of its line.
func described(key, value *yaml.Node) string {
	text := key.HeadComment
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		text = text[i+2:]
	}
	if text == "" {
		text = value.LineComment
	}
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#"))
		line = strings.TrimPrefix(line, "-- ")                  // helm-docs
		if rest, ok := strings.CutPrefix(line, "@param "); ok { // the generator of Bitnami
			_, line, _ = strings.Cut(rest, " ")
		}
		if strings.HasPrefix(line, "@") || strings.HasSuffix(line, ":") {
			break // a directive, or an example
		}
		words = append(words, line)
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// shortened returns the first sentences of a text.
func shortened(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	if i := strings.LastIndex(text[:most], ". "); i > 0 {
		return text[:i+1]
	}
	return strings.ToValidUTF8(text[:most], "")
}
