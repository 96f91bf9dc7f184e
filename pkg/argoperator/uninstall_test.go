package argoperator_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestUninstallDeletesEverything requires that the stages delete every applied object
// once and in reverse order, and that only the first stage contains an API.
func TestUninstallDeletesEverything(t *testing.T) {
	examples, _ := filepath.Glob(root + "/examples/*/operator.yaml")
	more, _ := filepath.Glob(root + "/testdata/operators/*/operator.yaml")
	var sources []argoperator.Source
	for _, file := range append(examples, more...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, argoperator.Source{Name: filepath.ToSlash(file), Data: data, Dir: os.DirFS(filepath.Dir(file))})
	}
	result := generate(t, sources...)
	var reversed []manifest.Object
	for _, stage := range argoperator.Stages() {
		objects, _ := result.Uninstall(stage)
		if len(objects) == 0 {
			t.Errorf("stage %s deletes nothing", stage)
		}
		for _, o := range objects {
			if crd := o.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition"; crd != (stage == argoperator.StageAPI) {
				t.Errorf("stage %s deletes %s %s", stage, o.GetObjectKind().GroupVersionKind().Kind, o.GetName())
			}
		}
		reversed = append(reversed, objects...)
	}
	applied := result.Objects()
	slices.Reverse(applied)
	slices.SortStableFunc(applied, func(a, b manifest.Object) int { return stageNumber(a) - stageNumber(b) })
	if diff := cmp.Diff(identities(applied), identities(reversed)); diff != "" {
		t.Errorf("-applied, from the end +deleted:\n%s", diff)
	}
}

func stageNumber(o manifest.Object) int {
	if o.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition" {
		return 0
	}
	return 1
}

func identities(objects []manifest.Object) []string {
	var list []string
	for _, o := range objects {
		list = append(list, o.GetObjectKind().GroupVersionKind().Kind+" "+o.GetNamespace()+"/"+o.GetName())
	}
	return list
}

func TestUninstallNotes(t *testing.T) {
	const existingKind = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: guard}
spec:
  api: {existing: {group: example.com, version: v1, kind: Thing, plural: things, scope: Namespaced}}
  children:
  - {name: config, apiVersion: v1, kind: ConfigMap}
  logic: {image: "python:3.13-slim", command: [python3, main.py], files: [main.py]}
  finalizer: {}
`
	const ownKind = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: thing}
spec:
  api: {group: example.com, kind: Thing, versions: [{name: v1, schema: {spec: {text: string}}}]}
  children:
  - name: config
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}
  install: {eventBus: {mode: managed}}
`
	bus := "operator thing: Argo Events keeps the EventBus default until no EventSource and no Sensor uses it"
	for _, tt := range []struct {
		name, reason  string
		text          string
		api, operator []string
	}{
		{
			name: "existing kind", reason: "the operator does not own the API, but sets a finalizer on the custom resources", text: existingKind,
			api: []string{"operator guard did not install the kind Thing: there is no API to delete, and its objects are kept"},
			operator: []string{
				"operator guard: its children are kept until the Thing that owns them is deleted; they have the label app.kubernetes.io/managed-by=guard",
				"operator guard: a Thing with the finalizer example.com/guard-cleanup cannot be deleted until you remove the finalizer",
			},
		},
		{name: "own kind", reason: "everything is deleted, and the bus if nothing else uses it", text: ownKind, operator: []string{bus}},
		{name: "kind of another operator", reason: "the operator that created the kind deletes it", text: ownKind + "---" + existingKind, operator: []string{bus}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result := generate(t, argoperator.Source{
				Name: "operator.yaml", Data: []byte(tt.text), Dir: fstest.MapFS{"main.py": &fstest.MapFile{Data: []byte("print()\n")}},
			})
			objects, notes := result.Uninstall(argoperator.StageAPI)
			if diff := cmp.Diff(tt.api, notes); diff != "" {
				t.Errorf("%s: stage api:\n%s", tt.reason, diff)
			}
			if len(objects) == 0 && len(notes) == 0 {
				t.Error("an empty stage prints nothing")
			}
			if _, notes = result.Uninstall(argoperator.StageOperator); !cmp.Equal(tt.operator, notes) {
				t.Errorf("%s: stage operator:\n%s", tt.reason, cmp.Diff(tt.operator, notes))
			}
		})
	}
}

func generate(t *testing.T, sources ...argoperator.Source) argoperator.Result {
	t.Helper()
	result, err := argoperator.Generate(sources, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Errorf("%s:%d:%d: %s %s: %s", f.File, f.Line, f.Column, f.Severity, f.Code, f.Message)
	}
	return result
}
