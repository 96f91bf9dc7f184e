package schema

import (
	"regexp"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/argoperator/argoperator/pkg/internal/lang/coretypes"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
)

// ref returns a reference to a definition.
func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// addFields describes short schemas: editors complete types and markers, and report
// misspelled ones. Without types of its own, an API has the built-in types only.
func addFields(defs jsonschema.Definitions) {
	defs["Fields"] = &jsonschema.Schema{
		Type: "object", PropertyNames: &jsonschema.Schema{Pattern: fieldPattern()}, AdditionalProperties: ref("Field"),
		Description: "Fields, each with its type and markers.",
	}
	defs["Field"] = field(fieldType(typePattern, markerPattern()), "Field", "Write a type, and markers such as default=1 after a bar: integer | default=1 minimum=0")
	setText(defs["Field"], "Type of the field and, after a bar, its [markers](types-and-markers.md). An object is a mapping of fields, a list has the type of its items.")
	setExtra(defs["Field"], "defaultSnippets", snippets())
	defs["BuiltInField"] = field(fieldType(builtInPattern(), `[\s\S]*`), "BuiltInField", "Unknown type. Types of your own are defined in spec.api.types.")
	for of, keys := range map[string][]string{"Schema": {"spec", "status"}, "API": {"types"}} {
		for _, key := range keys {
			property, _ := defs[of].Properties.Get(key)
			property.Type, property.Ref = "", "#/$defs/Fields"
		}
	}
	builtIn := nested("versions", &jsonschema.Schema{Items: nested("schema", &jsonschema.Schema{
		AdditionalProperties: &jsonschema.Schema{AdditionalProperties: ref("BuiltInField")},
	})})
	defs["API"].If = &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{"types"}}}
	defs["API"].Then = builtIn
}

func nested(key string, value *jsonschema.Schema) *jsonschema.Schema {
	out := &jsonschema.Schema{Properties: jsonschema.NewProperties()}
	out.Properties.Set(key, value)
	return out
}

// field returns the schema of a field: a string, a mapping of fields, or a list with one
// field. Each keyword is about one of them.
func field(pattern, name, message string) *jsonschema.Schema {
	one := uint64(1)
	out := &jsonschema.Schema{
		Pattern: pattern, AdditionalProperties: ref(name),
		Items: ref(name), MinItems: &one, MaxItems: &one,
		Examples: []any{"string | required=true", "integer | default=1 minimum=0"}, // without any, the YAML language server looks for some in items, forever
	}
	setExtra(out, "type", []string{"string", "object", "array"})
	setExtra(out, "patternErrorMessage", message)
	return out
}

const (
	namePattern = `[A-Za-z_$][A-Za-z0-9_.$-]*`
	typePattern = `[A-Za-z][A-Za-z0-9_-]*(/v[0-9a-z]+\.[A-Za-z0-9]+)?`
)

// fieldType returns the pattern of a field with a type and markers.
func fieldType(typ, markers string) string {
	return `^\s*(\[\]|map\[string\])*(` + typ + `)\s*(\|` + markers + `)?$`
}

// fieldPattern returns the pattern of the name of a field.
func fieldPattern() string {
	return `^(map\[string\]|\s*` + namePattern + `\s*(\|` + markerPattern() + `)?)$`
}

// builtInPattern returns the pattern of the types that every definition has.
func builtInPattern() string {
	var words []string
	for _, t := range shortschema.Types() {
		words = append(words, t.Name)
	}
	groups := map[string][]string{}
	for _, name := range coretypes.Names() {
		group, kind, _ := strings.Cut(name, ".")
		if groups[group] == nil {
			words = append(words, group)
		}
		groups[group] = append(groups[group], kind)
	}
	for i, word := range words {
		if kinds := groups[word]; kinds != nil {
			words[i] = regexp.QuoteMeta(word) + `\.(` + strings.Join(kinds, "|") + `)`
		}
	}
	return strings.Join(words, "|")
}

// markerPattern returns the pattern of the markers after the bar.
func markerPattern() string {
	var names []string
	for _, m := range shortschema.Markers() {
		names = append(names, m.Name)
	}
	one := `(` + strings.Join(names, "|") + `)=("([^"\\]|\\[\s\S])*"|\[[\s\S]*\]|\{[\s\S]*\}|[^\s"[{]\S*)`
	return `\s*(` + one + `(\s+` + one + `)*)?\s*`
}

// snippet is what editors with the YAML language server insert.
type snippet struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Body        string `json:"body"`
}

// snippets returns the types, and types with a marker: an editor compares the whole value
// with the label, so that the label of a marker has the type in front.
func snippets() []snippet {
	types := shortschema.Types()
	var out []snippet
	for _, t := range types {
		out = append(out, snippet{t.Name, t.Doc, t.Name})
	}
	out = append(out, snippet{"[]string", "A list of strings.", "'[]string'"}, snippet{"map[string]string", "A map of strings.", "map[string]string"})
	for _, name := range coretypes.Names() {
		out = append(out, snippet{name, "", name})
	}
	for _, t := range types {
		out = append(out, withMarkers(t.Name, t.Kind(), "")...)
	}
	out = append(out, withMarkers("[]string", "array", "'")...)
	return append(out, withMarkers("map[string]string", "map", "")...)
}

// withMarkers returns a type with each marker that fits it. Of a type that restricts
// another one, these are the most usual ones.
func withMarkers(typ, kind, quote string) []snippet {
	restricted := typ != kind && quote == "" && kind != "map"
	var out []snippet
	for _, m := range shortschema.Markers() {
		fits := m.Fits == nil || slices.Contains(m.Fits, kind)
		if restricted && m.Name != "default" && m.Name != "required" || !fits {
			continue
		}
		head, value := typ+" | "+m.Name+"=", placeholder(m, typ)
		label := head
		if !strings.Contains(value, "$") {
			label = head + value
		}
		out = append(out, snippet{label, m.Doc, quote + head + value + quote})
	}
	return out
}

// placeholder returns the value of a marker to fill in, in the syntax of snippets.
func placeholder(m shortschema.Marker, typ string) string {
	of, _, _ := strings.Cut(m.Example, " | ")
	_, value, _ := strings.Cut(m.Example, m.Name+"=")
	switch {
	case value == "true":
		return value
	case of == typ:
		return "${1:" + strings.NewReplacer(`\`, `\\`, `$`, `\$`, `}`, `\}`).Replace(value) + "}"
	case strings.HasPrefix(value, `"`):
		return `"$1"`
	}
	return "$1"
}
