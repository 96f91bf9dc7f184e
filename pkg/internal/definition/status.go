package definition

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/source"
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
		c.addKey(p, diag.UnknownField, "the schema has no status", "declare its fields under status in the schema")
	case schema != nil:
		c.statusFields(schema, c.op.Spec.Status, p)
	}
}

func (c *checker) statusFields(schema *props, fields map[string]any, p source.Path) {
	for _, name := range source.SortedKeys(fields) {
		field, known := childOf(schema, source.JSONPathStep{Field: name})
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

// statusValue checks the constant parts of a value. The plan checks the expressions.
func (c *checker) statusValue(schema *props, value any, p source.Path) {
	if fields, ok := value.(map[string]any); ok && shortschema.KindOf(schema) == "object" {
		c.statusFields(schema, fields, p)
		return
	}
	raw, err := json.Marshal(value)
	if err != nil || strings.Contains(string(raw), "${") {
		return
	}
	var plain any
	if json.Unmarshal(raw, &plain) != nil {
		return
	}
	if problem := shortschema.Conform(schema, plain); problem != "" {
		c.add(p, diag.BadValue, fmt.Sprintf("%s: %s", p[1:], problem), "an expression is written ${ … }")
	}
}
