package explain

import (
	"fmt"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Event is the cost of one kind of event, with one object of each child and without
// failures. It counts the requests of the Sensor's triggers and of argoperator's own
// steps. Argo's own requests for each Workflow and pod, the writes of other
// controllers, and the Event for a change of Ready are additional.
type Event struct {
	Event  string `json:"event"`
	Cost          // of the event and all its consequences
	AtMost bool   `json:"atMost"` // the cost depends on the change
	Each   *Each  `json:"each,omitempty"`
	Parts  []Part `json:"parts"` // the summands of the cost
	Note   string `json:"note,omitempty"`
}

// Cost counts started pods and requests to the API server.
type Cost struct {
	Pods  int `json:"pods"`
	Calls int `json:"requests"`
}

// Each is the additional cost for each custom resource.
type Each struct {
	Cost
	Which string `json:"object"`
	Parts []Part `json:"parts"`
}

// Part is a summand of a cost.
type Part struct {
	Cost
	What string `json:"description"`
}

// The kinds of events, in the order of an object's life.
const (
	added          = "custom resource added"
	specChanged    = "its spec changed"
	statusChanged  = "its status changed"
	labelsChanged  = "its labels or annotations changed"
	childReports   = "child changed by its controller"
	childTouched   = "child changed by hand"
	childDeleted   = "child deleted"
	childRejected  = "child rejected by the API server"
	relatedChanged = "related object changed"
	readyChanged   = "Ready condition changed"
	resync         = "resync"
	ticked         = "liveness check, every " + plan.HeartbeatInterval
	deletedForGood = "custom resource deleted"
	rotated        = "token replaced"
)

func events(p *plan.Plan) []Event {
	switch e := p.Reconcile.Execution; {
	case e.Stays:
		return workerEvents(p)
	case e.RunsPods:
		return workflowEvents(p)
	}
	return directEvents(p)
}

// heartbeat returns the cost of the liveness check, which causes a write once a minute.
func heartbeat(p *plan.Plan) Event {
	requests := 1
	if p.Reconcile.Execution.RunsPods { // the k8s trigger gets the object first
		requests = 2
	}
	return event(ticked, calls(requests, "timestamp written by the Sensor"))
}

// rotation returns the cost of rotating the Sensors' token.
func rotation(p *plan.Plan) []Event {
	if !p.RotatesToken() {
		return nil
	}
	return []Event{event(fmt.Sprintf("%s, every %dh", rotated, p.Install.TokenHours), pod(2, "token requested, Secret patched"))}
}

// eventsResource returns the additional cost of an event that changes Ready.
func eventsResource(p *plan.Plan) Event {
	if !p.Runtime.EmitsEvents {
		return event(readyChanged)
	}
	return event(readyChanged, calls(1, "Event created")).noting("in addition to the cause")
}

// event sums up parts.
func event(name string, parts ...[]Part) Event {
	out := Event{Event: name, Parts: []Part{}}
	for _, list := range parts {
		out.Parts = append(out.Parts, list...)
	}
	out.Cost = sum(out.Parts)
	return out
}

// atMost marks a cost as a maximum.
func (e Event) atMost(note string) Event {
	e.AtMost, e.Note = e.Calls > 0, note
	return e
}

// noting adds a remark to an exact cost.
func (e Event) noting(note string) Event {
	e.Note = note
	return e
}

// each adds the cost for each custom resource.
func (e Event) each(which string, parts ...[]Part) Event {
	each := event("", parts...)
	if each.Calls > 0 {
		e.Each = &Each{Cost: each.Cost, Which: which, Parts: each.Parts}
	}
	return e
}

func sum(parts []Part) Cost {
	var c Cost
	for _, p := range parts {
		c.Pods += p.Pods
		c.Calls += p.Calls
	}
	return c
}

// calls returns a part without a pod, or none if there are no requests.
func calls(n int, what string) []Part {
	if n == 0 {
		return nil
	}
	return []Part{{Cost{0, n}, what}}
}

func pod(n int, what string) []Part {
	return []Part{{Cost{1, n}, what}}
}

// times multiplies parts, for several Workflows.
func times(n int, parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if n > 0 {
			out = append(out, Part{Cost{n * p.Pods, n * p.Calls}, p.What})
		}
	}
	return out
}

// owned counts the children that are deleted with their custom resource.
func owned(p *plan.Plan) int {
	n := 0
	for _, c := range p.Children {
		if !c.Orphan {
			n++
		}
	}
	return n
}
