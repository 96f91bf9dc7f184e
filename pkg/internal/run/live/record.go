package live

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Type is the type of a record.
type Type string

// The types.
const (
	TypeEvent    Type = "event"    // an EventSource published an event
	TypeDelivery Type = "delivery" // a trigger ran
	TypeWorkflow Type = "workflow" // a Workflow ran
	TypeAction   Type = "action"   // somebody used a switch or a button
	TypeNote     Type = "note"     // a message
)

// State is the result of a record.
type State string

// The states.
const (
	StateRunning State = "running"
	StateDone    State = "done"
	StateSkipped State = "skipped" // the filter rejected the event
	StateFailed  State = "failed"
	StateLost    State = "lost" // the event reaches no trigger
)

// Summary is what a list shows of a record.
type Summary struct {
	ID       int          `json:"id"`
	Cause    int          `json:"cause"` // the event of a delivery; 0: none
	Time     time.Time    `json:"time"`
	Duration Milliseconds `json:"duration"`
	Type     Type         `json:"type"`
	State    State        `json:"state"`
	Title    string       `json:"title"`
	Text     string       `json:"text"`
	Operator string       `json:"operator"`
	Object
	Nodes   []string      `json:"nodes"` // of the graph, in the order in which they are reached
	Calls   []CallSummary `json:"calls"`
	Skipped int           `json:"skipped"` // triggers whose filter rejected an event
}

// complete makes lists empty that JSON would have as null.
func (s *Summary) complete() {
	if s.Nodes == nil {
		s.Nodes = []string{}
	}
	if s.Calls == nil {
		s.Calls = []CallSummary{}
	}
}

// Milliseconds is a duration as a number of milliseconds.
type Milliseconds time.Duration

// MarshalJSON implements json.Marshaler.
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(time.Duration(m).Microseconds()) / 1000)
}

// Object identifies an object for users.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// String returns the kind, the namespace and the name.
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// CallSummary is what a list shows of a request.
type CallSummary struct {
	Method   string       `json:"method"`
	What     string       `json:"what"`
	Status   int          `json:"status"`
	Duration Milliseconds `json:"duration"`
}

// Record is everything about one thing that happened.
type Record struct {
	Summary
	Input      any         `json:"input,omitempty"`      // the event; of a delivery before its transform
	Program    string      `json:"program,omitempty"`    // jq of the transform
	Output     any         `json:"output,omitempty"`     // the event after the transform
	Attempts   []Attempt   `json:"attempts,omitempty"`   // of the trigger
	Containers []Container `json:"containers,omitempty"` // of a Workflow
	Rejected   []Record    `json:"rejected,omitempty"`   // deliveries of the event that the filter rejected
}

// Attempt is one execution of a trigger.
type Attempt struct {
	Trigger string `json:"trigger"`
	Failure string `json:"failure"`
	Note    string `json:"note"`
	Calls   []Call `json:"calls"`
}

// Container is one program of a Workflow.
type Container struct {
	Template string   `json:"template"`
	Name     string   `json:"name"`
	Command  []string `json:"command"`
	Output   string   `json:"output"`
	ExitCode int      `json:"exitCode"`
	Skipped  string   `json:"skipped"`
	Killed   string   `json:"killed"`
	Calls    []Call   `json:"calls"`
}

// Call is one request to the API server.
type Call struct {
	CallSummary
	Path        string `json:"path"`
	ContentType string `json:"contentType"`
	Account     string `json:"account"`
	Body        any    `json:"body"`
	Answer      any    `json:"answer"`
}

// kept is the number of events whose records are kept.
const kept = 3000

// records are the newest records.
type records struct {
	mu     sync.Mutex
	last   int
	all    map[int]*Record
	order  []int         // events and records without a cause, the oldest first
	caused map[int][]int // records of an event
	tell   func(Summary)
}

func newRecords(tell func(Summary)) *records {
	return &records{all: map[int]*Record{}, caused: map[int][]int{}, tell: tell}
}

// add stores a new record and returns its id.
func (r *records) add(one Record) int {
	r.mu.Lock()
	r.last++
	one.ID = r.last
	one.complete()
	if one.Time.IsZero() {
		one.Time = time.Now()
	}
	r.all[one.ID] = &one
	if r.all[one.Cause] == nil { // none, or an event that is forgotten already
		r.order = append(r.order, one.ID)
	} else {
		r.caused[one.Cause] = append(r.caused[one.Cause], one.ID)
	}
	for len(r.order) > kept {
		r.forget(r.order[0])
		r.order = r.order[1:]
	}
	summary := one.Summary
	r.mu.Unlock()
	r.tell(summary)
	return one.ID
}

func (r *records) forget(id int) {
	for _, below := range r.caused[id] {
		delete(r.all, below)
	}
	delete(r.caused, id)
	delete(r.all, id)
}

// update changes a record. quiet leaves out telling it.
func (r *records) update(id int, quiet bool, change func(*Record)) {
	r.mu.Lock()
	one := r.all[id]
	if one == nil { // too long ago
		r.mu.Unlock()
		return
	}
	change(one)
	one.complete()
	summary := one.Summary
	r.mu.Unlock()
	if !quiet {
		r.tell(summary)
	}
}

// replace replaces a record by a later state of it.
func (r *records) replace(id int, by Record) {
	r.update(id, false, func(one *Record) {
		by.ID = id
		*one = by
	})
}

// get returns a copy of a record.
func (r *records) get(id int) (Record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.all[id]
	if one == nil {
		return Record{}, false
	}
	out := *one
	if out.Type == TypeDelivery && r.all[out.Cause] != nil {
		out.Input = r.all[out.Cause].Input
	}
	return out, true
}

// summaries returns all records, the oldest first.
func (r *records) summaries() []Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Summary, 0, len(r.all))
	for _, one := range r.all {
		out = append(out, one.Summary)
	}
	slices.SortFunc(out, func(a, b Summary) int { return a.ID - b.ID })
	return out
}
