package check

import (
	"github.com/argoperator/argoperator/pkg/manifest"
)

// objects are the emitted objects in their real Go types.
type objects []manifest.Object

// copy lets a check hand objects to Argo's validators, which write into them.
func (o objects) copy() objects {
	out := make(objects, len(o))
	for i, object := range o {
		out[i] = object.DeepCopyObject().(manifest.Object)
	}
	return out
}

// all returns the objects of one type, in their order.
func all[T manifest.Object](o objects) []T {
	var out []T
	for _, object := range o {
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
