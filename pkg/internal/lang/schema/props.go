package schema

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// deepest limits the depth of a schema that is made of a type: some types are recursive.
const deepest = 8

// Props returns a schema that takes every value of a type. What is not known of it is
// open.
func Props(t Type) *apiextensionsv1.JSONSchemaProps { return props(t, deepest) }

func props(t Type, depth int) *apiextensionsv1.JSONSchemaProps {
	open := true
	anything := &apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: &open}
	if t == nil || depth == 0 {
		return anything
	}
	switch t.Kind() {
	case String:
		return &apiextensionsv1.JSONSchemaProps{Type: "string"}
	case Integer:
		return &apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int64"}
	case Number:
		return &apiextensionsv1.JSONSchemaProps{Type: "number"}
	case Boolean:
		return &apiextensionsv1.JSONSchemaProps{Type: "boolean"}
	case IntOrString:
		return &apiextensionsv1.JSONSchemaProps{
			XIntOrString: true,
			AnyOf:        []apiextensionsv1.JSONSchemaProps{{Type: "integer"}, {Type: "string"}},
		}
	case Array:
		return &apiextensionsv1.JSONSchemaProps{
			Type:  "array",
			Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: props(t.Item(), depth-1)},
		}
	case Object:
		return objectProps(t, depth)
	}
	return anything
}

func objectProps(t Type, depth int) *apiextensionsv1.JSONSchemaProps {
	out := &apiextensionsv1.JSONSchemaProps{Type: "object"}
	names := t.Fields()
	switch {
	case len(names) > 0:
		out.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		for _, name := range names {
			field, _ := t.Field(name)
			out.Properties[name] = *props(field, depth-1)
		}
	case t.Open():
		if value, _ := t.Field("key"); value.Kind() != Unknown {
			out.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: props(value, depth-1)}
			return out
		}
	}
	if t.Open() {
		open := true
		out.XPreserveUnknownFields = &open
	}
	return out
}
