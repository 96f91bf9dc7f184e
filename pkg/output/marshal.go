// Package output turns objects into files: YAML, JSON, or a directory.
//
// The rule of this room: objects become bytes in Marshal and nowhere else;
// formats compute files, and only WriteDir touches the disk.
package output

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Marshal returns the YAML of an object without what its Go type adds by
// itself: a status, nulls, and the empty structs listed in noise.
func Marshal(o manifest.Object) ([]byte, error) {
	fields, err := Fields(o)
	if err != nil {
		return nil, err
	}
	return encode(fields)
}

func encode(fields any) ([]byte, error) {
	data, err := yaml.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", fields, err)
	}
	return data, nil
}

// Fields returns the object as Marshal writes it, before it becomes text.
func Fields(o manifest.Object) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", o, err)
	}
	var fields map[string]any
	if err := yaml.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("encoding %T: %w", o, err)
	}
	delete(fields, "status")
	prune(fields)
	return fields, nil
}

// noise are empty values that the Go types of Argo and Kubernetes write without
// being asked. Any other empty value is kept: `emptyDir: {}` means something, and
// so does the empty `host` of an http trigger: Argo Events would write it into the
// Sensor, own the list of triggers from then on, and whoever applies server-side
// (Helm, Argo CD) would have a conflict.
var noise = map[string]bool{
	"arguments": true, "inputs": true, "outputs": true, "resources": true,
	"strategy": true, "metadata": true, "status": true, "name": true,
	"namespace": true, "schedule": true, "bearerTokenSecret": true,
}

// opaque are maps whose keys are the user's, not a type's: nothing in them is noise.
var opaque = map[string]bool{
	"data": true, "labels": true, "annotations": true, "matchLabels": true, "openAPIV3Schema": true,
}

// keep are places whose empty value carries meaning although its key is noise.
func keep(parent, key string) bool { return parent == "subresources" && key == "status" }

func prune(fields map[string]any) { pruneUnder("", fields) }

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
