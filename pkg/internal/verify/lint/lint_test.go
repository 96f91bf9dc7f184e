package lint

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

const samples = "../../../../testdata/lint"

func lintText(t *testing.T, name, text string, config *Config) diag.List {
	t.Helper()
	list, _ := Manifests([]source.Input{{Name: name, Data: []byte(text)}}, config)
	return list
}

// TestKeyInTheWrongCase requires that the other rules ignore a field with the wrong
// case, as the cluster does.
func TestKeyInTheWrongCase(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(samples, "no-dead-letter.good.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range lintText(t, "sensor.yaml", strings.Replace(string(data), "\n    atLeastOnce: true", "\n    atleastOnce: true", 1), nil) {
		got = append(got, fmt.Sprintf("%d %s", f.Line, f.Code))
	}
	if want := []string{"18 unknown-manifest-field", "19 retry-strategy-ignored", "20 invalid-manifest"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestFixedChildNameInTemplatedNamespace covers tags in a child's namespace: the
// custom resource's name tells children apart, its namespace does not.
func TestFixedChildNameInTemplatedNamespace(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(samples, "fixed-child-name.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]bool{
		"{{workflow.parameters.name}}": false, "team-{{workflow.parameters.text}}": false,
		"{{workflow.parameters.namespace}}": true, "'{{workflow.namespace}}'": true, "default": true,
	} {
		text := strings.Replace(string(data), "          name: state\n", "          name: state\n          namespace: "+namespace+"\n", 1)
		found := slices.ContainsFunc(lintText(t, "sensor.yaml", text, nil), func(f diag.Finding) bool { return f.Code == "fixed-child-name" })
		if found != want {
			t.Errorf("namespace %s: found %v, want %v", namespace, found, want)
		}
	}
}

// TestRules requires that each rule and no other reports its bad example, and that its
// good example has no findings.
func TestRules(t *testing.T) {
	all := &Config{Profile: strict, Targets: TargetsConfig{ArgoWorkflows: "4.0"}}
	for _, rule := range Rules() {
		if rule.Code == "too-large-for-pod" {
			continue // TestTooLarge covers it, because its sample would be large
		}
		file := filepath.Join(samples, rule.Code+".yaml")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s has no sample: %v", rule.Code, err)
			continue
		}
		list := lintText(t, rule.Code+".yaml", string(data), all)
		if len(list) == 0 {
			t.Errorf("%s does not report its sample", rule.Code)
		}
		for _, f := range list {
			if f.Code != rule.Code || (f.Severity == diag.Warning) != rule.Warning {
				t.Errorf("%s: %s of %s at %d:%d: %s", rule.Code, f.Severity, f.Code, f.Line, f.Column, f.Message)
			}
		}
		var out bytes.Buffer
		if err := diag.Text(&out, list, func(string) []byte { return data }); err != nil {
			t.Fatal(err)
		}
		goldenfile.Compare(t, filepath.Join(samples, rule.Code+".out"), out.String())
		good, err := os.ReadFile(filepath.Join(samples, rule.Code+".good.yaml"))
		if err != nil {
			t.Errorf("%s has no good example: %v", rule.Code, err)
		}
		for _, f := range lintText(t, rule.Code+".good.yaml", string(good), all) {
			t.Errorf("%s.good.yaml:%d:%d: %s [%s]", rule.Code, f.Line, f.Column, f.Message, f.Code)
		}
		for what, text := range map[string]string{"summary": rule.Summary, "why": rule.Why} {
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: its %s is not a sentence: %q", rule.Code, what, text)
			}
		}
	}
}

// TestSamplesHaveRules requires that every sample has a rule and that every code is
// unique.
func TestSamplesHaveRules(t *testing.T) {
	codes := []string{"argo-examples"}
	for _, rule := range Rules() {
		if slices.Contains(codes, rule.Code) {
			t.Errorf("two rules have the code %s", rule.Code)
		}
		codes = append(codes, rule.Code)
	}
	for _, c := range diag.Codes() {
		if slices.Contains(codes, c.Code) {
			t.Errorf("%s is also the code of a finding in definitions", c.Code)
		}
	}
	files, err := os.ReadDir(samples)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if code, _, _ := strings.Cut(file.Name(), "."); !file.IsDir() && !slices.Contains(codes, code) {
			t.Errorf("%s: no rule has the code %s", file.Name(), code)
		}
	}
}

func TestTooLarge(t *testing.T) {
	sensor := func(size int) string {
		return `{apiVersion: argoproj.io/v1alpha1, kind: Sensor, metadata: {name: large}, spec: {
  dependencies: [{name: d, eventSourceName: s, eventName: e, transform: {jq: "{text: \"` + strings.Repeat("x", size) + `\"}"}}],
  triggers: [{template: {name: t, log: {}}}]}}`
	}
	for size, want := range map[int]string{90_000: "", 100_000: "too-large-for-pod"} {
		var codes []string
		for _, f := range lintText(t, "x.yaml", sensor(size), nil) {
			codes = append(codes, f.Code)
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("jq of %d bytes: %q, want %q", size, got, want)
		}
	}
}

// TestArgoExamples lints the examples of Argo Events and Argo Workflows. The listed
// errors in them were reviewed and are correct.
func TestArgoExamples(t *testing.T) {
	var out strings.Builder
	for _, module := range []string{"github.com/argoproj/argo-events", "github.com/argoproj/argo-workflows/v3"} {
		root := examplesOf(t, module)
		var files []source.Input
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			data, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			files = append(files, source.Input{Name: filepath.ToSlash(name), Data: data, Lenient: true})
			return err
		})
		if err != nil || len(files) < 100 {
			t.Fatalf("%d examples in %s: %v", len(files), root, err)
		}
		list, _ := Manifests(files, nil)
		wrong := map[string]bool{}
		var lines strings.Builder
		for _, f := range list.Only(diag.Error) {
			wrong[f.File] = true
			fmt.Fprintf(&lines, "%s:%d:%d: %s [%s]\n", f.File, f.Line, f.Column, f.Message, f.Code)
		}
		fmt.Fprintf(&out, "# %s: %d files, errors in %d\n%s", module, len(files), len(wrong), &lines)
	}
	goldenfile.Compare(t, filepath.Join(samples, "argo-examples.out"), out.String())
}

// TestTargets requires that a field is deprecated only in versions that have its
// plural form.
func TestTargets(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(samples, "deprecated-field.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]int{"": 2, "3.5": 0, "3.6": 2, "v3.7.18": 2, "4.0": 2} {
		if list := lintText(t, "x.yaml", string(data), &Config{Targets: TargetsConfig{ArgoWorkflows: version}}); len(list) != want {
			t.Errorf("for Argo Workflows %q: %d findings, want %d", version, len(list), want)
		}
	}
}

// TestArgoKinds requires that lint decodes each kind of which it reports a near miss.
func TestArgoKinds(t *testing.T) {
	for _, kind := range argoKinds {
		if argo.NewObject(schema.FromAPIVersionAndKind(argoVersion, kind)) == nil {
			t.Errorf("%s has no type", kind)
		}
	}
}

func TestHolds(t *testing.T) {
	for text, want := range map[string]bool{
		"apiVersion: argoproj.io/v1alpha1\nkind: Sensor\n":                                   true,
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: argoproj.io/v1alpha1, kind: X}]\n": true,
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n":                             false,
		"apiVersion: v1\nkind: Pod\n":                                                        false,
		"apiVersion: argoproj.io/v1alpha1\nkind: Sensor\nmetadata:\n\tname: x\n":             true,
		"{{- if .Values.x }}\napiVersion: argoproj.io/v1alpha1\nkind: Sensor\n{{- end }}\n":  true,
		"a: b": false,
		"":     false,
	} {
		if got := ContainsManifest(source.Input{Name: "x.yaml", Data: []byte(text), Lenient: true}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// FuzzManifests requires that no input causes a panic, and that every finding has a
// position in the file.
func FuzzManifests(f *testing.F) {
	files, err := filepath.Glob(samples + "/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := source.Input{Name: "x.yaml", Data: []byte(text)}
		list, _ := Manifests([]source.Input{in}, nil)
		lines := strings.Count(text, "\n") + 1
		for _, found := range list {
			if found.Line > lines || found.Code == "" || found.Message == "" {
				t.Errorf("%+v in %d lines", found, lines)
			}
		}
		Fixed([]source.Input{in}, nil)
	})
}

func TestUserTags(t *testing.T) {
	for text, want := range map[string]string{
		"cat {{inputs.artifacts.text.path}} > {{ outputs.parameters.size.path }}": "",
		"cat {{inputs.artifacts.text.path}}; echo {{inputs.parameters.name}}":     "{{inputs.parameters.name}}",
		"echo {{workflow.name}} {{pod.name}}":                                     "",
		"echo {{item.path}}":                                                      "{{item.path}}",
		"echo {{=inputs.parameters.a + '.path'}}":                                 "{{=inputs.parameters.a + '.path'}}",
		"echo {{steps.first.outputs.result}}":                                     "{{steps.first.outputs.result}}",
	} {
		if got := strings.Join(userTags(text), " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestConfigSchema requires that the schema of a configuration has the keys that ReadConfig knows.
func TestConfigSchema(t *testing.T) {
	keys := func(of any) []string {
		var out []string
		for i := range reflect.TypeOf(of).NumField() {
			if key := reflect.TypeOf(of).Field(i).Tag.Get("yaml"); key != "-" {
				out = append(out, key)
			}
		}
		slices.Sort(out)
		return out
	}
	schema := configSchema()
	for name, of := range map[string]struct {
		schema property
		want   []string
	}{
		"the file": {schema, keys(Config{})},
		"targets":  {schema.Properties["targets"], keys(TargetsConfig{})},
		"a rule":   {*schema.Properties["rules"].Items, keys(RuleConfig{})},
	} {
		if got := slices.Sorted(maps.Keys(of.schema.Properties)); !slices.Equal(got, of.want) {
			t.Errorf("%s has the keys %v, want %v", name, got, of.want)
		}
	}
}

// TestBooleanWords covers the words that YAML 1.1 reads as booleans.
func TestBooleanWords(t *testing.T) {
	const text = "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: w}\nspec:\n  arguments: {parameters: [{name: %s}]}\n"
	for word, want := range map[string]string{
		"n": "write 'n': YAML reads n as a boolean", "Off": "write 'Off': YAML reads Off as a boolean", "true": wrongTypeFix,
	} {
		list := lintText(t, "w.yaml", fmt.Sprintf(text, word), nil)
		if len(list) != 1 || list[0].Hint != want {
			t.Errorf("%s: %v, want the hint %q", word, list, want)
		}
	}
	if list := lintText(t, "w.yaml", fmt.Sprintf(text, "'n'"), nil); len(list) > 0 {
		t.Errorf("in quotes: %v", list)
	}
}

// TestLabelsOfWatches requires that the operations of label filters are read as Argo Events reads them.
func TestLabelsOfWatches(t *testing.T) {
	const text = "apiVersion: argoproj.io/v1alpha1\nkind: EventSource\nmetadata: {name: s}\nspec:\n  template: {serviceAccountName: s}\n" +
		"  resource:\n    r:\n      version: v1\n      resource: pods\n      eventTypes: [ADD]\n      filter: {labels: [%s]}\n"
	for label, legal := range map[string]bool{
		"{key: a, value: b}":                       true,
		"{key: a, operation: in, value: 'b,c'}":    true,
		"{key: a, operation: notin, value: b}":     true,
		"{key: a, operation: exists}":              true,
		"{key: a, operation: '!'}":                 true,
		"{key: a, value: 'b,c'}":                   false,
		"{key: a, operation: exists, value: b}":    false,
		"{key: 'a b', operation: in, value: b}":    false,
		"{key: a, operation: like, value: b}":      false,
		"{key: a, operation: in, value: 'b, c d'}": false,
	} {
		if list := lintText(t, "s.yaml", fmt.Sprintf(text, label), nil); list.HasErrors() == legal {
			t.Errorf("%s: %v, want an error: %v", label, list, !legal)
		}
	}
}
