package check

import (
	"context"
	"fmt"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/reconciler/eventbus"
	"github.com/argoproj/argo-events/pkg/reconciler/sensor"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/templateresolution"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// eventBuses asks Argo about every EventBus, and about the one thing it does
// not: a stream wants three replicas unless told otherwise.
func eventBuses(o objects) []Problem { return each(o, eventBus) }

func eventBus(r *report, bus *eventsv1.EventBus) {
	if err := eventbus.ValidateEventBus(bus.DeepCopy()); err != nil {
		r.add(field.NewPath("spec"), CodeEventBus, "", "%v", err)
	}
	js := bus.Spec.JetStream
	if js != nil && js.Replicas != nil && *js.Replicas == 1 && js.StreamConfig == nil {
		r.add(field.NewPath("spec", "jetstream", "streamConfig"), CodeEventBus, `set it to "replicas: 1"`,
			"a bus of one server never gets its stream, which wants three replicas by default")
	}
}

// sensors asks Argo about every Sensor. A bus that is not emitted is taken for
// a JetStream, which is all that atLeastOnce works on.
func sensors(o objects) []Problem {
	return each(o, func(r *report, s *eventsv1.Sensor) {
		onBus(r, o, s)
		for _, t := range o.triggers(s) {
			if wf := t.workflow(); wf != nil {
				triggeredWorkflow(r, o, s, t, wf)
			}
		}
	})
}

func onBus(r *report, o objects, s *eventsv1.Sensor) {
	bus, ok := find[*eventsv1.EventBus](o, s.Namespace, busName(s.Spec.EventBusName))
	if !ok {
		bus = &eventsv1.EventBus{Spec: eventsv1.EventBusSpec{JetStream: &eventsv1.JetStreamBus{}}}
	}
	if err := sensor.ValidateSensor(s.DeepCopy(), bus.DeepCopy()); err != nil {
		r.add(field.NewPath("spec"), CodeSensor, "", "%v", err)
	}
}

func busName(name string) string {
	if name == "" {
		return eventsv1.DefaultEventBusName
	}
	return name
}

func triggeredWorkflow(r *report, o objects, s *eventsv1.Sensor, t trigger, wf *wfv1.Workflow) {
	if err := validWorkflow(wf, templates{o, namespaceOf(wf, s)}, noClusterTemplates(), validate.ValidateOpts{}); err != nil {
		r.add(t.resourcePath(), CodeTriggeredWorkflow, "", "%v", err)
	}
}

// namespaceOf is where a Sensor creates an object: where the object says, else
// where the Sensor is.
func namespaceOf(wf *wfv1.Workflow, s *eventsv1.Sensor) string {
	if wf.Namespace == "" {
		return s.Namespace
	}
	return wf.Namespace
}

// workflows asks Argo about every WorkflowTemplate and CronWorkflow.
func workflows(o objects) []Problem {
	out := each(o, func(r *report, t *wfv1.WorkflowTemplate) {
		if err := validWorkflow(t.DeepCopy(), templates{o, t.Namespace}, noClusterTemplates(), validate.ValidateOpts{}); err != nil {
			r.add(field.NewPath("spec"), CodeWorkflowTemplate, "", "%v", err)
		}
	})
	return append(out, each(o, func(r *report, c *wfv1.CronWorkflow) {
		if err := validWorkflow(c.DeepCopy(), templates{o, c.Namespace}, noClusterTemplates(), validate.ValidateOpts{}); err != nil {
			r.add(field.NewPath("spec"), CodeCronWorkflow, "", "%v", err)
		}
		if c.Spec.Schedule == "" && len(c.Spec.Schedules) == 0 {
			r.add(field.NewPath("spec", "schedules"), CodeCronWorkflow, "", "no schedule: it never runs")
		}
	})...)
}

// validating is held while Argo validates a Workflow. It numbers what it puts in
// the place of parameters with a counter that all validations share.
var validating sync.Mutex

// validWorkflow asks Argo about a Workflow or what one is made of. It may write to
// the object.
func validWorkflow(object any, namespaced templateresolution.WorkflowTemplateNamespacedGetter, cluster templateresolution.ClusterWorkflowTemplateGetter, options validate.ValidateOpts) error {
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

// templates finds the emitted WorkflowTemplates of a namespace, for Argo.
type templates struct {
	objects   objects
	namespace string
}

func (t templates) Get(name string) (*wfv1.WorkflowTemplate, error) {
	if found, ok := find[*wfv1.WorkflowTemplate](t.objects, t.namespace, name); ok {
		return found.DeepCopy(), nil
	}
	return nil, fmt.Errorf("no WorkflowTemplate %q in namespace %q", name, t.namespace)
}

func noClusterTemplates() templateresolution.ClusterWorkflowTemplateGetter {
	return &templateresolution.NullClusterWorkflowTemplateGetter{}
}
