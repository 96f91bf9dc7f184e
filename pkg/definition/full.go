package definition

import (
	"fmt"
	"reflect"

	"github.com/argoperator/argoperator/pkg/diag"
)

// fullSchema decodes an openAPIV3Schema strictly.
func (c *checker) fullSchema(p steps) *props {
	if c.dealtWith(p) {
		return nil
	}
	n := c.node(p...)
	d := newDecoder(c.file, &c.found)
	d.kubernetes = true
	schema := &props{}
	d.value(n, reflect.ValueOf(schema).Elem(), p)
	if schema.Type != "object" && !d.bad[p.to("type").id()] {
		c.found.Add(c.at(p.to("type")), diag.BadSchema,
			fmt.Sprintf("the root of a schema has type %q, want object", schema.Type), "write type: object")
	}
	return schema
}
