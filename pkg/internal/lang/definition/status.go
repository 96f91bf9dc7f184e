package definition

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// status checks that the schema has all fields of the computed status.
func (c *checker) status() {
	root := c.workingSchema()
	if root == nil || len(c.op.Spec.Status) == 0 {
		return
	}
	schema, known := childOf(root, source.JSONPathStep{Field: "status"})
	p := source.PathOf("spec", "status")
	switch {
	case !known:
		c.addKey(p, diag.UnknownField, "the schema has no status", "declare its fields under schema.status")
	case schema != nil:
		c.statusFields(schema, c.op.Spec.Status, p)
	}
}

func (c *checker) statusFields(schema *props, fields map[string]any, p source.Path) {
	for _, name := range source.SortedKeys(fields) {
		field, known := childOf(schema, source.JSONPathStep{Field: name})
		if !known && c.infers(name, fields, schema) {
			path := []string(p[2:].To(name))
			c.def.InferredStatus = append(c.def.InferredStatus, path)
			c.def.InferStatus(path, *shortschema.Anything())
			continue
		}
		if !known {
			c.addKey(p.To(name), diag.UnknownField, fmt.Sprintf("%s: no such field in the schema", p[1:].To(name)),
				source.DidYouMean(name, source.SortedKeys(schema.Properties), "fields"))
			continue
		}
		if field != nil {
			c.statusValue(field, fields[name], p.To(name))
		}
	}
}

// infers reports whether the schema gets a field of the status by what is computed for
// it: the short form need not declare it. A field with a similar name, which nothing computes,
// is probably meant.
func (c *checker) infers(name string, computed map[string]any, schema *props) bool {
	working := slices.IndexFunc(c.op.Spec.API.Versions, func(v v1alpha1.Version) bool { return v.Name == c.def.WorkingVersion() })
	if working < 0 || !c.Written(versionPath(working).To("schema")) {
		return false
	}
	others := slices.DeleteFunc(source.SortedKeys(schema.Properties), func(other string) bool { _, ok := computed[other]; return ok })
	return source.Nearest(name, others) == ""
}

// InferStatus sets the schema of a field of the status that is not declared, in each
// version that does not have it.
func (d *Definition) InferStatus(path []string, schema props) {
	for _, root := range d.Schemas {
		status := root.Properties["status"]
		insert(&status, path, schema)
		root.Properties["status"] = status
	}
}

// insert adds a field to a schema, unless another one is open there.
func insert(at *props, path []string, schema props) {
	if at.Type != "object" || at.AdditionalProperties != nil || at.XPreserveUnknownFields != nil {
		return
	}
	if at.Properties == nil {
		at.Properties = map[string]props{}
	}
	field, known := at.Properties[path[0]]
	switch {
	case len(path) == 1:
		field = schema
	case !known:
		field = props{Type: "object"}
		fallthrough
	default:
		insert(&field, path[1:], schema)
	}
	at.Properties[path[0]] = field
}

// isConditions reports whether a path is that of the conditions, to which the operator adds what their
// items lack.
func isConditions(p source.Path) bool { return len(p) == 3 && p[2] == "conditions" }

// statusItem checks the constant parts of an item of a list.
func (c *checker) statusItem(schema *props, item any, p source.Path) {
	fields, ok := item.(map[string]any)
	if !ok {
		c.statusValue(schema, item, p)
		return
	}
	for _, name := range source.SortedKeys(fields) {
		if field, known := childOf(schema, source.JSONPathStep{Field: name}); known && field != nil {
			c.statusValue(field, fields[name], p.To(name))
		}
	}
}

// statusValue checks the constant parts of a value. The plan checks the expressions.
func (c *checker) statusValue(of *props, value any, p source.Path) {
	if fields, ok := value.(map[string]any); ok && shortschema.KindOf(of) == "object" {
		c.statusFields(of, fields, p)
		return
	}
	if items, ok := value.([]any); ok && (isConditions(p) || schema.IsComputed(value)) && of.Items != nil && of.Items.Schema != nil {
		for i, item := range items {
			c.statusItem(of.Items.Schema, item, p.To(i))
		}
		return
	}
	if schema.IsComputed(value) {
		return
	}
	var plain any
	if raw, err := json.Marshal(value); err != nil || json.Unmarshal(raw, &plain) != nil {
		return
	}
	if problem := shortschema.Conform(of, plain); problem != "" && !isOtherScalar(shortschema.KindOf(of), plain) {
		hint := ""
		if _, isText := plain.(string); isText && shortschema.KindOf(of) != "string" {
			hint = "write an expression as ${ EXPRESSION }"
		}
		c.add(p, diag.BadValue, fmt.Sprintf("%s: %s", p[1:], problem), hint)
	}
}

// isOtherScalar reports whether a value is a scalar of another kind. The plan reports it, as for expressions.
func isOtherScalar(kind string, value any) bool {
	switch value.(type) {
	case string:
		return kind == "integer" || kind == "number" || kind == "boolean"
	case bool:
		return kind == "integer" || kind == "number" || kind == "string"
	case float64:
		return kind == "string" || kind == "boolean"
	}
	return false
}
