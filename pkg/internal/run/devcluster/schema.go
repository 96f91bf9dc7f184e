package devcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	componentRef  = "#/components/schemas/"
	definitionRef = "#/$defs/"
)

// ErrNoSchema reports that the API server publishes no schema of a kind.
var ErrNoSchema = errors.New("the API server publishes no schema")

// Schema returns the JSON Schema of a kind, which the API server publishes as OpenAPI.
func (i *Installer) Schema(ctx context.Context, apiVersion, kind string) (map[string]any, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	path := "/openapi/v3/apis/" + apiVersion
	if gv.Group == "" {
		path = "/openapi/v3/api/" + apiVersion
	}
	data, err := i.discovery.RESTClient().Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w of %s: %w", ErrNoSchema, apiVersion, err)
	}
	var document struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("%w of %s: %w", ErrNoSchema, apiVersion, err)
	}
	for name, one := range document.Components.Schemas {
		if !describes(one, gv.WithKind(kind)) {
			continue
		}
		needed := map[string]any{}
		collect(name, document.Components.Schemas, needed)
		return map[string]any{"$ref": definitionRef + name, "$defs": needed}, nil
	}
	return nil, fmt.Errorf("%w of %s %s", ErrNoSchema, apiVersion, kind)
}

// describes reports whether a schema is that of a kind.
func describes(one map[string]any, gvk schema.GroupVersionKind) bool {
	kinds, _ := one["x-kubernetes-group-version-kind"].([]any)
	for _, k := range kinds {
		k, _ := k.(map[string]any)
		if k["group"] == gvk.Group && k["version"] == gvk.Version && k["kind"] == gvk.Kind {
			return true
		}
	}
	return false
}

// collect adds a schema and all that it refers to, with references of JSON Schema.
func collect(name string, all map[string]map[string]any, into map[string]any) {
	if into[name] != nil || all[name] == nil {
		return
	}
	into[name] = all[name]
	referring(all[name], func(below string) { collect(below, all, into) })
}

// referring rewrites the references in a schema, and calls found for each.
func referring(value any, found func(name string)) {
	switch v := value.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && strings.HasPrefix(ref, componentRef) {
			name := strings.TrimPrefix(ref, componentRef)
			v["$ref"] = definitionRef + name
			found(name)
		}
		for _, below := range v {
			referring(below, found)
		}
	case []any:
		for _, below := range v {
			referring(below, found)
		}
	}
}
