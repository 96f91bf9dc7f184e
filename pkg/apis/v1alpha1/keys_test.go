package v1alpha1_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

const root = "../../../"

// TestUnusedKeys compares the keys below spec that no example and no port of another
// project's operator uses with testdata/unused-keys.txt, which has the reason for each.
// A key without a use and without a reason is one that nobody asked for.
func TestUnusedKeys(t *testing.T) {
	data, err := os.ReadFile(root + "testdata/unused-keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if key, reason, _ := strings.Cut(strings.TrimSpace(line), " "); key != "" && key != "#" {
			reasons[key] = strings.TrimSpace(reason)
		}
	}
	known, used := keysOf(reflect.TypeFor[v1alpha1.Spec](), ""), usedKeys(t)
	for _, key := range slices.Sorted(maps.Keys(known)) {
		reason, listed := reasons[key]
		switch {
		case !used[key] && reason == "":
			t.Errorf("%s: no example and no port uses it: use it, remove it, or give the reason", key)
		case used[key] && listed:
			t.Errorf("%s: it is used: remove its line", key)
		}
	}
	for key := range reasons {
		if !known[key] {
			t.Errorf("%s is no key", key)
		}
	}
	t.Logf("%d keys, %d of them unused", len(known), len(reasons))
}

// keysOf returns the paths of the keys of a type. [] stands for each item of a list.
func keysOf(typ reflect.Type, at string) map[string]bool {
	switch typ.Kind() {
	case reflect.Pointer:
		return keysOf(typ.Elem(), at)
	case reflect.Slice:
		return keysOf(typ.Elem(), at+"[]")
	case reflect.Struct:
	default:
		return nil
	}
	keys := map[string]bool{}
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		path := strings.TrimPrefix(at+"."+name, ".")
		keys[path] = true
		maps.Copy(keys, keysOf(typ.Field(i).Type, path))
	}
	return keys
}

// usedKeys returns the paths of all keys below spec in the examples and the ports.
func usedKeys(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for _, pattern := range []string{"examples/*/operator.yaml", "testdata/ports/*/operator.yaml"} {
		files, err := filepath.Glob(root + pattern)
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for documents := yaml.NewDecoder(bytes.NewReader(data)); ; {
				var document map[string]any
				if err := documents.Decode(&document); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				collect(document["spec"], "", used)
			}
		}
	}
	return used
}

func collect(value any, at string, used map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			path := strings.TrimPrefix(at+"."+key, ".")
			used[path] = true
			collect(inner, path, used)
		}
	case []any:
		for _, item := range value {
			collect(item, at+"[]", used)
		}
	}
}
