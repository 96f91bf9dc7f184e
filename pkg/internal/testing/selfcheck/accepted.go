package selfcheck

import (
	"maps"
	"slices"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// eventBuses runs the validation of Argo Events on every EventBus.
func eventBuses(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, bus *eventsv1.EventBus) {
		admission.EventBus(r, codeEventBus, bus)
	})
}

// validSensors runs the validation of Argo Events on every Sensor, and that of Argo Workflows
// on the Workflows in its triggers.
func validSensors(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		admission.OnBus(r, codeSensor, o.Objects, s)
		for _, t := range o.Triggers(s) {
			if wf := t.Workflow(); wf != nil {
				triggeredWorkflow(r, o, s, t, wf)
			}
		}
	})
}

func triggeredWorkflow(r *problem.Report, o objects, s *eventsv1.Sensor, t argo.Trigger, wf *wfv1.Workflow) {
	if err := valid(wf, o, argo.NamespaceOf(wf, s)); err != nil {
		r.Add(t.ResourcePath(), codeTriggeredWorkflow, "", "%v", err)
	}
}

// validCronWorkflows runs Argo's validation of every CronWorkflow. It accepts one that never
// runs, and one whose WorkflowTemplate may come later.
func validCronWorkflows(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, c *wfv1.CronWorkflow) {
		if err := valid(c.DeepCopy(), o, c.Namespace); err != nil {
			r.Add(field.NewPath("spec"), codeCronWorkflow, "", "%v", err)
		}
		if c.Spec.WorkflowSpec.WorkflowTemplateRef != nil {
			r.Add(
				field.NewPath("spec", "workflowSpec", "workflowTemplateRef"),
				codeCronWorkflow,
				"state the spec of the Workflow",
				"if Argo sees the CronWorkflow before the WorkflowTemplate, it schedules nothing for 20 minutes",
			)
		}
		if c.Spec.Schedule == "" && len(c.Spec.Schedules) == 0 {
			r.Add(field.NewPath("spec", "schedules"), codeCronWorkflow, "", "no schedule: it never runs")
		}
	})
}

// valid runs Argo's validation with the WorkflowTemplates of a namespace.
func valid(object any, o objects, namespace string) error {
	return admission.ValidWorkflow(object, admission.TemplatesIn(o.Objects, namespace), nil, validate.ValidateOpts{})
}

// validEventSources reports why Argo Events would refuse an EventSource, types of source that
// an operator does not use, and calendars with more than an interval.
func validEventSources(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.EventSource) {
		spec := field.NewPath("spec")
		if len(s.Spec.Resource) == 0 {
			r.Add(spec.Child("resource"), codeEventSource, "", "watches nothing")
		}
		for _, kind := range otherSources(r, o, s) {
			r.Add(spec.Child(kind), codeEventSource, "watch resources, or resync from a CronWorkflow",
				"an operator's events come from resources and the clock only: nothing here can vouch for a source of another type")
		}
		for _, name := range slices.Sorted(maps.Keys(s.Spec.Calendar)) {
			calendarEntry(r, s, spec.Child("calendar").Key(name), name)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
			at := spec.Child("resource").Key(name)
			admission.ResourceEntry(r, codeEventSource, at, s.Spec.Resource[name])
			admission.EventTypes(r, codeEventType, at, s.Spec.Resource[name])
		}
	})
}

// otherSources returns the spec fields of other types of source. It reads them from
// the encoded form, because the Go type has one field for each.
func otherSources(r *problem.Report, o objects, s *eventsv1.EventSource) []string {
	fields, err := o.FieldsOf(s)
	if err != nil {
		r.Add(nil, codeEventSource, "", "%v", err)
		return nil
	}
	known := []string{"calendar", "eventBusName", "replicas", "resource", "template"}
	spec, _ := fields["spec"].(map[string]any)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(spec)), func(key string) bool { return slices.Contains(known, key) })
}

func calendarEntry(r *problem.Report, s *eventsv1.EventSource, at *field.Path, name string) {
	e := s.Spec.Calendar[name]
	if d, err := time.ParseDuration(e.Interval); err != nil || d < time.Second {
		r.Add(at.Child("interval"), codeEventSource, "a duration such as 15s", "%q is no interval of a second or more", e.Interval)
	}
	if e.Schedule != "" || e.Persistence != nil || e.Filter != nil {
		r.Add(
			at,
			codeEventSource,
			"state an interval only",
			"nothing here can vouch for a schedule, persistence or a filter of a calendar",
		)
	}
	if _, twice := s.Spec.Resource[name]; twice {
		r.Add(at, codeEventSource, "rename one", "more than one event is called %q", name)
	}
}
