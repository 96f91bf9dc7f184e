package definition

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// jsonSchema is the schema for editors.
func jsonSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	return compiledSchema(t, v1alpha1.JSONSchema())
}

func compiledSchema(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("operator.json", doc); err != nil {
		t.Fatal(err)
	}
	return compiler.MustCompile("operator.json")
}

// TestLegalDefinitionsFitTheJSONSchema covers every definition of the repository.
func TestLegalDefinitionsFitTheJSONSchema(t *testing.T) {
	schema := jsonSchema(t)
	all := files(t, "ok/*.yaml", "ok/*.json")
	for _, pattern := range []string{
		"examples/*/operator.yaml", "testdata/ports/*/operator.yaml", "testdata/operators/*/operator.yaml",
		"testdata/reference/*/operator.yaml", "testdata/reference/definition/*.yaml",
	} {
		found, err := filepath.Glob(filepath.Join("../../../..", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		all = append(all, found...)
	}
	for _, file := range all {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
			var v map[string]any
			if dec.Decode(&v) != nil {
				break
			}
			if v["kind"] != v1alpha1.Kind {
				continue
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestJSONSchemaOfFields compares the JSON Schema of short schemas with Parse.
func TestJSONSchemaOfFields(t *testing.T) {
	schema := jsonSchema(t)
	valid := []string{
		`{f: integer}`, `{f: "integer|minimum=1"}`, `{f: " integer "}`, `{f: "[][]map[string]any"}`, `{f: [string]}`, `{f: [{a: string}]}`, `{f: {"map[string]": {a: port}}}`,
		`{"f | required=true": {a: string}}`, `{"$f-1.x": any}`, `{f: "[]core/v1.EnvVar"}`, `{f: 'string | description="a \"b\" | c" enum=[a, b] pattern="^\w$"'}`,
		`{f: "map[string]string | default={a: b}"}`, `{f: "[]string | default=[a, b] maxItems=2"}`, `{f: "string | default=|x"}`, `{f: "string |"}`,
		"{f: \"integer |\\n minimum=1\"}",
	}
	for _, typ := range shortschema.Types() {
		valid = append(valid, "{f: "+typ.Name+"}")
	}
	for _, m := range shortschema.Markers() {
		valid = append(valid, "{f: '"+m.Example+"'}")
	}
	for _, inserted := range snippets(t) {
		valid = append(valid, "\n  f: "+inserted)
	}
	for _, fields := range valid {
		text := operator("spec: " + fields)
		if _, list := Parse(source.Input{Name: "x", Data: []byte(text)}); list.HasErrors() {
			t.Errorf("Parse rejects %s: %v", fields, list)
		}
		if err := schema.Validate(decodedYAML(t, text)); err != nil {
			t.Errorf("the JSON Schema rejects %s: %v", fields, err)
		}
	}
	invalid := []string{
		`{f: int}`, `{f: strng}`, `{f: Address}`, `{f: "[]core/v1.EnvVars"}`, `{f: [int]}`, `{f: [string, integer]}`, `{f: []}`, `{f: {a: {b: int}}}`, `{f: {"map[string]": int}}`,
		`{f: "integer | minimun=1"}`, `{f: "integer | required"}`, `{f: "integer minimum=1"}`, `{f: 'string | description="a'}`,
		`{f: "[] string"}`, `{f: 1}`, `{f: null}`, `{f: true}`, `{1f: string}`, `{"f | requird=true": {a: string}}`, `{"f g": string}`,
	}
	for _, fields := range invalid {
		text := operator("spec: " + fields)
		if _, list := Parse(source.Input{Name: "x", Data: []byte(text)}); !list.HasErrors() {
			t.Errorf("Parse accepts %s", fields)
		}
		if schema.Validate(decodedYAML(t, text)) == nil {
			t.Errorf("the JSON Schema accepts %s", fields)
		}
	}
	own := strings.Replace(operator("spec: {f: Address, g: '[]int | maxItems=1'}"), "    kind: Test\n", "    kind: Test\n    types: {Address: {street: string}, int: integer}\n", 1)
	if err := schema.Validate(decodedYAML(t, own)); err != nil {
		t.Errorf("the JSON Schema rejects types of the definition: %v", err)
	}
}

// snippets returns what editors insert for fields, with the values that
// change. Those that have none yet are left out.
func snippets(t *testing.T) []string {
	t.Helper()
	var schema struct {
		Defs map[string]struct{ DefaultSnippets []struct{ Body string } } `json:"$defs"`
	}
	if err := json.Unmarshal(v1alpha1.JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	var out []string
	placeholder := regexp.MustCompile(`\$\{1:(([^}\\]|\\.)*)\}`)
	for _, s := range schema.Defs["Field"].DefaultSnippets {
		text := strings.NewReplacer(`\$`, `$`, `\}`, `}`).Replace(placeholder.ReplaceAllString(s.Body, "$1"))
		if !strings.Contains(text, "=$1") && !strings.Contains(text, `"$1"`) && !strings.Contains(text, "exclusive") {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		t.Error("editors insert nothing for a field")
	}
	return out
}

func decodedYAML(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// An editor should report what Parse reports, as far as a schema can express it.
func TestJSONSchemaRejectsWhatParseRejects(t *testing.T) {
	schema := jsonSchema(t)
	for _, name := range []string{"unknown-key", "bad-enum", "wrong-type-scalars", "wrong-kind", "missing-spec", "children"} {
		data, err := os.ReadFile(filepath.Join(testdata, "err", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		if schema.Validate(v) == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}

// TestTestsFitTheirJSONSchema covers what ParseTests accepts and rejects, as far as a
// schema can express it.
func TestTestsFitTheirJSONSchema(t *testing.T) {
	schema := compiledSchema(t, v1alpha1.OperatorTestSchema())
	rejected := []string{"misspelled-action", "misspelled-expectation", "expectation-in-step", "event-type", "trace", "no-steps", "wrong-kind", "delete-with-what"}
	for _, dir := range []string{"passing", "failing", "wrong"} {
		found, err := filepath.Glob("../../../../testdata/tests/" + dir + "/*.yaml")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no files (%v)", dir, err)
		}
		for _, file := range found {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			var v any
			if dir == "wrong" && !slices.Contains(rejected, name) || yaml.Unmarshal(data, &v) != nil {
				continue
			}
			if err := schema.Validate(v); (err == nil) != (dir != "wrong") {
				t.Errorf("%s/%s: %v", dir, name, err)
			}
		}
	}
}
