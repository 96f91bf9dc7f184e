package v1alpha1

import (
	"bytes"
	_ "embed"
)

//go:generate go run ../../internal/testing/generate/schemagen

//go:embed schema.json
var schemaJSON []byte

// JSONSchema returns the JSON Schema of a definition, for editors. The caller owns it.
func JSONSchema() []byte { return bytes.Clone(schemaJSON) }

//go:embed test.schema.json
var testSchemaJSON []byte

// OperatorTestSchema returns the JSON Schema of a test, for editors. The caller owns it.
func OperatorTestSchema() []byte { return bytes.Clone(testSchemaJSON) }
