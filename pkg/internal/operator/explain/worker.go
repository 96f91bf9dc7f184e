package explain

import (
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// workerEvents follows one event through the Sensor to the worker, whose requests are those
// of templates/runtime/worker.py. A reconcile is the same as in the pod of a Workflow.
func workerEvents(p *plan.Plan) []Event {
	full := workerReconcile(p)
	look := unwritten(full)
	finalizer := calls(count(p.Reconcile.Finalizer != ""), "finalizer added")
	due := "custom resource that is not up to date"
	if p.Runtime.ResyncPolicy == "Always" {
		due = "custom resource"
	}
	changed := event(statusChanged)
	if n, _ := readers(p, "status"); n > 0 {
		changed = event(statusChanged, full).atMost("none if no field changes that a template reads")
	}
	list := []Event{
		event(added, full, finalizer),
		event(specChanged, full).atMost("one request more for each child that is deleted"),
		changed,
		event(labelsChanged, full).atMost(""),
		event(childReports, look).atMost("none if neither its readiness nor an observed field changes; " +
			"one more for each child after a start of the worker"),
		event(childTouched, full).atMost(""),
		event(childDeleted, full).atMost(""),
	}
	if p.EnqueuesRelated() {
		list = append(list, event(relatedChanged).each("custom resource that refers to it", full))
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

// unwritten returns the requests of a reconcile whose children are as the one before has left them.
func unwritten(parts []Part) []Part {
	return slices.DeleteFunc(slices.Clone(parts), func(part Part) bool { return part.What == written })
}

// workerGone returns the cost of a deletion. Every deleted child is an event, whose reconcile
// finds nothing to do.
func workerGone(p *plan.Plan) Event {
	e := gone(p)
	e.Parts = slices.DeleteFunc(e.Parts, func(part Part) bool { return part.Pods > 0 })
	e.Cost = sum(e.Parts)
	return e.atMost("one reconcile without changes for the children that the garbage collector deletes")
}
