package definition

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// operator is a definition with the given lines as its short schema.
func operator(schema string) string {
	return fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: test}
spec:
  api:
    group: example.com
    kind: Test
    versions:
    - name: v1
      schema:
%s
  logic: {image: "a:1", command: [a], files: []}
`, indent(schema, "        "))
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by)
}

func TestShortSchema(t *testing.T) {
	for _, tt := range []struct{ field, want, reason string }{
		{"string", `{"type":"string"}`, "a type alone"},
		{"  integer  ", `{"type":"integer"}`, "blanks around"},
		{"integer|minimum=1", `{"type":"integer","minimum":1}`, "no blanks around the bar"},
		{"integer | minimum=1   maximum=2", `{"type":"integer","minimum":1,"maximum":2}`, "several markers"},
		{"number | minimum=0.5", `{"type":"number","minimum":0.5}`, "a fraction"},
		{"[]string", `{"type":"array","items":{"type":"string"}}`, "a list"},
		{"[][]integer", `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, "a list of lists"},
		{"map[string][]any", `{"type":"object","additionalProperties":{"type":"array","items":{"x-kubernetes-preserve-unknown-fields":true}}}`, "a map of lists"},
		{"object", `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, "any object"},
		{"int-or-string", `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`, "a port"},
		{"int-or-string | default=25%", `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}],"default":"25%"}`, "a bare word is a string"},
		{"string | default=3", `{"type":"string","default":"3"}`, "the type decides"},
		{`string | default=""`, `{"type":"string","default":""}`, "an empty default"},
		{`string | description="a \"b\" \\ c | d"`, `{"type":"string","description":"a \"b\" \\ c | d"}`, "escapes, and a bar in quotes"},
		{`string | pattern="^\d+\.x$"`, `{"type":"string","pattern":"^\\d+\\.x$"}`, "a backslash of a pattern stands for itself"},
		{"string | enum=a,b", `{"type":"string","enum":["a","b"]}`, "bare words"},
		{`string | enum="a b, c"`, `{"type":"string","enum":["a b","c"]}`, "quoted words"},
		{"string | enum=[a,b]", `{"type":"string","enum":["a","b"]}`, "a list in brackets"},
		{"string | enum=[a, b]", `{"type":"string","enum":["a","b"]}`, "a list in brackets with blanks"},
		{`string | enum=["a","b c"]`, `{"type":"string","enum":["a","b c"]}`, "a list in JSON"},
		{"integer | enum=[1,2]", `{"type":"integer","enum":[1,2]}`, "numbers in brackets"},
		{"integer | enum=1,2 default=2", `{"type":"integer","enum":[1,2],"default":2}`, "numbers"},
		{`[]string | default=["a", "b"]`, `{"type":"array","items":{"type":"string"},"default":["a","b"]}`, "a list with spaces"},
		{"[]string | default=[a,b]", `{"type":"array","items":{"type":"string"},"default":["a","b"]}`, "a list of bare words"},
		{"[]string | default=[8080, yes]", `{"type":"array","items":{"type":"string"},"default":["8080","yes"]}`, "the type of the items decides"},
		{"map[string]string | default={a: b, c: 1}", `{"type":"object","additionalProperties":{"type":"string"},"default":{"a":"b","c":"1"}}`, "a map as YAML writes it"},
		{"port", `{"type":"integer","format":"int32","minimum":1,"maximum":65535}`, "a named type"},
		{"port | default=80 minimum=80", `{"type":"integer","format":"int32","minimum":80,"maximum":65535,"default":80}`, "markers restrict it"},
		{"[]core/v1.Toleration", `{"type":"array","items":{"type":"object","title":"core/v1.Toleration","properties":{"effect":{"type":"string"},"key":{"type":"string"},"operator":{"type":"string"},"tolerationSeconds":{"type":"integer","format":"int64"},"value":{"type":"string"}},"example":{"key":"key","operator":"Exists"}}}`, "a type of Kubernetes"},
		{"any | default=x", `{"x-kubernetes-preserve-unknown-fields":true,"default":"x"}`, "anything"},
		{"string | nullable=true", `{"type":"string","nullable":true}`, "null allowed"},
		{"string | immutable=false", `{"type":"string"}`, "not immutable"},
	} {
		quoted, err := json.Marshal(tt.field)
		if err != nil {
			t.Fatal(err)
		}
		defs, list := Parse(source.Input{Name: "x", Data: []byte(operator("spec: {f: " + string(quoted) + "}"))})
		if len(list) > 0 || len(defs) != 1 {
			t.Errorf("%s (%s): %v", tt.field, tt.reason, list)
			continue
		}
		got := defs[0].Schemas["v1"].Properties["spec"].Properties["f"]
		var want props
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(marshal(t, want), marshal(t, got)); diff != "" {
			t.Errorf("%s (%s) (-want +got):\n%s", tt.field, tt.reason, diff)
		}
	}
}

// TestMisspelledShortSchemas requires a finding whose hint has the right spelling for
// spellings of other languages.
func TestMisspelledShortSchemas(t *testing.T) {
	for _, tt := range []struct{ schema, message, hint string }{
		{`spec: {type: object, properties: {size: {type: integer}}}`, "looks like an OpenAPI schema", "openAPIV3Schema"},
		{`spec: {type: object, required: [size]}`, "looks like an OpenAPI schema", "openAPIV3Schema"},
		{`spec: {list: {type: array, items: {type: string}}}`, "looks like an OpenAPI schema", "openAPIV3Schema"},
		{`spec: {map: {type: object, additionalProperties: {type: string}}}`, "looks like an OpenAPI schema", "openAPIV3Schema"},
		{`spec: {size: {type: integer, default: 3}}`, "looks like an OpenAPI schema", "size: integer | minimum=1"},
		{`spec: {size: {type: string, description: "How many"}}`, "looks like an OpenAPI schema", "openAPIV3Schema"},
		{`{type: object, properties: {spec: {type: object}}}`, "unknown key", "openAPIV3Schema"},
		{`spec: {f: "string | enum=a|b"}`, "contains a |", "enum=a,b"},
		{`spec: {f: "string | default='x'"}`, "single quotes", `default="x"`},
		{`spec: {f: "string | default=null"}`, "would be a string", `default="null"`},
		{`spec: {f: "string | pattern=/^a$/"}`, "slashes", `pattern="^a$"`},
		{`spec: {f: "[]string | default=[a,b"}`, "no closing bracket", ""},
		{`spec: {f: "[]core/v1.EnvVars"}`, "unknown type", "did you mean core/v1.EnvVar?"},
		{`spec: {f: core/v1.}`, "unknown type", "write any"},
		{`spec: {f: {"map[string]": string, x: string}}`, "not a field name", "remove the other fields"},
		{`spec: {f: "hostnam"}`, "unknown type", "did you mean hostname?"},
		{`spec: {f: string | enum=a,b required=true}`, "a comma ends a value", `quote the value: f: "string | enum=a,b required=true"`},
		{`spec: {f: [string, integer]}`, "a list of 2 types", "string | enum=a,b"},
		{`spec: {f: ["string | required=true"]}`, "cannot be required", "minItems=1"},
		{`spec: {f: string, "f | required=true": {g: string}}`, "duplicate field", ""},
		{`spec: {"f | required": {g: string}}`, "has no value", "required=true"},
		{`spec: {f: "string | required=yes"}`, "is not true or false", "required=true"},
		{`spec: {f: "string | required"}`, "has no value", "required=true"},
		{`spec: {f: "integer | minimum"}`, "has no value", "such as minimum=0"},
		{`spec: {f: "integer | minimum: 1"}`, "want = before the value", `write "integer | minimum=1"`},
		{`spec: {f: "integer | minimum 1 maximum 5"}`, "want = before the value", `write "integer | minimum=1 maximum=5"`},
		{`spec: {f: "string | requird"}`, "unknown marker", "did you mean required?"},
		{`spec: {f: string | description=Hours until it ends required=true}`, "contains spaces needs quotes", `write string | description="Hours until it ends" required=true`},
		{`spec: {f: string | description=A \d (or so)}`, "contains spaces needs quotes", `write string | description="A \\d (or so)"`},
		{`spec: {f: "string | default=a \"b\" c"}`, "contains spaces needs quotes", `write 'string | default="a \"b\" c"'`},
		{`spec: {f: integer description="Hours"}`, "want | between the type and its markers", `write integer | description="Hours"`},
		{`spec: {f: "integer minimum=1, maximum=5"}`, "want | between", `write "integer | minimum=1 maximum=5"`},
		{`spec: {f: string required=true | default=x}`, "want | between", `write string | required=true default=x`},
		{`spec: {f: "boolean | default=yes"}`, "is not a boolean", "default=true"},
	} {
		_, list := Parse(source.Input{Name: "x", Data: []byte(operator(tt.schema))})
		if len(list) == 0 {
			t.Errorf("%s: nothing is found", tt.schema)
			continue
		}
		if f := list[0]; !strings.Contains(f.Message, tt.message) || !strings.Contains(f.Message+f.Hint, tt.hint) {
			t.Errorf("%s: %s, hint %q; want %q, %q", tt.schema, f.Message, f.Hint, tt.message, tt.hint)
		}
	}
	for _, fields := range []string{
		"{type: string, port: integer}", "{type: object, size: integer}", "{type: integer}",
		"{type: string, format: string, items: '[]string'}", "{type: 'string | enum=a,b', required: boolean}",
	} {
		if _, list := Parse(source.Input{Name: "x", Data: []byte(operator("spec: " + fields))}); len(list) > 0 {
			t.Errorf("%s: are fields, and not %v", fields, list)
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestFindingsPointIntoScalars(t *testing.T) {
	for _, tt := range []struct {
		schema string
		want   string // line:column from the schema's own first line
		reason string
	}{
		{`spec: {f: integer | bad=1}`, "1:21", "plain"},
		{`spec: {f: "integer | bad=1"}`, "1:22", "double-quoted"},
		{`spec: {f: 'it'}`, "1:12", "single-quoted, the type"},
		{`spec: {f: 'string | description="it''s" bad=1'}`, "1:41", "a doubled quote is one character"},
		{`spec: {f: "string | description=\"äö\u00e4\" bad=1"}`, "1:46", "escapes, and letters of two bytes"},
		{"spec:\n  f: &a integer | bad=1", "2:19", "behind an anchor"},
		{"spec:\n  f: |\n    integer | bad=1", "3:15", "a block"},
		{"spec:\n  f: integer |\n     bad=1", "3:6", "two lines"},
	} {
		_, list := Parse(source.Input{Name: "x", Data: []byte(operator(tt.schema))})
		if len(list) != 1 {
			t.Errorf("%s: %v", tt.reason, list)
			continue
		}
		if got := fmt.Sprintf("%d:%d", list[0].Line-10, list[0].Column-8); got != tt.want {
			t.Errorf("%s: at %s, want %s: %s", tt.reason, got, tt.want, list[0].Message)
		}
	}
}

func TestPositionsOfADefinition(t *testing.T) {
	defs, list := Parse(source.Input{Name: "x.yaml", Data: []byte(operator("spec: {f: string}"))})
	if len(defs) != 1 {
		t.Fatal(list)
	}
	for _, tt := range []struct {
		path         []string
		line, column int
	}{
		{[]string{"metadata", "name"}, 3, 18},
		{[]string{"spec", "api", "versions", "0", "name"}, 9, 13},
		{[]string{"spec", "logic", "command", "0"}, 12, 35},
		{[]string{"spec", "logic", "env", "3", "name"}, 12, 3},
		{[]string{"spec", "install", "namespace"}, 4, 1},
	} {
		want := diag.Position{File: "x.yaml", Line: tt.line, Column: tt.column}
		if got := defs[0].Position(tt.path...); got != want {
			t.Errorf("%v at %v, want %v", tt.path, got, want)
		}
	}
	if got := defs[0].PositionIn(2, "metadata", "name").Column; got != 20 {
		t.Errorf("third letter of the name in column %d, want 20", got)
	}
}

// Every golden file must belong to a test.
func TestGoldenFilesHaveInputs(t *testing.T) {
	for _, out := range files(t, "ok/*.out", "err/*.out") {
		base := strings.TrimSuffix(out, ".out")
		if _, err := os.Stat(base + ".yaml"); err != nil {
			if _, err := os.Stat(base + ".json"); err != nil {
				t.Errorf("%s has no input", out)
			}
		}
	}
}
