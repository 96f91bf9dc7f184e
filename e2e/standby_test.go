//go:build e2e

package e2e

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// TestStandby has a second pod of the EventSource and of each Sensor wait, and
// kills the one that leads.
func TestStandby(t *testing.T) {
	c := connectLong(t)
	s := subjects[0]
	definition := variant(t, s.definition(t), "  install: {replicas: 2}\n")
	w := &world{subject: s, operator: c.install(t, "two replicas", definition)}
	w.measured = record(t, "leader-killed", s.name)
	w.has(t, w.make(t, "before", 0), 0)
	var took []time.Duration
	for _, lease := range []string{"eventsource-memcached", "sensor-memcached"} {
		leader := w.leader(t, lease, "")
		run(t, nil, "kubectl", "delete", "pod", "-n", operators, leader, "--wait=false", "--grace-period=0", "--force")
		began := time.Now()
		w.has(t, w.make(t, lease, 0), 0)
		took = append(took, time.Since(began))
		if now := w.leader(t, lease, leader); now == leader {
			t.Errorf("%s leads still", leader)
		}
	}
	w.measured("a custom resource made right after the leader was killed is ready after %s (EventSource), %s (Sensor)", seconds(took[0]), seconds(took[1]))
}

// leader waits for a Lease to be held by another than before.
func (w *world) leader(t *testing.T, lease, before string) string {
	t.Helper()
	var holder string
	w.cluster.await(t, "a leader of "+lease, slow, leases, operators, func(s seen) bool {
		for _, l := range s {
			if l.GetName() == lease {
				holder = nested(l, "spec", "holderIdentity")
			}
		}
		return holder != "" && holder != before
	})
	return holder
}
