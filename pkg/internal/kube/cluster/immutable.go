package cluster

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"

	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// immutable returns an error for each immutable field of a built-in kind that a
// write changes.
func immutable(old, o Object) field.ErrorList {
	kind := o.GroupVersionKind()
	var wrong field.ErrorList
	var before, after map[string]any
	for _, f := range shapes.ImmutableFields(kind.Group, kind.Kind) {
		if f.While != nil && !f.While(old.Object) || !changed(f, old.Object, o.Object) {
			continue
		}
		if before == nil { // a value may be written in several ways
			before, after = canonical(old), canonical(o)
		}
		if !changed(f, before, after) {
			continue
		}
		at, value := field.NewPath(f.Path[0], f.Path[1:]...), any(nil)
		value, _, _ = unstructured.NestedFieldNoCopy(after, f.Path...)
		if f.Forbidden {
			wrong = append(wrong, field.Forbidden(at, f.Reason))
		} else {
			wrong = append(wrong, field.Invalid(at, value, f.Reason))
		}
	}
	return wrong
}

func changed(f shapes.Immutable, old, o map[string]any) bool {
	before, _, _ := unstructured.NestedFieldNoCopy(old, f.Path...)
	after, _, _ := unstructured.NestedFieldNoCopy(o, f.Path...)
	switch {
	case f.Kept && after == nil:
		return false
	case f.Grows:
		return shrinks(before, after)
	}
	return !equality.Semantic.DeepEqual(without(before, f.Free), without(after, f.Free))
}

// shrinks reports whether a quantity is smaller than before.
func shrinks(before, after any) bool {
	a, aIsText := before.(string)
	b, bIsText := after.(string)
	if !aIsText || !bIsText {
		return false
	}
	was, err1 := resource.ParseQuantity(a)
	is, err2 := resource.ParseQuantity(b)
	return err1 == nil && err2 == nil && is.Cmp(was) < 0
}

// without returns a value without the fields at the paths. It treats an object
// without fields as absent.
func without(value any, paths [][]string) any {
	for _, path := range paths {
		value = pruned(value, path)
	}
	if fields, ok := value.(map[string]any); ok && len(fields) == 0 {
		return nil
	}
	return value
}

func pruned(value any, path []string) any {
	switch value := value.(type) {
	case map[string]any:
		old, there := value[path[0]]
		if !there {
			return value
		}
		out := maps.Clone(value)
		delete(out, path[0])
		if len(path) > 1 {
			if rest := without(old, [][]string{path[1:]}); rest != nil {
				out[path[0]] = rest
			}
		}
		return out
	case []any:
		if path[0] != "*" {
			return value
		}
		out := make([]any, len(value))
		for i, entry := range value {
			out[i] = pruned(entry, path[1:])
		}
		return out
	}
	return value
}

// canonical returns an object as its Go type encodes it, or the object itself if it
// does not fit the type.
func canonical(o Object) map[string]any {
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed) != nil {
		return o.Object
	}
	data, err := json.Marshal(typed)
	if err != nil {
		return o.Object
	}
	var out map[string]any
	if json.Unmarshal(data, &out) != nil {
		return o.Object
	}
	return out
}
