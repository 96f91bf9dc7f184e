package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// parameters are the values of the installation, which expressions read as
// $parameters.NAME. They are data in the jq, and never a part of it.
func parameters(d *definition.Definition) map[string]*expression.Variable {
	out := map[string]*expression.Variable{}
	for name, p := range d.Parameters {
		out[name] = expression.Parameter(name, schema.OpenAPI(p.Schema), parameterSource(p), p.Value == nil)
	}
	return out
}

// parameterSource returns the value of a parameter as a jq term.
func parameterSource(p definition.Parameter) string {
	if p.Encoded != "" {
		return "(" + strconv.Quote(p.Encoded) + "|@base64d|fromjson)"
	}
	text, err := jq.Literal(p.Value)
	if err != nil {
		panic(fmt.Sprintf("a parameter is not JSON: %v", err)) // unreachable: it was read as JSON
	}
	if strings.HasPrefix(text, "-") {
		return "(" + text + ")"
	}
	return text
}

// inputs returns the values of the parameters for the request of the logic.
func (c *compiler) inputs() json.RawMessage {
	if c.d.Operator.Spec.Logic == nil || len(c.scope.Parameters) == 0 {
		return nil
	}
	values := map[string]any{}
	for name := range c.scope.Parameters {
		values[name] = "${ $parameters." + name + " }"
	}
	return c.forPod(values, c.scope, "spec", "parameters")
}
