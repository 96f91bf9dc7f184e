// Package coretypes has the schemas of types of Kubernetes, such as core/v1.EnvVar, as
// controller-gen makes them for the schemas of CustomResourceDefinitions.
package coretypes

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

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

// Public removes from a decoded schema what only argoperator reads: the name of a type, as its
// title, and its example, of which samples are made.
func Public(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		for _, value := range s {
			Public(value)
		}
		name, _ := s["title"].(string)
		if !Is(name) {
			return
		}
		data, known := schemas()[name]
		if !known {
			return
		}
		delete(s, "title")
		var of struct {
			Example any `json:"example"`
		}
		if err := utiljson.Unmarshal(data, &of); err == nil && reflect.DeepEqual(of.Example, s["example"]) {
			delete(s, "example")
		}
	case []any:
		for _, item := range s {
			Public(item)
		}
	}
}
