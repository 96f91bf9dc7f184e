package manifest

import (
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/plan"
)

// sensors make a Workflow of every event that passes. The Sensor hands on the
// key of the custom resource and nothing else of it.
func sensors(p *plan.Plan) []Object {
	m := meta(p, p.Names.Sensor)
	elect(&m, p)
	return []Object{&eventsv1.Sensor{
		TypeMeta:   metav1.TypeMeta{APIVersion: eventsv1.SchemeGroupVersion.String(), Kind: "Sensor"},
		ObjectMeta: m,
		Spec: eventsv1.SensorSpec{
			EventBusName: p.Install.EventBus.Name,
			Replicas:     &p.Install.Replicas,
			Template:     eventsPod(p, plan.Sensor),
			Dependencies: dependencies(p),
			Triggers:     []eventsv1.Trigger{trigger(p)},
		},
	}}
}

func dependencies(p *plan.Plan) []eventsv1.EventDependency {
	var out []eventsv1.EventDependency
	for _, e := range p.Events {
		out = append(out, eventsv1.EventDependency{
			Name:            e.Name,
			EventSourceName: p.Names.EventSource,
			EventName:       e.Name,
			Transform:       &eventsv1.EventDependencyTransformer{JQ: e.JQ},
			Filters: &eventsv1.EventDependencyFilter{
				Data: []eventsv1.DataFilter{{Path: "go", Type: eventsv1.JSONTypeBool, Value: []string{"true"}}},
			},
		})
	}
	return out
}

func trigger(p *plan.Plan) eventsv1.Trigger {
	names := make([]string, len(p.Events))
	var parameters []eventsv1.TriggerParameter
	for i, e := range p.Events {
		names[i] = e.Name
		parameters = append(parameters,
			parameter(e.Name, "key", "spec.arguments.parameters.0.value"),
			parameter(e.Name, "name", "metadata.generateName"))
	}
	source := eventsv1.NewK8SResource(triggeredWorkflow(p))
	return eventsv1.Trigger{
		Template: &eventsv1.TriggerTemplate{
			Name:       "reconcile",
			Conditions: strings.Join(names, " || "),
			K8s: &eventsv1.StandardK8STrigger{
				Operation:  eventsv1.Create,
				Source:     &eventsv1.ArtifactLocation{Resource: &source},
				Parameters: parameters,
			},
		},
		AtLeastOnce:   true,
		RetryStrategy: backoff(6, "1s"),
		DlqTrigger: &eventsv1.Trigger{
			Template: &eventsv1.TriggerTemplate{
				Name: "dead-letter",
				Log:  &eventsv1.LogTrigger{},
			},
			AtLeastOnce: true,
		},
	}
}

func parameter(dependency, key, dest string) eventsv1.TriggerParameter {
	return eventsv1.TriggerParameter{
		Src:  &eventsv1.TriggerParameterSource{DependencyName: dependency, DataKey: key},
		Dest: dest,
	}
}

// backoff doubles the pause with every step. Argo drops every event when factor
// is a quoted number, so it is written as one.
func backoff(steps int32, first string) *eventsv1.Backoff {
	duration := eventsv1.FromString(first)
	factor, jitter := eventsv1.NewAmount("2"), eventsv1.NewAmount("0.2")
	return &eventsv1.Backoff{Steps: steps, Duration: &duration, Factor: &factor, Jitter: &jitter}
}

// triggered is a Workflow as the Sensor creates it. Its own type has fields that
// always show; these are all it has.
type triggered struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        workflowMeta `json:"metadata"`
	Spec            workflowSpec `json:"spec"`
}

type workflowMeta struct {
	GenerateName string            `json:"generateName"`
	Namespace    string            `json:"namespace"`
	Labels       map[string]string `json:"labels"`
}

type workflowSpec struct {
	Arguments           workflowArguments `json:"arguments"`
	WorkflowTemplateRef templateRef       `json:"workflowTemplateRef"`
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
	return triggered{
		TypeMeta: workflowType("Workflow"),
		Metadata: workflowMeta{
			GenerateName: p.Operator.Name + "-",
			Namespace:    p.Install.Namespace,
			Labels:       map[string]string{plan.ManagedBy: p.Operator.Name},
		},
		Spec: workflowSpec{
			Arguments:           workflowArguments{Parameters: []workflowParameter{{Name: "key", Value: ""}}},
			WorkflowTemplateRef: templateRef{Name: p.Names.WorkflowTemplate},
		},
	}
}
