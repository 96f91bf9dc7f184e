package expression

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqhint"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// fix returns the expression converted from one kind to another, and a caveat; "" if
// nothing converts it.
func (c *templates) fix(e *expr, got, want kinds) (fix, caveat string) {
	step := conversion(got, want)
	if step == "" || e.query.Term != nil && e.query.Term.Type == gojq.TermTypeString && e.query.Term.Str.Queries == nil {
		return "", "" // a literal is wrong itself
	}
	for _, undone := range [...]string{"tostring", "tonumber"} {
		before, ok := strings.CutSuffix(e.text, "| "+undone)
		kind, _ := c.kindOfText(before)
		if of := map[string]kinds{"string": str, "number": number, "boolean": boolean}[kind]; ok && of&want != 0 {
			return strings.TrimSpace(before), ""
		}
	}
	return e.then(step), cautious(step)
}

// cautious returns a caveat of a conversion.
func cautious(step string) string {
	if step == "tonumber" {
		return "it fails for text that is not a number"
	}
	return ""
}

// fixItems is fix for the elements of an array.
func (e *expr) fixItems(want schema.Type) (fix, caveat string) {
	if e.shape == nil || e.shape.Kind() != schema.Array || want.Kind() != schema.Array {
		return "", ""
	}
	got := ofType(e.shape.Item())
	step := conversion(got&^null, ofType(want.Item()))
	if step == "" || got&null != 0 {
		return "", ""
	}
	return e.then("map(" + step + ")"), cautious(step)
}

// conversion returns the jq function that converts one kind to another, or "".
func conversion(got, want kinds) string {
	switch {
	case got == 0:
	case got&^(number|boolean) == 0 && want&^null == str:
		return "tostring"
	case got&^(array|object) == 0 && want&^null == str:
		return "tojson"
	case got == str && want&number != 0 && want&^(number|null) == 0:
		return "tonumber"
	}
	return ""
}

// then appends a step that does not run for null, so that null stays null.
func (e *expr) then(step string) string {
	if strings.ContainsAny(e.text, "\n#") || len(e.text) > 80 {
		return ""
	}
	text := e.text
	if e.kinds&null != 0 {
		text += " | values"
	}
	return text + " | " + step
}

// fixLiteral returns how to write a scalar of another kind; in YAML they differ by
// their quotes.
func fixLiteral(literal any, want kinds) string {
	if text, ok := literal.(string); ok {
		var v any
		if json.Unmarshal([]byte(text), &v) == nil && v != nil && ofLiteral(v)&want&(number|boolean) != 0 {
			return "write " + text + " without quotes"
		}
		return ""
	}
	text, err := jq.Literal(literal)
	if err != nil || want&^null != str {
		return ""
	}
	return fmt.Sprintf("write it in quotes: %q", text)
}

// operand returns the expression in a form that can be an operand.
func (e *expr) operand() string {
	if jqhint.PlainPath(e.text) || strings.ContainsAny(e.text, "\n#") {
		return e.text
	}
	return "(" + e.text + ")"
}

// asCondition returns how to test a value: jq, or advice where several things can be meant.
func (e *expr) asCondition() (fix, advice string) {
	got, text := e.kinds&^null, e.operand()
	switch {
	case strings.Contains(text, "\n"):
	case got&^number == 0:
		return orElse(text, "0", e.kinds) + " > 0", ""
	case got == array || got == object:
		return fmt.Sprintf("(%s | length) > 0", text), ""
	case e.kinds&null != 0:
		return text + " != null", fmt.Sprintf(`or compare it: %s == "value"`, text)
	case got == str:
		return text + ` != ""`, fmt.Sprintf(`or compare it: %s == "value"`, text)
	}
	return "", ""
}

// asJSON returns the expression as a string that holds its JSON.
func (e *expr) asJSON(got kinds) string {
	if strings.ContainsAny(e.text, "\n#") {
		return ""
	}
	return orElse(e.text, map[bool]string{true: "[]", false: "{}"}[got == array], e.kinds) + " | tojson"
}

// asArray returns how to convert a value to an array, and what $item then is.
func (e *expr) asArray() (fix, advice string) {
	got, text := e.kinds&^null, e.operand()
	switch {
	case strings.Contains(text, "\n"):
	case got&^number == 0:
		return "[range(" + orElse(e.text, "0", e.kinds) + ")]", "$item is then 0, 1, …"
	case got == object:
		return orElse(text, "{}", e.kinds) + " | to_entries", "$item is then {key, value}"
	case got == str:
		return orElse(text, `""`, e.kinds) + ` | split(",")`, "$item is then a string"
	}
	return "", ""
}

// orElse returns the expression with a default for null.
func orElse(text, other string, k kinds) string {
	if k&null == 0 {
		return text
	}
	return "(" + text + " // " + other + ")"
}
