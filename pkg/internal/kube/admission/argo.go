package admission

import (
	"context"
	"fmt"
	"regexp"
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

// EventBus runs the validation of Argo Events on an EventBus, and the check that it lacks: a
// stream has three replicas by default. Problems have the given code.
func EventBus(r *problem.Report, code string, bus *eventsv1.EventBus) {
	if err := eventsrules.EventBus(bus); err != nil {
		r.Add(field.NewPath("spec"), code, "", "%v", err)
	}
	js := bus.Spec.JetStream
	if js != nil && js.Replicas != nil && *js.Replicas == 1 && (js.StreamConfig == nil || !setsReplicas.MatchString(*js.StreamConfig)) {
		r.Add(field.NewPath("spec", "jetstream", "streamConfig"), code, `add "replicas: 1" to it`,
			"an EventBus with one replica never gets its stream, which has three replicas by default")
	}
}

// setsReplicas matches the configuration of a stream that says its replicas; Argo Events merges it with the default.
var setsReplicas = regexp.MustCompile(`(?im)^\s*"?replicas"?\s*:`)

// OnBus reports why Argo Events would refuse a Sensor on its EventBus. An EventBus that is not
// among the objects is assumed to be JetStream, because atLeastOnce requires it.
func OnBus(r *problem.Report, code string, o argo.Objects, s *eventsv1.Sensor) {
	var buses []*eventsv1.EventBus
	for _, bus := range argo.All[*eventsv1.EventBus](o) {
		if bus.Namespace == s.Namespace && bus.Name == argo.BusName(s.Spec.EventBusName) {
			buses = append(buses, bus)
		}
	}
	if len(buses) == 0 {
		buses = append(buses, &eventsv1.EventBus{Spec: eventsv1.EventBusSpec{JetStream: &eventsv1.JetStreamBus{}}})
	}
	var wrong error
	for _, bus := range buses { // of several, nobody knows which one it is
		if wrong = eventsrules.Sensor(s, bus); wrong == nil {
			return
		}
	}
	r.Add(wrongPart(s, buses[len(buses)-1], wrong), code, "", "%v", wrong)
}

// wrongPart returns the path of the dependency or the trigger with an error, or of the field of the trigger without which
// there is none.
func wrongPart(s *eventsv1.Sensor, bus *eventsv1.EventBus, wrong error) *field.Path {
	at := field.NewPath("spec")
	has := func(dependencies []eventsv1.EventDependency, trigger eventsv1.Trigger) bool {
		one := &eventsv1.Sensor{Spec: eventsv1.SensorSpec{Dependencies: dependencies, Triggers: []eventsv1.Trigger{trigger}}}
		err := eventsrules.Sensor(one, bus)
		return err != nil && err.Error() == wrong.Error()
	}
	harmless := eventsv1.Trigger{Template: &eventsv1.TriggerTemplate{Name: "log", Log: &eventsv1.LogTrigger{}}}
	for n := range s.Spec.Dependencies {
		if has(s.Spec.Dependencies[n:n+1], harmless) {
			return at.Child("dependencies").Index(n)
		}
	}
	if has(s.Spec.Dependencies, harmless) {
		return at
	}
	for n, t := range s.Spec.Triggers {
		if !has(s.Spec.Dependencies, t) {
			continue
		}
		at := at.Child("triggers").Index(n)
		for name, part := range map[string]*eventsv1.Trigger{
			"dlqTrigger": {Template: t.Template, Parameters: t.Parameters, Policy: t.Policy},
			"policy":     {Template: t.Template, Parameters: t.Parameters, DlqTrigger: t.DlqTrigger, AtLeastOnce: t.AtLeastOnce},
			"parameters": {Template: t.Template, Policy: t.Policy, DlqTrigger: t.DlqTrigger, AtLeastOnce: t.AtLeastOnce},
		} {
			if !has(s.Spec.Dependencies, *part) {
				return at.Child(name)
			}
		}
		return at
	}
	return at
}

// Workflows runs Argo's validation of every WorkflowTemplate.
func Workflows(o argo.Objects) []problem.Problem {
	return argo.Each(o, func(r *problem.Report, t *wfv1.WorkflowTemplate) {
		if err := ValidWorkflow(t.DeepCopy(), TemplatesIn(o, t.Namespace), nil, validate.ValidateOpts{}); err != nil {
			r.Add(field.NewPath("spec"), problem.CodeWorkflowTemplate, "", "%v", err)
		}
	})
}

// validating serializes Argo's validation of Workflows, which numbers the
// placeholders of parameters with a global counter.
var validating sync.Mutex

// ValidWorkflow runs Argo's validation of a Workflow or a kind with Workflow
// templates. It may modify the object. Without cluster there are no ClusterWorkflowTemplates.
func ValidWorkflow(
	object any,
	namespaced templateresolution.WorkflowTemplateNamespacedGetter,
	cluster templateresolution.ClusterWorkflowTemplateGetter,
	options validate.ValidateOpts,
) error {
	if cluster == nil {
		cluster = &templateresolution.NullClusterWorkflowTemplateGetter{}
	}
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

// TemplatesIn finds the WorkflowTemplates of a namespace for Argo's validator.
func TemplatesIn(o argo.Objects, namespace string) templateresolution.WorkflowTemplateNamespacedGetter {
	return templates{o, namespace}
}

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
