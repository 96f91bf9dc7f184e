package plan

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/expression"
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// maxExact bounds the integers that a float64 represents exactly. A Sensor decodes
// numbers as float64 and would silently round larger ones.
const maxExact = 1 << 53

// inexact returns the paths of the custom resource that a child is computed from and
// that may hold an integer which a Sensor cannot read exactly.
func inexact(d *definition.Definition, k Kind, programs ...*expression.Program) [][]string {
	fields := d.Schema(d.WorkingVersion())
	if _, builtin := schema.Builtin(k.APIVersion(), k.Kind); fields == nil && builtin {
		return nil // the specs of built-in kinds hold no such numbers
	}
	var out [][]string
	for _, program := range programs {
		if program == nil {
			continue
		}
		for _, path := range program.Reads() {
			counted := len(path) == 0 || path[0] != "metadata" && path[0] != "apiVersion" && path[0] != "kind"
			if counted && mayExceed(fields, path) && !slices.ContainsFunc(out, func(p []string) bool { return slices.Equal(p, path) }) {
				out = append(out, path)
			}
		}
	}
	return out
}

// mayExceed reports whether there may be a number beyond maxExact at or below a path.
// It returns true if the fields are unknown.
func mayExceed(fields *apiextensionsv1.JSONSchemaProps, path []string) bool {
	if fields == nil || fields.XPreserveUnknownFields != nil && *fields.XPreserveUnknownFields {
		return true
	}
	if len(path) > 0 && len(fields.Properties) > 0 {
		inner, known := fields.Properties[path[0]]
		return known && mayExceed(&inner, path[1:])
	}
	if len(path) > 0 {
		path = path[1:] // the key of a map
	}
	switch {
	case fields.XIntOrString || fields.Type == "integer" || fields.Type == "number":
		return !bounded(fields)
	case fields.Type == "array" && fields.Items != nil && fields.Items.Schema != nil:
		return mayExceed(fields.Items.Schema, nil)
	case fields.AdditionalProperties != nil && fields.AdditionalProperties.Schema != nil:
		return mayExceed(fields.AdditionalProperties.Schema, path)
	}
	for _, inner := range fields.Properties {
		if mayExceed(&inner, nil) {
			return true
		}
	}
	return false
}

// bounded reports whether a schema limits a number to maxExact.
func bounded(fields *apiextensionsv1.JSONSchemaProps) bool {
	if fields.Format == "int32" || len(fields.Enum) > 0 {
		return true
	}
	return fields.Maximum != nil && *fields.Maximum < maxExact && fields.Minimum != nil && *fields.Minimum > -maxExact
}

// exactly returns jq that rejects a custom resource with a rounded number. It is empty
// if there can be none. It does not reject numbers beyond int64, because the API server
// decodes those as float64, too.
func exactly(paths [][]string) string {
	if len(paths) == 0 {
		return ""
	}
	var fields []string
	for _, path := range paths {
		field := "."
		for _, key := range path {
			field += fmt.Sprintf("[%s]?", quote(key))
		}
		fields = append(fields, field)
	}
	return fmt.Sprintf(`if any(%s | .. | numbers; (if . < 0 then -. else . end) as $n | $n >= %d and $n <= %d) then error("a whole number beyond 2^53 would be changed on its way: use a text for it") else . end | `,
		strings.Join(fields, ", "), maxExact, uint64(1)<<63)
}
