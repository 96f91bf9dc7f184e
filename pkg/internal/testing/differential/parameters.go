package differential

import (
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// hostileText is evaluated by what takes it for a part of a program.
const hostileText = "a\"\\(.metadata.uid)' ${ .kind } {{ .Values.x }} {{=1+1}} `b` $x\n- c"

// declare adds a parameter with a type, and returns the expression that reads it.
func (d *definition) declare(declared any) string {
	parameters, _ := d.spec["parameters"].(map[string]any)
	if parameters == nil {
		parameters = map[string]any{}
		d.spec["parameters"] = parameters
	}
	name := "p" + strconv.Itoa(len(parameters))
	parameters[name] = declared
	return "$parameters." + name
}

// give adds a parameter whose value comes from outside of the definition.
func (d *definition) give(declared any, value source.Parameter) string {
	read := d.declare(declared)
	value.Name = strings.TrimPrefix(read, "$parameters.")
	d.installation = append(d.installation, value)
	return read
}

// parameter returns a text as it is, or as a parameter.
func (d *definition) parameter(at, value string) string {
	read := ""
	switch oneOf(d.drawing, at+".parameter", "", "", "", "default", "given", "text", "field") {
	case "default":
		read = d.declare("string | default=" + jq.Quote(value))
	case "given":
		read = d.give("string | required=true", source.Parameter{Value: value})
	case "text":
		read = d.give("string | required=true", source.Parameter{Text: &value})
	case "field":
		given := source.Parameter{Value: map[string]any{"is": value}}
		read = d.give(map[string]any{"is": "string", "other": "integer | default=1"}, given) + ".is // \"none\""
	default:
		return value
	}
	return "${ " + read + " }"
}

// parameterCondition returns a condition as it is, or with another one that is true.
func (d *definition) parameterCondition(at, condition string) string {
	if condition == "" {
		return ""
	}
	read := ""
	switch oneOf(d.drawing, at+".parameter", "", "", "", "", "boolean", "integer", "list", "none") {
	case "boolean":
		read = d.give("boolean | default=false", source.Parameter{Value: true})
	case "integer":
		read = d.declare("integer | default=-7") + " == -7"
	case "list":
		read = "(" + d.give("[]string", source.Parameter{Value: []any{"a", "b"}}) + " // [] | length == 2)"
	case "none":
		read = d.declare("string") + " == null"
	default:
		return condition
	}
	return read + " and (" + condition + ")"
}
