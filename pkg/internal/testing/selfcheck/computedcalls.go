package selfcheck

import (
	"cmp"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// computedTriggerCalls derives the calls of a computed trigger from the programs of its
// dependencies, and reports programs that it cannot analyze.
func computedTriggerCalls(r *problem.Report, o objects, s *eventsv1.Sensor, t argo.Trigger) []argo.Call {
	key := keyOf(t)
	if key == "" {
		r.Add(
			t.Path.Child("template"),
			codeUnknownRequest,
			"take method, path, type and body of a request from the event, or use a k8s or log trigger",
			"its API calls cannot be derived",
		)
		return nil
	}
	var out []argo.Call
	if asks(t) {
		workflows := argo.Call{
			Group:     argo.Group,
			Resource:  "workflows",
			Namespace: s.Namespace,
			Why:       "the Sensor's trigger " + t.Template.Name,
			In:        s,
			Path:      t.Path.Child("template"),
		}
		out = each(workflows, "create")
	}
	for i, d := range s.Spec.Dependencies {
		if !slices.Contains(t.DependencyNames(), d.Name) {
			continue
		}
		at := field.NewPath("spec", "dependencies").Index(i).Child("transform", "jq")
		program := o.programOf(d)
		if program == nil {
			r.Add(
				at,
				codeUnknownRequest,
				"compute "+key+" in jq",
				"the calls of trigger %s cannot be derived without a program",
				t.Template.Name,
			)
			continue
		}
		calls, why := computedCalls(o, s, t, d, program)
		if why != "" {
			r.Add(
				at,
				codeUnknownRequest,
				"write it as an object literal with method, path, type and body",
				"the calls of trigger %s cannot be derived: %s",
				t.Template.Name,
				why,
			)
		}
		out = append(out, calls...)
	}
	return out
}

// programOf returns the jq of a dependency. It returns nil if there is none or it
// does not parse, which another check reports.
func (o objects) programOf(d eventsv1.EventDependency) *Program {
	if d.Transform == nil || d.Transform.JQ == "" {
		return nil
	}
	if p := o.program(d.Transform.JQ); p.Err == nil {
		return p
	}
	return nil
}

func computedCalls(o objects, s *eventsv1.Sensor, t argo.Trigger, d eventsv1.EventDependency, program *Program) ([]argo.Call, string) {
	entry := entryOf(o, s, d)
	base := argo.Call{Why: "the Sensor's trigger " + t.Template.Name, In: s, Path: t.Path.Child("template"), Namespace: entry.Namespace}
	var out []argo.Call
	if t.Template.HTTP == nil {
		list, problem := writingsUnder(program.Query, keyOf(t))
		for _, w := range list {
			out = append(out, writingCalls(base, o, w)...)
		}
		return out, problem
	}
	list, problem := program.RequestsUnder(keyOf(t))
	for _, q := range list {
		at := base
		at.Group, at.Resource = q.Kind.Group, q.Kind.Resource
		if q.Kind.subresource != "" {
			at.Resource += "/" + q.Kind.subresource
		}
		if q.namespace != Escaped {
			at.Namespace = q.namespace
		}
		if q.name != Escaped {
			at.Name = q.name
		}
		out = append(out, each(at, q.verbs()...)...)
	}
	return out, problem
}

// writingCalls returns the calls of a k8s trigger that patches an object. Argo turns a patch
// of a missing object into a create.
func writingCalls(c argo.Call, o objects, w writing) []argo.Call {
	gv, _ := schema.ParseGroupVersion(w.apiVersion)
	c.Group, c.Resource = gv.Group, shapes.GuessedPlural(w.kind)
	if w.name != "" {
		c.Namespace, c.Name = w.namespace, w.name
	}
	if w.name != "" && w.kind == "EventSource" && emitsSource(o, w) {
		return each(c, "get", "patch")
	}
	return each(c, "get", "patch", "create")
}

// emitsSource reports whether an EventSource is among the emitted objects and so
// exists.
func emitsSource(o objects, w writing) bool {
	_, ok := argo.Find[*eventsv1.EventSource](o.Objects, w.namespace, w.name)
	return ok
}

// entryOf returns the EventSource entry of a dependency; empty if it is not among
// the objects.
func entryOf(o objects, s *eventsv1.Sensor, d eventsv1.EventDependency) eventsv1.ResourceEventSource {
	source, ok := argo.Find[*eventsv1.EventSource](o.Objects, s.Namespace, d.EventSourceName)
	if !ok {
		return eventsv1.ResourceEventSource{}
	}
	return source.Spec.Resource[d.EventName]
}

// isCalendar reports whether a dependency subscribes to a calendar.
func isCalendar(o objects, s *eventsv1.Sensor, d eventsv1.EventDependency) bool {
	source, ok := argo.Find[*eventsv1.EventSource](o.Objects, s.Namespace, d.EventSourceName)
	if !ok {
		return false
	}
	_, found := source.Spec.Calendar[d.EventName]
	return found
}

// requestsIn returns the requests of all http triggers.
func requestsIn(o objects) []Request {
	var out []Request
	for _, s := range argo.All[*eventsv1.Sensor](o.Objects) {
		for _, t := range o.Triggers(s) {
			for _, d := range s.Spec.Dependencies {
				if program := o.programOf(d); t.Template.HTTP != nil && program != nil && slices.Contains(t.DependencyNames(), d.Name) {
					found, _ := program.RequestsUnder(cmp.Or(keyOf(t), "call"))
					out = append(out, found...)
				}
			}
		}
	}
	return out
}
