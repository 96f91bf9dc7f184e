package definition

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// basicTypes are the types of the short schema form.
func basicTypes() map[string]*props {
	return map[string]*props{
		"string":        {Type: "string"},
		"integer":       {Type: "integer"},
		"number":        {Type: "number"},
		"boolean":       {Type: "boolean"},
		"object":        {Type: "object", XPreserveUnknownFields: ptr(true)},
		"any":           anything(),
		"quantity":      quantity(),
		"int-or-string": intOrString(),
	}
}

func basicType(name string) *props { return basicTypes()[name] }

// foreignTypes are what people write who come from other languages.
func foreignTypes() map[string]string {
	return map[string]string{
		"int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "uint": "integer",
		"float": "number", "float64": "number", "double": "number", "decimal": "number",
		"bool": "boolean", "str": "string", "text": "string", "map": "map[string]string", "dict": "map[string]string",
		"list": "[]string", "array": "[]string", "date": "string | format=date-time", "time": "string | format=date-time",
		"intorstring": "int-or-string", "map[string]": "map[string]string",
	}
}

func anything() *props { return &props{XPreserveUnknownFields: ptr(true)} }

func intOrString() *props {
	return &props{XIntOrString: true, AnyOf: []props{{Type: "integer"}, {Type: "string"}}}
}

// quantity is an amount such as 100m or 64Mi, as ParseQuantity of
// k8s.io/apimachinery reads it: an exponent is a whole number. It has two digits
// at most, as more let programs that write the number out run out of memory.
func quantity() *props {
	out := intOrString()
	out.Pattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	return out
}

func ptr[T any](v T) *T { return &v }

// kindOf names the kind of a schema, for the markers that fit it.
func kindOf(s *props) string {
	switch {
	case s.XIntOrString:
		return "int-or-string"
	case s.Type == "":
		return "any"
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "map"
	}
	return s.Type
}

// completeDefault lets the defaults inside an object work when the object
// itself is not written, which takes an empty object as its default. An object
// with required fields cannot be empty.
func completeDefault(s *props) {
	if len(s.Required) > 0 || s.Default != nil {
		return
	}
	for _, p := range s.Properties {
		if p.Default != nil {
			s.Default = &apiextensionsv1.JSON{Raw: []byte("{}")}
			return
		}
	}
}

// rawJSON encodes what JSON can hold.
func rawJSON(v any) apiextensionsv1.JSON {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: v comes from JSON or from a plain scalar
	}
	return apiextensionsv1.JSON{Raw: raw}
}
