package differential

import (
	"strconv"
	"strings"
)

// variable returns an expression, or a text with some, as it stands or as a variable that has
// it: of the child that is being drawn, or of the definition.
func (d *definition) variable(at, value string) string {
	of := d.spec
	if strings.Contains(value, "$item") || strings.Contains(value, "$index") || d.inChild != nil && d.rarely(at+".ofChild", 3) {
		of = d.inChild
	}
	if !d.rarely(at+".variable", 5) || of == nil {
		return value
	}
	variables, _ := of["variables"].(map[string]any)
	if variables == nil {
		variables = map[string]any{}
		of["variables"] = variables
	}
	name := func() string {
		d.variables++
		return "v" + strconv.Itoa(d.variables)
	}
	first := name()
	switch oneOf(d.drawing, at+".variableForm", "plain", "field", "other") {
	case "field":
		variables[first] = map[string]any{"is": value, "other": "fixed", "none": "${ null }"}
		return "${ $variables." + first + ".is }"
	case "other":
		variables[first] = value
		second := name()
		variables[second] = "${ $variables." + first + " }"
		return "${ $variables." + second + " }"
	}
	variables[first] = value
	return "${ $variables." + first + " }"
}

// bareVariable is variable for jq without ${ }, which no child has for itself.
func (d *definition) bareVariable(at, source string) string {
	if source == "" {
		return ""
	}
	in := d.inChild
	d.inChild = nil
	out := d.variable(at, "${ "+source+" }")
	d.inChild = in
	return strings.TrimSuffix(strings.TrimPrefix(out, "${ "), " }")
}
