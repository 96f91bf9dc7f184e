package check

import (
	"cmp"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	shapes "github.com/argoperator/argoperator/pkg/schema"
)

// callsOfComputed derives the calls of a computed trigger from the programs of
// its dependencies, and reports what keeps them from being derived.
func callsOfComputed(r *report, o objects, s *eventsv1.Sensor, t trigger) []call {
	key := t.key()
	if key == "" {
		r.add(t.path.Child("template"), CodeCall, "take method, path, type and body of a request from the event, or use a k8s or log trigger", "its API calls cannot be told from here")
		return nil
	}
	var out []call
	for i, d := range s.Spec.Dependencies {
		if !slices.Contains(t.fires(), d.Name) {
			continue
		}
		at := field.NewPath("spec", "dependencies").Index(i).Child("transform", "jq")
		program := o.programOf(d)
		if program == nil {
			r.add(at, CodeCall, "compute "+key+" in jq", "the calls of trigger %s cannot be told without a program", t.Template.Name)
			continue
		}
		calls, problem := computedCalls(o, s, t, d, program)
		if problem != "" {
			r.add(at, CodeCall, "write it as an object literal with method, path, type and body", "the calls of trigger %s cannot be told from here: %s", t.Template.Name, problem)
		}
		out = append(out, calls...)
	}
	return out
}

// programOf is the jq of a dependency; nil for none, and for what does not
// parse, which is reported elsewhere.
func (o objects) programOf(d eventsv1.EventDependency) *program {
	if d.Transform == nil || d.Transform.JQ == "" {
		return nil
	}
	if p := o.program(d.Transform.JQ); p.err == nil {
		return p
	}
	return nil
}

func computedCalls(o objects, s *eventsv1.Sensor, t trigger, d eventsv1.EventDependency, program *program) ([]call, string) {
	entry := entryOf(o, s, d)
	base := call{why: "the Sensor's trigger " + t.Template.Name, in: s, path: t.path.Child("template"), namespace: entry.Namespace}
	var out []call
	if t.Template.HTTP == nil {
		list, problem := writingsUnder(program.query, t.key())
		for _, w := range list {
			out = append(out, base.of(o, w)...)
		}
		return out, problem
	}
	list, problem := program.requestsUnder(t.key())
	for _, q := range list {
		at := base
		at.group, at.resource = q.kind.group, q.kind.resource
		if q.kind.subresource != "" {
			at.resource += "/" + q.kind.subresource
		}
		if q.namespace != escaped {
			at.namespace = q.namespace
		}
		if q.name != escaped {
			at.name = q.name
		}
		out = append(out, at.each(q.verbs()...)...)
	}
	return out, problem
}

// of are the calls of a k8s trigger that writes an object. A patch of an object
// that is not there becomes a create. Where it is one of the custom resources
// that is withheld: the patch fails, and what was deleted stays deleted.
func (c call) of(o objects, w writing) []call {
	gv, _ := schema.ParseGroupVersion(w.apiVersion)
	c.group, c.resource = gv.Group, shapes.GuessedPlural(w.kind)
	if w.name != "" {
		c.namespace, c.name = w.namespace, w.name
	}
	switch {
	case w.operation == "create":
		return c.each("create")
	case w.marks && watchedParent(o, c.group, c.resource), w.name != "" && w.kind == "EventSource" && emitsSource(o, w):
		return c.each("get", "patch")
	}
	return c.each("get", "patch", "create")
}

// emitsSource tells whether an EventSource is there already: it is emitted.
func emitsSource(o objects, w writing) bool {
	_, ok := find[*eventsv1.EventSource](o, w.namespace, w.name)
	return ok
}

// watchedParent tells whether an EventSource watches every object of a kind.
func watchedParent(o objects, group, resource string) bool {
	for _, s := range all[*eventsv1.EventSource](o) {
		for _, e := range s.Spec.Resource {
			if e.Filter == nil && e.Group == group && e.Resource == resource {
				return true
			}
		}
	}
	return false
}

// entryOf is what a dependency listens to; empty if it is not emitted.
func entryOf(o objects, s *eventsv1.Sensor, d eventsv1.EventDependency) eventsv1.ResourceEventSource {
	source, ok := find[*eventsv1.EventSource](o, s.Namespace, d.EventSourceName)
	if !ok {
		return eventsv1.ResourceEventSource{}
	}
	return source.Spec.Resource[d.EventName]
}

// ticks tells whether a dependency listens to a calendar.
func ticks(o objects, s *eventsv1.Sensor, d eventsv1.EventDependency) bool {
	source, ok := find[*eventsv1.EventSource](o, s.Namespace, d.EventSourceName)
	if !ok {
		return false
	}
	_, found := source.Spec.Calendar[d.EventName]
	return found
}

// requestsIn are the requests of all http triggers.
func requestsIn(o objects) []request {
	var out []request
	for _, s := range all[*eventsv1.Sensor](o) {
		for _, t := range o.triggers(s) {
			for _, d := range s.Spec.Dependencies {
				if program := o.programOf(d); t.Template.HTTP != nil && program != nil && slices.Contains(t.fires(), d.Name) {
					found, _ := program.requestsUnder(cmp.Or(t.key(), "call"))
					out = append(out, found...)
				}
			}
		}
	}
	return out
}
