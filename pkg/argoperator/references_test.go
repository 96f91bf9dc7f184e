package argoperator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestMisspelledReferences misspells the name of another child, of a port and of a key wherever an object of the examples
// and ports has it as a value, and requires a warning. It knows no fields that refer to objects, so it finds those that
// the check does not know.
func TestMisspelledReferences(t *testing.T) {
	found, missed := 0, []string{}
	for _, file := range examplesAndPorts(t) {
		for _, m := range misspellings(t, file) {
			if slices.ContainsFunc(m.findings(t), func(f diag.Finding) bool { return f.Code == diag.UnmatchedChild }) {
				found++
			} else {
				missed = append(missed, m.name())
			}
		}
	}
	t.Logf("%d found, missed: %s", found, strings.Join(missed, ", "))
	// An expression decides which account a Pod names.
	if found < 40 || len(missed) > 1 {
		t.Errorf("%d found, %d missed", found, len(missed))
	}
}

// TestMistakesInTemplates makes mistakes in the templates of built-in kinds, one by one: an unknown field, a value of
// another type, and a text that is none of the permitted ones. Each has to be found, whether or not the template waits for
// something.
func TestMistakesInTemplates(t *testing.T) {
	found, missed := map[string]int{}, []string{}
	made := map[string]bool{} // by kind of the object and place, because each takes a while
	for _, file := range examplesAndPorts(t) {
		definition := withTemplates(t, file)
		right := misspelling{file, "", marshalled(t, definition)}.findings(t)
		eachTemplate(definition, func(template map[string]any) {
			for _, m := range mistakes(template) {
				id := fmt.Sprint(m.kind, template["kind"], m.at)
				if made[id] {
					continue
				}
				made[id] = true
				undo := m.make()
				wrong := misspelling{file, m.kind + " " + strings.Join(m.at, "."), marshalled(t, definition)}
				undo()
				if slices.ContainsFunc(wrong.findings(t), func(f diag.Finding) bool { return !slices.ContainsFunc(right, similar(f)) }) {
					found[m.kind]++
				} else {
					missed = append(missed, wrong.name())
				}
			}
		})
	}
	t.Logf("found: %v, missed: %s", found, strings.Join(missed, ", "))
	for kind, least := range map[string]int{"unknown field": 100, "another type": 100, "unknown word": 15} {
		if found[kind] < least {
			t.Errorf("%s: only %d are found", kind, found[kind])
		}
	}
	for _, m := range missed {
		t.Errorf("not found: %s", m)
	}
}

// similar matches findings that say the same.
func similar(f diag.Finding) func(diag.Finding) bool {
	return func(other diag.Finding) bool { return f.Code == other.Code && f.Message == other.Message }
}

// mistake is one in a template.
type mistake struct {
	kind string
	at   []string
	make func() (undo func())
}

// mistakes returns the mistakes of a template: one of each kind for each path without its indexes.
func mistakes(template map[string]any) []mistake {
	version, _ := template["apiVersion"].(string)
	kind, _ := template["kind"].(string)
	is, _ := schema.Builtin(version, kind)
	var out []mistake
	var visit func(object map[string]any, of schema.Type, at []string)
	visit = func(object map[string]any, of schema.Type, at []string) {
		for key, value := range object {
			at := append(slices.Clip(at), key)
			field, known := of.Field(key)
			if !known || of.Open() || len(at) == 1 && key != "spec" {
				continue
			}
			out = append(out, mistake{"unknown field", at, func() func() {
				object[key+"x"] = value
				delete(object, key)
				return func() { object[key] = value; delete(object, key+"x") }
			}})
			switch v := value.(type) {
			case map[string]any:
				visit(v, field, at)
			case []any:
				if first, isMap := v[0].(map[string]any); isMap {
					visit(first, field.Item(), append(slices.Clip(at), "0"))
				}
			case string:
				if word.MatchString(v) && field.Kind() == schema.String && key != "name" && key != "path" {
					out = append(out, mistake{"unknown word", at, setting(object, key, v+"x")})
				}
				continue
			}
			if field.Kind() != schema.Unknown && field.Kind() != schema.String && field.Kind() != schema.IntOrString {
				out = append(out, mistake{"another type", at, setting(object, key, "text")})
			}
		}
	}
	visit(template, is, nil)
	return out
}

// word matches what looks like one of a few permitted words.
var word = regexp.MustCompile(`^[A-Z][a-z]+([A-Z][a-z]+)*$`)

func setting(object map[string]any, key string, wrong any) func() (undo func()) {
	return func() func() {
		right := object[key]
		object[key] = wrong
		return func() { object[key] = right }
	}
}

func examplesAndPorts(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"examples/*/operator.yaml", "testdata/ports/*/operator.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// misspelling is a definition with a mistake at a place.
type misspelling struct {
	file, place string
	definition  []byte
}

func (m misspelling) name() string { return filepath.Base(filepath.Dir(m.file)) + ": " + m.place }

func (m misspelling) findings(t *testing.T) diag.List {
	t.Helper()
	source := argoperator.Source{Name: m.file, Data: m.definition, Dir: os.DirFS(filepath.Dir(m.file))}
	result, err := argoperator.Generate([]argoperator.Source{source}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Findings
}

// misspellings returns the misspellings of a definition, one by one.
func misspellings(t *testing.T, file string) []misspelling {
	t.Helper()
	definition := withTemplates(t, file)
	names := map[string]bool{}
	children, _ := schema.ValueAt(definition, "spec", "children").([]any)
	for _, child := range children {
		if name, _ := schema.ValueAt(child, "template", "metadata", "name").(string); strings.Contains(name, "${") {
			names[name] = true
		}
		for _, field := range []string{"data", "stringData"} {
			data, _ := schema.ValueAt(child, "template", field).(map[string]any)
			for key := range data {
				names[key] = true
			}
		}
		eachText(schema.ValueAt(child, "template"), nil, func(path []string, text string, _ func(string)) {
			if isPort(path) {
				names[text] = true
			}
		})
	}
	var out []misspelling
	eachTemplate(definition, func(template map[string]any) {
		eachText(template, nil, func(path []string, text string, put func(string)) {
			if !names[text] || !refers(path) {
				return
			}
			put(text + "x")
			place := fmt.Sprint(template["kind"], " ", strings.Join(path, "."))
			out = append(out, misspelling{file, place, marshalled(t, definition)})
			put(text)
		})
	})
	return out
}

// withTemplates returns a definition with the templates of its files.
func withTemplates(t *testing.T, file string) map[string]any {
	t.Helper()
	definition := decodedYAML(t, file)
	children, _ := schema.ValueAt(definition, "spec", "children").([]any)
	for _, c := range children {
		child := c.(map[string]any)
		if name, _ := child["file"].(string); name != "" {
			delete(child, "file")
			child["template"] = decodedYAML(t, filepath.Join(filepath.Dir(file), name))
		}
	}
	return definition
}

// eachTemplate visits the templates of built-in kinds.
func eachTemplate(definition map[string]any, visit func(template map[string]any)) {
	children, _ := schema.ValueAt(definition, "spec", "children").([]any)
	for _, child := range children {
		template, _ := schema.ValueAt(child, "template").(map[string]any)
		kind, _ := template["kind"].(string)
		version, _ := template["apiVersion"].(string)
		if _, known := schema.Builtin(version, kind); known {
			visit(template)
		}
	}
}

func marshalled(t *testing.T, definition map[string]any) []byte {
	t.Helper()
	data, err := yaml.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	return data
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
	return mappingOf(t, string(data))
}
