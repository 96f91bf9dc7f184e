package live

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// eventRecord returns the record of an event.
func (g *generation) eventRecord(e simulate.Event) Record {
	out := Record{Input: rawEvent{e}}
	data := payloadOf(e)
	out.Type, out.State, out.Operator = TypeEvent, StateDone, e.Source
	if data.Body == nil { // a tick of the calendar
		out.Title, out.Object = "Tick of "+e.Object.Name, Object{Kind: "EventSource", Name: e.Source}
		out.Nodes = []string{"source", "bus"}
		return out
	}
	body := &unstructured.Unstructured{Object: data.Body}
	out.Operator, out.Object = g.objects.operatorOf(body), identity(body)
	out.Title = e.Type + " " + out.Object.String()
	out.Text, out.state = data.changedFields(), stateOf(data.Body)
	out.Nodes = g.view.eventNodes(out.Operator, groupKindOf(body))
	if out.key = body.GetAnnotations()[plan.OwnerAnnotation]; g.objects.isPrimary(body) {
		out.key = body.GetNamespace() + "." + body.GetName()
	}
	out.By = strings.Join(g.objects.managers(&unstructured.Unstructured{Object: data.OldBody}, body), ", ")
	return out
}

// Records returns the records of a trace in memory, such as that of a test. The operators
// must be loaded.
func (l *Live) Records(trace simulate.Trace) ([]Record, error) {
	g := l.generation()
	if g == nil {
		return nil, errors.New("no operator is loaded")
	}
	out := []Record{}
	event := -1 // index of the last
	add := func(r Record) {
		r.ID = len(out) + 1
		r.complete()
		out = append(out, r)
	}
	for _, step := range trace {
		switch {
		case step.Event != nil:
			event = len(out)
			add(g.eventRecord(*step.Event))
		case step.Workflow != nil:
			add(g.view.Workflow(step.Workflow, g.origins[step.Workflow.Origin]))
		case event >= 0:
			d := step.Delivery
			r := g.view.Delivery(d, out[event].Operator)
			r.Cause, r.Input, r.Object = out[event].ID, out[event].Input, out[event].Object
			if r.State == StateSkipped {
				out[event].Skipped++
				r.complete()
				out[event].Rejected = append(out[event].Rejected, r)
			} else {
				add(r)
			}
		}
	}
	return out, nil
}
