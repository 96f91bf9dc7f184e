package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/argoperator/argoperator/pkg/internal/run/live"
)

const (
	pingInterval  = 15 * time.Second
	queueInterval = 250 * time.Millisecond
)

// state is what the page shows above everything else.
type state struct {
	Server     string        `json:"server"`
	Kubeconfig string        `json:"kubeconfig"`
	Version    string        `json:"version"`
	Files      []string      `json:"files"`
	Findings   []finding     `json:"findings"`
	Loaded     int           `json:"loaded"`
	Operators  []Operator    `json:"operators"`
	Switches   live.Switches `json:"switches"`
	RunLogic   bool          `json:"runLogic"`
	Recording  int           `json:"recording"`
	Definition Status        `json:"definition"`
}

// state returns the state, and a channel that is closed when it changes.
func (s *Server) state() (state, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return state{
		Server: s.in.Server, Kubeconfig: s.in.Kubeconfig, Version: s.in.Version, RunLogic: s.definition.RunLogic,
		Files: s.definition.Files, Findings: findings(s.definition.Findings), Operators: s.definition.Operators,
		Loaded: s.in.Live.Loaded(), Switches: s.in.Live.Switches(), Recording: s.in.Live.Recorded(), Definition: s.definition.Status,
	}, s.changed
}

// stream sends everything that is there, and then everything that happens.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	out := &writer{w: w, flush: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "text/event-stream")
	listener, remove := s.in.Live.Listen()
	defer remove()
	now, changed := s.state()
	out.send("state", now)
	for _, o := range s.in.Live.ObjectStates() {
		out.send("object", o)
	}
	for _, record := range s.in.Live.Summaries() {
		out.send("record", record)
	}
	out.done()
	ping, queue := time.NewTicker(pingInterval), time.NewTicker(queueInterval)
	defer ping.Stop()
	defer queue.Stop()
	pending, recorded := -1, now.Recording
	for out.err == nil {
		select {
		case <-r.Context().Done():
			return
		case <-ping.C:
			out.send("ping", struct{}{})
		case <-queue.C:
			if n := s.in.Live.Pending(); n != pending {
				pending = n
				out.send("queue", map[string]int{"pending": n})
			}
			if n := s.in.Live.Recorded(); n != recorded {
				now, changed = s.state()
				recorded = now.Recording
				out.send("state", now)
			}
		case <-changed:
			now, changed = s.state()
			out.send("state", now)
		case <-listener.Ready():
			for _, m := range listener.Take() {
				out.message(m)
			}
		}
		out.done()
	}
}

// writer writes the messages of a stream. The first failure ends it.
type writer struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	err   error
}

func (w *writer) message(m live.Message) {
	switch {
	case m.Record != nil:
		w.send("record", m.Record)
	case m.Object != nil:
		w.send("object", m.Object)
	default:
		w.send("gone", map[string]string{"uid": m.Gone})
	}
}

func (w *writer) send(name string, value any) {
	data, err := json.Marshal(value)
	if err == nil && w.err == nil {
		_, err = fmt.Fprintf(w.w, "event: %s\ndata: %s\n\n", name, data)
	}
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) done() {
	if w.err == nil {
		w.err = w.flush.Flush()
	}
}
