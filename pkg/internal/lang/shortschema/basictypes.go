package shortschema

import (
	"encoding/json"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Type is a type of the short form.
type Type struct {
	Name    string
	Doc     string // one sentence, for the documentation
	Example string // a value, in JSON
	Invalid string // a value that the API server rejects, in JSON; "" if it accepts any
	basic   bool   // a definition cannot have a type of its own of this name
	schema  func() *props
}

// Kind returns the kind of values of the type, which decides which markers apply.
func (t Type) Kind() string { return KindOf(t.schema()) }

func plain(kind string) func() *props { return func() *props { return &props{Type: kind} } }

func text(maxLength int64, pattern string) func() *props {
	return func() *props { return &props{Type: "string", MaxLength: &maxLength, Pattern: pattern} }
}

const (
	dnsLabel = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	imageID  = `[a-z0-9]+([._-]+[a-z0-9]+)*`
)

// cronField returns the pattern of a field of a schedule: a list of values, ranges and
// steps. Each value ends at a hyphen or a word boundary, which is shorter than the
// pattern of a value twice.
func cronField(value string) string {
	one := `([*?]|((` + value + `)(-|\b)){1,2}\b)(/0*[1-9]\d*)?`
	return one + `(,` + one + `)*`
}

// cronSchedule matches what the standard parser of github.com/robfig/cron/v3 accepts, except
// that it also matches ranges whose end is before their start.
var cronSchedule = `^(@(yearly|annually|monthly|weekly|daily|midnight|hourly|every (\d+(\.\d+)?([mnu]?s|[mh]))+)|(?i:` + strings.Join(
	[]string{
		cronField(`[0-5]?\d`), cronField(`[01]?\d|2[0-3]`), cronField(`0?[1-9]|[12]\d|3[01]`),
		cronField(`0?[1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`),
		cronField(`0?[0-6]|sun|mon|tue|wed|thu|fri|sat`),
	},
	` +`,
) + `))$`

// Types returns the types of the short form, in the order of the documentation.
func Types() []Type {
	return []Type{
		{"string", "A string.", `"hello"`, `5`, true, plain("string")},
		{"integer", "An integer.", `3`, `1.5`, true, plain("integer")},
		{"number", "A number, with or without a fraction.", `0.5`, `"half"`, true, plain("number")},
		{"boolean", "true or false.", `true`, `"yes"`, true, plain("boolean")},
		{
			"object",
			"An object with any fields.",
			`{"any": ["thing"]}`,
			`"text"`,
			true,
			func() *props { return &props{Type: "object", XPreserveUnknownFields: new(true)} },
		},
		{"any", "Any value.", `["thing"]`, "", true, Anything},
		{"quantity", "A resource quantity, such as 500m or 64Mi.", `"64Mi"`, `"64 Mi"`, true, quantity},
		{"int-or-string", "An integer or a string, such as a port or a percentage.", `"25%"`, `1.5`, true, intOrString},
		{
			"name",
			"A name that is valid for an object of any kind: at most 63 lower-case letters, digits and '-', beginning with a letter.",
			`"web-1"`,
			`"1web"`,
			false,
			text(63, `^[a-z]([-a-z0-9]*[a-z0-9])?$`),
		},
		{
			"namespace",
			"The name of a namespace: at most 63 lower-case letters, digits and '-'.",
			`"team-a"`,
			`"team.a"`,
			false,
			text(63, `^`+dnsLabel+`$`),
		},
		{
			"label",
			"The value of a label: at most 63 letters, digits, '-', '_' and '.'.",
			`"Front_end.1"`,
			`"front/end"`,
			false,
			text(63, `^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`),
		},
		{
			"hostname",
			"A DNS name in lower case, at most 253 characters.",
			`"shop.example.com"`,
			`"shop_1.example.com"`,
			false,
			text(253, `^`+dnsLabel+`(\.`+dnsLabel+`)*$`),
		},
		{"port", "A port number, 1 to 65535.", `8080`, `70000`, false, func() *props {
			return &props{Type: "integer", Format: "int32", Minimum: new(1.0), Maximum: new(65535.0)}
		}},
		{"duration", "A duration in h, m, s and ms.", `"1h30m"`, `"1d"`, false, text(63, `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)},
		{
			"cron",
			"A schedule as in a CronJob: five fields, or a macro such as @daily or @every 1h.",
			`"*/5 8 * * 1-5"`,
			`"every day"`,
			false,
			text(100, cronSchedule),
		},
		{"image", "A container image, optionally with registry, tag and digest.", `"ghcr.io/team/app:1.2"`, `"My App"`, false, text(
			512,
			`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?(:[0-9]{1,5})?/)?`+imageID+`(/`+imageID+`)*(:[A-Za-z0-9_][-.A-Za-z0-9_]{0,127})`+
				`?(@sha256:[a-f0-9]{64})?$`,
		)},
		{
			"url",
			"An absolute URL.",
			`"https://example.com/path?x=1"`,
			`"example.com"`,
			false,
			text(2048, `^[a-z][-+.a-z0-9]*://[^\s/?#]+([/?#]\S*)?$`),
		},
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

// typeWithPattern returns the type whose values match a pattern.
func typeWithPattern(pattern string) (Type, bool) {
	for _, t := range Types() {
		if pattern != "" && t.schema().Pattern == pattern {
			return t, true
		}
	}
	return Type{}, false
}

func basicType(name string) *props { return typeNamed(name, true) }

// Anything returns the schema of any value.
func Anything() *props { return &props{XPreserveUnknownFields: new(true)} }

// doubt marks a schema whose type has an error. Such a schema is never emitted.
const doubt = "doubtful"

// doubtful returns the schema of a field whose type has an error: it takes any value.
func doubtful() *props {
	s := Anything()
	doubtfully(s)
	return s
}

// doubtfully marks a schema that has an error. The field counts as there: what its markers
// are meant to say is not known.
func doubtfully(s *props) {
	s.Title = doubt
	if s.Default != nil {
		return
	}
	zero := map[string]any{"string": "", "boolean": false, "array": []any{}, "map": map[string]any{}, "object": map[string]any{}}[KindOf(s)]
	if zero == nil {
		zero = 0
	}
	s.Default = new(RawJSON(zero))
}

// IsDoubtful reports whether the type of a field has an error.
func IsDoubtful(s *props) bool { return s.Title == doubt }

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
