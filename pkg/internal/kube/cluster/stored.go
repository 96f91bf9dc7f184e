package cluster

import (
	"encoding/base64"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// store gives an object of a built-in kind the form in which the API server stores it: it
// decodes the object into Kubernetes' types, which omit empty fields and write quantities
// in one form, 500m for 0.5. A custom resource keeps every field.
func store(o Object) error {
	if o.GetAPIVersion() == "v1" && o.GetKind() == "Secret" {
		encodeText(o)
	}
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil {
		return nil //nolint:nilerr // a version that this library does not have
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
		return nil //nolint:nilerr // the checks of the object report it
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return err
	}
	for name, value := range fields {
		if name != "metadata" && name != "apiVersion" && name != "kind" && o.Object[name] != nil {
			o.Object[name] = kept(o.Object[name], value)
		}
	}
	for name := range o.Object {
		if _, known := fields[name]; !known {
			delete(o.Object, name)
		}
	}
	return nil
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

// encodeText moves stringData of a Secret into data.
func encodeText(o Object) {
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
