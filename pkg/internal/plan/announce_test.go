package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEvents: which changes of the condition Ready are told, as type and reason.
func TestEvents(t *testing.T) {
	said := func(status, reason string, generation int, message string) object {
		return object{
			"metadata": object{
				"name": "one", "namespace": "shop", "uid": "0123abcd-ef", "resourceVersion": "9",
				"managedFields": []any{object{"time": "2026-01-01T00:00:01Z"}, object{"time": "2026-01-01T00:00:02Z"}},
			},
			"status": object{"conditions": []any{
				"what is no condition",
				object{"type": "Other", "status": "False", "reason": "Failed"},
				object{"type": "Ready", "status": status, "reason": reason, "observedGeneration": generation, "message": message},
			}},
		}
	}
	silent := object{"metadata": object{"name": "one"}}
	ready, progress := said("True", "Reconciled", 1, "a"), said("False", "Progressing", 1, "0 of 3")
	failed, going := said("False", "Failed", 1, "a"), said("True", "Reconciled", 1, "a")
	going["metadata"].(object)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	for _, tt := range []struct {
		name, reason, kind string
		old, new           object
		want               string
	}{
		{"ready at once", "there was no condition", "UPDATE", silent, ready, "Ready"},
		{"ready at last", "it was not", "UPDATE", progress, ready, "Ready"},
		{"mended", "it had failed", "UPDATE", failed, ready, "Ready"},
		{"ready as before", "nothing is new, at another generation either", "UPDATE", ready, said("True", "Reconciled", 2, "b"), ""},
		{"progress", "a roll-out is no news", "UPDATE", ready, progress, ""},
		{"more progress", "nor is its end in sight", "UPDATE", progress, said("False", "Progressing", 1, "1 of 3"), ""},
		{"failed", "it was ready", "UPDATE", ready, failed, "ReconcileFailed"},
		{"failed at once", "there was no condition", "UPDATE", silent, failed, "ReconcileFailed"},
		{"failed in words", "they may count replicas", "UPDATE", failed, said("False", "Failed", 1, "b"), ""},
		{"failed again", "what its user wrote last fails too", "UPDATE", failed, said("False", "Failed", 2, "a"), "ReconcileFailed"},
		{"refused", "another failure", "UPDATE", failed, said("False", "StatusRejected", 1, "a"), "StatusRejected"},
		{"condition of others", "nobody knows what it means", "UPDATE", ready, said("False", "Odd", 1, "a"), ""},
		{"unknown", "neither the one nor the other", "UPDATE", ready, said("Unknown", "Failed", 1, "a"), ""},
		{"silent", "the condition is gone", "UPDATE", ready, silent, ""},
		{"replay", "it was told when it happened", "ADD", nil, ready, ""},
		{"deleted", "the last state of what is gone", "DELETE", nil, ready, ""},
		{"on its way out", "nobody waits for it", "UPDATE", progress, going, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := testPlan("")
			p.API.Kind.Namespaced = true
			event := object{"type": tt.kind, "body": tt.new, "oldBody": nil}
			if tt.old != nil {
				event["oldBody"] = tt.old
			}
			got := evaluate(t, eventJQ(p, partition{divisor: 1})+` | if .go then .call.body | fromjson | {reason, name: .metadata.name, time: .eventTime} else {reason: ""} end`, event)
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

// TestAnnounces: where there is a Ready to tell of, and who may tell of it where.
func TestAnnounces(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		change       func(*Plan)
		want         bool
	}{
		{"pod", "it writes the condition", func(p *Plan) { p.Reconcile.Engine = Workflow }, true},
		{"direct", "a trigger writes it", func(*Plan) {}, true},
		{"k8s trigger", "it has no status and no token", func(p *Plan) { p.Reconcile.Trigger = "k8s" }, false},
		{"no conditions", "the schema would drop them", func(p *Plan) { p.API.Conditions = false }, false},
		{"no status", "a ConfigMap has none", func(p *Plan) { p.API.Kind.Status = false }, false},
		{"no status in a pod", "nor there", func(p *Plan) { p.API.Kind.Status, p.Reconcile.Engine = false, Workflow }, false},
	} {
		p := testPlan("")
		p.API.Kind.Status, p.API.Conditions, p.API.Observed, p.Reconcile.Engine = true, true, true, Direct
		tt.change(p)
		if got := emitsEvents(p); got != tt.want {
			t.Errorf("%s: %s: %t", tt.name, tt.reason, got)
		}
	}
	for namespaced, want := range map[bool]string{true: "", false: "default"} {
		p := testPlan("")
		p.API.Kind.Namespaced = namespaced
		if g := eventGrant(p, Actor); g.Watched != namespaced || g.Namespace != want || g.Group != "" || !cmp.Equal(g.Verbs, []string{"create"}) {
			t.Errorf("namespaced %t: %+v", namespaced, g)
		}
	}
}
