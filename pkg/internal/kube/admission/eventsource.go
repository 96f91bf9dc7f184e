package admission

import (
	"slices"
	"strings"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// ResourceEntry reports why Argo Events would refuse one watched resource, apart from its
// event types. Argo's own validation cannot be imported together with that of Workflows: both
// register the same protobuf name, and the program panics at start. This restates it, and
// adds the check of operators that it lacks.
func ResourceEntry(r *problem.Report, code string, at *field.Path, e eventsv1.ResourceEventSource) {
	if e.Version == "" {
		r.Add(at.Child("version"), code, "", "version must be specified")
	}
	if e.Resource == "" {
		r.Add(at.Child("resource"), code, "", "resource must be specified")
	}
	if e.Filter != nil {
		resourceFilter(r, code, at.Child("filter"), *e.Filter)
	}
}

// CalendarEntry reports why Argo Events would refuse a calendar, which restates its
// validation, or accepts it although its pod then sends events in an endless loop.
func CalendarEntry(r *problem.Report, code string, at *field.Path, e eventsv1.CalendarEventSource) {
	switch {
	case e.Schedule != "":
		schedule, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(e.Schedule)
		switch {
		case err != nil:
			r.Add(at.Child("schedule"), code, `five fields, such as "0 6 * * *"`, "%v", err)
		case schedule.Next(time.Unix(0, 0).UTC()).IsZero():
			r.Add(at.Child("schedule"), code, "write a day that one of the months has",
				"no date matches %s, and the pod then sends events without a pause", e.Schedule)
		}
	case e.Interval != "":
		switch interval, err := time.ParseDuration(e.Interval); {
		case err != nil:
			r.Add(at.Child("interval"), code, "a duration such as 15s", "%q is no duration", e.Interval)
		case interval < time.Second:
			r.Add(at.Child("interval"), code, "write 1s or more", "with less than a second, the pod sends events without a pause")
		}
	default:
		r.Add(at, code, "set schedule or interval", "must have either schedule or interval")
	}
}

// EventTypes reports event types of a watched resource that Argo Events refuses, or accepts
// although its pod then fails.
func EventTypes(r *problem.Report, code string, at *field.Path, e eventsv1.ResourceEventSource) {
	if len(e.EventTypes) == 0 {
		r.Add(at.Child("eventTypes"), code, "", "event types must be specified")
	}
	for i, t := range e.EventTypes {
		if t != eventsv1.ADD && t != eventsv1.UPDATE && t != eventsv1.DELETE {
			r.Add(at.Child("eventTypes").Index(i), code, "use ADD, UPDATE or DELETE",
				"unknown event type %q: Argo accepts it, and then the EventSource's pod fails", t)
		}
		if slices.Contains(e.EventTypes[:i], t) {
			r.Add(at.Child("eventTypes").Index(i), code, "", "duplicate event type %q", t)
		}
	}
}

func resourceFilter(r *problem.Report, code string, at *field.Path, f eventsv1.ResourceFilter) {
	for i, s := range f.Labels {
		operator := selection.Operator(s.Operation)
		if operator == "" {
			operator = selection.Equals
		}
		values := []string{s.Value} // as LabelReq of Argo Events divides them
		switch {
		case (operator == selection.Exists || operator == selection.DoesNotExist) && s.Value == "":
			values = nil
		case operator == selection.In || operator == selection.NotIn:
			values = strings.Split(s.Value, ",")
		}
		if _, err := labels.NewRequirement(s.Key, operator, values); err != nil {
			r.Add(at.Child("labels").Index(i), code, "", "%v", err)
		}
	}
	for i, s := range f.Fields {
		if s.Key == "" {
			r.Add(at.Child("fields").Index(i).Child("key"), code, "", "key can't be empty for selector")
		}
		if !slices.Contains([]string{"", "=", "==", "!="}, s.Operation) {
			r.Add(
				at.Child("fields").Index(i).Child("operation"),
				code,
				"=, == or !=",
				"unknown operation %q",
				s.Operation,
			)
		}
	}
}
