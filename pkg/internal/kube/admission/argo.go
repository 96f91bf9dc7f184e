package admission

import (
	"context"
	"fmt"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/templateresolution"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission/eventsrules"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// EventBuses runs the validation of Argo Events on every EventBus, and the check that it lacks:
// a stream has three replicas by default.
func EventBuses(o argo.Objects) []problem.Problem { return argo.Each(o, EventBus) }

// EventBus reports why Argo Events would refuse an EventBus.
func EventBus(r *problem.Report, bus *eventsv1.EventBus) {
	if err := eventsrules.EventBus(bus); err != nil {
		r.Add(field.NewPath("spec"), problem.CodeEventBus, "", "%v", err)
	}
	js := bus.Spec.JetStream
	if js != nil && js.Replicas != nil && *js.Replicas == 1 && js.StreamConfig == nil {
		r.Add(field.NewPath("spec", "jetstream", "streamConfig"), problem.CodeEventBus, `set it to "replicas: 1"`,
			"an EventBus with one replica never gets its stream, which has three replicas by default")
	}
}

// Sensors runs the validation of Argo Events on every Sensor. An EventBus that is not among the
// objects is assumed to be JetStream, because atLeastOnce requires it.
func Sensors(o argo.Objects) []problem.Problem {
	return argo.Each(o, func(r *problem.Report, s *eventsv1.Sensor) {
		OnBus(r, o, s)
		for _, t := range o.Triggers(s) {
			if wf := t.Workflow(); wf != nil {
				triggeredWorkflow(r, o, s, t, wf)
			}
		}
	})
}

// OnBus reports why Argo Events would refuse a Sensor on its EventBus.
func OnBus(r *problem.Report, o argo.Objects, s *eventsv1.Sensor) {
	bus, ok := argo.Find[*eventsv1.EventBus](o, s.Namespace, argo.BusName(s.Spec.EventBusName))
	if !ok {
		bus = &eventsv1.EventBus{Spec: eventsv1.EventBusSpec{JetStream: &eventsv1.JetStreamBus{}}}
	}
	if err := eventsrules.Sensor(s, bus); err != nil {
		r.Add(field.NewPath("spec"), problem.CodeSensor, "", "%v", err)
	}
}

func triggeredWorkflow(r *problem.Report, o argo.Objects, s *eventsv1.Sensor, t argo.Trigger, wf *wfv1.Workflow) {
	if err := ValidWorkflow(wf, templates{o, argo.NamespaceOf(wf, s)}, noClusterTemplates(), validate.ValidateOpts{}); err != nil {
		r.Add(t.ResourcePath(), problem.CodeTriggeredWorkflow, "", "%v", err)
	}
}

// Workflows runs Argo's validation of every WorkflowTemplate and CronWorkflow.
func Workflows(o argo.Objects) []problem.Problem {
	out := argo.Each(o, func(r *problem.Report, t *wfv1.WorkflowTemplate) {
		if err := ValidWorkflow(t.DeepCopy(), templates{o, t.Namespace}, noClusterTemplates(), validate.ValidateOpts{}); err != nil {
			r.Add(field.NewPath("spec"), problem.CodeWorkflowTemplate, "", "%v", err)
		}
	})
	return append(out, argo.Each(o, func(r *problem.Report, c *wfv1.CronWorkflow) {
		if err := ValidWorkflow(c.DeepCopy(), templates{o, c.Namespace}, noClusterTemplates(), validate.ValidateOpts{}); err != nil {
			r.Add(field.NewPath("spec"), problem.CodeCronWorkflow, "", "%v", err)
		}
		if c.Spec.Schedule == "" && len(c.Spec.Schedules) == 0 {
			r.Add(field.NewPath("spec", "schedules"), problem.CodeCronWorkflow, "", "no schedule: it never runs")
		}
	})...)
}

// validating serializes Argo's validation of Workflows, which numbers the
// placeholders of parameters with a global counter.
var validating sync.Mutex

// ValidWorkflow runs Argo's validation of a Workflow or a kind with Workflow
// templates. It may modify the object.
func ValidWorkflow(
	object any,
	namespaced templateresolution.WorkflowTemplateNamespacedGetter,
	cluster templateresolution.ClusterWorkflowTemplateGetter,
	options validate.ValidateOpts,
) error {
	validating.Lock()
	defer validating.Unlock()
	switch o := object.(type) {
	case *wfv1.Workflow:
		return validate.ValidateWorkflow(namespaced, cluster, o, nil, options)
	case *wfv1.WorkflowTemplate:
		return validate.ValidateWorkflowTemplate(namespaced, cluster, o, nil, options)
	case *wfv1.ClusterWorkflowTemplate:
		return validate.ValidateClusterWorkflowTemplate(namespaced, cluster, o, nil, options)
	case *wfv1.CronWorkflow:
		return validate.ValidateCronWorkflow(context.Background(), namespaced, cluster, o, nil)
	}
	return nil
}

// templates finds the WorkflowTemplates of a namespace for Argo's validator.
type templates struct {
	objects   argo.Objects
	namespace string
}

func (t templates) Get(name string) (*wfv1.WorkflowTemplate, error) {
	if found, ok := argo.Find[*wfv1.WorkflowTemplate](t.objects, t.namespace, name); ok {
		return found.DeepCopy(), nil
	}
	return nil, fmt.Errorf("no WorkflowTemplate %q in namespace %q", name, t.namespace)
}

func noClusterTemplates() templateresolution.ClusterWorkflowTemplateGetter {
	return &templateresolution.NullClusterWorkflowTemplateGetter{}
}
