package selfcheck

import (
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// dependencies reports dependencies on events that no emitted EventSource of the
// namespace publishes on the same bus, and triggers whose conditions do not name
// their dependencies.
func dependencies(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		var names []string
		for i, d := range s.Spec.Dependencies {
			names = append(names, d.Name)
			checkDependency(r, o, s, field.NewPath("spec", "dependencies").Index(i), d)
		}
		checkEventBus(r, o, s.Namespace, s.Spec.EventBusName)
		fired := map[string]bool{}
		for _, t := range o.Triggers(s) {
			checkConditions(r, t, names)
			for _, name := range t.DependencyNames() {
				fired[name] = true
			}
		}
		for i, name := range names {
			if !fired[name] {
				r.Add(
					field.NewPath("spec", "dependencies").Index(i),
					codeConditions,
					"remove it",
					"no trigger fires on dependency %q",
					name,
				)
			}
		}
	})
}

func checkDependency(r *problem.Report, o objects, s *eventsv1.Sensor, at *field.Path, d eventsv1.EventDependency) {
	source, ok := argo.Find[*eventsv1.EventSource](o.Objects, s.Namespace, d.EventSourceName)
	if !ok {
		r.Add(at.Child("eventSourceName"), codeDependency, "", "no EventSource %q in namespace %q", d.EventSourceName, s.Namespace)
		return
	}
	_, isResource := source.Spec.Resource[d.EventName]
	_, isCalendar := source.Spec.Calendar[d.EventName]
	if !isResource && !isCalendar {
		r.Add(at.Child("eventName"), codeDependency, "", "EventSource %s has no event %q", d.EventSourceName, d.EventName)
	}
	if argo.BusName(source.Spec.EventBusName) != argo.BusName(s.Spec.EventBusName) {
		r.Add(
			at.Child("eventSourceName"),
			codeDependency,
			"use one bus",
			"EventSource %s publishes on bus %q, the Sensor listens on %q",
			source.Name,
			argo.BusName(source.Spec.EventBusName),
			argo.BusName(s.Spec.EventBusName),
		)
	}
}

// checkEventBus reports a bus that is not among the emitted ones. If the namespace
// has no emitted bus, the bus is assumed to exist.
func checkEventBus(r *problem.Report, o objects, namespace, name string) {
	emitted := slices.ContainsFunc(argo.All[*eventsv1.EventBus](o.Objects), func(b *eventsv1.EventBus) bool { return b.Namespace == namespace })
	if _, ok := argo.Find[*eventsv1.EventBus](o.Objects, namespace, argo.BusName(name)); emitted && !ok {
		r.Add(
			field.NewPath("spec", "eventBusName"),
			codeDependency,
			"",
			"no EventBus %q in namespace %q",
			argo.BusName(name),
			namespace,
		)
	}
}

func checkConditions(r *problem.Report, t argo.Trigger, names []string) {
	at := t.Path.Child("template", "conditions")
	if t.Template.Conditions == "" {
		if !t.DeadLetter {
			r.Add(
				at,
				codeConditions,
				"name the dependencies, joined by ||",
				"without conditions the trigger waits for an event of every dependency",
			)
		}
		return
	}
	for _, name := range t.DependencyNames() {
		if !slices.Contains(names, name) {
			r.Add(at, codeConditions, "", "no dependency %q", name)
		}
	}
}

// parameters reports parameters that read a dependency on which the trigger does
// not fire, or that write to a field that does not exist.
func parameters(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		names := map[string]bool{}
		for _, d := range s.Spec.Dependencies {
			names[d.Name] = true
		}
		for _, t := range o.Triggers(s) {
			for _, p := range t.AllParameters() {
				checkParameter(r, t, p, names)
			}
			checkOtherDependencies(r, t)
		}
	})
}

func checkParameter(r *problem.Report, t argo.Trigger, p argo.Parameter, names map[string]bool) {
	if p.Src == nil {
		return // Argo reports it
	}
	at := p.Path.Child("src", "dependencyName")
	if !names[p.Src.DependencyName] {
		r.Add(at, codeParameterSource, "", "no dependency %q", p.Src.DependencyName)
	} else if fires := t.DependencyNames(); len(fires) > 0 && !slices.Contains(fires, p.Src.DependencyName) {
		r.Add(at, codeParameterSource, "", "the trigger does not fire on dependency %q", p.Src.DependencyName)
	}
	if p.Into != nil {
		if wrong := p.DestError(0); wrong != "" {
			r.Add(p.Path.Child("dest"), codeParameterDestination, "", "%s: %s", p.Dest, wrong)
		}
	}
}

// checkOtherDependencies reports a parameter that only some dependencies of the
// trigger set. An event of another dependency would leave the template's value.
func checkOtherDependencies(r *problem.Report, t argo.Trigger) {
	fires, writes := t.DependencyNames(), map[string][]string{}
	for _, p := range t.AllParameters() {
		if p.Src != nil {
			writes[p.Target()] = append(writes[p.Target()], p.Src.DependencyName)
		}
	}
	for _, p := range t.AllParameters() {
		for _, name := range fires {
			if !slices.Contains(writes[p.Target()], name) {
				r.Add(
					p.Path,
					codeParameterSource,
					"add a parameter for it",
					"an event of dependency %q leaves %s as it stands",
					name,
					p.Target(),
				)
			}
		}
	}
}
