package admission

import (
	"maps"
	"slices"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// EventSources reports why Argo Events would refuse an EventSource. Argo's own
// validation cannot be imported together with that of Workflows: both register the
// same protobuf name, and the program panics at start. This restates it for the
// types of source that an operator uses, and adds missing checks: the values of
// eventTypes and operators, and calendars with more than an interval.
func EventSources(o argo.Objects) []problem.Problem {
	return argo.Each(o, func(r *problem.Report, s *eventsv1.EventSource) {
		spec := field.NewPath("spec")
		if len(s.Spec.Resource) == 0 {
			r.Add(spec.Child("resource"), problem.CodeEventSource, "", "watches nothing")
		}
		for _, kind := range otherSources(r, o, s) {
			r.Add(spec.Child(kind), problem.CodeEventSource, "watch resources, or resync from a CronWorkflow",
				"an operator's events come from resources and the clock only: nothing here can vouch for a source of another type")
		}
		for _, name := range slices.Sorted(maps.Keys(s.Spec.Calendar)) {
			calendarEntry(r, s, spec.Child("calendar").Key(name), name)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
			ResourceEntry(r, spec.Child("resource").Key(name), s.Spec.Resource[name])
		}
	})
}

// otherSources returns the spec fields of other types of source. It reads them from
// the encoded form, because the Go type has one field for each.
func otherSources(r *problem.Report, o argo.Objects, s *eventsv1.EventSource) []string {
	fields, err := o.FieldsOf(s)
	if err != nil {
		r.Add(nil, problem.CodeEventSource, "", "%v", err)
		return nil
	}
	known := []string{"calendar", "eventBusName", "replicas", "resource", "template"}
	spec, _ := fields["spec"].(map[string]any)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(spec)), func(key string) bool { return slices.Contains(known, key) })
}

func calendarEntry(r *problem.Report, s *eventsv1.EventSource, at *field.Path, name string) {
	e := s.Spec.Calendar[name]
	if d, err := time.ParseDuration(e.Interval); err != nil || d < time.Second {
		r.Add(at.Child("interval"), problem.CodeEventSource, "a duration such as 15s", "%q is no interval of a second or more", e.Interval)
	}
	if e.Schedule != "" || e.Persistence != nil || e.Filter != nil {
		r.Add(
			at,
			problem.CodeEventSource,
			"state an interval only",
			"nothing here can vouch for a schedule, persistence or a filter of a calendar",
		)
	}
	if _, twice := s.Spec.Resource[name]; twice {
		r.Add(at, problem.CodeEventSource, "rename one", "more than one event is called %q", name)
	}
}

// ResourceEntry reports why Argo Events would refuse one watched resource.
func ResourceEntry(r *problem.Report, at *field.Path, e eventsv1.ResourceEventSource) {
	if e.Version == "" {
		r.Add(at.Child("version"), problem.CodeEventSource, "", "version must be specified")
	}
	if e.Resource == "" {
		r.Add(at.Child("resource"), problem.CodeEventSource, "", "resource must be specified")
	}
	if len(e.EventTypes) == 0 {
		r.Add(at.Child("eventTypes"), problem.CodeEventType, "", "event types must be specified")
	}
	for i, t := range e.EventTypes {
		if t != eventsv1.ADD && t != eventsv1.UPDATE && t != eventsv1.DELETE {
			r.Add(at.Child("eventTypes").Index(i), problem.CodeEventType, "use ADD, UPDATE or DELETE",
				"unknown event type %q: Argo accepts it, and then the EventSource's pod fails", t)
		}
		if slices.Contains(e.EventTypes[:i], t) {
			r.Add(at.Child("eventTypes").Index(i), problem.CodeEventType, "", "duplicate event type %q", t)
		}
	}
	if e.Filter != nil {
		resourceFilter(r, at.Child("filter"), *e.Filter)
	}
}

func resourceFilter(r *problem.Report, at *field.Path, f eventsv1.ResourceFilter) {
	for i, s := range f.Labels {
		operator := selection.Operator(s.Operation)
		if operator == "" {
			operator = selection.Equals
		}
		if _, err := labels.NewRequirement(s.Key, operator, []string{s.Value}); err != nil {
			r.Add(at.Child("labels").Index(i), problem.CodeEventSource, "", "%v", err)
		}
	}
	for i, s := range f.Fields {
		if s.Key == "" {
			r.Add(at.Child("fields").Index(i).Child("key"), problem.CodeEventSource, "", "key can't be empty for selector")
		}
		if !slices.Contains([]string{"", "=", "==", "!="}, s.Operation) {
			r.Add(
				at.Child("fields").Index(i).Child("operation"),
				problem.CodeEventSource,
				"=, == or !=",
				"unknown operation %q",
				s.Operation,
			)
		}
	}
}
