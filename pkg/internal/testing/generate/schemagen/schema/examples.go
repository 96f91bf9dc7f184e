package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// A value is shown where it can be read at a glance, and few of them.
const (
	maxExamples = 3
	maxLength   = 100 // bytes of JSON
)

// root is the repository, seen from the directory of the types.
const root = "../../.."

// addExamples gives the keys of a schema values that the repository's own files
// have, which tests keep right: of the documents of a kind in files that match
// the patterns, in their order.
func addExamples(s *jsonschema.Schema, dir, kind string, patterns ...string) error {
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join(dir, root, pattern))
		if err != nil {
			return fmt.Errorf("looking for examples: %w", err)
		}
		if len(names) == 0 {
			return fmt.Errorf("looking for examples: nothing matches %s", pattern)
		}
		for _, name := range names {
			documents, err := read(name)
			if err != nil {
				return err
			}
			for _, one := range documents {
				if one["kind"] == kind {
					show(s, s.Definitions, one)
				}
			}
		}
	}
	return nil
}

func read(name string) ([]map[string]any, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading an example: %w", err)
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data))
	var list []map[string]any
	for {
		var one map[string]any
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		list = append(list, one)
	}
}

// show adds what a value says to the schema of its keys.
func show(s *jsonschema.Schema, defs jsonschema.Definitions, value any) {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = defs[name]
	}
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			if s.Items != nil {
				show(s.Items, defs, inner)
			}
		}
	case map[string]any:
		if s.Properties == nil {
			return
		}
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			if inner, ok := v[pair.Key]; ok {
				note(pair.Value, inner)
				show(pair.Value, defs, inner)
			}
		}
	}
}

// note remembers a value where the schema does not list them all.
func note(s *jsonschema.Schema, value any) {
	data, err := json.Marshal(value)
	if err != nil || len(data) > maxLength || len(s.Examples) == maxExamples || len(s.Enum) > 0 || s.Type == "boolean" {
		return
	}
	if !slices.ContainsFunc(s.Examples, func(other any) bool { return reflect.DeepEqual(other, value) }) {
		s.Examples = append(s.Examples, value)
	}
}
