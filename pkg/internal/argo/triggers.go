package argo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Trigger is a trigger of a Sensor with its place. A dead-letter trigger is one
// more, right behind the trigger that it serves.
type Trigger struct {
	*eventsv1.Trigger
	Path       *field.Path
	DeadLetter bool
	Writes     func() []Sourced // all of the trigger, worked out once; not to be changed
}

// NewTrigger returns a trigger at a path of its Sensor.
func NewTrigger(of *eventsv1.Trigger, path *field.Path, deadLetter bool) Trigger {
	t := Trigger{Trigger: of, Path: path, DeadLetter: deadLetter}
	t.Writes = sync.OnceValue(func() []Sourced { return parametersOf(t) })
	return t
}

// Triggers are the triggers of a Sensor, with their dead-letter triggers.
func Triggers(sensor *eventsv1.Sensor) []Trigger {
	var out []Trigger
	for i := range sensor.Spec.Triggers {
		at := field.NewPath("spec", "triggers").Index(i)
		out = append(out, NewTrigger(&sensor.Spec.Triggers[i], at, false))
		for dlq := sensor.Spec.Triggers[i].DlqTrigger; dlq != nil; dlq = dlq.DlqTrigger {
			at = at.Child("dlqTrigger")
			out = append(out, NewTrigger(dlq, at, true))
		}
	}
	return complete(out)
}

// complete leaves out what has no template; Argo's validator reports it.
func complete(list []Trigger) []Trigger {
	var out []Trigger
	for _, t := range list {
		if t.Template != nil {
			out = append(out, t)
		}
	}
	return out
}

// Resource is the object that a k8s trigger carries, as bytes; nil for none.
func (t Trigger) Resource() []byte {
	if k := t.Template.K8s; k != nil && k.Source != nil && k.Source.Resource != nil {
		return k.Source.Resource.Value
	}
	return nil
}

// ResourcePath is where a k8s trigger has its object.
func (t Trigger) ResourcePath() *field.Path {
	return t.Path.Child("template", "k8s", "source", "resource")
}

// Workflow is the Workflow that the trigger creates; nil for none.
func (t Trigger) Workflow() *wfv1.Workflow {
	wf := &wfv1.Workflow{}
	if t.Resource() == nil || json.Unmarshal(t.Resource(), wf) != nil || wf.Kind != "Workflow" {
		return nil
	}
	return wf
}

// identifier is a dependency's name in conditions.
var identifier = regexp.MustCompile(`[A-Za-z0-9_-]+`)

// Fires are the names of the dependencies that make the trigger fire.
func (t Trigger) Fires() []string {
	return identifier.FindAllString(t.Template.Conditions, -1)
}

// Sourced is a parameter with its place and the JSON that its dest points into.
type Sourced struct {
	eventsv1.TriggerParameter
	List string // of the trigger's lists of parameters
	Path *field.Path
	Into any // nil: a document that the parameters build from nothing

	document func() (any, error) // into as fields, worked out once
}

// parametersOf are all parameters of a trigger.
func parametersOf(t Trigger) []Sourced {
	out := at(t.Path.Child("parameters"), "parameters", t.Parameters, t.Template)
	if k := t.Template.K8s; k != nil {
		out = append(out, at(t.Path.Child("template", "k8s", "parameters"), "k8s", k.Parameters, t.Resource())...)
	}
	if w := t.Template.ArgoWorkflow; w != nil {
		data, _ := t.Carries()
		out = append(out, at(t.Path.Child("template", "argoWorkflow", "parameters"), "argoWorkflow", w.Parameters, data)...)
	}
	if h := t.Template.HTTP; h != nil {
		path := t.Path.Child("template", "http")
		out = append(out, at(path.Child("parameters"), "http", h.Parameters, h)...)
		out = append(out, at(path.Child("payload"), "payload", h.Payload, nil)...)
		out = append(out, at(path.Child("dynamicHeaders"), "dynamicHeaders", h.DynamicHeaders, nil)...)
	}
	return out
}

func at(path *field.Path, name string, list []eventsv1.TriggerParameter, into any) []Sourced {
	document := sync.OnceValues(func() (any, error) { return fieldsIn(into) })
	var out []Sourced
	for i, p := range list {
		out = append(out, Sourced{TriggerParameter: p, List: name, Path: path.Index(i), Into: into, document: document})
	}
	return out
}

// segments splits the destination of a Sensor's parameter: dots separate, a
// backslash keeps one.
func segments(dest string) []string {
	parts := strings.Split(strings.ReplaceAll(dest, `\.`, "\x00"), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", ".")
	}
	return parts
}

// Misses walks the dest of a parameter down what it writes into, whose lists may
// grow by so many elements, and says why it cannot be written; "" when it can.
// Keys of an object may be new, elements of a list not.
func (p Sourced) Misses(more int) string {
	value, err := p.document()
	if err != nil {
		return err.Error()
	}
	for _, segment := range segments(p.Dest) {
		index, err := strconv.Atoi(segment)
		switch v := value.(type) {
		case []any:
			if err != nil || index < 0 || index >= len(v)+more {
				return fmt.Sprintf("a list of %d has no element %q", len(v), segment)
			}
			if value = nil; index < len(v) {
				value = v[index]
			}
		case map[string]any:
			value = v[segment]
		case nil:
			if err == nil {
				return fmt.Sprintf("there is no list that could have an element %q", segment)
			}
		default:
			return fmt.Sprintf("%q would be below a plain value", segment)
		}
	}
	return ""
}

// Carries is the object that a trigger creates or changes, as bytes, and where
// it stands; nil for none.
func (t Trigger) Carries() ([]byte, *field.Path) {
	if w := t.Template.ArgoWorkflow; w != nil && w.Source != nil && w.Source.Resource != nil {
		return w.Source.Resource.Value, t.Path.Child("template", "argoWorkflow", "source", "resource")
	}
	if t.Resource() != nil {
		return t.Resource(), t.ResourcePath()
	}
	return nil, nil
}

// Fills are the parameters that write into the object that a trigger carries.
func (t Trigger) Fills() []Sourced {
	return slices.DeleteFunc(slices.Clone(t.Writes()), func(p Sourced) bool { return p.List != "k8s" && p.List != "argoWorkflow" })
}

// SecureHeader is the header of a trigger that has the token from a Secret; nil
// where it has it otherwise.
func (t Trigger) SecureHeader() *eventsv1.SecureHeader {
	if h := t.Template.HTTP; h != nil && len(h.SecureHeaders) == 1 {
		return h.SecureHeaders[0]
	}
	return nil
}
