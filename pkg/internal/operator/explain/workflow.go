package explain

import (
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// workflowEvents follows one event through the Sensor into the pods of a Workflow,
// whose requests are those of templates/runtime/reconcile.py.
func workflowEvents(p *plan.Plan) []Event {
	full := full(p)
	finalizer := calls(count(p.Reconcile.Finalizer != ""), "finalizer added")
	drift := slices.Concat(ask(p), full)
	due := "custom resource that is not up to date"
	if p.Runtime.ResyncPolicy == "Always" {
		due = "custom resource"
	}
	seen := "none if neither its readiness nor an observed field changes"
	first := event(added, full, finalizer)
	if dependent(p) {
		first = first.atMost("one more pod for each child that waits for another child")
	}
	list := []Event{
		first,
		event(specChanged, full).atMost("one request and one pod more for each child that is deleted"),
		event(statusChanged),
		event(labelsChanged, full).atMost(""),
		event(childReports, childStatus(p, full)).atMost(seen),
		event(childTouched, drift).atMost(""),
		event(childDeleted, drift).atMost(""),
	}
	if p.EnqueuesRelated() {
		list = append(list, event(relatedChanged, calls(1, "Workflow read"), pod(
			2+relatedLists(p)+max(1, namespaces(p, p.API.Kind)),
			"Workflow created, lists (500 objects per request)",
		)).atMost("one for all changes within "+strconv.Itoa(plan.EnqueueWindow)+" seconds").
			each("custom resource that refers to it", resubmitted(p), full))
	}
	return append(
		list,
		eventsResource(p),
		event(
			resync,
			pod(1+kindLists(p)+relatedLists(p)+max(1, namespaces(p, p.API.Kind)), "liveness check read, lists (500 objects per request)"),
		).each(due, resubmitted(p), full),
		heartbeat(p),
		gone(p),
	)
}

// relatedLists returns the number of requests that read the related objects of all
// custom resources.
func relatedLists(p *plan.Plan) int {
	n := 0
	for _, r := range p.Related {
		if r.Watch {
			n += max(1, namespaces(p, r.Kind))
		}
	}
	return n
}

func dependent(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Children, func(c plan.Child) bool { return len(c.DependsOn) > 0 })
}

// full returns one reconcile, from the Sensor's Workflow to the status.
func full(p *plan.Plan) []Part {
	status := calls(count(p.API.Kind.StatusSubresource), "status")
	n, lists := len(p.Children), lists(p)
	if p.Reconcile.Execution.PodPerStep {
		return slices.Concat(
			calls(1, "Workflow created"),
			pod(1, "read"),
			pod(1, "its child read"),
			pod(1, "applied"),
			pod(1+lists, "read, children listed"),
			status)
	}
	parts := append(launched(), calls(1, "read")...)
	parts = append(parts, calls(len(p.Related), "related objects read")...)
	if !hasLogic(p) && p.Runtime.ReadsObjects {
		parts = append(parts, calls(lists, "children listed")...)
	}
	if hasLogic(p) {
		parts = append(parts, calls(lists, "children listed for the logic")...)
		parts = append(parts, calls(1, "read again")...)
	}
	if p.Runtime.ReadsObjects { // a list has shown which children exist
		parts = append(parts, calls(n, written)...)
	} else {
		parts = append(parts, calls(2*n, "children read, applied")...)
	}
	parts = append(parts, calls(lists, "children listed, to prune")...)
	parts = append(parts, calls(2*len(p.Patches), "patched objects listed, patched")...)
	parts = append(parts, status...)
	parts = append(parts, calls(count(len(p.Related) > 0), "digest of the related objects stored")...)
	if p.Logic.ResyncAfter {
		parts = append(parts, calls(2, "timer set, other timers read")...)
	}
	return parts
}

// written is the part of a reconcile that writes children of which a list has shown whether
// they exist.
const written = "children applied"

func launched() []Part { return pod(1, "Workflow created") }

// ask returns the cost of a child's event if there are templates: the Sensor does not
// have the custom resource, so the pod requests the computation by another event.
func ask(p *plan.Plan) []Part {
	if !p.Runtime.SensorTemplates {
		return nil
	}
	parts := append(launched(), calls(1, "read")...)
	if !hasLogic(p) {
		parts = append(parts, calls(lists(p), "children listed")...)
	}
	return append(parts, calls(1, "templates requested")...)
}

// childStatus returns the cost when a child changes its status. With templates only, it
// can only change the status.
func childStatus(p *plan.Plan, full []Part) []Part {
	switch {
	case !p.Runtime.SensorTemplates:
		return full
	case hasLogic(p):
		return slices.Concat(ask(p), full)
	}
	parts := append(launched(), calls(1+lists(p), "read, children listed")...)
	return append(parts, calls(count(p.API.Kind.StatusSubresource), "status")...)
}

// resubmitted returns the cost of a custom resource that the resync reconciles.
func resubmitted(p *plan.Plan) []Part {
	if p.Runtime.SensorTemplates {
		return calls(1, "templates requested")
	}
	return nil // its Workflow is the first request of the reconcile
}

// gone returns the cost of a deletion. Every deleted child is an event, whose pod finds
// nothing to do.
func gone(p *plan.Plan) Event {
	n := owned(p)
	empty := times(n, append(launched(), calls(1, "custom resource not found")...))
	if p.Reconcile.Finalizer == "" {
		return event(deletedForGood, empty).noting("one pod without changes for each child that the garbage collector deletes")
	}
	parts := append(launched(), calls(1, "read")...)
	if hasLogic(p) {
		parts = append(parts, calls(lists(p), "children listed for the logic")...)
		parts = append(parts, calls(1, "read again")...)
	}
	parts = append(parts, calls(lists(p), "children listed")...)
	parts = append(parts, calls(n, "children deleted")...)
	if hasLogic(p) {
		parts = append(parts, calls(lists(p), "remaining children listed")...)
	}
	parts = append(parts, calls(1, "finalizer removed")...)
	return event(deletedForGood, parts, empty).noting("then one pod without changes for each deleted child")
}

func hasLogic(p *plan.Plan) bool { return p.Logic.Image != "" }

// lists returns the number of requests that find the children of one custom resource.
func lists(p *plan.Plan) int {
	if p.API.Kind.Namespaced && p.Reconcile.Finalizer == "" {
		return len(kinds(p))
	}
	return kindLists(p)
}

// kindLists returns the number of requests that find the children of all custom
// resources.
func kindLists(p *plan.Plan) int {
	n := 0
	for _, k := range kinds(p) {
		n += max(1, namespaces(p, k))
	}
	return n
}

// namespaces returns how many namespaces are watched for a kind; 0: all in one watch.
func namespaces(p *plan.Plan, k plan.Kind) int {
	if !k.Namespaced {
		return 0
	}
	return len(p.Shared.WatchNamespaces)
}

func kinds(p *plan.Plan) []plan.Kind {
	var out []plan.Kind
	for _, c := range p.Children {
		if !slices.Contains(out, c.Kind) {
			out = append(out, c.Kind)
		}
	}
	return out
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
