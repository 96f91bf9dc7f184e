package shortschema

import (
	"encoding/json"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Type is a type of the short form.
type Type struct {
	Name    string
	Doc     string // one line, for the documentation
	Example string // a value, in JSON
	basic   bool   // a definition cannot have a type of its own of this name
	schema  func() *props
}

func plain(kind string) func() *props { return func() *props { return &props{Type: kind} } }

func text(maxLength int64, pattern string) func() *props {
	return func() *props { return &props{Type: "string", MaxLength: &maxLength, Pattern: pattern} }
}

const (
	dnsLabel = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	imageID  = `[a-z0-9]+([._-]+[a-z0-9]+)*`
)

// cronField returns the pattern of a field of a schedule: values, ranges and steps.
func cronField(value string) string {
	one := `(\*|` + value + `)(/[1-9][0-9]?)?`
	return one + `(,` + one + `)*`
}

var cron = strings.Join([]string{
	cronField(`[1-5]?[0-9]`), cronField(`(1?[0-9]|2[0-3])`), cronField(`([1-9]|[12][0-9]|3[01])`), cronField(`([1-9]|1[0-2])`), cronField(`[0-6]`),
}, " ")

// Types returns the types of the short form, in the order of the documentation.
func Types() []Type {
	return []Type{
		{"string", "A text.", `"hello"`, true, plain("string")},
		{"integer", "A whole number.", `3`, true, plain("integer")},
		{"number", "A number.", `0.5`, true, plain("number")},
		{"boolean", "true or false.", `true`, true, plain("boolean")},
		{"object", "Any fields.", `{"any": ["thing"]}`, true, func() *props { return &props{Type: "object", XPreserveUnknownFields: new(true)} }},
		{"any", "Any value.", `["thing"]`, true, Anything},
		{"quantity", "An amount of resources, as Kubernetes writes it.", `"64Mi"`, true, quantity},
		{"int-or-string", "A whole number or a text.", `"25%"`, true, intOrString},
		{"name", "The name of an object that any kind takes, as a Service does.", `"web-1"`, false, text(63, `^[a-z]([-a-z0-9]*[a-z0-9])?$`)},
		{"namespace", "The name of a namespace.", `"team-a"`, false, text(63, `^`+dnsLabel+`$`)},
		{"label", "The value of a label.", `"Front_end.1"`, false, text(63, `^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)},
		{"hostname", "A name of DNS.", `"shop.example.com"`, false, text(253, `^`+dnsLabel+`(\.`+dnsLabel+`)*$`)},
		{"port", "The number of a port.", `8080`, false, func() *props {
			return &props{Type: "integer", Format: "int32", Minimum: new(1.0), Maximum: new(65535.0)}
		}},
		{"duration", "A duration in hours, minutes, seconds and milliseconds.", `"1h30m"`, false, text(63, `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)},
		{"cron", "A schedule of a CronJob: five fields, or a word such as @daily.", `"*/5 8 * * 1"`, false, text(100, `^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|`+cron+`)$`)},
		{"image", "A container image, with a registry, a tag and a digest if wanted.", `"ghcr.io/team/app:1.2"`, false, text(512,
			`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?(:[0-9]{1,5})?/)?`+imageID+`(/`+imageID+`)*(:[A-Za-z0-9_][-.A-Za-z0-9_]{0,127})?(@sha256:[a-f0-9]{64})?$`)},
		{"url", "An absolute URL.", `"https://example.com/path?x=1"`, false, text(2048, `^[a-z][-+.a-z0-9]*://[^\s/?#]+([/?#]\S*)?$`)},
	}
}

// typeNamed returns the schema of a type; nil if there is none of the name. Of basic
// types a definition cannot have its own.
func typeNamed(name string, basic bool) *props {
	for _, t := range Types() {
		if t.Name == name && (t.basic || !basic) {
			return t.schema()
		}
	}
	return nil
}

func basicType(name string) *props { return typeNamed(name, true) }

// foreignTypes maps type names of other languages to those of the short form.
func foreignTypes() map[string]string {
	return map[string]string{
		"int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "uint": "integer",
		"float": "number", "float64": "number", "double": "number", "decimal": "number",
		"bool": "boolean", "str": "string", "text": "string", "map": "map[string]string", "dict": "map[string]string",
		"list": "[]string", "array": "[]string", "date": "string | format=date-time", "time": "string | format=date-time",
		"intorstring": "int-or-string", "map[string]": "map[string]string",
	}
}

// Anything returns the schema of any value.
func Anything() *props { return &props{XPreserveUnknownFields: new(true)} }

func intOrString() *props {
	return &props{XIntOrString: true, AnyOf: []props{{Type: "integer"}, {Type: "string"}}}
}

// quantity is an amount such as 100m or 64Mi, as ParseQuantity of k8s.io/apimachinery
// reads it: the exponent is an integer. It has at most two digits, because programs
// that expand a larger number run out of memory.
func quantity() *props {
	out := intOrString()
	out.Pattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	return out
}

// KindOf returns the kind of a schema, which decides which markers apply.
func KindOf(s *props) string {
	switch {
	case s.XIntOrString:
		return "int-or-string"
	case s.Type == "":
		return "any"
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "map"
	}
	return s.Type
}

// CompleteDefault sets an empty object as the default of an object, so that the
// defaults of its fields apply when the object is omitted. An object with required
// fields gets no default.
func CompleteDefault(s *props) {
	if len(s.Required) > 0 || s.Default != nil {
		return
	}
	for _, p := range s.Properties {
		if p.Default != nil {
			s.Default = &apiextensionsv1.JSON{Raw: []byte("{}")}
			return
		}
	}
}

// RawJSON encodes a value as JSON.
func RawJSON(v any) apiextensionsv1.JSON {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: v comes from JSON or from a plain scalar
	}
	return apiextensionsv1.JSON{Raw: raw}
}
