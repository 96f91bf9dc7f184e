package admission

import (
	"context"
	"fmt"
	"regexp"
	"slices"
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
	before := len(r.Problems)
	wrongParts(r, code, s, buses[len(buses)-1])
	if !slices.ContainsFunc(r.Problems[before:], func(p problem.Problem) bool { return p.Message == wrong.Error() }) {
		r.Add(field.NewPath("spec"), code, "", "%v", wrong) // of no single part
	}
}

// wrongParts reports why Argo Events would refuse the dependencies and the triggers of a Sensor, each on its own: its
// validation of the whole stops at the first error.
func wrongParts(r *problem.Report, code string, s *eventsv1.Sensor, bus *eventsv1.EventBus) {
	legal := eventsv1.SensorSpec{
		Dependencies: []eventsv1.EventDependency{{Name: "a", EventSourceName: "a", EventName: "a"}},
		Triggers:     []eventsv1.Trigger{{Template: &eventsv1.TriggerTemplate{Name: "a", Log: &eventsv1.LogTrigger{}}}},
	}
	for n := range s.Spec.Dependencies {
		one := &eventsv1.Sensor{Spec: eventsv1.SensorSpec{Dependencies: s.Spec.Dependencies[n : n+1], Triggers: legal.Triggers}}
		if err := eventsrules.Sensor(one, bus); err != nil {
			r.Add(field.NewPath("spec", "dependencies").Index(n), code, "", "%v", err)
		}
	}
	for n, t := range s.Spec.Triggers {
		validate := func(t eventsv1.Trigger) error {
			return eventsrules.Sensor(&eventsv1.Sensor{Spec: eventsv1.SensorSpec{
				Dependencies: legal.Dependencies, Triggers: []eventsv1.Trigger{t},
			}}, bus)
		}
		if err := validate(t); err != nil {
			r.Add(wrongField(field.NewPath("spec", "triggers").Index(n), t, validate), code, "", "%v", err)
		}
	}
}

// wrongField returns the field of a trigger without which it has no error; that of the trigger if there is none.
func wrongField(at *field.Path, t eventsv1.Trigger, validate func(eventsv1.Trigger) error) *field.Path {
	withoutDeadLetter, withoutPolicy, withoutParameters := t, t, t
	withoutDeadLetter.DlqTrigger, withoutPolicy.Policy, withoutParameters.Parameters = nil, nil, nil
	switch {
	case t.DlqTrigger != nil && validate(withoutDeadLetter) == nil:
		return at.Child("dlqTrigger")
	case t.Policy != nil && validate(withoutPolicy) == nil:
		return at.Child("policy")
	case len(t.Parameters) > 0 && validate(withoutParameters) == nil:
		return at.Child("parameters")
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
