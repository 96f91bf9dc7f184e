//go:build e2e

package e2e

import (
	"testing"
	"time"
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

// each plays a part of a disturbance with all operators side by side, and records
// the results.
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
	f.end(t, "reconciled %s after the EventSource is back")
}

func sensorDown(t *testing.T, f field) {
	f.begin(t, "sensor-down")
	f.without(t, "sensor-name", func() { f.happen(t) })
	f.end(t, "reconciled %s after the Sensors are back")
}

// busDown: events that are published while the bus is down are lost. The resync repairs
// the effects.
func busDown(t *testing.T, f field) {
	f.begin(t, "bus-down")
	during(t, theBus, func() { f.happen(t) })
	f.startResync(t)
	f.end(t, "reconciled %s after the resync began")
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
	f.end(t, "reconciled %s after the API server is back")
}

// controllerDown: without the controller of Workflows the engines go on that need
// none, the others wait.
func controllerDown(t *testing.T, f field) {
	f.begin(t, "controller-down")
	var direct, others field
	for _, w := range f {
		if w.subject.engine == "direct" || w.subject.engine == "worker" {
			direct = append(direct, w)
		} else {
			others = append(others, w)
		}
	}
	during(t, theController, func() {
		f.happen(t)
		direct.end(t, "reconciled in %s while it is down")
	})
	others.end(t, "reconciled %s after the controller is back")
}
