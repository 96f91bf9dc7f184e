package argo

import (
	"cmp"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// CallsOfComputed derives the calls of a computed trigger from the programs of its
// dependencies, and reports programs that it cannot analyze.
func CallsOfComputed(r *problem.Report, o Objects, s *eventsv1.Sensor, t Trigger) []Call {
	key := t.Key()
	if key == "" {
		r.Add(
			t.Path.Child("template"),
			problem.CodeUnknownRequest,
			"take method, path, type and body of a request from the event, or use a k8s or log trigger",
			"its API calls cannot be derived",
		)
		return nil
	}
	var out []Call
	if t.Asks() {
		workflows := Call{
			Group:     Group,
			Resource:  "workflows",
			Namespace: s.Namespace,
			Why:       "the Sensor's trigger " + t.Template.Name,
			In:        s,
			Path:      t.Path.Child("template"),
		}
		out = workflows.each("create")
	}
	for i, d := range s.Spec.Dependencies {
		if !slices.Contains(t.DependencyNames(), d.Name) {
			continue
		}
		at := field.NewPath("spec", "dependencies").Index(i).Child("transform", "jq")
		program := o.ProgramOf(d)
		if program == nil {
			r.Add(
				at,
				problem.CodeUnknownRequest,
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
				problem.CodeUnknownRequest,
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

// ProgramOf returns the jq of a dependency. It returns nil if there is none or it
// does not parse, which another check reports.
func (o Objects) ProgramOf(d eventsv1.EventDependency) *Program {
	if d.Transform == nil || d.Transform.JQ == "" {
		return nil
	}
	if p := o.Program(d.Transform.JQ); p.Err == nil {
		return p
	}
	return nil
}

func computedCalls(o Objects, s *eventsv1.Sensor, t Trigger, d eventsv1.EventDependency, program *Program) ([]Call, string) {
	entry := EntryOf(o, s, d)
	base := Call{Why: "the Sensor's trigger " + t.Template.Name, In: s, Path: t.Path.Child("template"), Namespace: entry.Namespace}
	var out []Call
	if t.Template.HTTP == nil {
		list, problem := writingsUnder(program.Query, t.Key())
		for _, w := range list {
			out = append(out, base.of(o, w)...)
		}
		return out, problem
	}
	list, problem := program.RequestsUnder(t.Key())
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
		out = append(out, at.each(q.verbs()...)...)
	}
	return out, problem
}

// of returns the calls of a k8s trigger that writes an object. Argo turns a patch
// of a missing object into a create. For custom resources the operator lacks that
// permission, so the patch fails and deleted objects stay deleted.
func (c Call) of(o Objects, w writing) []Call {
	gv, _ := schema.ParseGroupVersion(w.apiVersion)
	c.Group, c.Resource = gv.Group, shapes.GuessedPlural(w.kind)
	if w.name != "" {
		c.Namespace, c.Name = w.namespace, w.name
	}
	switch {
	case w.operation == "create":
		return c.each("create")
	case w.marks && watchedParent(o, c.Group, c.Resource), w.name != "" && w.kind == "EventSource" && emitsSource(o, w):
		return c.each("get", "patch")
	}
	return c.each("get", "patch", "create")
}

// emitsSource reports whether an EventSource is among the emitted objects and so
// exists.
func emitsSource(o Objects, w writing) bool {
	_, ok := Find[*eventsv1.EventSource](o, w.namespace, w.name)
	return ok
}

// watchedParent reports whether an EventSource watches all objects of a kind.
func watchedParent(o Objects, group, resource string) bool {
	for _, s := range All[*eventsv1.EventSource](o) {
		for _, e := range s.Spec.Resource {
			if e.Filter == nil && e.Group == group && e.Resource == resource {
				return true
			}
		}
	}
	return false
}

// EntryOf returns the EventSource entry of a dependency; empty if it is not among
// the objects.
func EntryOf(o Objects, s *eventsv1.Sensor, d eventsv1.EventDependency) eventsv1.ResourceEventSource {
	source, ok := Find[*eventsv1.EventSource](o, s.Namespace, d.EventSourceName)
	if !ok {
		return eventsv1.ResourceEventSource{}
	}
	return source.Spec.Resource[d.EventName]
}

// IsCalendar reports whether a dependency subscribes to a calendar.
func IsCalendar(o Objects, s *eventsv1.Sensor, d eventsv1.EventDependency) bool {
	source, ok := Find[*eventsv1.EventSource](o, s.Namespace, d.EventSourceName)
	if !ok {
		return false
	}
	_, found := source.Spec.Calendar[d.EventName]
	return found
}

// requestsIn returns the requests of all http triggers.
func requestsIn(o Objects) []Request {
	var out []Request
	for _, s := range All[*eventsv1.Sensor](o) {
		for _, t := range o.Triggers(s) {
			for _, d := range s.Spec.Dependencies {
				if program := o.ProgramOf(d); t.Template.HTTP != nil && program != nil && slices.Contains(t.DependencyNames(), d.Name) {
					found, _ := program.RequestsUnder(cmp.Or(t.Key(), "call"))
					out = append(out, found...)
				}
			}
		}
	}
	return out
}
