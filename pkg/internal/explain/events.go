package explain

import (
	"fmt"

	"github.com/argoperator/argoperator/pkg/internal/plan"
)

// Event is what one kind of event costs, with one object of each child and
// without failures. It counts the requests of the Sensor's triggers and of the
// operator's own steps; Argo's bookkeeping of each Workflow and pod, the writes
// of other controllers, and the Event where Ready changes, come on top.
type Event struct {
	Event  string `json:"event"`
	Cost          // of the event and all that the operator does because of it
	AtMost bool   `json:"atMost"` // the cost depends on what has changed
	Each   *Each  `json:"each,omitempty"`
	Parts  []Part `json:"parts"` // that the cost is the sum of
	Note   string `json:"note,omitempty"`
}

// Cost is pods started and requests to the API server.
type Cost struct {
	Pods  int `json:"pods"`
	Calls int `json:"requests"`
}

// Each is what comes on top for each custom resource.
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

// The kinds of events, in the order of a life.
const (
	added          = "custom resource added"
	specChanged    = "its spec changed"
	statusChanged  = "its status changed"
	labelsChanged  = "its labels or annotations changed"
	childReports   = "child changed by its controller"
	childTouched   = "child changed by hand"
	childDeleted   = "child deleted"
	relatedChanged = "related object changed"
	readyChanged   = "Ready at last, or failed"
	resync         = "resync"
	ticked         = "heartbeat, every " + plan.Tick
	deletedForGood = "custom resource deleted"
	rotated        = "token replaced"
)

func events(p *plan.Plan) []Event {
	if p.Reconcile.Execution.RunsPods {
		return workflowEvents(p)
	}
	return directEvents(p)
}

// heartbeat is what it costs to know that events arrive; what it writes changes
// once a minute.
func heartbeat(p *plan.Plan) Event {
	return event(ticked, calls(perCall(p)*len(p.Sensors), "noted by each Sensor"))
}

// rotation is what it costs to replace the Sensors' token.
func rotation(p *plan.Plan) []Event {
	if !p.Rotates() {
		return nil
	}
	return []Event{event(fmt.Sprintf("%s, every %dh", rotated, p.Install.TokenHours), pod(2, "token requested, Secret patched"))}
}

// telling is what comes on top of an event that changes Ready.
func telling(p *plan.Plan) Event {
	if !p.Runtime.EmitEvents {
		return event(readyChanged)
	}
	return event(readyChanged, calls(1, "Event written")).noting("on top of what led to it")
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

// atMost marks a cost that can be lower.
func (e Event) atMost(note string) Event {
	e.AtMost, e.Note = e.Calls > 0, note
	return e
}

// noting adds a remark to a cost that is certain.
func (e Event) noting(note string) Event {
	e.Note = note
	return e
}

// each adds what it costs for each custom resource.
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

// calls is a part without a pod; none where there is no call.
func calls(n int, what string) []Part {
	if n == 0 {
		return nil
	}
	return []Part{{Cost{0, n}, what}}
}

func pod(n int, what string) []Part {
	return []Part{{Cost{1, n}, what}}
}

// times repeats parts: for each of several Workflows.
func times(n int, parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if n > 0 {
			out = append(out, Part{Cost{n * p.Pods, n * p.Calls}, p.What})
		}
	}
	return out
}

// owned counts the children that go with their custom resource.
func owned(p *plan.Plan) int {
	n := 0
	for _, c := range p.Children {
		if !c.Orphan {
			n++
		}
	}
	return n
}
