package argo

import (
	"encoding/json"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Objects are the emitted objects as their Go types, with queries that several
// checks share. Checks must not modify them: pass a Copy to code that may, such as
// Argo's validators.
type Objects struct {
	List []manifest.Object
	*cache
}

// cache holds results that are computed once for all checks, which may run side by side.
type cache struct {
	mu       sync.Mutex
	fields   map[manifest.Object]map[string]any
	triggers map[*eventsv1.Sensor][]Trigger

	Launches func() []Launch
	Pods     func() []Pod
	Workers  func() []Worker
}

// NewObjects returns the objects of a list.
func NewObjects(list []manifest.Object) Objects {
	o := Objects{list, &cache{
		fields: map[manifest.Object]map[string]any{}, triggers: map[*eventsv1.Sensor][]Trigger{},
	}}
	o.Launches = sync.OnceValue(func() []Launch { return launchesIn(o) })
	o.Pods = sync.OnceValue(func() []Pod { return podsIn(o) })
	o.Workers = sync.OnceValue(func() []Worker { return workersIn(o) })
	return o
}

// Copy returns deep copies of the objects.
func (o Objects) Copy() Objects {
	out := make([]manifest.Object, len(o.List))
	for i, object := range o.List {
		out[i] = object.DeepCopyObject().(manifest.Object)
	}
	return NewObjects(out)
}

// FieldsOf returns an object as it is encoded.
func (o Objects) FieldsOf(object manifest.Object) (map[string]any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known, ok := o.fields[object]; ok {
		return known, nil
	}
	fields, err := output.Fields(object)
	if err == nil {
		o.fields[object] = fields
	}
	return fields, err
}

// Forget drops what FieldsOf keeps of an object.
func (o Objects) Forget(object manifest.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.fields, object)
}

// Triggers returns the triggers of a Sensor.
func (o Objects) Triggers(s *eventsv1.Sensor) []Trigger {
	o.mu.Lock()
	defer o.mu.Unlock()
	known, ok := o.triggers[s]
	if !ok {
		known = Triggers(s)
		o.triggers[s] = known
	}
	return known
}

// All returns the objects of one type in order.
func All[T manifest.Object](o Objects) []T {
	var out []T
	for _, object := range o.List {
		if typed, ok := object.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}

// Find returns an object by type and name; namespace is "" for a cluster-scoped
// one.
func Find[T manifest.Object](o Objects, namespace, name string) (T, bool) {
	for _, object := range All[T](o) {
		if object.GetNamespace() == namespace && object.GetName() == name {
			return object, true
		}
	}
	var none T
	return none, false
}

// Each runs a check on every object of one type.
func Each[T manifest.Object](o Objects, check func(*problem.Report, T)) []problem.Problem {
	var out []problem.Problem
	for _, object := range All[T](o) {
		r := problem.About(object)
		check(r, object)
		out = append(out, r.Problems...)
	}
	return out
}

// BusName returns the name of an EventBus, or the default name.
func BusName(name string) string {
	if name == "" {
		return eventsv1.DefaultEventBusName
	}
	return name
}

// NamespaceOf returns the namespace in which a Sensor creates a Workflow: its own,
// or else that of the Sensor.
func NamespaceOf(wf *wfv1.Workflow, s *eventsv1.Sensor) string {
	if wf.Namespace == "" {
		return s.Namespace
	}
	return wf.Namespace
}

// fieldsIn decodes a document, which is JSON or a value to encode first.
func fieldsIn(document any) (any, error) {
	data, ok := document.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(document); err != nil {
			return nil, err
		}
	}
	var fields any
	err := json.Unmarshal(data, &fields)
	return fields, err
}
