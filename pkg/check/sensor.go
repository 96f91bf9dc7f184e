package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// dependencies: a Sensor listens to events that an emitted EventSource of its
// namespace publishes on the same bus, and its triggers say on which they fire.
func dependencies(o objects) []Problem {
	return each(o, func(r *report, s *eventsv1.Sensor) {
		var names []string
		for i, d := range s.Spec.Dependencies {
			names = append(names, d.Name)
			dependency(r, o, s, field.NewPath("spec", "dependencies").Index(i), d)
		}
		bus(r, o, s.Namespace, s.Spec.EventBusName)
		fired := map[string]bool{}
		for _, t := range o.triggers(s) {
			conditions(r, t, names)
			for _, name := range t.fires() {
				fired[name] = true
			}
		}
		for i, name := range names {
			if !fired[name] {
				r.add(field.NewPath("spec", "dependencies").Index(i), CodeConditions, "remove it", "no trigger fires on dependency %q", name)
			}
		}
	})
}

func dependency(r *report, o objects, s *eventsv1.Sensor, at *field.Path, d eventsv1.EventDependency) {
	source, ok := find[*eventsv1.EventSource](o, s.Namespace, d.EventSourceName)
	if !ok {
		r.add(at.Child("eventSourceName"), CodeDependency, "", "no EventSource %q in namespace %q", d.EventSourceName, s.Namespace)
		return
	}
	_, changes := source.Spec.Resource[d.EventName]
	_, ticks := source.Spec.Calendar[d.EventName]
	if !changes && !ticks {
		r.add(at.Child("eventName"), CodeDependency, "", "EventSource %s has no event %q", d.EventSourceName, d.EventName)
	}
	if busName(source.Spec.EventBusName) != busName(s.Spec.EventBusName) {
		r.add(at.Child("eventSourceName"), CodeDependency, "use one bus", "EventSource %s publishes on bus %q, the Sensor listens on %q",
			source.Name, busName(source.Spec.EventBusName), busName(s.Spec.EventBusName))
	}
}

// bus: where buses are emitted for the namespace, the one that is used is among
// them. Where none is, it is taken to be there.
func bus(r *report, o objects, namespace, name string) {
	emitted := slices.ContainsFunc(all[*eventsv1.EventBus](o), func(b *eventsv1.EventBus) bool { return b.Namespace == namespace })
	if _, ok := find[*eventsv1.EventBus](o, namespace, busName(name)); emitted && !ok {
		r.add(field.NewPath("spec", "eventBusName"), CodeDependency, "", "no EventBus %q in namespace %q", busName(name), namespace)
	}
}

func conditions(r *report, t trigger, names []string) {
	at := t.path.Child("template", "conditions")
	if t.Template.Conditions == "" {
		if !t.deadLetter {
			r.add(at, CodeConditions, "name the dependencies, joined by ||", "without conditions the trigger waits for an event of every dependency")
		}
		return
	}
	for _, name := range t.fires() {
		if !slices.Contains(names, name) {
			r.add(at, CodeConditions, "", "no dependency %q", name)
		}
	}
}

// parameters: each reads a dependency that the trigger fires on, and writes
// where there is something to write to.
func parameters(o objects) []Problem {
	return each(o, func(r *report, s *eventsv1.Sensor) {
		names := map[string]bool{}
		for _, d := range s.Spec.Dependencies {
			names[d.Name] = true
		}
		for _, t := range o.triggers(s) {
			for _, p := range t.parameters() {
				parameter(r, t, p, names)
			}
			covered(r, t)
		}
	})
}

func parameter(r *report, t trigger, p sourced, names map[string]bool) {
	if p.Src == nil {
		return // Argo reports it
	}
	at := p.path.Child("src", "dependencyName")
	if !names[p.Src.DependencyName] {
		r.add(at, CodeParameter, "", "no dependency %q", p.Src.DependencyName)
	} else if fires := t.fires(); len(fires) > 0 && !slices.Contains(fires, p.Src.DependencyName) {
		r.add(at, CodeParameter, "", "the trigger does not fire on dependency %q", p.Src.DependencyName)
	}
	if p.into != nil {
		if problem := p.misses(0); problem != "" {
			r.add(p.path.Child("dest"), CodeDestination, "", "%s: %s", p.Dest, problem)
		}
	}
}

// covered: with several dependencies, whatever one of them writes the others
// write too; else an event of theirs leaves what stands in the template.
func covered(r *report, t trigger) {
	fires, writes := t.fires(), map[string][]string{}
	for _, p := range t.parameters() {
		if p.Src != nil {
			writes[p.target()] = append(writes[p.target()], p.Src.DependencyName)
		}
	}
	for _, p := range t.parameters() {
		for _, name := range fires {
			if !slices.Contains(writes[p.target()], name) {
				r.add(p.path, CodeParameter, "add a parameter for it", "an event of dependency %q leaves %s as it stands", name, p.target())
			}
		}
	}
}

// misses walks the dest of a parameter down what it writes into, whose lists may
// grow by so many elements, and says why it cannot be written; "" when it can.
// Keys of an object may be new, elements of a list not.
func (p sourced) misses(more int) string {
	value, err := p.document()
	if err != nil {
		return err.Error()
	}
	for _, segment := range segments(p.Dest) {
		index, err := strconv.Atoi(segment)
		switch v := value.(type) {
		case []any:
			if err != nil || index < 0 || index >= len(v)+more {
				return fmt.Sprintf("a list of %d has no element %q", len(v), segment)
			}
			if value = nil; index < len(v) {
				value = v[index]
			}
		case map[string]any:
			value = v[segment]
		case nil:
			if err == nil {
				return fmt.Sprintf("there is no list that could have an element %q", segment)
			}
		default:
			return fmt.Sprintf("%q would be below a plain value", segment)
		}
	}
	return ""
}

// fieldsIn are those of a document, which is JSON or becomes it.
func fieldsIn(document any) (any, error) {
	data, ok := document.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(document); err != nil {
			return nil, err
		}
	}
	var fields any
	err := json.Unmarshal(data, &fields)
	return fields, err
}
