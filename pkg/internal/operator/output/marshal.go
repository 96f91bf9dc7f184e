// Package output encodes objects as files: YAML, JSON, or a directory.
//
// Only Marshal converts objects to bytes. Formats compute files, and only WriteDir
// writes to the disk.
package output

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Marshal returns the YAML of an object without the fields that only its Go type adds:
// status, nulls, and the empty structs listed in noise.
func Marshal(o manifest.Object) ([]byte, error) {
	fields, err := Fields(o)
	if err != nil {
		return nil, err
	}
	return new(block).document(fields)
}

// YAML returns fields in the form that Marshal writes. sigs.k8s.io/yaml does not
// support U+007F to U+009F: it parses its own JSON as YAML, which allows them only as
// escapes.
func YAML(fields map[string]any) ([]byte, error) { return new(block).document(fields) }

// encode encodes a value that does not come from Fields.
func encode(value any) ([]byte, error) {
	data, err := yaml.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", value, err)
	}
	return data, nil
}

// noise are empty values that the Go types of Argo and Kubernetes marshal although they
// are not set. Other empty values are kept. `emptyDir: {}` has a meaning, and so has
// the empty `host` of an http trigger: without it, Argo Events would write it into the
// Sensor and become the owner of the list of triggers, so that a server-side apply
// (Helm, Argo CD) would conflict.
var noise = map[string]bool{
	"arguments": true, "inputs": true, "outputs": true, "resources": true,
	"strategy": true, "metadata": true, "status": true, "name": true,
	"namespace": true, "schedule": true, "bearerTokenSecret": true,
}

// opaque are maps with arbitrary keys, in which nothing is noise.
var opaque = map[string]bool{
	"data": true, "labels": true, "annotations": true, "matchLabels": true, "openAPIV3Schema": true,
}

// keep reports whether an empty value has a meaning although its key is noise.
func keep(parent, key string) bool { return parent == "subresources" && key == "status" }

func pruneUnder(parent string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if !opaque[key] {
				pruneUnder(key, inner)
			}
			if inner == nil || (noise[key] || parent == "bearerTokenSecret") && empty(inner) && !keep(parent, key) {
				delete(v, key)
			}
		}
	case []any:
		for _, inner := range v {
			pruneUnder(parent, inner)
		}
	}
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case string:
		return v == ""
	}
	return false
}
