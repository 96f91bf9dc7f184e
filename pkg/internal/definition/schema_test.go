package definition

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
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

func TestLegalDefinitionsFitTheJSONSchema(t *testing.T) {
	schema := jsonSchema(t)
	for _, file := range files(t, "ok/*.yaml", "ok/*.json") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
			var v any
			if dec.Decode(&v) != nil {
				break
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
		}
	}
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
	refused := []string{"misspelled-action", "misspelled-expectation", "expectation-in-step", "event-type", "trace", "no-steps", "wrong-kind", "delete-with-what"}
	for _, dir := range []string{"passing", "failing", "wrong"} {
		found, err := filepath.Glob("../../../testdata/tests/" + dir + "/*.yaml")
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
			if dir == "wrong" && !slices.Contains(refused, name) || yaml.Unmarshal(data, &v) != nil {
				continue
			}
			if err := schema.Validate(v); (err == nil) != (dir != "wrong") {
				t.Errorf("%s/%s: %v", dir, name, err)
			}
		}
	}
}
