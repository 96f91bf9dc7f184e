// Package schema makes the JSON Schemas of what users write from its Go types. The
// rule of this room: every description is a comment of the types; nothing is
// said twice.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// base is where the $id of every schema begins, under which editors find it.
const base = "https://argoperator.dev/schema/v1alpha1/"

// Files are the schemas by the name of their file.
func Files() map[string]func(dir string) ([]byte, error) {
	return map[string]func(dir string) ([]byte, error){
		"schema.json": func(dir string) ([]byte, error) {
			return generate(dir, &v1alpha1.Operator{}, "operator.json", "argoperator definition")
		},
		"test.schema.json": func(dir string) ([]byte, error) {
			return generate(dir, &v1alpha1.OperatorTest{}, "operatortest.json", "argoperator test")
		},
	}
}

// generate returns a schema with the comments of the Go files in a directory.
func generate(dir string, of any, id, title string) ([]byte, error) {
	r := &jsonschema.Reflector{}
	if err := r.AddGoComments("github.com/argoperator/argoperator/pkg/apis/v1alpha1", dir); err != nil {
		return nil, fmt.Errorf("reading comments: %w", err)
	}
	s := r.Reflect(of)
	s.ID = jsonschema.ID(base + id)
	s.Title = title
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	return out.Bytes(), nil
}
