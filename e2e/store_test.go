//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// busStoreLost: the Sensors never subscribe again by themselves. The resync finds
// out that they receive no events, which takes three minutes.
func busStoreLost(t *testing.T, f field) {
	f.begin(t, "bus-store-lost")
	loseBus(t, func() { f.happen(t) })
	f.each(t, "bus-store-lost", func(w *world, t *testing.T) {
		w.stopReceiving(t)
		w.awaitAge(t, 3*time.Minute)
		began := time.Now()
		w.startResync(t)
		w.end(t)
		w.has(t, w.make(t, "late", 0), 0)
		w.measured("reconciled, and events arrive again, %s after the resync began", seconds(time.Since(began)))
	})
}

// TestBusStoreLost loses the store of the bus and helps nobody: nothing but the
// operator's own schedule repairs it. That is mostly waiting, beside the rest of
// the suite; this file is the last of those that have something to themselves, as
// the loss of the bus is everybody's.
func TestBusStoreLost(t *testing.T) {
	if testing.Short() || os.Getenv("E2E_WITHOUT") != "" {
		t.Skip("takes more than three minutes")
	}
	s := subjects[0]
	s.definition, s.kind = func(t *testing.T) string { return memcachedAs(t, "Memlost") }, ofKind("Memlost")
	f := field{{subject: s, operator: connect(t).installBy(t, s.name, s.definition(t), func(manifest []byte) {
		run(t, throttled(manifest), "kubectl", "apply", "-f", "-")
	})}}
	f.play(t, disturbance{"bus-lost-by-itself", func(t *testing.T, f field) {
		f.begin(t, "bus-lost-by-itself")
		f[0].resyncs(t, "* * * * *")
		loseBus(t, func() { f.happen(t) })
		began := time.Now()
		t.Parallel()
		f.each(t, "bus-lost-by-itself", func(w *world, t *testing.T) {
			w.end(t)
			w.has(t, w.make(t, "late", 0), 0)
			w.measured("with a resync every minute, reconciled after %s without help", seconds(time.Since(began)))
		})
	}})
}

// throttled gives an operator's pods little of the processor. Sensors that have
// lost their bus spin, and would take what they are allowed from the other tests.
func throttled(manifest []byte) []byte {
	return regexp.MustCompile(`(limits:\n +cpu: )\S+`).ReplaceAll(manifest, []byte("${1}100m"))
}

// resyncs gives the resync another schedule, until the operator is applied again.
func (o *operator) resyncs(t *testing.T, schedule string) {
	t.Helper()
	o.merge(t, cronWorkflows, o.only("CronWorkflow"), fmt.Sprintf(`{"spec":{"schedules":[%q]}}`, schedule))
}

// awaitAge waits until the EventSource is so old: Sensors need not have received
// the heartbeat of a younger one.
func (o *operator) awaitAge(t *testing.T, age time.Duration) {
	t.Helper()
	source, err := o.cluster.objects.Resource(eventSources).Namespace(operators).Get(t.Context(), o.only("EventSource").GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-t.Context().Done():
	case <-time.After(age - time.Since(source.GetCreationTimestamp().Time)):
	}
}

// stopReceiving sets back the time at which the Sensors last received a heartbeat.
func (o *operator) stopReceiving(t *testing.T) {
	t.Helper()
	source := o.only("EventSource")
	for _, object := range o.objects {
		if object.GetKind() == "Sensor" {
			o.merge(t, eventSources, source, fmt.Sprintf(`{"metadata":{"annotations":{"argoperator.dev/last-received-%s":"2001-01-01T00:00:00Z"}}}`, object.GetName()))
		}
	}
}
