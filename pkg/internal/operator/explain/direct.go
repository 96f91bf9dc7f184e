package explain

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// directEvents follows one event through the triggers of the direct engine, including
// the events of its own writes: a written child is observed, the custom resource stores
// the observed state, and the status is computed from it.
func directEvents(p *plan.Plan) []Event {
	n, status := len(p.Children), 0
	if p.WritesStatus() {
		status = 1
	}
	write := func(n int, what string) []Part { return calls(n, what) }
	first := write(n, "children applied")
	first = append(first, write(n, "observed state stored")...)
	first = append(first, write(status, "status")...)
	listed, finalized := p.ListedChildren()
	rewritten := len(slices.DeleteFunc(slices.Clone(p.Children), func(c plan.Child) bool { return !p.ReappliedWhenCreated(c) }))
	lists, again := write(
		listed,
		"list of children to apply stored",
	), write(
		rewritten,
		"children that read other children or fields outside the spec applied",
	)
	forgotten := write(owned(p)-finalized, "observed state removed, fails because the custom resource is gone")
	creation, deletion := event(added, lists, first, again), event(deletedForGood, forgotten)
	if p.Reconcile.Finalizer != "" {
		creation = event(
			added,
			lists,
			write(1+listed, "finalizer added, or conflict"),
			first,
			again,
		).atMost("usually the first attempt adds the finalizer")
		deletion = event(
			deletedForGood,
			write(finalized, "marked for deletion"),
			write(finalized, "deleted"),
			write(finalized, "observed state stored"),
			write(finalized, "removed from the list"),
			write(1, "finalizer removed"),
			forgotten,
		).atMost("")
	}
	dependent := write(dependents(p), "children that read it applied")
	read := func(what string, fields ...string) []Part {
		m, shown := readers(p, fields...)
		parts := append(write(m, "children that read "+what+" applied"), write(m, "observed state stored")...)
		if m > 0 || shown {
			parts = append(parts, write(status, "status")...)
		}
		return parts
	}
	seen := "none if no observed field changes"
	list := []Event{
		creation,
		specEvent(p, first),
		event(statusChanged, read("it", "status")).atMost("one request if another client changed a field of the operator"),
		event(labelsChanged, read("them", "metadata.labels", "metadata.annotations")).atMost(""),
		event(childReports, write(1, "observed state stored"), dependent, write(status, "status")).atMost(seen),
		event(childTouched, write(1, "observed state stored"), write(1, "applied"), dependent,
			write(1, "observed state stored again"), write(2*status, "status, before and after")).
			atMost("none if the operator does not manage the field"),
		event(childDeleted, write(1, "observed state removed"), write(1, "applied"),
			write(1, "observed state stored"), dependent, write(status, "status")).atMost(""),
		rejection(p, status),
		eventsResource(p),
		event(resync, pod(1, "liveness check read"), pod(1, "EventSource patched, which replaces its pod"),
			calls(2*watched(p), "lists and watches of the new pod")).
			each("custom resource", write(n, "children applied, unchanged"), write(n, "observed state stored, unchanged")),
		heartbeat(p),
		deletion,
	}
	return append(list, rotation(p)...)
}

// rejection returns the cost of a failure at a new generation, until nothing more is
// tried. Each failed attempt is recorded; the last one is, if a pod asks why, by the pod.
func rejection(p *plan.Plan, status int) Event {
	attempts := calls(plan.MaxAttempts*plan.CallTries, "attempts, with retries")
	statuses := calls(plan.MaxAttempts*status, "status, often a conflict")
	if !p.Reconcile.Diagnoses {
		return event(childRejected, attempts, calls(plan.MaxAttempts, "failures recorded"), statuses).atMost("")
	}
	return event(childRejected, attempts, calls(plan.MaxAttempts-1, "failures recorded"), calls(1, "Workflow created"),
		pod(3, "diagnosis: failure read, request repeated, answer stored"), statuses).
		atMost("one pod per new failure; none for a Secret or a child that reads one, or if the same generation fails again after a resync")
}

// watched counts the watches of the EventSource.
func watched(p *plan.Plan) int {
	n := 0
	for _, e := range p.Events {
		if e.Interval == "" {
			n++
		}
	}
	return n
}

// dependents counts the children whose template or `when` reads other children.
func dependents(p *plan.Plan) int {
	n := 0
	for _, c := range p.Children {
		if slices.ContainsFunc(programs(c), func(e *expression.Program) bool { return len(e.ReadsChildren()) > 0 }) {
			n++
		}
	}
	return n
}

// readers counts the children that are computed from fields of the custom resource, and
// returns whether the status is.
func readers(p *plan.Plan, fields ...string) (children int, status bool) {
	reads := func(e *expression.Program) bool {
		return slices.ContainsFunc(e.Reads(), func(path []string) bool {
			read := strings.Join(path, ".")
			return slices.ContainsFunc(fields, func(field string) bool { return below(read, field) || below(field, read) })
		})
	}
	for _, c := range p.Children {
		if slices.ContainsFunc(programs(c), reads) {
			children++
		}
	}
	return children, slices.ContainsFunc(p.Status.Fields, func(f plan.StatusField) bool { return reads(f.Value) })
}

// below reports whether a path is equal to, an ancestor of, or below another.
func below(path, ancestor string) bool {
	return ancestor == "" || path == ancestor || strings.HasPrefix(path, ancestor+".")
}

// programs returns the programs that compute a child.
func programs(c plan.Child) []*expression.Program {
	return slices.DeleteFunc([]*expression.Program{c.Object, c.When}, func(e *expression.Program) bool { return e == nil })
}

// specEvent returns the cost of a spec change. Without metadata.generation, only the
// fields that are read can be compared.
func specEvent(p *plan.Plan, parts []Part) Event {
	if len(p.API.Versions) == 0 && len(p.API.CRD) == 0 {
		return event(specChanged, parts).atMost("if the kind has no generation: none for a child that does not read the changed field")
	}
	return event(specChanged, parts)
}
