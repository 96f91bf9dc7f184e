package argo

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Trigger is a trigger of a Sensor with its path. A dead-letter trigger is a
// separate one that follows its trigger.
type Trigger struct {
	*eventsv1.Trigger
	Path          *field.Path
	DeadLetter    bool
	AllParameters func() []Parameter // all parameters of the trigger, computed once; read-only
}

// NewTrigger returns a trigger at a path of its Sensor.
func NewTrigger(of *eventsv1.Trigger, path *field.Path, deadLetter bool) Trigger {
	t := Trigger{Trigger: of, Path: path, DeadLetter: deadLetter}
	t.AllParameters = sync.OnceValue(func() []Parameter { return parametersOf(t) })
	return t
}

// Triggers returns the triggers of a Sensor with their dead-letter triggers.
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

// complete drops triggers without a template, which Argo's validator reports.
func complete(list []Trigger) []Trigger {
	var out []Trigger
	for _, t := range list {
		if t.Template != nil {
			out = append(out, t)
		}
	}
	return out
}

// Resource returns the object of a k8s trigger as bytes; nil if there is none.
func (t Trigger) Resource() []byte {
	if k := t.Template.K8s; k != nil && k.Source != nil && k.Source.Resource != nil {
		return k.Source.Resource.Value
	}
	return nil
}

// ResourcePath returns the path of a k8s trigger's object.
func (t Trigger) ResourcePath() *field.Path {
	return t.Path.Child("template", "k8s", "source", "resource")
}

// Workflow returns the Workflow that the trigger creates; nil if there is none.
func (t Trigger) Workflow() *wfv1.Workflow {
	wf := &wfv1.Workflow{}
	if t.Resource() == nil || json.Unmarshal(t.Resource(), wf) != nil || wf.Kind != "Workflow" {
		return nil
	}
	return wf
}

// identifier matches a dependency's name in conditions.
var identifier = regexp.MustCompile(`[A-Za-z0-9_-]+`)

// DependencyNames returns the dependencies in the trigger's conditions.
func (t Trigger) DependencyNames() []string {
	return identifier.FindAllString(t.Template.Conditions, -1)
}

// Parameter is a trigger parameter with its path and the JSON that its dest points
// into.
type Parameter struct {
	eventsv1.TriggerParameter
	List string // name of the trigger's parameter list
	Path *field.Path
	Into any // nil: a document that the parameters build

	document func() (any, error) // Into as fields, computed once
}

// parametersOf returns all parameters of a trigger.
func parametersOf(t Trigger) []Parameter {
	out := at(t.Path.Child("parameters"), "parameters", t.Parameters, t.Template)
	if k := t.Template.K8s; k != nil {
		out = append(out, at(t.Path.Child("template", "k8s", "parameters"), "k8s", k.Parameters, t.Resource())...)
	}
	if w := t.Template.ArgoWorkflow; w != nil {
		data, _ := t.ObjectBytes()
		out = append(out, at(t.Path.Child("template", "argoWorkflow", "parameters"), "argoWorkflow", w.Parameters, data)...)
	}
	if h := t.Template.HTTP; h != nil {
		path := t.Path.Child("template", "http")
		out = append(out, at(path.Child("parameters"), "http", h.Parameters, h)...)
		out = append(out, at(path.Child("payload"), "payload", h.Payload, nil)...)
		out = append(out, at(path.Child("dynamicHeaders"), "dynamicHeaders", h.DynamicHeaders, nil)...)
	}
	return append(out, payloads(t)...)
}

// payloads returns the parameters of triggers that send messages.
func payloads(t Trigger) []Parameter {
	var out []Parameter
	template := reflect.ValueOf(*t.Template)
	for i := range template.NumField() {
		of := template.Field(i)
		if of.Kind() != reflect.Pointer || of.IsNil() || of.Elem().Kind() != reflect.Struct || of.Interface() == any(t.Template.HTTP) {
			continue
		}
		name, _, _ := strings.Cut(template.Type().Field(i).Tag.Get("json"), ",")
		if list, ok := fieldOf(of.Elem(), "Payload").([]eventsv1.TriggerParameter); ok {
			out = append(out, at(t.Path.Child("template", name, "payload"), "payload", list, nil)...)
		}
		if list, ok := fieldOf(of.Elem(), "Parameters").([]eventsv1.TriggerParameter); ok && name != "k8s" && name != "argoWorkflow" {
			out = append(out, at(t.Path.Child("template", name, "parameters"), name, list, nil)...)
		}
	}
	return out
}

func fieldOf(v reflect.Value, name string) any {
	if f := v.FieldByName(name); f.IsValid() {
		return f.Interface()
	}
	return nil
}

func at(path *field.Path, name string, list []eventsv1.TriggerParameter, into any) []Parameter {
	document := sync.OnceValues(func() (any, error) { return fieldsIn(into) })
	var out []Parameter
	for i, p := range list {
		out = append(out, Parameter{TriggerParameter: p, List: name, Path: path.Index(i), Into: into, document: document})
	}
	return out
}

// Segments splits the destination of a parameter at dots; a backslash escapes a
// dot.
func Segments(dest string) []string {
	parts := strings.Split(strings.ReplaceAll(dest, `\.`, "\x00"), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", ".")
	}
	return parts
}

// DestError walks the dest of a parameter through the document and returns why it
// cannot be written, or "". Lists may grow by the given number of elements; objects
// may get new keys.
func (p Parameter) DestError(more int) string {
	value, err := p.document()
	if err != nil {
		return err.Error()
	}
	for _, segment := range Segments(p.Dest) {
		index, err := strconv.Atoi(segment)
		switch v := value.(type) {
		case []any:
			if err != nil || index < 0 || index >= len(v)+more {
				return fmt.Sprintf("there is no element %q in a list of length %d", segment, len(v))
			}
			if value = nil; index < len(v) {
				value = v[index]
			}
		case map[string]any:
			value = v[segment]
		case nil:
			if err == nil {
				return fmt.Sprintf("there is no list with an element %q", segment)
			}
		default:
			return fmt.Sprintf("%q is below a value that is not an object", segment)
		}
	}
	return ""
}

// ObjectBytes returns the object that a trigger creates or changes, and its path;
// nil if there is none.
func (t Trigger) ObjectBytes() ([]byte, *field.Path) {
	if w := t.Template.ArgoWorkflow; w != nil && w.Source != nil && w.Source.Resource != nil {
		return w.Source.Resource.Value, t.Path.Child("template", "argoWorkflow", "source", "resource")
	}
	if t.Resource() != nil {
		return t.Resource(), t.ResourcePath()
	}
	return nil, nil
}

// ObjectParameters returns the parameters that write into the trigger's object.
func (t Trigger) ObjectParameters() []Parameter {
	return slices.DeleteFunc(slices.Clone(t.AllParameters()), func(p Parameter) bool { return p.List != "k8s" && p.List != "argoWorkflow" })
}

// MaxHTTPTimeout is the longest reasonable timeout of an http trigger, in seconds, because it
// leaks its connection until the timeout.
const MaxHTTPTimeout = 10

// UnreadableAmounts returns what Argo Events cannot read in a backoff, by field. It accepts such a value, and
// then fails before the first attempt: a retryStrategy with one drops every event.
func UnreadableAmounts(b *eventsv1.Backoff) map[string]string {
	out := map[string]string{}
	if b == nil {
		return out
	}
	for name, amount := range map[string]*eventsv1.Amount{"factor": b.Factor, "jitter": b.Jitter} {
		if amount == nil {
			continue
		}
		if _, err := strconv.ParseFloat(string(amount.Value), 64); err != nil {
			out[name] = string(amount.Value) + " is not a number"
		}
	}
	if d := b.Duration; d != nil && d.Type == eventsv1.String {
		if _, err := time.ParseDuration(d.StrVal); err != nil {
			out["duration"] = fmt.Sprintf("%q is no duration", d.StrVal)
		}
	}
	return out
}
