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

// foreignTypes maps type names of other languages to those of the short form.
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

// quantity is an amount such as 100m or 64Mi, as ParseQuantity of k8s.io/apimachinery
// reads it: the exponent is an integer. It has at most two digits, because programs
// that expand a larger number run out of memory.
func quantity() *props {
	out := intOrString()
	out.Pattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	return out
}

func ptr[T any](v T) *T { return &v }

// kindOf returns the kind of a schema, which decides which markers apply.
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

// completeDefault sets an empty object as the default of an object, so that the
// defaults of its fields apply when the object is omitted. An object with required
// fields gets no default.
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

// rawJSON encodes a value as JSON.
func rawJSON(v any) apiextensionsv1.JSON {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: v comes from JSON or from a plain scalar
	}
	return apiextensionsv1.JSON{Raw: raw}
}
