package check

import (
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"

	"github.com/argoperator/argoperator/pkg/manifest"
	"github.com/argoperator/argoperator/pkg/output"
)

// objects are the emitted objects in their real Go types, with what several
// checks ask about them. No check writes into them: who hands one to code that
// may, as Argo's validators do, hands out a copy.
type objects struct {
	list []manifest.Object
	*answers
}

// answers are worked out once for all checks.
type answers struct {
	programs map[string]*program // by their text
	fields   map[manifest.Object]map[string]any
	fired    map[*eventsv1.Sensor][]trigger

	launches      func() []launch
	pods          func() []pod
	requests      func() []request
	clusterScoped func() map[string]bool
}

func newObjects(list []manifest.Object) objects {
	o := objects{list, &answers{
		programs: map[string]*program{}, fields: map[manifest.Object]map[string]any{}, fired: map[*eventsv1.Sensor][]trigger{},
	}}
	o.launches = sync.OnceValue(func() []launch { return launchesIn(o) })
	o.pods = sync.OnceValue(func() []pod { return podsIn(o) })
	o.requests = sync.OnceValue(func() []request { return requestsIn(o) })
	o.clusterScoped = sync.OnceValue(func() map[string]bool { return clusterScopedIn(o) })
	return o
}

func (o objects) copy() objects {
	out := make([]manifest.Object, len(o.list))
	for i, object := range o.list {
		out[i] = object.DeepCopyObject().(manifest.Object)
	}
	return newObjects(out)
}

// fieldsOf is an object as it is written.
func (o objects) fieldsOf(object manifest.Object) (map[string]any, error) {
	if known, ok := o.fields[object]; ok {
		return known, nil
	}
	fields, err := output.Fields(object)
	if err == nil {
		o.fields[object] = fields
	}
	return fields, err
}

// triggers are those of a Sensor.
func (o objects) triggers(s *eventsv1.Sensor) []trigger {
	known, ok := o.fired[s]
	if !ok {
		known = triggers(s)
		o.fired[s] = known
	}
	return known
}

// all returns the objects of one type, in their order.
func all[T manifest.Object](o objects) []T {
	var out []T
	for _, object := range o.list {
		if typed, ok := object.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}

// find returns the object of a type by its name; namespace is "" for a
// cluster-scoped one.
func find[T manifest.Object](o objects, namespace, name string) (T, bool) {
	for _, object := range all[T](o) {
		if object.GetNamespace() == namespace && object.GetName() == name {
			return object, true
		}
	}
	var none T
	return none, false
}

// each runs a check over the objects of one type.
func each[T manifest.Object](o objects, check func(*report, T)) []Problem {
	var out []Problem
	for _, object := range all[T](o) {
		r := about(object)
		check(r, object)
		out = append(out, r.problems...)
	}
	return out
}
