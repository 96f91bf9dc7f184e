// Package schema generates the JSON Schemas of definitions and tests from the Go types.
//
// Its rule: every text has one source. Descriptions, defaults and versions are in the
// comments of the types, examples in testdata/reference, and the types and markers of a
// short schema in pkg/internal/lang/shortschema.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// base is where the $id of every schema begins, under which editors find it.
const base = "https://argoperator.dev/schema/v1alpha1/"

// Files are the schemas by the name of their file.
func Files() map[string]func(dir string) ([]byte, error) {
	return map[string]func(dir string) ([]byte, error){
		"schema.json": func(dir string) ([]byte, error) {
			return generate(dir, &v1alpha1.Operator{}, v1alpha1.Kind, "argoperator definition",
				"testdata/reference/website/operator.yaml", "testdata/reference/definition/*.yaml", "testdata/reference/clock/operator.yaml")
		},
		"test.schema.json": func(dir string) ([]byte, error) {
			return generate(dir, &v1alpha1.OperatorTest{}, v1alpha1.TestKind, "argoperator test", "testdata/reference/*/tests/*.yaml")
		},
	}
}

// generate returns the schema of a kind, with the comments of the Go files in a
// directory, and with values from files.
func generate(dir string, of any, kind, title string, files ...string) ([]byte, error) {
	r := &jsonschema.Reflector{}
	if err := r.AddGoComments("github.com/argoperator/argoperator/pkg/apis/v1alpha1", dir, jsonschema.WithFullComment()); err != nil {
		return nil, fmt.Errorf("reading comments: %w", err)
	}
	s := r.Reflect(of)
	if err := describe(s.Definitions); err != nil {
		return nil, err
	}
	s.ID = jsonschema.ID(base + strings.ToLower(kind) + ".json")
	s.Title = title
	if kind == v1alpha1.Kind {
		addFields(s.Definitions)
	}
	if err := addExamples(s, dir, kind, files...); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	return out.Bytes(), nil
}
