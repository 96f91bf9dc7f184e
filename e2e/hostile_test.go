//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// corpus are the hostile texts and objects that the simulator is tested with too.
const corpus = "../testdata/hostile"

var (
	echoes = schema.GroupVersionResource{Group: "hostile.example.com", Version: "v1", Resource: "echoes"}
	things = schema.GroupVersionResource{Group: "things.example.com", Version: "v1", Resource: "things"}
)

// thingsCRD is the kind of a child that takes anything.
const thingsCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.things.example.com"},
"spec":{"group":"things.example.com","scope":"Namespaced","names":{"kind":"Thing","plural":"things"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// TestHostile sends text that looks like code through every engine, and compares the
// result.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	t.Parallel()
	for _, s := range []struct {
		name, definition string
		together         bool // in few custom resources: each is a pod
	}{
		{"direct/echo", corpus, false},
		{"workflow/echo", corpus, true},
		{"workflow/echo-logic", filepath.Join(corpus, "logic"), true},
		{"worker/echo", corpus, true},
		{"worker/echo-logic", filepath.Join(corpus, "logic"), true},
	} {
		t.Run(s.name, func(t *testing.T) {
			c := connect(t)
			run(t, []byte(thingsCRD), "kubectl", "apply", "-f", "-")
			run(t, nil, "kubectl", "wait", "--for=condition=Established", "crd/things.things.example.com", "--timeout=60s")
			engine, _, _ := strings.Cut(s.name, "/")
			o := c.install(t, s.name, variant(t, s.definition, "  reconcile: {engine: "+engine+"}\n"))
			measured := record(t, "hostile", s.name)
			specs := hostileSpecs(t, s.together)
			carried, refused := 0, 0
			for name, spec := range specs {
				made := o.create(t, "hostile.example.com/v1", echoes.Resource, nsA, name, spec)
				if o.carries(t, made) {
					carried++
				} else {
					refused++
				}
			}
			measured("%d custom resources arrived byte for byte, %d were rejected with a message in the status", carried, refused)
		})
	}
}

// hostileAnnotations: the example of the steps engine has no field for a text,
// but every custom resource has annotations.
func hostileAnnotations(t *testing.T, w *world) {
	texts := shortTexts(t)
	cr := w.make(t, "annotated", 0)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": texts}, "spec": map[string]any{"size": 1}})
	if err != nil {
		t.Fatal(err)
	}
	w.merge(t, w.subject.kind, cr, string(patch))
	w.has(t, cr, 1)
	w.measured("a custom resource with %d hostile annotations has its child", len(texts))
}

// hostileSpecs are the specs of the custom resources, by name.
func hostileSpecs(t *testing.T, together bool) map[string]map[string]any {
	t.Helper()
	specs := map[string]map[string]any{}
	files, err := filepath.Glob(filepath.Join(corpus, "texts", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	all := map[string]any{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, text := strings.TrimSuffix(filepath.Base(file), ".txt"), string(data)
		if len(text) < 1000 {
			all[name] = text
		}
		spec := map[string]any{"text": text, "words": map[string]any{"word": text}}
		if len(text) > 100_000 {
			delete(spec, "text") // more than once is more than a bus takes at a time
		}
		if len(text) >= 1000 || !together {
			specs[name] = spec
		}
	}
	specs["all"] = map[string]any{"text": "all", "words": all}
	objects, err := filepath.Glob(filepath.Join(corpus, "objects", "*.json"))
	if err != nil || len(objects) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range objects {
		specs["object-"+strings.TrimSuffix(filepath.Base(file), ".json")] = map[string]any{"text": "object", "any": object(t, file)}
	}
	return specs
}

func object(t *testing.T, file string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var o unstructured.Unstructured
	wrapped := fmt.Sprintf(`{"apiVersion":"v1","kind":"Any","any":%s}`, data)
	if err := o.UnmarshalJSON([]byte(wrapped)); err != nil { // whole numbers stay whole
		t.Fatalf("%s: %v", file, err)
	}
	return nestedMap(&o, "any")
}

func shortTexts(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name, text := range nestedMap(&unstructured.Unstructured{Object: hostileSpecs(t, true)["all"]}, "words") {
		out["hostile.example.com/"+name] = text
	}
	return out
}

// carries waits until the operator is done with a custom resource, and compares
// the children with it. False: it was refused, and the status says so.
func (o *operator) carries(t *testing.T, cr *unstructured.Unstructured) bool {
	t.Helper()
	var said string
	o.cluster.await(t, "the operator to be done with "+cr.GetName(), slow, echoes, nsA, func(s seen) bool {
		now := s.by(cr.GetUID())
		status, reason, message := condition(now, "Ready")
		said = reason + ": " + message
		return current(now, "True") || status == "False" && (reason == "Failed" || reason == "ReconcileFailed")
	})
	if !strings.Contains(said, "Failed") {
		texts := o.named(t, configMaps, cr.GetName()+"-texts")
		thing := o.named(t, things, cr.GetName()+"-things")
		if got, want := nested(texts, "data", "text"), nested(cr, "spec", "text"); got != want {
			t.Errorf("%s: text is %.200q, not %.200q", cr.GetName(), got, want)
		}
		for _, field := range []string{"words", "any"} {
			got, _, _ := unstructured.NestedFieldNoCopy(thing.Object, "spec", field)
			want, _, _ := unstructured.NestedFieldNoCopy(cr.Object, "spec", field)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is %.300v, not %.300v", cr.GetName(), field, got, want)
			}
		}
		return true
	}
	t.Logf("%s is refused: %.300s", cr.GetName(), said)
	return false
}

func (o *operator) named(t *testing.T, gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	t.Helper()
	object, err := o.cluster.objects.Resource(gvr).Namespace(nsA).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object
}
