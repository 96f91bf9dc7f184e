package argoperator_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestMisspeltReferences misspells the name of another child, of a port and of a key wherever an object of the examples
// and ports has it as a value, and requires a warning. It knows no fields that refer to objects, so it finds those that
// the check does not know.
func TestMisspeltReferences(t *testing.T) {
	var files []string
	for _, pattern := range []string{"examples/*/operator.yaml", "testdata/ports/*/operator.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	found, missed := 0, []string{}
	for _, file := range files {
		for _, m := range misspelt(t, file) {
			findings, err := argoperator.Generate([]argoperator.Source{{Name: file, Data: m.definition, Dir: os.DirFS(filepath.Dir(file))}}, argoperator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(findings.Findings, func(f diag.Finding) bool { return f.Code == diag.UnmatchedChild }) {
				found++
			} else {
				missed = append(missed, filepath.Base(filepath.Dir(file))+": "+m.place)
			}
		}
	}
	t.Logf("%d found, missed: %s", found, strings.Join(missed, ", "))
	// An expression over a list decides about two namespaces.
	if found < 40 || len(missed) > 2 {
		t.Errorf("%d found, %d missed", found, len(missed))
	}
}

// misspelling is a definition in which a child refers to an object that does not exist.
type misspelling struct {
	place      string
	definition []byte
}

// misspelt returns the misspellings of a definition, one by one.
func misspelt(t *testing.T, file string) []misspelling {
	t.Helper()
	definition := decodedYAML(t, file)
	children, _ := schema.ValueAt(definition, "spec", "children").([]any)
	names := map[string]bool{}
	for _, c := range children {
		child := c.(map[string]any)
		if name, _ := child["file"].(string); name != "" {
			delete(child, "file")
			child["template"] = decodedYAML(t, filepath.Join(filepath.Dir(file), name))
		}
		if name, _ := schema.ValueAt(child, "template", "metadata", "name").(string); strings.Contains(name, "${") {
			names[name] = true
		}
		for _, field := range []string{"data", "stringData"} {
			data, _ := schema.ValueAt(child, "template", field).(map[string]any)
			for key := range data {
				names[key] = true
			}
		}
		eachText(child["template"], nil, func(path []string, text string, _ func(string)) {
			if isPort(path) {
				names[text] = true
			}
		})
	}
	var out []misspelling
	for _, c := range children {
		template, _ := c.(map[string]any)["template"].(map[string]any)
		kind, _ := template["kind"].(string)
		version, _ := template["apiVersion"].(string)
		if _, known := schema.Builtin(version, kind); !known {
			continue
		}
		eachText(template, nil, func(path []string, text string, put func(string)) {
			if !names[text] || !refers(path) {
				return
			}
			put(text + "x")
			data, err := yaml.Marshal(definition)
			if err != nil {
				t.Fatal(err)
			}
			put(text)
			out = append(out, misspelling{kind + " " + strings.Join(path, "."), data})
		})
	}
	return out
}

// refers reports whether a place of an object may name another one: not the object itself, its labels, or what its
// programs read.
func refers(path []string) bool {
	own := path[0] == "metadata" && path[1] != "namespace"
	free := []string{"matchLabels", "labels", "annotations", "selector", "args", "command", "value", "data", "stringData", "items"}
	return !own && !isPort(path) && !slices.ContainsFunc(path, func(step string) bool { return slices.Contains(free, step) }) &&
		!(len(path) > 2 && path[len(path)-1] == "name" && slices.Contains([]string{"containers", "env"}, path[len(path)-3]))
}

// isPort reports whether a place has the name of a port.
func isPort(path []string) bool {
	return len(path) > 2 && path[len(path)-3] == "ports" && path[len(path)-1] == "name"
}

// eachText visits the texts in a value, with a function that replaces each.
func eachText(value any, path []string, visit func(path []string, text string, put func(string))) {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			if text, is := item.(string); is {
				visit(append(slices.Clone(path), key), text, func(s string) { v[key] = s })
			}
			eachText(item, append(slices.Clone(path), key), visit)
		}
	case []any:
		for i, item := range v {
			if text, is := item.(string); is {
				visit(append(slices.Clone(path), strconv.Itoa(i)), text, func(s string) { v[i] = s })
			}
			eachText(item, append(slices.Clone(path), strconv.Itoa(i)), visit)
		}
	}
}

func decodedYAML(t *testing.T, file string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := yaml.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
