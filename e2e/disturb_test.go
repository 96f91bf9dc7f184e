//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// field is the operators that are disturbed together.
type field []*world

func (f field) play(t *testing.T, d disturbance) {
	t.Helper()
	var own field
	for _, w := range f {
		one := *w
		one.made = nil
		own = append(own, &one)
	}
	t.Cleanup(func() {
		for i, w := range own {
			if t.Failed() {
				fail(d.name, w.subject.name) // unless it came to its own end
				w.dump(t)
			}
			last := w.life
			w.life = last.next(t.Failed())
			if w.life == nil && last != nil {
				w.made = append(w.made, last.edited, last.deleted)
			}
			f[i].life = w.life
			w.clear(t)
		}
	})
	d.play(t, own)
}

// each plays a part of a disturbance with all operators side by side, and notes
// what comes of it.
func (f field) each(t *testing.T, disturbance string, part func(*world, *testing.T)) {
	t.Helper()
	t.Run("each", func(t *testing.T) {
		for _, w := range f {
			t.Run(w.subject.name, func(t *testing.T) {
				t.Parallel()
				own := *w
				own.made = nil
				own.measured = record(t, disturbance, w.subject.name)
				t.Cleanup(func() { own.clear(t) })
				part(&own, t)
			})
		}
	})
}

// begin makes the two of each operator that are there before a disturbance, unless
// the one before has left two. They are the only ones: a new EventSource announces
// all there are, and each is a pod, or four.
func (f field) begin(t *testing.T, disturbance string) {
	t.Helper()
	var fresh field
	for _, w := range f {
		if w.life == nil {
			w.life = &life{edited: w.make(t, disturbance+"-edited", 1), deleted: w.make(t, disturbance+"-deleted", 0)}
			fresh = append(fresh, w)
		}
		w.life.name = disturbance
	}
	for _, w := range fresh {
		w.has(t, w.life.edited, 1)
		w.has(t, w.life.deleted, 0)
	}
}

// next is the life after a disturbance that went well: what it has created is
// edited by the next one, what it has edited is deleted.
func (l *life) next(failed bool) *life {
	switch {
	case failed:
		return nil
	case l == nil || l.created == nil: // nothing has happened
		return l
	}
	return &life{edited: l.created, deleted: l.edited}
}

func (w *world) happen(t *testing.T) {
	t.Helper()
	w.life.created = w.make(t, w.life.name+"-created", 1)
	w.edit(t, w.life.edited, 0)
	w.drop(t, w.life.deleted)
}

func (f field) happen(t *testing.T) {
	t.Helper()
	for _, w := range f {
		w.happen(t)
	}
}

func (w *world) end(t *testing.T) {
	t.Helper()
	w.has(t, w.life.created, 1)
	w.has(t, w.life.edited, 0)
	w.gone(t, w.life.deleted)
}

// end waits until every operator has done what happened, and notes how long that
// took; %s of the format.
func (f field) end(t *testing.T, format string) {
	t.Helper()
	if len(f) == 0 {
		return
	}
	began := time.Now()
	f.each(t, f[0].life.name, func(w *world, t *testing.T) {
		w.end(t)
		w.measured(format, seconds(time.Since(began)))
	})
}

func (f field) startResync(t *testing.T) {
	t.Helper()
	for _, w := range f {
		w.startResync(t)
	}
}

func sourceDown(t *testing.T, f field) {
	f.begin(t, "source-down")
	f.without(t, "eventsource-name", func() { f.happen(t) })
	f.end(t, "made up for %s after the EventSource is back")
}

func sensorDown(t *testing.T, f field) {
	f.begin(t, "sensor-down")
	f.without(t, "sensor-name", func() { f.happen(t) })
	f.end(t, "made up for %s after the Sensors are back")
}

// busDown: what is said while the bus is away is lost. The resync finds it.
func busDown(t *testing.T, f field) {
	f.begin(t, "bus-down")
	during(t, theBus, func() { f.happen(t) })
	f.startResync(t)
	f.end(t, "made up for %s after the resync began")
}

// busStoreLost: the Sensors never subscribe again by themselves. The resync
// hears that they are deaf; it is told so here, as it takes three minutes. An
// operator of the direct engine is left to itself.
func busStoreLost(t *testing.T, f field) {
	f.begin(t, "bus-store-lost")
	for _, w := range f {
		if w.alone = w.subject.engine == "direct" && os.Getenv("E2E_WITHOUT") == ""; w.alone {
			w.resyncs(t, "* * * * *")
		}
	}
	loseBus(t, func() { f.happen(t) })
	f.each(t, "bus-store-lost", func(w *world, t *testing.T) {
		if w.alone {
			w.recover(t)
			return
		}
		w.deafen(t)
		w.awaitAge(t, 3*time.Minute)
		began := time.Now()
		w.startResync(t)
		w.end(t)
		w.has(t, w.make(t, "late", 0), 0)
		w.measured("made up for, and events heard again, %s after the resync began", seconds(time.Since(began)))
	})
}

// resyncs gives the resync another schedule, until the operator is applied again.
func (o *operator) resyncs(t *testing.T, schedule string) {
	t.Helper()
	o.merge(t, cronWorkflows, o.only("CronWorkflow"), fmt.Sprintf(`{"spec":{"schedules":[%q]}}`, schedule))
}

// recover waits: nothing but the operator's own schedule repairs it.
func (w *world) recover(t *testing.T) {
	t.Helper()
	began := time.Now()
	tell := record(t, "bus-lost-by-itself", w.subject.name)
	w.end(t)
	took := seconds(time.Since(began))
	w.measured("with a resync each minute made up for after %s, with nobody's help", took)
	tell("with a resync each minute made up for after %s, with nobody's help", took)
}

// awaitAge waits until the EventSource is so old: a younger one need not have
// been heard yet.
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

// deafen sets the time back at which the Sensors heard something last.
func (o *operator) deafen(t *testing.T) {
	t.Helper()
	source := o.only("EventSource")
	for _, object := range o.objects {
		if object.GetKind() == "Sensor" {
			o.merge(t, eventSources, source, fmt.Sprintf(`{"metadata":{"annotations":{"argoperator.dev/heard-%s":"2001-01-01T00:00:00Z"}}}`, object.GetName()))
		}
	}
}

// apiRestart: watches break, requests fail, and events go on coming.
func apiRestart(t *testing.T, f field) {
	f.begin(t, "api-restart")
	for _, w := range f {
		w.edit(t, w.life.edited, 2)
	}
	stopped := time.Now()
	control(t, "restart", theAPIServer)
	f[0].cluster.awaitReady(t)
	began := time.Now()
	for _, w := range f {
		w.audit.pardoned = append(w.audit.pardoned, span{stopped, began})
	}
	f.happen(t)
	f.end(t, "everything done %s after the API server is back")
}

// controllerDown: without the controller of Workflows the direct engine goes on,
// the others wait.
func controllerDown(t *testing.T, f field) {
	f.begin(t, "controller-down")
	var direct, others field
	for _, w := range f {
		if w.subject.engine == "direct" {
			direct = append(direct, w)
		} else {
			others = append(others, w)
		}
	}
	during(t, theController, func() {
		f.happen(t)
		direct.end(t, "nothing waits: done in %s while it is down")
	})
	others.end(t, "made up for %s after the controller is back")
}
