package simulate

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

const (
	deploymentPath = "/apis/apps/v1/namespaces/default/deployments/sample"
	memcachedPath  = "/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds/sample"
	applyPatch     = "application/apply-patch+yaml"
	mergePatch     = "application/merge-patch+json"
)

// TestDirect applies actions to an operator with http triggers and compares the
// trace.
func TestDirect(t *testing.T) {
	size := func(n int64) map[string]any { return map[string]any{"size": n} }
	tests := []struct {
		name, reason string
		before       func(*testing.T, *Simulation)
		act          func(*testing.T, *Simulation)
	}{
		{
			name: "create", reason: "the operator applies the child and ignores its event",
			act: func(t *testing.T, s *Simulation) { apply(t, s, memcached(size(3))) },
		},
		{
			name: "scale", reason: "only changed fields are written",
			before: func(t *testing.T, s *Simulation) { apply(t, s, memcached(size(3))) },
			act:    func(t *testing.T, s *Simulation) { apply(t, s, memcached(size(5))) },
		},
		{
			name: "again", reason: "a write without a change causes no event",
			before: func(t *testing.T, s *Simulation) { apply(t, s, memcached(size(3))) },
			act:    func(t *testing.T, s *Simulation) { apply(t, s, memcached(size(3))) },
		},
		{
			name: "ready", reason: "the status of the child is copied to its owner, without further events",
			before: func(t *testing.T, s *Simulation) { apply(t, s, memcached(size(3))) },
			act: func(t *testing.T, s *Simulation) {
				code, answer := ask(t, s.Cluster(), "PATCH", deploymentPath+"/status", mergePatch, `{"status":{"readyReplicas":3}}`)
				if code != 200 {
					t.Fatal(answer)
				}
				settle(t, s)
			},
		},
		{
			name: "delete", reason: "the garbage collector deletes the child, whose event finds no owner",
			before: func(t *testing.T, s *Simulation) { apply(t, s, memcached(size(3))) },
			act: func(t *testing.T, s *Simulation) {
				if err := s.Delete(memcached(nil)); err != nil {
					t.Fatal(err)
				}
				settle(t, s)
			},
		},
		{
			name: "dead-letter", reason: "refused requests are retried as the trigger specifies, then the dead-letter trigger records them",
			act: func(t *testing.T, s *Simulation) {
				apply(t, s, memcached(map[string]any{"size": int64(3), "note": "a note"}))
				spec := map[string]any{"size": int64(3), "note": strings.Repeat("long ", 60000)}
				s.trace = nil
				apply(t, s, memcached(spec))
				for _, step := range s.trace { // the dead-letter request itself shows nothing
					if step.Delivery != nil {
						step.Delivery.Transformed = nil
						for i := range step.Delivery.Attempts {
							for j := range step.Delivery.Attempts[i].Calls {
								step.Delivery.Attempts[i].Calls[j].Body = nil
							}
						}
					}
				}
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, "direct.yaml")
			if tt.before != nil {
				tt.before(t, s)
			}
			s.trace = nil
			tt.act(t, s)
			var out bytes.Buffer
			if err := s.Trace().Print(&out); err != nil {
				t.Fatal(err)
			}
			goldenfile.Compare(t, filepath.Join("testdata", "trace", tt.name+".txt"), out.String())
		})
	}
}

// TestFromCluster renders a custom resource as kubectl get prints it: its identity
// stays, and server-side metadata has no effect.
func TestFromCluster(t *testing.T) {
	cr := memcached(map[string]any{"size": int64(3)})
	cr["metadata"] = map[string]any{
		"name": "sample", "namespace": "default", "uid": "4cb4b1e0-7817-4c4d-b2ba-aea52cf35151", "generation": int64(7),
		"resourceVersion": "12", "creationTimestamp": "2026-01-01T00:00:00Z",
		"managedFields": []any{map[string]any{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "cache.example.com/v1alpha1"}},
	}
	cr["status"] = map[string]any{"readyReplicas": int64(3)}
	s := start(t, "direct.yaml")
	for range 2 {
		apply(t, s, cr)
		object, err := s.Get(cr)
		if err != nil {
			t.Fatal(err)
		}
		metadata := object["metadata"].(map[string]any)
		if metadata["uid"] != "4cb4b1e0-7817-4c4d-b2ba-aea52cf35151" || metadata["generation"] != float64(7) {
			t.Errorf("the identity changed: %v", metadata)
		}
		child, err := s.Get(map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "sample"}})
		if err != nil || child == nil {
			t.Fatalf("no child: %v", err)
		}
		owners := child["metadata"].(map[string]any)["ownerReferences"].([]any)
		if uid := owners[0].(map[string]any)["uid"]; uid != metadata["uid"] {
			t.Errorf("the child's owner is %v", uid)
		}
	}
}

// TestSame checks that two simulations of the same objects are equal, independently
// of the clock.
func TestSame(t *testing.T) {
	var traces, objects [2]string
	for i := range traces {
		r, err := Render(context.Background(), Inputs{Objects: operator(t, "direct.yaml")},
			[]Action{{Event: Added, Object: memcached(map[string]any{"size": int64(1)})}})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := r.Trace.Print(&out); err != nil {
			t.Fatal(err)
		}
		data, err := r.YAML()
		if err != nil {
			t.Fatal(err)
		}
		traces[i], objects[i] = out.String(), string(data)
	}
	if traces[0] != traces[1] || objects[0] != objects[1] {
		t.Error("two runs differ")
	}
	if strings.Contains(traces[0]+objects[0], "Bearer") {
		t.Error("the trace contains credentials")
	}
}

// TestUntraced checks that the result of many actions is the same without a trace.
func TestUntraced(t *testing.T) {
	named := func(name, namespace string) map[string]any {
		return map[string]any{
			"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
			"metadata": map[string]any{"name": name, "namespace": namespace}, "spec": map[string]any{"size": int64(2)},
		}
	}
	happenings := []Action{
		{Event: Added, Object: named("one", "a")},
		{Event: Added, Object: named("two", "a")},
		{Event: Deleted, Object: named("one", "a")},
		{Event: Added, Object: named("one", "b")},
		{Event: Added, Object: named("one", "a")}, // once more
	}
	in := Inputs{Objects: operator(t, "direct.yaml")}
	traced, err := Render(context.Background(), in, happenings)
	if err != nil {
		t.Fatal(err)
	}
	in.Untraced = true
	brief, err := Render(context.Background(), in, happenings)
	if err != nil {
		t.Fatal(err)
	}
	if brief.Trace != nil || len(traced.Trace) == 0 {
		t.Errorf("%d steps in the trace, want %d", len(brief.Trace), len(traced.Trace))
	}
	traced.Trace = nil
	if diff := cmp.Diff(traced, brief); diff != "" {
		t.Errorf("without a trace (-with one +without):\n%s", diff)
	}
	if traced.Events == 0 || len(traced.Objects) != 3 { // the children; nothing was written to their owners
		t.Errorf("%d events, %d objects %v", traced.Events, len(traced.Objects), traced.Objects)
	}
}

// TestEndless checks that an operator that triggers itself is stopped.
func TestEndless(t *testing.T) {
	objects := operator(t, "direct.yaml")
	s, err := New(Inputs{Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	sub := &s.subscriptions[0]
	sub.dependencies[0].Transform.JQ = `{go: true, method: "PATCH", type: "application/merge-patch+json",
		path: "/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds/sample",
		body: {metadata: {annotations: {count: .body.metadata.resourceVersion}}}}`
	if err := s.Apply(memcached(map[string]any{"size": int64(1)})); err != nil {
		t.Fatal(err)
	}
	err = s.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "UPDATE of memcacheds.cache.example.com default/sample") {
		t.Errorf("got %v, want an error that names the repeating event", err)
	}
}

// TestRefused checks that refusals of the API server are reported.
func TestRefused(t *testing.T) {
	s := start(t, "direct.yaml")
	invalid := memcached(map[string]any{"size": int64(1)})
	invalid["metadata"].(map[string]any)["name"] = "Not A Name"
	err := s.Apply(invalid)
	var refused *cluster.StatusError
	if !errors.As(err, &refused) || refused.Status != 422 {
		t.Errorf("got %v, want a refusal with 422", err)
	}
}
