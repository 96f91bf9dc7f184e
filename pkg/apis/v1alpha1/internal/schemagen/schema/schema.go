// Package schema makes the JSON Schema of a definition from its Go types. The
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

// ID is the $id of the schema, under which editors find it.
const ID = "https://argoperator.dev/schema/v1alpha1/operator.json"

// Generate returns the schema with the comments of the Go files in a directory.
func Generate(dir string) ([]byte, error) {
	r := &jsonschema.Reflector{}
	if err := r.AddGoComments("github.com/argoperator/argoperator/pkg/apis/v1alpha1", dir); err != nil {
		return nil, fmt.Errorf("reading comments: %w", err)
	}
	s := r.Reflect(&v1alpha1.Operator{})
	s.ID = ID
	s.Title = "argoperator definition"
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	return out.Bytes(), nil
}
