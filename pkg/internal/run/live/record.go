package live

import (
	"cmp"
	"encoding/json"
	"net/http"
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
	Root     int          `json:"root"`  // the event with which everything began that led to this one; 0: none before
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
	By      string        `json:"by"`      // who made the change of an event, as a field manager; empty: an operator, or unknown
	Moved   bool          `json:"-"`       // only its root has changed since it was sent
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

	state string // of the object of an event, or of the Workflow that runs, by uid and resource version
	key   string // of the custom resource of an event, or of the run of a worker: NAMESPACE.NAME
}

// maxAbout is how many events of a custom resource may come before the run of a worker ends.
const maxAbout = 50

// causeOf returns the event that a worker handled: the first one of the custom resource since that
// of the run before, unless it shows what this run wrote; 0: there is none.
func (r *records) causeOf(one *Record) int {
	wrote, last := one.wrote(), r.ran[one.key]
	for _, id := range r.about[one.key] {
		if event := r.all[id]; id > last && event != nil && !slices.Contains(wrote, event.state) {
			r.ran[one.key] = id
			return id
		}
	}
	return last
}

// rootOf returns with what a delivery or the run of a Workflow began; 0: that is unknown.
func (r *records) rootOf(one *Record) int {
	if one.Type == TypeWorkflow && one.Cause == 0 {
		if root := r.made[one.state]; one.Root == 0 && r.all[root] != nil { // of the trigger that created it
			one.Root = root
			r.began[root] = append(r.began[root], one.ID)
		}
		return cmp.Or(one.Root, one.ID)
	}
	if cause := r.all[one.Cause]; cause != nil {
		return cmp.Or(cause.Root, cause.ID)
	}
	return 0
}

// wrote returns the states of objects that the requests of a record made.
func (r *Record) wrote() []string {
	var out []string
	add := func(calls []Call) {
		for _, c := range calls {
			if answer, ok := c.Answer.(map[string]any); ok && c.Method != http.MethodGet && c.Status < http.StatusMultipleChoices {
				if state := stateOf(answer); state != "" {
					out = append(out, state)
				}
			}
		}
	}
	for _, a := range r.Attempts {
		add(a.Calls)
	}
	for _, c := range r.Containers {
		add(c.Calls)
	}
	return out
}

// stateOf returns the uid and the resource version of an object; empty: it has none.
func stateOf(fields map[string]any) string {
	metadata, _ := fields["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	version, _ := metadata["resourceVersion"].(string)
	if uid == "" || version == "" {
		return ""
	}
	return uid + " " + version
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

	made  map[string]int   // the root of what made a state of an object
	shown map[string]int   // the event of a state
	began map[int][]int    // what a root led to
	about map[string][]int // the last events by the key of their custom resource
	ran   map[string]int   // the event of the last run of a worker, by the same
}

func newRecords(tell func(Summary)) *records {
	return &records{
		all: map[int]*Record{}, caused: map[int][]int{}, tell: tell,
		made: map[string]int{}, shown: map[string]int{}, began: map[int][]int{},
		about: map[string][]int{}, ran: map[string]int{},
	}
}

// link finds out what a record led to, and what led to it: a request of the operator makes a
// state of an object, whose event is the next one. It returns the records that belong to another
// root now. An event may be seen before the answer of the request that caused it.
func (r *records) link(one *Record) []Summary {
	if one.Type == TypeEvent {
		if one.state == "" || r.shown[one.state] == one.ID {
			return nil
		}
		r.shown[one.state] = one.ID
		if one.key != "" {
			last := append(r.about[one.key], one.ID)
			r.about[one.key] = last[max(0, len(last)-maxAbout):]
		}
		if root := r.made[one.state]; root != 0 && root != one.ID && r.all[root] != nil {
			one.Root = root
			r.began[root] = append(r.began[root], one.ID)
		}
		return nil
	}
	root := r.rootOf(one)
	if root == 0 {
		return nil
	}
	var moved []Summary
	for _, state := range one.wrote() {
		r.made[state] = root
		event := r.all[r.shown[state]]
		if event == nil || event.Root != 0 || event.ID <= max(one.Cause, root) {
			continue // a request that changed nothing answers with an earlier state
		}
		for _, id := range append(r.began[event.ID], event.ID) {
			if below := r.all[id]; below != nil {
				below.Root = root
				r.began[root] = append(r.began[root], id)
				again := below.Summary
				again.Moved = true
				moved = append(moved, again)
			}
		}
		delete(r.began, event.ID)
	}
	return moved
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
	if one.Type == TypeWorkflow && one.key != "" {
		one.Cause = r.causeOf(&one)
	}
	r.all[one.ID] = &one
	if r.all[one.Cause] == nil { // none, or an event that is forgotten already
		r.order = append(r.order, one.ID)
	} else {
		r.caused[one.Cause] = append(r.caused[one.Cause], one.ID)
	}
	moved := r.link(&one)
	for len(r.order) > kept {
		r.forget(r.order[0])
		r.order = r.order[1:]
	}
	summary := one.Summary
	r.mu.Unlock()
	r.tell(summary)
	for _, s := range moved {
		r.tell(s)
	}
	return one.ID
}

func (r *records) forget(id int) {
	for _, below := range r.caused[id] {
		delete(r.all, below)
	}
	if one := r.all[id]; one != nil {
		delete(r.shown, one.state)
		delete(r.made, one.state)
	}
	delete(r.began, id)
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
	root, state := one.Root, one.state
	change(one)
	one.complete()
	one.Root, one.state = root, state
	moved := r.link(one)
	summary := one.Summary
	r.mu.Unlock()
	if !quiet {
		r.tell(summary)
	}
	for _, s := range moved {
		r.tell(s)
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
