package live

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

// Switches are failures that a user turns on.
type Switches struct {
	SensorDown bool `json:"sensorDown"` // events wait until the Sensors are up again
	LoseEvents bool `json:"loseEvents"` // the event bus loses every event
	Refuse     bool `json:"refuse"`     // the API server answers the operators' writes with 503
	Conflict   bool `json:"conflict"`   // it answers them with 409
}

// switches guards the switches, and lets triggers wait for the Sensors.
type switches struct {
	mu  sync.Mutex
	now Switches
	up  chan struct{} // closed while the Sensors run
}

func newSwitches() *switches {
	s := &switches{up: make(chan struct{})}
	close(s.up)
	return s
}

// Set turns a switch on or off.
func (s *switches) set(name string, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := map[string]*bool{
		"sensorDown": &s.now.SensorDown, "loseEvents": &s.now.LoseEvents, "refuse": &s.now.Refuse, "conflict": &s.now.Conflict,
	}[name]
	switch {
	case one == nil:
		return fmt.Errorf("unknown switch %q", name)
	case *one == on:
		return nil
	}
	*one = on
	if name == "sensorDown" {
		if on {
			s.up = make(chan struct{})
		} else {
			close(s.up)
		}
	}
	return nil
}

func (s *switches) get() Switches {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// awaitSensors waits until the Sensors run; false: the context ended first.
func (s *switches) awaitSensors(ctx context.Context) bool {
	s.mu.Lock()
	up := s.up
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return false
	case <-up:
		return ctx.Err() == nil
	}
}

// refusal returns the answer to writes of operators; 0: they reach the API server.
func (s *switches) refusal() (code int, message string) {
	switch now := s.get(); {
	case now.Refuse:
		return http.StatusServiceUnavailable, "the API server is switched off for operators"
	case now.Conflict:
		return http.StatusConflict, "the object has been modified; please apply your changes to the latest version and try again " +
			"(switched on for operators)"
	}
	return 0, ""
}
