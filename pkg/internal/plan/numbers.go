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

// exact is how far every whole number has a floating point number of its own. A
// Sensor reads numbers as such: what is beyond would be changed without a word.
const exact = 1 << 53

// inexact are the paths of the custom resource that a child is computed from and
// that may hold a whole number which a Sensor cannot read exactly.
func inexact(d *definition.Definition, k Kind, programs ...*expression.Program) [][]string {
	fields := d.Schema(d.WorkingVersion())
	if _, builtin := schema.Builtin(k.APIVersion(), k.Kind); fields == nil && builtin {
		return nil // none of Kubernetes' own kinds counts that far in what is wanted
	}
	var out [][]string
	for _, program := range programs {
		if program == nil {
			continue
		}
		for _, path := range program.Reads() {
			counted := len(path) == 0 || path[0] != "metadata" && path[0] != "apiVersion" && path[0] != "kind"
			if counted && reaches(fields, path) && !slices.ContainsFunc(out, func(p []string) bool { return slices.Equal(p, path) }) {
				out = append(out, path)
			}
		}
	}
	return out
}

// reaches tells whether there may be a number beyond what is exact at a path or
// below it. Where nothing is known of the fields there may be.
func reaches(fields *apiextensionsv1.JSONSchemaProps, path []string) bool {
	if fields == nil || fields.XPreserveUnknownFields != nil && *fields.XPreserveUnknownFields {
		return true
	}
	if len(path) > 0 && len(fields.Properties) > 0 {
		inner, known := fields.Properties[path[0]]
		return known && reaches(&inner, path[1:])
	}
	if len(path) > 0 {
		path = path[1:] // a key of a mapping
	}
	switch {
	case fields.XIntOrString || fields.Type == "integer" || fields.Type == "number":
		return !bounded(fields)
	case fields.Type == "array" && fields.Items != nil && fields.Items.Schema != nil:
		return reaches(fields.Items.Schema, nil)
	case fields.AdditionalProperties != nil && fields.AdditionalProperties.Schema != nil:
		return reaches(fields.AdditionalProperties.Schema, path)
	}
	for _, inner := range fields.Properties {
		if reaches(&inner, nil) {
			return true
		}
	}
	return false
}

// bounded tells whether a schema keeps a number within what is exact.
func bounded(fields *apiextensionsv1.JSONSchemaProps) bool {
	if fields.Format == "int32" || len(fields.Enum) > 0 {
		return true
	}
	return fields.Maximum != nil && *fields.Maximum < exact && fields.Minimum != nil && *fields.Minimum > -exact
}

// exactly is the jq that refuses a custom resource with a number that was
// changed on its way here; empty where there can be none. Beyond what int64
// takes, the API server itself has floating point numbers only.
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
		strings.Join(fields, ", "), exact, uint64(1)<<63)
}
