package explain

import (
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// workerEvents follows one event through the Sensor to the worker, whose requests are those
// of templates/runtime/worker.py. A reconcile is the same as in the pod of a Workflow.
func workerEvents(p *plan.Plan) []Event {
	full := workerReconcile(p)
	again := known(p, full)
	finalizer := calls(count(p.Reconcile.Finalizer != ""), "finalizer added")
	due := "custom resource that is not up to date"
	if p.Runtime.ResyncPolicy == "Always" {
		due = "custom resource"
	}
	changed := event(statusChanged)
	if n, _ := readers(p, "status"); n > 0 {
		changed = event(statusChanged, again).atMost("none if no field changes that a template reads")
	}
	list := []Event{
		event(added, full, finalizer),
		event(specChanged, again).atMost("one request more for each child that is created or deleted"),
		changed,
		event(labelsChanged, again).atMost(""),
		event(childReports, again).atMost("none if neither its readiness nor an observed field changes"),
		event(childTouched, again).atMost(""),
		event(childDeleted, full).atMost(""),
	}
	if p.EnqueuesRelated() {
		list = append(list, event(relatedChanged).each("custom resource that refers to it", again))
	}
	looks := calls(kindLists(p)+relatedLists(p)+max(1, namespaces(p, p.API.Kind)), "lists (500 objects per request)")
	return append(list, eventsResource(p), event(resync, looks).each(due, full), event(ticked), workerGone(p))
}

// workerReconcile returns the requests of one reconcile.
func workerReconcile(p *plan.Plan) []Part {
	parts := full(p)[1:] // no Workflow is created
	if !p.Logic.ResyncAfter {
		return parts
	}
	return parts[:len(parts)-1] // it keeps its timers itself
}

// known returns the requests of a reconcile whose children exist: with logic, a list has shown
// them already.
func known(p *plan.Plan, parts []Part) []Part {
	if !hasLogic(p) {
		return parts
	}
	out := slices.Clone(parts)
	for i, part := range out {
		if part.What == readAndApplied {
			out[i] = Part{Cost{0, part.Calls / 2}, "children applied"}
		}
	}
	return out
}

// workerGone returns the cost of a deletion. Every deleted child is an event, whose reconcile
// finds nothing to do.
func workerGone(p *plan.Plan) Event {
	e := gone(p)
	e.Parts = slices.DeleteFunc(e.Parts, func(part Part) bool { return part.Pods > 0 })
	e.Cost = sum(e.Parts)
	return e.atMost("one reconcile without changes for the children that the garbage collector deletes")
}
