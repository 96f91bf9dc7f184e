package expression

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq"
	"github.com/argoperator/argoperator/pkg/internal/jqhint"
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// fix returns how to convert an expression from one kind to another.
func (e *expr) fix(got, want kinds) string {
	step := conversion(got, want)
	if step == "" {
		return ""
	}
	for _, undone := range [...]string{"tostring", "tonumber"} {
		if before, ok := strings.CutSuffix(e.text, "| "+undone); ok && undone != step {
			return "write ${ " + before + "}"
		}
	}
	return "write " + e.then(step) + cautious(step)
}

// cautious returns a caveat of a conversion.
func cautious(step string) string {
	if step == "tonumber" {
		return "; it fails on a text that is no number"
	}
	return ""
}

// fixItems is fix for the elements of an array.
func (e *expr) fixItems(want schema.Type) string {
	if e.shape == nil || e.shape.Kind() != schema.Array || want.Kind() != schema.Array {
		return ""
	}
	got := ofType(e.shape.Item())
	step := conversion(got&^null, ofType(want.Item()))
	if step == "" || got&null != 0 {
		return ""
	}
	return "write " + e.then("map("+step+")") + cautious(step)
}

// conversion returns the jq function that converts one kind to another, or "".
func conversion(got, want kinds) string {
	switch {
	case got == 0:
	case got&^(number|boolean) == 0 && want&^null == str:
		return "tostring"
	case got == str && want&number != 0 && want&^(number|null) == 0:
		return "tonumber"
	}
	return ""
}

// then appends a step that does not run for null, so that null stays null.
func (e *expr) then(step string) string {
	text := e.text
	if strings.ContainsAny(text, "\n#") || len(text) > 80 {
		text = "…"
	}
	if e.kinds&null != 0 {
		text += " | values"
	}
	return fmt.Sprintf("${ %s | %s }", text, step)
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

// asCondition returns how to test a value.
func (e *expr) asCondition() string {
	got, text := e.kinds&^null, e.operand()
	switch {
	case strings.Contains(text, "\n"):
		return ""
	case got&^number == 0:
		return "write " + orElse(text, "0", e.kinds) + " > 0"
	case got == array || got == object:
		return fmt.Sprintf("write (%s | length) > 0", text)
	case e.kinds&null != 0:
		return fmt.Sprintf(`write %s != null to ask whether it is there, %s == "value" to compare`, text, text)
	case got == str:
		return fmt.Sprintf(`write %s != "" to ask whether it is empty, %s == "value" to compare`, text, text)
	}
	return ""
}

// asArray returns how to convert a value to an array.
func (e *expr) asArray() string {
	got, text := e.kinds&^null, e.operand()
	switch {
	case strings.Contains(text, "\n"):
		return ""
	case got&^number == 0:
		return "write [range(" + orElse(e.text, "0", e.kinds) + ")]: $item is 0, 1, …"
	case got == object:
		return "write " + orElse(text, "{}", e.kinds) + " | to_entries: $item is {key, value}"
	case got == str:
		return "write " + orElse(text, `""`, e.kinds) + ` | split(","): $item is a text`
	}
	return ""
}

// orElse returns the expression with a default for null.
func orElse(text, other string, k kinds) string {
	if k&null == 0 {
		return text
	}
	return "(" + text + " // " + other + ")"
}
