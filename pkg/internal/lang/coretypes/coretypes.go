// Package coretypes has the schemas of types of Kubernetes, such as core/v1.EnvVar, as
// controller-gen makes them for the schemas of CustomResourceDefinitions.
package coretypes

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// compressed are the schemas in JSON, by name. `make coretypes` writes the file.
//
//go:embed types.json.gz
var compressed []byte

// schemas has the encoded schemas by name. Few definitions use any.
var schemas = sync.OnceValue(func() map[string]json.RawMessage {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic("coretypes: " + err.Error()) // unreachable: a test reads them
	}
	data, err := io.ReadAll(r)
	var all map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		panic("coretypes: " + err.Error()) // unreachable: a test reads them
	}
	return all
})

// Is reports whether a name has the form GROUP/VERSION.TYPE.
func Is(name string) bool { return strings.Contains(name, "/") }

// Names returns the names of the types, sorted.
func Names() []string { return source.SortedKeys(schemas()) }

// Schema returns the schema of a type; nil if there is none of the name. The caller owns
// it.
func Schema(name string) *apiextensionsv1.JSONSchemaProps {
	data, ok := schemas()[name]
	if !ok {
		return nil
	}
	var schema apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(data, &schema); err != nil {
		panic("coretypes: " + err.Error()) // unreachable: a test reads them
	}
	return &schema
}
