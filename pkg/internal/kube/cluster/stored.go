package cluster

import (
	"encoding/base64"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// store gives an object of a built-in kind the form in which the API server stores it: it
// decodes the object into Kubernetes' types, sets their defaults, and encodes that. It omits empty
// fields and writes quantities in one form, 500m for 0.5. A custom resource keeps every field.
func store(o Object) error {
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil {
		return nil //nolint:nilerr // a version that this library does not have
	}
	given := maps.Clone(o.Object)
	metadata, _ := o.Object["metadata"].(map[string]any)
	given["metadata"] = map[string]any{"labels": metadata["labels"]} // of the rest, nothing changes
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, typed); err != nil {
		return nil //nolint:nilerr // the checks of the object report it
	}
	shapes.SetDefaults(typed)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return err
	}
	if labels, ok, _ := unstructured.NestedMap(fields, "metadata", "labels"); ok {
		set(o, labels, "metadata", "labels")
	}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		fields[name] = o.Object[name]
	}
	withoutNull(fields)
	o.Object = fields
	return nil
}

// withoutNull removes the fields without a value.
func withoutNull(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, field any) bool { return field == nil })
		for _, field := range v {
			withoutNull(field)
		}
	case []any:
		for _, item := range v {
			withoutNull(item)
		}
	}
}

// withEmptyLists returns what is stored, with the empty lists that were given: they are not stored,
// and some are refused.
func withEmptyLists(stored, given any) any {
	switch g := given.(type) {
	case map[string]any:
		fields, ok := stored.(map[string]any)
		if !ok {
			return stored
		}
		out := maps.Clone(fields)
		for name, value := range g {
			list, isList := value.([]any)
			if field, there := out[name]; there {
				out[name] = withEmptyLists(field, value)
			} else if isList && len(list) == 0 {
				out[name] = value
			}
		}
		return out
	case []any:
		items, ok := stored.([]any)
		if !ok || len(items) != len(g) {
			return stored
		}
		out := make([]any, len(items))
		for i := range items {
			out[i] = withEmptyLists(items[i], g[i])
		}
		return out
	}
	return stored
}

// omitEmptyMetadata removes the lists and maps of the metadata that are empty.
func omitEmptyMetadata(o Object) {
	metadata, _ := o.Object["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		switch value := metadata[name].(type) {
		case map[string]any:
			if len(value) == 0 {
				delete(metadata, name)
			}
		case []any:
			if len(value) == 0 {
				delete(metadata, name)
			}
		}
	}
}

// encodeText moves stringData of a Secret into data. Bytes without a value are empty.
func encodeText(o Object) {
	if o.GetAPIVersion() != "v1" {
		return
	}
	for _, name := range []string{"binaryData", "data"} {
		data, _ := o.Object[name].(map[string]any)
		for key, value := range data {
			if value == nil {
				data[key] = ""
			}
		}
	}
	if o.GetKind() != "Secret" {
		return
	}
	text, ok := o.Object["stringData"].(map[string]any)
	if !ok {
		return
	}
	data, ok := o.Object["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
		o.Object["data"] = data
	}
	for key, value := range text {
		if written, ok := value.(string); ok || value == nil {
			data[key] = base64.StdEncoding.EncodeToString([]byte(written))
		}
	}
	delete(o.Object, "stringData")
}
