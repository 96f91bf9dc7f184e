package live

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestSwitches(t *testing.T) {
	tests := []struct {
		name string
		on   []string
		want Switches
		code int
	}{
		{name: "all off"},
		{name: "the Sensors are down", on: []string{"sensorDown"}, want: Switches{SensorDown: true}},
		{name: "the bus loses events", on: []string{"loseEvents"}, want: Switches{LoseEvents: true}},
		{name: "writes are refused", on: []string{"refuse"}, want: Switches{Refuse: true}, code: http.StatusServiceUnavailable},
		{name: "writes conflict", on: []string{"conflict"}, want: Switches{Conflict: true}, code: http.StatusConflict},
		{name: "a server that refuses finds no conflicts", on: []string{"conflict", "refuse"}, want: Switches{Refuse: true, Conflict: true}, code: http.StatusServiceUnavailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSwitches()
			for _, name := range test.on {
				if err := s.set(name, true); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(test.want, s.get()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if code, message := s.refusal(); code != test.code || (message == "") != (code == 0) {
				t.Errorf("writes are answered with %d %q, want %d", code, message, test.code)
			}
			for _, name := range test.on {
				if err := s.set(name, false); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(Switches{}, s.get()); d != "" {
				t.Errorf("off again (-want +got):\n%s", d)
			}
		})
	}
	if err := newSwitches().set("explode", true); err == nil {
		t.Error("an unknown switch is accepted")
	}
}

func TestAwaitSensors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwitches()
		set := func(on bool) {
			t.Helper()
			if err := s.set("sensorDown", on); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var up []bool
		await := func() { go func() { up = append(up, s.awaitSensors(ctx)) }() }
		check := func(what string, want ...bool) {
			t.Helper()
			synctest.Wait()
			if d := cmp.Diff(want, up); d != "" {
				t.Errorf("%s (-want +got):\n%s", what, d)
			}
		}

		await()
		check("the Sensors are up at first", true)
		set(true)
		set(true) // twice is like once
		await()
		check("an event waits", true)
		set(false)
		set(false)
		check("the Sensors are up again", true, true)
		set(true)
		await()
		check("another event waits", true, true)
		cancel()
		check("the operators stop", true, true, false)
		set(false)
		await()
		check("nothing is delivered after that", true, true, false, false)
	})
}
