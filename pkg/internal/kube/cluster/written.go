package cluster

import (
	"bytes"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// plain is an object of a built-in kind without what the API server adds to it.
type plain struct {
	version string // of the object
	fields  map[string]any
}

// WithoutAssigned returns an object without the values that the API server assigned and without
// Kubernetes' defaults: no field manager owns them. What is owned as a whole is as its manager has
// written it, unless the object is an earlier one.
func (c *Cluster) WithoutAssigned(o Object) Object {
	owned := owned(o)
	if owned.Empty() || !scheme.Scheme.Recognizes(o.GroupVersionKind()) {
		return o
	}
	kind := c.Kind(o.GroupVersionKind())
	known := c.plain[Key{schema.GroupResource{Group: kind.Group, Resource: kind.Plural}, o.GetNamespace(), o.GetName()}]
	if known.version != o.GetResourceVersion() {
		known.fields = nil
	}
	o = o.DeepCopy()
	for name, stored := range o.Object {
		if name == "apiVersion" || name == "kind" || name == "metadata" {
			continue
		}
		if kept := ownedPart(stored, known.fields[name], owned, fieldpath.PathElement{FieldName: &name}); kept != nil {
			o.Object[name] = kept
		} else {
			delete(o.Object, name)
		}
	}
	of := fieldpath.MakePathOrDie("metadata", "labels")
	labels := o.GetLabels()
	maps.DeleteFunc(labels, func(key, _ string) bool { return !owned.Has(append(of.Copy(), fieldpath.PathElement{FieldName: &key})) })
	o.SetLabels(labels)
	return o
}

// ownedPart returns the part of a value that its managers own, as it is written; nil: none.
func ownedPart(stored, written any, owned *fieldpath.Set, at fieldpath.PathElement) any {
	whole := owned.Members.Has(at)
	below, divided := owned.Children.Get(at)
	switch {
	case !divided && !whole:
		return nil
	case !divided && written != nil:
		return runtime.DeepCopyJSONValue(written)
	case !divided:
		return stored
	}
	switch v := stored.(type) {
	case map[string]any:
		written, _ := written.(map[string]any)
		out := map[string]any{}
		for name, field := range v {
			if kept := ownedPart(field, written[name], below, fieldpath.PathElement{FieldName: &name}); kept != nil {
				out[name] = kept
			}
		}
		return out // its manager has written it, if only with fields that are empty
	case []any:
		written, _ := written.([]any)
		out := []any{}
		for i, item := range v {
			element := elementOf(item, below)
			if element == nil {
				continue
			}
			var before any
			if len(written) == len(v) {
				before = written[i]
			}
			if kept := ownedPart(item, before, below, *element); kept != nil {
				out = append(out, kept)
			}
		}
		return out
	}
	return nil
}

// elementOf returns the element of a set that stands for an item of a list; nil: there is none.
func elementOf(item any, of *fieldpath.Set) *fieldpath.PathElement {
	var found *fieldpath.PathElement
	check := func(element fieldpath.PathElement) {
		switch {
		case element.Value != nil && value.Equals(*element.Value, value.NewValueInterface(item)):
			found = &element
		case element.Key != nil:
			fields, _ := item.(map[string]any)
			for _, key := range *element.Key {
				if !value.Equals(key.Value, value.NewValueInterface(fields[key.Name])) {
					return
				}
			}
			found = &element
		}
	}
	of.Members.Iterate(check)
	if found == nil {
		of.Children.Iterate(check)
	}
	return found
}

// owned returns the fields that a manager owns.
func owned(o Object) *fieldpath.Set {
	out := fieldpath.NewSet()
	for _, entry := range o.GetManagedFields() {
		var one fieldpath.Set
		if entry.FieldsV1 != nil && one.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) == nil {
			out = out.Union(&one)
		}
	}
	return out
}

// written returns what clients have written of an object: what an update leaves as it was stored
// is as it was written before.
func written(o, stored, before any) any {
	if stored != nil && equality.Semantic.DeepEqual(o, stored) {
		return before
	}
	switch v := o.(type) {
	case map[string]any:
		stored, _ := stored.(map[string]any)
		before, _ := before.(map[string]any)
		out := make(map[string]any, len(v))
		for name, field := range v {
			if field := written(field, stored[name], before[name]); field != nil {
				out[name] = field
			}
		}
		return out
	case []any:
		stored, _ := stored.([]any)
		before, _ := before.([]any)
		out := make([]any, len(v))
		for i, item := range v {
			at := slices.IndexFunc(stored, func(other any) bool { return equality.Semantic.DeepEqual(other, item) })
			switch {
			case len(before) != len(stored):
				out[i] = item
			case at >= 0:
				out[i] = before[at]
			case i < len(stored):
				out[i] = written(item, stored[i], before[i])
			default:
				out[i] = item
			}
		}
		return out
	}
	return o
}

// kept returns the fields of a value that the other one has too.
func kept(value, stored any) any {
	switch s := stored.(type) {
	case map[string]any:
		given, ok := value.(map[string]any)
		if !ok {
			return stored
		}
		out := make(map[string]any, len(given))
		for name, below := range given {
			if other, still := s[name]; still {
				out[name] = kept(below, other)
			}
		}
		return out
	case []any:
		given, ok := value.([]any)
		if !ok || len(given) != len(s) {
			return stored
		}
		out := make([]any, len(given))
		for i := range given {
			out[i] = kept(given[i], s[i])
		}
		return out
	}
	return stored
}
