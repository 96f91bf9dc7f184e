package live

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/graph"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// View turns traces into records.
type View struct {
	Target func(path string) simulate.Target // what a path of the API names
	Graphs map[string]graph.Graph            // by operator
}

// Delivery returns the record of a delivery. Without attempts the filter rejected the event,
// or it was lost.
func (v View) Delivery(d *simulate.Delivery, operator string) Record {
	out := Record{Program: d.Program, Output: anyOf(d.Transformed)}
	out.Type, out.State, out.Title, out.Text, out.Operator = TypeDelivery, StateDone, d.Trigger, d.Stopped, operator
	out.Nodes = v.sensorNodes(operator, d.Sensor)
	switch {
	case d.Lost:
		out.State = StateLost
	case d.Stopped != "":
		out.State = StateSkipped
	}
	for _, a := range d.Attempts {
		attempt := Attempt{Trigger: a.Trigger, Failure: a.Failure, Note: a.Note, Calls: v.calls(a.Calls)}
		out.Attempts = append(out.Attempts, attempt)
		out.State, out.Text = StateDone, a.Note
		if a.Failure != "" {
			out.State, out.Text = StateFailed, a.Failure
		}
		out.summarise(attempt.Calls)
		out.Nodes = append(out.Nodes, v.writtenNodes(operator, a.Trigger, a.Calls)...)
	}
	if why := rejection(d); why != "" && out.State == StateDone {
		out.State, out.Text = StateFailed, why
	}
	return out
}

// rejection returns why the API server rejected the request of a trigger for good, if another
// trigger has recorded that since. That an object is gone or has changed is no failure: it is how
// a trigger finds out.
func rejection(d *simulate.Delivery) string {
	if len(d.Attempts) == 0 || d.Attempts[len(d.Attempts)-1].Trigger == d.Trigger {
		return ""
	}
	for _, a := range slices.Backward(d.Attempts) {
		if a.Trigger != d.Trigger || len(a.Calls) == 0 {
			continue
		}
		last := a.Calls[len(a.Calls)-1]
		if last.Status < http.StatusBadRequest || last.Status == http.StatusNotFound || last.Status == http.StatusConflict {
			return ""
		}
		return last.Outcome()
	}
	return ""
}

func anyOf(fields map[string]any) any {
	if fields == nil {
		return nil
	}
	return fields
}

// Workflow returns the record of a Workflow.
func (v View) Workflow(w *simulate.Workflow, operator string) Record {
	out := Record{}
	out.Type, out.State, out.Title, out.Operator = TypeWorkflow, StateDone, w.Name, operator
	out.Object = Object{Kind: "Workflow", Namespace: w.Namespace, Name: w.Name}
	if w.Reconciles() {
		out.Title, out.Object.Kind = w.Title(), w.Origin.Kind
	}
	if w.Failure != "" {
		out.State, out.Text = StateFailed, w.Cause()
	}
	out.Nodes = v.workflowNodes(operator, w.Origin)
	for _, c := range w.Containers {
		one := Container{
			Template: c.Template, Name: c.Name, Command: c.Command, Output: c.Output, ExitCode: c.ExitCode,
			Skipped: c.Skipped, Killed: c.Killed, Calls: v.calls(c.Calls),
		}
		out.Containers = append(out.Containers, one)
		out.summarise(one.Calls)
		out.Nodes = append(out.Nodes, v.writtenNodes(operator, "", c.Calls)...)
	}
	return out
}

// summarise adds requests to the summary of a record.
func (r *Record) summarise(calls []Call) {
	for _, c := range calls {
		r.Calls = append(r.Calls, c.CallSummary)
	}
}

func (v View) calls(calls []cluster.Call) []Call {
	out := []Call{}
	for _, c := range calls {
		out = append(out, Call{
			CallSummary: CallSummary{Method: c.Method, What: v.what(c), Status: c.Status, Duration: Milliseconds(c.Duration)},
			Path:        c.Path, ContentType: c.ContentType, Account: c.Account, Body: c.Body, Answer: c.Answer,
		})
	}
	return out
}

// target returns what a request names. The path of a created object has no name, and
// the kind of a path may be unknown.
func (v View) target(c cluster.Call) simulate.Target {
	t := v.Target(c.Path)
	for _, fields := range []any{c.Body, c.Answer} {
		o, _ := fields.(map[string]any)
		if kind, _ := o["kind"].(string); t.Kind == "" && kind != "Status" {
			t.Kind = kind
		}
		metadata, _ := o["metadata"].(map[string]any)
		if name, _ := metadata["name"].(string); t.Name == "" {
			t.Name = name
		}
	}
	return t
}

// what names the object of a request.
func (v View) what(c cluster.Call) string {
	t := v.target(c)
	if t.Kind == "" {
		return c.Path
	}
	out := Object{Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}.String()
	if t.Subresource != "" {
		out += ", " + t.Subresource
	}
	return strings.TrimSpace(out)
}

// nodes returns the nodes of an operator's graph that match.
func (v View) nodes(operator string, matches func(graph.Node) bool) []string {
	var out []string
	for _, n := range v.Graphs[operator].Nodes {
		if matches(n) {
			out = append(out, n.ID)
		}
	}
	return out
}

// eventNodes returns the nodes that an event reaches before the Sensors.
func (v View) eventNodes(operator string, kind schema.GroupKind) []string {
	changed := v.nodes(operator, func(n graph.Node) bool { return n.Role == graph.Changes && n.Kind == kind })
	return append(changed, "source", "bus")
}

func (v View) sensorNodes(operator, sensor string) []string {
	return append([]string{"bus"}, v.nodes(operator, func(n graph.Node) bool { return n.Role == graph.Sensor && n.Name == sensor })...)
}

// workflowNodes returns the node of the Workflow, or of the resync.
func (v View) workflowNodes(operator string, origin simulate.Origin) []string {
	reconcile := v.nodes(operator, func(n graph.Node) bool {
		return n.Role == graph.Workflow && len(n.Text) > 0 && n.Text[0] == origin.Name
	})
	if len(reconcile) > 0 {
		return reconcile
	}
	return v.nodes(operator, func(n graph.Node) bool { return n.Role == graph.Resync })
}

// writtenNodes returns the nodes of the objects that requests wrote. Of several children of
// a kind, it is the one that the trigger's name contains.
func (v View) writtenNodes(operator, trigger string, calls []cluster.Call) []string {
	var out []string
	for _, c := range calls {
		t := v.target(c)
		switch {
		case c.Method == http.MethodGet:
		case t.Subresource == "status":
			out = append(out, v.nodes(operator, func(n graph.Node) bool { return n.ID == "status" })...)
		case t.Kind == "Workflow":
			out = append(out, v.nodes(operator, func(n graph.Node) bool { return n.Role == graph.Workflow })...)
		default:
			kind := schema.GroupKind{Group: t.Group, Kind: t.Kind}
			of := func(n graph.Node) bool { return n.Role == graph.Written && n.Kind == kind }
			written := v.nodes(operator, of)
			if len(written) > 1 {
				named := v.nodes(operator, func(n graph.Node) bool { return of(n) && strings.Contains(trigger, n.Name) })
				if len(named) > 0 {
					written = named
				}
			}
			out = append(out, written...)
		}
	}
	return out
}
