package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEvents covers which changes of the condition Ready are reported, as type and
// reason. The status itself is not due, because no child was observed.
func TestEvents(t *testing.T) {
	said := func(status, reason string, generation int, message string) object {
		return object{
			"metadata": object{
				"name": "one", "namespace": "shop", "uid": "0123abcd-ef", "resourceVersion": "9", "generation": 1,
				"managedFields": []any{object{"time": "2026-01-01T00:00:01Z"}, object{"time": "2026-01-01T00:00:02Z"}},
			},
			"status": object{"conditions": []any{
				"what is no condition",
				object{"type": "Other", "status": "False", "reason": "Failed"},
				object{"type": "Ready", "status": status, "reason": reason, "observedGeneration": generation, "message": message},
			}},
		}
	}
	silent := object{"metadata": object{"name": "one", "generation": 1}}
	ready, progress := said("True", "Reconciled", 1, "a"), said("False", "Progressing", 1, "0 of 3")
	failed, going := said("False", "Failed", 1, "a"), said("True", "Reconciled", 1, "a")
	going["metadata"].(object)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	for _, tt := range []struct {
		name, reason, kind string
		old, new           object
		want               string
	}{
		{"becomes ready", "there was no condition before", "UPDATE", silent, ready, "Ready"},
		{"becomes ready after progressing", "the status changed to True", "UPDATE", progress, ready, "Ready"},
		{"recovers", "it failed before", "UPDATE", failed, ready, "Ready"},
		{"stays ready", "only the generation changed", "UPDATE", ready, said("True", "Reconciled", 2, "b"), ""},
		{"starts a rollout", "a rollout is not reported", "UPDATE", ready, progress, ""},
		{"continues a rollout", "a rollout is not reported", "UPDATE", progress, said("False", "Progressing", 1, "1 of 3"), ""},
		{"fails", "it was ready before", "UPDATE", ready, failed, "ReconcileFailed"},
		{"fails first", "there was no condition before", "UPDATE", silent, failed, "ReconcileFailed"},
		{"failure message changes", "it may contain a replica count", "UPDATE", failed, said("False", "Failed", 1, "b"), ""},
		{"fails again", "the failure is about a newer generation", "UPDATE", failed, said("False", "Failed", 2, "a"), "ReconcileFailed"},
		{"status refused", "another failure is reported", "UPDATE", failed, said("False", "StatusRejected", 1, "a"), "StatusRejected"},
		{"unknown reason", "another controller wrote it", "UPDATE", ready, said("False", "Odd", 1, "a"), ""},
		{"unknown status", "it is neither True nor False", "UPDATE", ready, said("Unknown", "Failed", 1, "a"), ""},
		{"condition removed", "there is no state to report", "UPDATE", ready, silent, ""},
		{"replay", "it was reported when it happened", "ADD", nil, ready, ""},
		{"deleted", "the state no longer matters", "DELETE", nil, ready, ""},
		{"being deleted", "readiness no longer matters", "UPDATE", progress, going, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := testPlan("")
			p.API.Kind.StatusSubresource, p.API.HasConditions = true, true
			event := object{"type": tt.kind, "body": tt.new, "oldBody": nil}
			if tt.old != nil {
				event["oldBody"] = tt.old
			}
			got := evaluate(t, statusJQ(p)+` | if .go then .call.body | fromjson | {reason, name: .metadata.name, time: .eventTime} else {reason: ""} end`, event)
			want := object{"reason": tt.want}
			if tt.want != "" {
				want["name"], want["time"] = "one.0123abcd.9", "2026-01-01T00:00:02.000000Z"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", tt.reason, diff)
			}
		})
	}
}

// TestEventGrants covers which operators report changes of Ready, and where their
// accounts may create Events.
func TestEventGrants(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		change       func(*configured)
		want         bool
	}{
		{"pod", "it writes the condition", func(p *configured) { p.Reconcile.Engine = Workflow }, true},
		{"direct", "a trigger writes it", func(*configured) {}, true},
		{"no conditions", "the schema would drop them", func(p *configured) { p.API.HasConditions = false }, false},
		{"no status", "a ConfigMap has none", func(p *configured) { p.API.Kind.StatusSubresource = false }, false},
		{"no status in a pod", "the workflow engine cannot write it either", func(p *configured) { p.API.Kind.StatusSubresource, p.Reconcile.Engine = false, Workflow }, false},
	} {
		p := testPlan("")
		p.API.Kind.StatusSubresource, p.API.HasConditions, p.API.HasObservedGeneration, p.Reconcile.Engine = true, true, true, Direct
		tt.change(p)
		if got := p.emitsEvents(); got != tt.want {
			t.Errorf("%s: %s: %t", tt.name, tt.reason, got)
		}
	}
	for namespaced, want := range map[bool]string{true: "", false: "default"} {
		p := testPlan("")
		p.API.Kind.Namespaced = namespaced
		if g := eventGrant(p, SensorAccount); g.InWatchedNamespaces != namespaced || g.Namespace != want || g.Group != "" || !cmp.Equal(g.Verbs, []string{"create"}) {
			t.Errorf("namespaced %t: %+v", namespaced, g)
		}
	}
}
