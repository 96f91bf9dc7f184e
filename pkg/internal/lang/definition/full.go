package definition

import (
	"fmt"
	"reflect"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// fullSchema decodes an openAPIV3Schema strictly.
func (c *checker) fullSchema(p source.Path) *props {
	if c.wasRejected(p) {
		return nil
	}
	n := c.node(p...)
	d := source.NewDecoder(c.File, &c.found)
	d.Kubernetes = true
	schema := &props{}
	d.Value(n, reflect.ValueOf(schema).Elem(), p)
	if schema.Type != "object" && !d.Rejected[p.To("type").ID()] {
		c.found.Add(c.At(p.To("type")), diag.BadSchema,
			fmt.Sprintf("the root of a schema has type %q, want object", schema.Type), "write type: object")
	}
	return schema
}
