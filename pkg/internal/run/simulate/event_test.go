package simulate

import (
	"encoding/json"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

var schemaV1 = schema.GroupVersion{Version: "v1"}

// TestEventFor checks which events an EventSource publishes for a change.
func TestEventFor(t *testing.T) {
	config := func(version string, labels ...string) cluster.Object {
		metadata := map[string]any{"name": "a-config", "namespace": "ns", "resourceVersion": version}
		if len(labels) > 0 {
			metadata["labels"] = map[string]any{"app": labels[0]}
		}
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}}
	}
	all := []eventsv1.ResourceEventType{eventsv1.ADD, eventsv1.UPDATE, eventsv1.DELETE}
	mine := &eventsv1.ResourceFilter{Labels: []eventsv1.Selector{{Key: "app", Operation: "==", Value: "mine"}}}
	tests := []struct {
		name, reason string
		types        []eventsv1.ResourceEventType
		namespace    string
		filter       *eventsv1.ResourceFilter
		old, new     cluster.Object
		want         string // type, version of the body, version of the old body
	}{
		{"add", "a new object has no old body", all, "", nil, nil, config("1"), "ADD 1 -"},
		{"update", "an update has both", all, "", nil, config("1"), config("2"), "UPDATE 2 1"},
		{"same version", "Argo leaves out what its informer only repeats", all, "", nil, config("1"), config("1"), ""},
		{"delete", "the last state is the body", all, "", nil, config("2"), nil, "DELETE 2 -"},
		{"type", "types that were not asked for are silent", all[:1], "", nil, config("1"), config("2"), ""},
		{"namespace", "one namespace is watched", all, "ns", nil, nil, config("1"), "ADD 1 -"},
		{"other namespace", "and no other", all, "other", nil, nil, config("1"), ""},
		{"label", "it matches", all, "", mine, nil, config("1", "mine"), "ADD 1 -"},
		{"no label", "it does not", all, "", mine, nil, config("1", "yours"), ""},
		{"enters", "an object that comes to match is added", all, "", mine, config("1"), config("2", "mine"), "ADD 2 -"},
		{"leaves", "one that ceases to match is deleted, as it was, under the new version", all, "", mine, config("1", "mine"), config("2"), "DELETE 2 -"},
		{"stays", "one that matches all along is updated", all, "", mine, config("1", "mine"), config("2", "mine"), "UPDATE 2 1"},
		{"prefix", "the name begins so", all, "", &eventsv1.ResourceFilter{Prefix: "a-"}, nil, config("1"), "ADD 1 -"},
		{"other prefix", "it does not", all, "", &eventsv1.ResourceFilter{Prefix: "b-"}, nil, config("1"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, err := watches(&eventsv1.EventSource{Spec: eventsv1.EventSourceSpec{Resource: map[string]eventsv1.ResourceEventSource{
				"config": {
					Namespace: tt.namespace, EventTypes: tt.types, Filter: tt.filter,
					GroupVersionResource: metav1.GroupVersionResource{Version: "v1", Resource: "configmaps"},
				},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			event, seen := found[0].eventFor(nil, cluster.Change{Resource: schema.GroupResource{Resource: "configmaps"}, Old: tt.old, New: tt.new})
			got := ""
			if seen {
				got = summary(t, event)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s:\n%s", tt.reason, diff)
			}
		})
	}
}

func summary(t *testing.T, e Event) string {
	t.Helper()
	var payload map[string]any
	if err := json.Unmarshal(e.Data, &payload); err != nil {
		t.Fatal(err)
	}
	words := []string{payload["type"].(string)}
	for _, name := range []string{"body", "oldBody"} {
		version, _ := at(payload[name], "metadata.resourceVersion").(string)
		if payload[name] == nil {
			version = "-"
		}
		words = append(words, version)
	}
	return strings.Join(words, " ")
}

// TestPayload checks that the payload has exactly the fields of Argo's.
func TestPayload(t *testing.T) {
	s := start(t, "direct.yaml")
	apply(t, s, memcached(map[string]any{"size": int64(1)}))
	var payload map[string]any
	if err := json.Unmarshal(s.Trace()[0].Event.Data, &payload); err != nil {
		t.Fatal(err)
	}
	delete(payload["body"].(map[string]any)["metadata"].(map[string]any), "managedFields")
	want := map[string]any{
		"type": "ADD", "oldBody": nil, "group": "cache.example.com", "version": "v1alpha1", "resource": "memcacheds",
		"body": map[string]any{
			"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "spec": map[string]any{"size": float64(1), "memory": float64(64)},
			"metadata": map[string]any{
				"name": "sample", "namespace": "default", "uid": uid + "1", "resourceVersion": "2", "generation": float64(1),
				"creationTimestamp": "2000-01-01T00:00:01Z",
			},
		},
	}
	if diff := cmp.Diff(want, payload); diff != "" {
		t.Error(diff)
	}
}

// TestNotSimulated checks that unsupported manifests are errors.
func TestNotSimulated(t *testing.T) {
	tests := []struct {
		name   string
		change func(*eventsv1.EventSource, *eventsv1.Sensor)
		want   string
	}{
		{"afterStart", func(e *eventsv1.EventSource, _ *eventsv1.Sensor) {
			entry := e.Spec.Resource["deployments"]
			entry.Filter.AfterStart = true
		}, "filters by time"},
		{"and", func(_ *eventsv1.EventSource, s *eventsv1.Sensor) {
			s.Spec.Triggers[0].Template.Conditions = "cr && child"
		}, "conditions over several events"},
		{"no conditions", func(_ *eventsv1.EventSource, s *eventsv1.Sensor) { s.Spec.Triggers[0].Template.Conditions = "" }, "conditions over several events"},
		{"unknown dependency", func(_ *eventsv1.EventSource, s *eventsv1.Sensor) {
			s.Spec.Triggers[0].Template.Conditions = "cr || other"
		}, "unknown dependency other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objects := operator(t, "direct.yaml")
			tt.change(objects[1].(*eventsv1.EventSource), objects[2].(*eventsv1.Sensor))
			if _, err := New(Inputs{Objects: objects}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error about %q", err, tt.want)
			}
		})
	}
}
