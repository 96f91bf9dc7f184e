package cluster

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// immutable returns an error for each immutable field of a built-in kind that an update
// changes.
func immutable(old, o Object) field.ErrorList {
	kind := o.GroupVersionKind()
	var wrong field.ErrorList
	for _, f := range shapes.ImmutableFields(kind.Group, kind.Kind) {
		if f.Ignored || !changes(f, old.Object, o.Object) {
			continue
		}
		named := f.At
		if named == nil {
			named = f.Path
		}
		at := field.NewPath(named[0], named[1:]...)
		if f.Forbidden {
			wrong = append(wrong, field.Forbidden(at, f.Reason))
		} else {
			wrong = append(wrong, field.Invalid(at, shapes.ValueAt(o.Object, f.Path...), f.Reason))
		}
	}
	return wrong
}

// changes reports whether an update changes an immutable field.
func changes(f shapes.Immutable, old, o map[string]any) bool {
	if f.While != nil && !f.While(old, o) {
		return false
	}
	if equality.Semantic.DeepEqual(f.Fixed(old), f.Fixed(o)) {
		return false
	}
	return f.Allows == nil || !f.Allows(shapes.ValueAt(old, f.Path...), shapes.ValueAt(o, f.Path...))
}

// keepIgnored restores the fields of which the API server ignores changes.
func keepIgnored(old, o Object) {
	kind := o.GroupVersionKind()
	for _, f := range shapes.ImmutableFields(kind.Group, kind.Kind) {
		if value, there, _ := unstructured.NestedFieldCopy(old.Object, f.Path...); f.Ignored && there {
			set(o, value, f.Path...)
		}
	}
}
