package manifest

import (
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// sensors returns the Sensors.
func sensors(p *plan.Plan) []Object {
	var out []Object
	for _, s := range p.Sensors {
		m := meta(p, s.Name)
		elect(&m, p)
		adopts(&m, p)
		out = append(out, &eventsv1.Sensor{
			TypeMeta:   metav1.TypeMeta{APIVersion: eventsv1.SchemeGroupVersion.String(), Kind: "Sensor"},
			ObjectMeta: m,
			Spec: eventsv1.SensorSpec{
				EventBusName: p.Shared.EventBus.Name,
				Replicas:     &p.Shared.Replicas,
				Template:     sensorPod(p, s),
				Dependencies: dependencies(p, s),
				Triggers:     triggers(p, s),
			},
		})
	}
	return out
}

// adoptsAnnotation of a Sensor names the children that take over existing objects, so
// that a reviewer of the manifests sees it.
const adoptsAnnotation = "argoperator.dev/adopts"

func adopts(m *metav1.ObjectMeta, p *plan.Plan) {
	var names []string
	for _, c := range p.Children {
		if c.Adopt {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		metav1.SetMetaDataAnnotation(m, adoptsAnnotation, strings.Join(names, ","))
	}
}

func dependencies(p *plan.Plan, s plan.Sensor) []eventsv1.EventDependency {
	var out []eventsv1.EventDependency
	for _, d := range s.Dependencies {
		out = append(out, eventsv1.EventDependency{
			Name:            d.Name,
			EventSourceName: p.Names.EventSource,
			EventName:       d.Event,
			Transform:       &eventsv1.EventDependencyTransformer{JQ: d.JQ},
			Filters: &eventsv1.EventDependencyFilter{
				Data: []eventsv1.DataFilter{{Path: "go", Type: eventsv1.JSONTypeBool, Value: []string{"true"}}},
			},
		})
	}
	return out
}

func triggers(p *plan.Plan, s plan.Sensor) []eventsv1.Trigger {
	var out []eventsv1.Trigger
	for _, t := range s.Triggers {
		switch {
		case t.Worker != "":
			out = append(out, post(p, t))
		case t.Call != nil:
			out = append(out, call(p, t))
		case t.Enqueue:
			out = append(out, enqueue(p, t))
		default:
			out = append(out, launch(p, t))
		}
	}
	return out
}

// launch submits a Workflow for every event. Its arguments are the key of the custom
// resource and, if there are templates, the computed children.
func launch(p *plan.Plan, t plan.Trigger) eventsv1.Trigger {
	var parameters []eventsv1.TriggerParameter
	for _, dependency := range t.On {
		parameters = append(parameters,
			parameter(dependency, "key", "spec.arguments.parameters.0.value"),
			parameter(dependency, "name", "metadata.generateName"))
		if p.Reconcile.Execution.PodPerStep {
			parameters = append(parameters, parameter(dependency, "generation", "spec.arguments.parameters.1.value"))
		}
		if p.Runtime.SensorTemplates {
			priority := parameter(dependency, "priority", "spec.priority")
			priority.Src.UseRawData = true // a number
			parameters = append(parameters, parameter(dependency, "desired", "spec.arguments.parameters.1.value"), priority)
		}
	}
	return createWorkflow(
		t,
		triggeredWorkflow(p),
		eventsv1.StandardK8STrigger{Operation: eventsv1.Create, Parameters: parameters},
		"dead-letter",
	)
}

// createWorkflow returns a trigger that creates a Workflow.
func createWorkflow(t plan.Trigger, w triggered, how eventsv1.StandardK8STrigger, otherwise string) eventsv1.Trigger {
	source := eventsv1.NewK8SResource(w)
	how.Source = &eventsv1.ArtifactLocation{Resource: &source}
	return eventsv1.Trigger{
		Template:      &eventsv1.TriggerTemplate{Name: t.Name, Conditions: strings.Join(t.On, " || "), K8s: &how},
		AtLeastOnce:   true,
		RetryStrategy: backoff(6, "1s"),
		DlqTrigger:    deadLetter(otherwise),
	}
}

// enqueue creates one Workflow for all events of a time window. If it exists, the patch
// changes nothing relevant.
func enqueue(p *plan.Plan, t plan.Trigger) eventsv1.Trigger {
	var parameters []eventsv1.TriggerParameter
	for _, dependency := range t.On {
		parameters = append(parameters,
			parameter(dependency, "name", "metadata.name"),
			parameter(dependency, "wait", "spec.arguments.parameters.0.value"))
	}
	w := triggeredWorkflow(p)
	w.Metadata.GenerateName, w.Metadata.Name = "", p.Operator.Name+"-enqueue"
	w.Spec = workflowSpec{
		Arguments:           workflowArguments{Parameters: []workflowParameter{{Name: "wait", Value: ""}}},
		WorkflowTemplateRef: templateRef{Name: p.EnqueueTemplate()},
	}
	return createWorkflow(t, w, eventsv1.StandardK8STrigger{
		Operation: eventsv1.Patch, PatchStrategy: "application/merge-patch+json", Parameters: parameters,
	}, "enqueue-dead-letter")
}

// deadLetter writes a line to the Sensor's log.
func deadLetter(name string) *eventsv1.Trigger {
	return &eventsv1.Trigger{
		Template:    &eventsv1.TriggerTemplate{Name: name, Log: &eventsv1.LogTrigger{}},
		AtLeastOnce: true,
	}
}

func parameter(dependency, key, dest string) eventsv1.TriggerParameter {
	return eventsv1.TriggerParameter{
		Src:  &eventsv1.TriggerParameterSource{DependencyName: dependency, DataKey: key},
		Dest: dest,
	}
}

// backoff doubles the wait with every step. Argo drops every event if factor is a
// quoted number, so it is written as a number.
func backoff(steps int32, first string) *eventsv1.Backoff {
	duration := eventsv1.FromString(first)
	factor, jitter := eventsv1.NewAmount("2"), eventsv1.NewAmount("0.2")
	return &eventsv1.Backoff{Steps: steps, Duration: &duration, Factor: &factor, Jitter: &jitter}
}

// triggered is a Workflow in the form that the Sensor creates. The type of Argo
// marshals empty fields; this one has only the needed fields.
type triggered struct {
	metav1.TypeMeta `             json:",inline"`
	Metadata        workflowMeta `json:"metadata"`
	Spec            workflowSpec `json:"spec"`
}

type workflowMeta struct {
	GenerateName string            `json:"generateName,omitempty"`
	Name         string            `json:"name,omitempty"`
	Namespace    string            `json:"namespace"`
	Labels       map[string]string `json:"labels"`
}

type workflowSpec struct {
	Arguments           workflowArguments `json:"arguments"`
	WorkflowTemplateRef templateRef       `json:"workflowTemplateRef"`
	Priority            *int32            `json:"priority,omitempty"`
}

type workflowArguments struct {
	Parameters []workflowParameter `json:"parameters"`
}

type workflowParameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type templateRef struct {
	Name string `json:"name"`
}

func triggeredWorkflow(p *plan.Plan) triggered {
	var priority *int32
	if p.Runtime.SensorTemplates {
		priority = new(int32) // the Sensor sets it
	}
	return triggered{
		TypeMeta: workflowType("Workflow"),
		Metadata: workflowMeta{
			GenerateName: p.Operator.Name + "-",
			Namespace:    p.Shared.Namespace,
			Labels:       map[string]string{plan.ManagedBy: p.Operator.Name},
		},
		Spec: workflowSpec{
			Arguments:           workflowArguments{Parameters: triggeredArguments(p)},
			WorkflowTemplateRef: templateRef{Name: p.Names.WorkflowTemplate},
			Priority:            priority,
		},
	}
}

func triggeredArguments(p *plan.Plan) []workflowParameter {
	list := []workflowParameter{{Name: "key", Value: ""}}
	if p.Reconcile.Execution.PodPerStep {
		list = append(list, workflowParameter{Name: "generation", Value: ""})
	}
	if p.Runtime.SensorTemplates {
		list = append(list, workflowParameter{Name: "desired", Value: ""})
	}
	return list
}
