package expression

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/argoperator/argoperator/pkg/schema"
)

// fix is how an expression of one kind is written where another is wanted.
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

// cautious is what to know of a conversion.
func cautious(step string) string {
	if step == "tonumber" {
		return "; it fails on a text that is no number"
	}
	return ""
}

// fixItems is fix for the items of an array.
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

// conversion is the function of jq that makes one kind of another; "" if there is none.
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

// then is the expression with one more step, which null does not reach: what is
// null stays away, as it does without the step.
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

// fixLiteral is how a scalar is written where another kind is wanted: YAML tells
// them by their quotes.
func fixLiteral(literal any, want kinds) string {
	if text, ok := literal.(string); ok {
		var v any
		if json.Unmarshal([]byte(text), &v) == nil && v != nil && ofLiteral(v)&want&(number|boolean) != 0 {
			return "write " + text + " without quotes"
		}
		return ""
	}
	text, err := jsonText(literal)
	if err != nil || want&^null != str {
		return ""
	}
	return fmt.Sprintf("write it in quotes: %q", text)
}
