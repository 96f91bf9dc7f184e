package check

import (
	"encoding/json"
	"regexp"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// trigger is a trigger of a Sensor with its place. A dead-letter trigger is one
// more, right behind the trigger that it serves.
type trigger struct {
	*eventsv1.Trigger
	path       *field.Path
	deadLetter bool
	parameters func() []sourced // all of the trigger, worked out once; not to be changed
}

func newTrigger(of *eventsv1.Trigger, path *field.Path, deadLetter bool) trigger {
	t := trigger{Trigger: of, path: path, deadLetter: deadLetter}
	t.parameters = sync.OnceValue(func() []sourced { return parametersOf(t) })
	return t
}

func triggers(sensor *eventsv1.Sensor) []trigger {
	var out []trigger
	for i := range sensor.Spec.Triggers {
		at := field.NewPath("spec", "triggers").Index(i)
		out = append(out, newTrigger(&sensor.Spec.Triggers[i], at, false))
		for dlq := sensor.Spec.Triggers[i].DlqTrigger; dlq != nil; dlq = dlq.DlqTrigger {
			at = at.Child("dlqTrigger")
			out = append(out, newTrigger(dlq, at, true))
		}
	}
	return complete(out)
}

// complete leaves out what has no template; Argo's validator reports it.
func complete(list []trigger) []trigger {
	var out []trigger
	for _, t := range list {
		if t.Template != nil {
			out = append(out, t)
		}
	}
	return out
}

// resource is the object that a k8s trigger carries, as bytes; nil for none.
func (t trigger) resource() []byte {
	if k := t.Template.K8s; k != nil && k.Source != nil && k.Source.Resource != nil {
		return k.Source.Resource.Value
	}
	return nil
}

func (t trigger) resourcePath() *field.Path {
	return t.path.Child("template", "k8s", "source", "resource")
}

// workflow is the Workflow that the trigger creates; nil for none.
func (t trigger) workflow() *wfv1.Workflow {
	wf := &wfv1.Workflow{}
	if t.resource() == nil || json.Unmarshal(t.resource(), wf) != nil || wf.Kind != "Workflow" {
		return nil
	}
	return wf
}

// identifier is a dependency's name in conditions.
var identifier = regexp.MustCompile(`[A-Za-z0-9_-]+`)

// fires are the names of the dependencies that make the trigger fire.
func (t trigger) fires() []string {
	return identifier.FindAllString(t.Template.Conditions, -1)
}

// sourced is a parameter with its place and the JSON that its dest points into.
type sourced struct {
	eventsv1.TriggerParameter
	list string // of the trigger's lists of parameters
	path *field.Path
	into any // nil: a document that the parameters build from nothing

	document func() (any, error) // into as fields, worked out once
}

// parametersOf are all parameters of a trigger.
func parametersOf(t trigger) []sourced {
	out := at(t.path.Child("parameters"), "parameters", t.Parameters, t.Template)
	if k := t.Template.K8s; k != nil {
		out = append(out, at(t.path.Child("template", "k8s", "parameters"), "k8s", k.Parameters, t.resource())...)
	}
	if w := t.Template.ArgoWorkflow; w != nil {
		data, _ := t.carries()
		out = append(out, at(t.path.Child("template", "argoWorkflow", "parameters"), "argoWorkflow", w.Parameters, data)...)
	}
	if h := t.Template.HTTP; h != nil {
		path := t.path.Child("template", "http")
		out = append(out, at(path.Child("parameters"), "http", h.Parameters, h)...)
		out = append(out, at(path.Child("payload"), "payload", h.Payload, nil)...)
		out = append(out, at(path.Child("dynamicHeaders"), "dynamicHeaders", h.DynamicHeaders, nil)...)
	}
	return out
}

func at(path *field.Path, name string, list []eventsv1.TriggerParameter, into any) []sourced {
	document := sync.OnceValues(func() (any, error) { return fieldsIn(into) })
	var out []sourced
	for i, p := range list {
		out = append(out, sourced{TriggerParameter: p, list: name, path: path.Index(i), into: into, document: document})
	}
	return out
}
