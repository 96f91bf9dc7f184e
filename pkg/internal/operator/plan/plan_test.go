package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
)

func TestSchedule(t *testing.T) {
	for every, want := range map[time.Duration]string{
		time.Minute:      "* * * * *",
		30 * time.Minute: "*/30 * * * *",
		time.Hour:        "0 * * * *",
		6 * time.Hour:    "0 */6 * * *",
		24 * time.Hour:   "0 0 * * *",
	} {
		if got := schedule(every); got != want {
			t.Errorf("schedule(%v) = %q, want %q", every, got, want)
		}
	}
}

// object is shorthand for the JSON of an object.
type object = map[string]any

func cr(generation int, more object) object {
	meta := object{"name": "my.cache", "namespace": "shop", "generation": generation}
	for key, value := range more {
		meta[key] = value
	}
	return object{"metadata": meta, "spec": object{"size": 3}, "status": object{"x": generation}}
}

func testPlan(finalizer string) *configured {
	p := &configured{}
	p.Operator.Name = "memcached"
	p.Reconcile.Finalizer = finalizer
	p.API.Kind = Kind{Group: "cache.example.com", Version: "v1", Kind: "Memcached", Namespaced: true}
	p.Children = []Child{{Name: "deployment", Kind: deployment}}
	return p
}

var deployment = Kind{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true, StatusSubresource: true}

func evaluate(t *testing.T, jq string, event object) object {
	t.Helper()
	query, err := gojq.Parse(jq)
	if err != nil {
		t.Fatalf("%v in\n%s", err, jq)
	}
	got, ok := query.Run(map[string]any(event)).Next()
	if err, bad := got.(error); bad || !ok {
		t.Fatalf("%v in\n%s", err, jq)
	}
	return got.(map[string]any)
}

func TestParentEvents(t *testing.T) {
	deleted := object{"deletionTimestamp": "2026-01-01T00:00:00Z"}
	kept := object{"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": []any{"example.com/x"}}
	noGeneration := func(value string) object {
		return object{"metadata": object{"name": "c", "namespace": "n", "resourceVersion": value}, "data": object{"k": value}}
	}
	tests := []struct {
		name, reason, finalizer string
		event                   object
		want                    bool
	}{
		{"add", "a new object, or the replay after a restart", "", object{"type": "ADD", "body": cr(1, nil), "oldBody": nil}, true},
		{"status write", "the operator's own status write must not start a reconcile", "", object{"type": "UPDATE", "body": cr(1, nil), "oldBody": cr(1, object{"resourceVersion": "1"})}, false},
		{"edit", "the spec changed", "", object{"type": "UPDATE", "body": cr(2, nil), "oldBody": cr(1, nil)}, true},
		{"label", "logic may read labels", "", object{"type": "UPDATE", "body": cr(1, object{"labels": object{"a": "b"}}), "oldBody": cr(1, nil)}, true},
		{"own finalizer", "the user did not add it", "example.com/x", object{"type": "UPDATE", "body": cr(1, object{"finalizers": []any{"example.com/x"}}), "oldBody": cr(1, nil)}, false},
		{"deleted, no finalizer", "garbage collection deletes the children", "", object{"type": "UPDATE", "body": cr(2, deleted), "oldBody": cr(1, nil)}, false},
		{"deleted, finalizer", "the finalizer must run", "example.com/x", object{"type": "UPDATE", "body": cr(2, kept), "oldBody": cr(1, nil)}, true},
		{"deleted, foreign finalizer", "the operator's finalizer ran already", "example.com/y", object{"type": "UPDATE", "body": cr(2, kept), "oldBody": cr(1, nil)}, false},
		{"last-applied annotation", "kubectl writes it", "", object{"type": "UPDATE", "body": cr(1, object{"annotations": object{"kubectl.kubernetes.io/last-applied-configuration": "{}"}}), "oldBody": cr(1, nil)}, false},
		{"no generation, changed", "a ConfigMap has no generation", "", object{"type": "UPDATE", "body": noGeneration("2"), "oldBody": noGeneration("1")}, true},
		{"no generation, same", "only the resource version differs", "", object{"type": "UPDATE", "body": noGeneration("1"), "oldBody": noGeneration("1")}, false},
		{"tombstone", "after a relist the object is in the field Obj", "", object{"type": "ADD", "body": object{"Key": "shop/my.cache", "Obj": cr(1, nil)}, "oldBody": nil}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := evaluate(t, parentJQ(testPlan(tt.finalizer), 0), tt.event)
			if got["go"] != tt.want {
				t.Errorf("go = %v, want %v: %s", got["go"], tt.want, tt.reason)
			}
		})
	}
	got := evaluate(t, parentJQ(testPlan(""), 0), object{"type": "ADD", "body": cr(1, nil), "oldBody": nil})
	want := object{"go": true, "key": "shop.my.cache", "name": "memcached-my-cache-"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParentEventOfClusterScope(t *testing.T) {
	got := evaluate(t, parentJQ(testPlan(""), 0), object{"type": "ADD", "body": object{"metadata": object{"name": "n"}}, "oldBody": nil})
	if got["key"] != ".n" {
		t.Errorf("key = %q, want .n", got["key"])
	}
}

func TestParentIsNoChild(t *testing.T) {
	p := testPlan("")
	p.Children = []Child{{Name: "copy", Kind: Kind{Group: "cache.example.com", Kind: "Memcached"}}}
	ours := cr(1, object{"labels": object{ManagedBy: "memcached"}})
	if got := evaluate(t, parentJQ(p, 0), object{"type": "ADD", "body": ours, "oldBody": nil}); got["go"] != false {
		t.Error("a child of the watched kind starts a reconcile of itself")
	}
}

func TestWorkflowNameFits(t *testing.T) {
	long := ""
	for range 253 {
		long += "a"
	}
	got := evaluate(t, parentJQ(testPlan(""), 0), object{"type": "ADD", "body": object{"metadata": object{"name": long, "namespace": "n"}}, "oldBody": nil})
	if name := got["name"].(string); len(name)+5 > 63 {
		t.Errorf("generateName of %d characters leaves no room for five more", len(name))
	}
}

func child(generation int, appliedAt string, ready int, more object) object {
	meta := object{
		"name": "c", "namespace": "shop", "generation": generation,
		"labels":          object{ManagedBy: "memcached", OwnerUID: "u1"},
		"ownerReferences": owners("my.cache", "u1"),
		"managedFields":   []any{object{"manager": "memcached", "operation": "Apply", "time": appliedAt}, object{"manager": "kubectl", "operation": "Update", "time": "x"}},
	}
	for key, value := range more {
		meta[key] = value
	}
	return object{
		"metadata": meta, "spec": object{"replicas": 3},
		"status": object{"observedGeneration": generation, "readyReplicas": ready, "replicas": 3, "updatedReplicas": 3, "availableReplicas": ready},
	}
}

func owners(name, uid string) []any {
	return []any{object{"apiVersion": "cache.example.com/v1", "kind": "Memcached", "name": name, "uid": uid, "controller": true}}
}

func rollout(reason, status string, ready int) object {
	c := child(1, "t1", ready, nil)
	c["status"].(object)["conditions"] = []any{object{"type": "Progressing", "status": status, "reason": reason}}
	return c
}

func TestChildEvents(t *testing.T) {
	tests := []struct {
		name, reason string
		paths        [][]string
		event        object
		want         bool
	}{
		{"own write", "the field manager's time is newer", nil, object{"type": "UPDATE", "body": child(2, "t2", 3, nil), "oldBody": child(1, "t1", 3, nil)}, false},
		{"drift", "another client changed the spec", nil, object{"type": "UPDATE", "body": child(2, "t1", 3, nil), "oldBody": child(1, "t1", 3, nil)}, true},
		{"deleted", "the child must be created again", nil, object{"type": "DELETE", "body": child(1, "t1", 3, nil), "oldBody": nil}, true},
		{"deleted, tombstone", "the object is in the field Obj", nil, object{"type": "DELETE", "body": object{"Key": "k", "Obj": child(1, "t1", 3, nil)}, "oldBody": nil}, true},
		{"ready", "the status must change", nil, object{"type": "UPDATE", "body": child(1, "t1", 3, nil), "oldBody": child(1, "t1", 2, nil)}, true},
		{"progressing", "it was not ready and is not ready", nil, object{"type": "UPDATE", "body": child(1, "t1", 2, nil), "oldBody": child(1, "t1", 1, nil)}, false},
		{"shown field", "the status shows it", [][]string{{"status", "readyReplicas"}}, object{"type": "UPDATE", "body": child(1, "t1", 2, nil), "oldBody": child(1, "t1", 1, nil)}, true},
		{"rollout", "the event at the end of the rollout passes", [][]string{{"status", "readyReplicas"}}, object{"type": "UPDATE", "body": rollout("ReplicaSetUpdated", "True", 2), "oldBody": rollout("ReplicaSetUpdated", "True", 1)}, false},
		{"rollout ends", "it became ready", nil, object{"type": "UPDATE", "body": rollout("NewReplicaSetAvailable", "True", 3), "oldBody": rollout("ReplicaSetUpdated", "True", 2)}, true},
		{"rollout fails", "a failed rollout is reported", nil, object{"type": "UPDATE", "body": rollout("ProgressDeadlineExceeded", "False", 1), "oldBody": rollout("ReplicaSetUpdated", "True", 1)}, true},
		{"after a rollout", "a Pod was lost", [][]string{{"status", "readyReplicas"}}, object{"type": "UPDATE", "body": rollout("NewReplicaSetAvailable", "True", 1), "oldBody": rollout("NewReplicaSetAvailable", "True", 2)}, true},
		{"no owner", "the object is not a child", nil, object{"type": "DELETE", "body": child(1, "t1", 3, object{"ownerReferences": nil}), "oldBody": nil}, false},
		{"owner differs from the label", "the uid is another one", nil, object{"type": "DELETE", "body": child(1, "t1", 3, object{"ownerReferences": owners("my.cache", "u2")}), "oldBody": nil}, false},
		{"owner name with a template", "its name becomes a parameter", nil, object{"type": "DELETE", "body": child(1, "t1", 3, object{"ownerReferences": owners("{{=1+1}}", "u1")}), "oldBody": nil}, false},
		{"owner name with a slash", "a slash starts the next path segment", nil, object{"type": "DELETE", "body": child(1, "t1", 3, object{"ownerReferences": owners("x/../y", "u1")}), "oldBody": nil}, false},
		{"added", "the custom resource's own event is enough", nil, object{"type": "ADD", "body": child(1, "t1", 3, nil), "oldBody": nil}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := evaluate(t, childJQ(testPlan(""), deployment, tt.paths), tt.event)
			if got["go"] != tt.want {
				t.Errorf("go = %v, want %v: %s", got["go"], tt.want, tt.reason)
			}
			if tt.want && (got["key"] != "shop.my.cache" || got["name"] != "memcached-my-cache-") {
				t.Errorf("key, name = %v, %v", got["key"], got["name"])
			}
		})
	}
}

// TestChildEventsOfReadiness compares the filter with the readiness rules: every change
// of readiness starts a reconcile.
func TestChildEventsOfReadiness(t *testing.T) {
	custom := Kind{Group: "example.com", Version: "v1", Kind: "Custom", Plural: "customs", Namespaced: true}
	job := Kind{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespaced: true}
	meta, problems := expression.Expression(".status.meta != null", expression.Scope{}, "boolean")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	with := func(status object) object {
		c := child(1, "t1", 0, nil)
		c["status"] = status
		return c
	}
	rolling := func(status object) object {
		status["conditions"] = []any{object{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"}}
		return with(status)
	}
	tests := []struct {
		name, reason string
		child        Child
		before, now  object
		want         bool
	}{
		{"readyWhen is met", "only readyWhen reads the field", Child{Kind: custom, Ready: meta}, with(object{}), with(object{"meta": "x"}), true},
		{"readyWhen is no longer met", "the status must change", Child{Kind: custom, Ready: meta}, with(object{"meta": "x"}), with(object{}), true},
		{"readyWhen stays met", "the new value meets it, too", Child{Kind: custom, Ready: meta}, with(object{"meta": "x"}), with(object{"meta": "y"}), false},
		{"readyWhen is met during a rollout", "it may be met before the rollout ends", Child{Kind: deployment, Ready: meta}, rolling(object{}), rolling(object{"meta": "x"}), true},
		{"the controller observes the latest generation", "only observedGeneration shows it", Child{Kind: custom}, with(object{"observedGeneration": 0}), with(object{"observedGeneration": 1}), true},
		{"the controller reports a first status", "the child is not ready before", Child{Kind: custom, ReportsStatus: true}, with(object{}), with(object{"observedGeneration": 1}), true},
		{"a Job starts", "only startTime shows it", Child{Kind: job}, with(object{}), with(object{"startTime": "2026-01-01T00:00:00Z"}), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := testPlan("")
			p.Children = []Child{tt.child}
			got := evaluate(t, childJQ(p, tt.child.Kind, nil), object{"type": "UPDATE", "body": tt.now, "oldBody": tt.before})
			if got["go"] != tt.want {
				t.Errorf("go = %v, want %v: %s", got["go"], tt.want, tt.reason)
			}
		})
	}
}

func TestReadyOfEveryKindIsJQ(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet", "ReplicaSet", "DaemonSet", "ConfigMap"} {
		k := Kind{Group: "apps", Kind: kind}
		event := object{"type": "UPDATE", "body": child(1, "t", 1, nil), "oldBody": object{"metadata": object{}, "spec": object{"replicas": 1}}}
		p := testPlan("")
		p.Children = []Child{{Kind: k}}
		evaluate(t, childJQ(p, k, [][]string{{}, {"status", `a"b`}}), event)
	}
}
