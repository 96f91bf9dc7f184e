package schema

import (
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// MaxExact bounds the integers that a float64 represents exactly. A Sensor decodes
// numbers as float64 and would silently round larger ones.
const MaxExact = 1 << 53

// MayExceed reports whether there may be a number beyond MaxExact at or below a path.
// It returns true if the fields are unknown.
func MayExceed(fields *apiextensionsv1.JSONSchemaProps, path []string) bool {
	if fields == nil || fields.XPreserveUnknownFields != nil && *fields.XPreserveUnknownFields {
		return true
	}
	if len(path) > 0 && len(fields.Properties) > 0 {
		inner, known := fields.Properties[path[0]]
		return known && MayExceed(&inner, path[1:])
	}
	if len(path) > 0 {
		path = path[1:] // the key of a map
	}
	switch {
	case fields.XIntOrString || fields.Type == "integer" || fields.Type == "number":
		return !bounded(fields)
	case fields.Type == "array" && fields.Items != nil && fields.Items.Schema != nil:
		return MayExceed(fields.Items.Schema, nil)
	case fields.AdditionalProperties != nil && fields.AdditionalProperties.Schema != nil:
		return MayExceed(fields.AdditionalProperties.Schema, path)
	}
	for _, inner := range fields.Properties {
		if MayExceed(&inner, nil) {
			return true
		}
	}
	return false
}

// bounded reports whether a schema limits a number to MaxExact.
func bounded(fields *apiextensionsv1.JSONSchemaProps) bool {
	if fields.Format == "int32" || len(fields.Enum) > 0 {
		return true
	}
	return fields.Maximum != nil && *fields.Maximum < MaxExact && fields.Minimum != nil && *fields.Minimum > -MaxExact
}

// MayBeZero reports whether the schema of a whole number permits 0; false if that is not known.
func MayBeZero(t Type) bool {
	o, known := t.(openAPI)
	if !known || o.Kind() != Integer || len(o.s.Enum) > 0 {
		return false
	}
	low, high := o.s.Minimum, o.s.Maximum
	above := low != nil && (*low > 0 || *low == 0 && o.s.ExclusiveMinimum)
	below := high != nil && (*high < 0 || *high == 0 && o.s.ExclusiveMaximum)
	return !above && !below
}

// OmitsZero reports whether the API server leaves out a number of a built-in kind while it is 0.
func OmitsZero(in Type, name string) bool {
	g, ok := in.(fromGo)
	if !ok {
		return false
	}
	f, ok := g.find(name)
	return ok && f.omitted && goType(f.t).Kind() == Integer && f.t.Kind() != reflect.Pointer
}
