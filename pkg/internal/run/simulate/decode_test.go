package simulate

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/manifest"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name, in string
		want     int
		message  string
	}{
		{"one", "a: 1\n", 1, ""},
		{"empty ones", "---\n\n---\na: 1\n---\n# nothing\n---\nb: 2\n", 2, ""},
		{"none", "", 0, ""},
		{"json", `{"a": 9007199254740993}`, 1, ""},
		{"no object", "a: 1\n---\n- b\n", 0, "document 2 is not an object"},
		{"no yaml", "a: [\n", 0, "document 1: "},
		{"twice", "a: 1\na: 2\n", 0, `key "a" already set`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode([]byte(tt.in))
			if tt.message != "" {
				if err == nil || !strings.Contains(err.Error(), tt.message) {
					t.Errorf("got %v, want an error about %q", err, tt.message)
				}
				return
			}
			if err != nil || len(got) != tt.want {
				t.Errorf("got %d objects, %v, want %d", len(got), err, tt.want)
			}
		})
	}
}

// TestSamples checks that the sample is valid and in a watched namespace.
func TestSamples(t *testing.T) {
	objects := operator(t, "direct.yaml")
	source := objects[1].(*eventsv1.EventSource)
	entry := source.Spec.Resource["memcached"]
	entry.Namespace = "team"
	source.Spec.Resource["memcached"] = entry
	samples, err := Samples(objects)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("team", at(samples[0], "metadata.namespace")); diff != "" || len(samples) != 1 {
		t.Errorf("%d samples\n%s", len(samples), diff)
	}
	r, err := Render(context.Background(), Inputs{Objects: objects}, []Action{{Event: Added, Object: samples[0]}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Objects) != 1 || len(r.Trace.Failures()) > 0 {
		t.Errorf("the sample creates %d objects, with %v", len(r.Objects), r.Trace.Failures())
	}
	if _, err := Samples(objects[1:]); err == nil {
		t.Error("a sample without a definition")
	}
}

// TestOutline checks that the trace summarizes a transformed event and decodes
// base64.
func TestOutline(t *testing.T) {
	packed := base64.StdEncoding.EncodeToString([]byte(`{"a":1}`))
	fields := map[string]any{"go": true, "text": "some", "body": map[string]any{"a": 1}, "list": []any{1}, "packed": packed, "dGV4": "dGV4"}
	rest := map[string]any{"go": true, "text": "some", "body": "an object with 1 fields", "list": "a list of 1", "dGV4": "dGV4"}
	for _, passed := range []bool{true, false} {
		want := map[string]any{}
		for name, value := range rest {
			want[name] = value
		}
		if passed {
			want["packed (base64)"] = map[string]any{"a": float64(1)}
		} else {
			want["packed"] = "an object in base64"
		}
		if diff := cmp.Diff(want, outline(fields, passed)); diff != "" {
			t.Errorf("passed %v:\n%s", passed, diff)
		}
	}
}

// TestFailures checks that of several attempts only the last failure is reported.
func TestFailures(t *testing.T) {
	trace := Trace{
		{Event: &Event{Type: "ADD", Object: Name{Resource: "pods", Name: "p"}}},
		{Delivery: &Delivery{Sensor: "s", Dependency: "d", Stopped: "the filter rejects it: go = true"}},
		{Delivery: &Delivery{Sensor: "s", Dependency: "d", Stopped: "the transform failed: no", Lost: true}},
		{Delivery: &Delivery{Sensor: "s", Attempts: []Attempt{
			{Trigger: "a", Failure: "first"}, {Trigger: "a", Failure: "second"}, {Trigger: "b", Failure: "third"},
		}}},
		{Delivery: &Delivery{Sensor: "s", Attempts: []Attempt{{Trigger: "a", Failure: "first"}, {Trigger: "a"}}}},
		{Workflow: &Workflow{
			Namespace: "n", Name: "w", Failure: "work: Error (exit code 1): one\ntwo",
			Containers: []Container{{Output: "one\ntwo\n", ExitCode: 1}},
		}},
	}
	want := []string{
		"dependency d of Sensor s, on ADD of pods p: the transform failed: no",
		"trigger a of Sensor s: second", "trigger b of Sensor s: third", "Workflow n/w: work: Error (exit code 1): two",
	}
	if diff := cmp.Diff(want, Texts(trace.Failures())); diff != "" {
		t.Error(diff)
	}
}

// TestHoldsServedVersions checks that an object in any served version counts as one
// in the watched version.
func TestHoldsServedVersions(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Group = "example.com"
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Two", Plural: "twos"}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v2", Served: true}, {Name: "v3"}}
	source := &eventsv1.EventSource{}
	entry := eventsv1.ResourceEventSource{}
	entry.Group, entry.Version, entry.Resource = "example.com", "v1", "twos"
	source.Spec.Resource = map[string]eventsv1.ResourceEventSource{"two": entry}
	watched := Watched([]manifest.Object{crd, source}, nil)
	for version, want := range map[string]bool{"v1": true, "v2": true, "v3": false, "v4": false} {
		if what, ok := watched.Contains(map[string]any{"apiVersion": "example.com/" + version, "kind": "Two"}); ok != want {
			t.Errorf("%s: %v, want %v", what, ok, want)
		}
	}
}
