// Package expression reads the expressions between `${` and `}`: it finds them
// in text, parses them as jq and compiles those of `status` to the small
// instruction tree that the operator's pod evaluates.
//
// The rule of this room: jq means what gojq says it means. What the pod cannot
// evaluate is refused here, with its place, and never approximated.
package expression

import (
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// Problem is one thing that is wrong with an expression.
type Problem struct {
	Path    []string // of the value, from the root given to CompileStatus
	Message string
	Hint    string
}

// part is a piece of a scalar: literal text, or an expression.
type part struct {
	text string
	expr bool
}

// split cuts text at its `${ }` expressions; `$${` stands for a literal `${`.
func split(text string) ([]part, error) {
	var parts []part
	var literal strings.Builder
	for text != "" {
		switch {
		case strings.HasPrefix(text, "$${"):
			literal.WriteString("${")
			text = text[3:]
		case strings.HasPrefix(text, "${"):
			expr, rest, err := until(text[2:])
			if err != nil {
				return nil, err
			}
			if literal.Len() > 0 {
				parts = append(parts, part{text: literal.String()})
				literal.Reset()
			}
			parts = append(parts, part{text: strings.TrimSpace(expr), expr: true})
			text = rest
		default:
			literal.WriteByte(text[0])
			text = text[1:]
		}
	}
	if literal.Len() > 0 || len(parts) == 0 {
		parts = append(parts, part{text: literal.String()})
	}
	return parts, nil
}

// until returns what stands before the brace that closes an expression: braces
// nest, and those in jq strings do not count, except within `\( )`.
func until(text string) (expr, rest string, err error) {
	depth, i := 0, 0
	for i < len(text) {
		switch text[i] {
		case '"':
			end := stringEnd(text, i+1)
			if end < 0 {
				return "", "", fmt.Errorf("a string in ${%s is not closed", text)
			}
			i = end
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return text[:i], text[i+1:], nil
			}
			depth--
		}
		i++
	}
	return "", "", fmt.Errorf("${%s is not closed by }", text)
}

// stringEnd returns the index of the quote that closes a jq string, or -1.
func stringEnd(text string, i int) int {
	parens := 0
	for ; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			if text[i+1] == '(' {
				parens++
			}
			i++
		case parens > 0 && text[i] == '"':
			if i = stringEnd(text, i+1); i < 0 {
				return -1
			}
		case parens > 0 && text[i] == '(':
			parens++
		case parens > 0 && text[i] == ')':
			parens--
		case text[i] == '"':
			return i
		}
	}
	return -1
}

// parse reads one jq expression.
func parse(source string) (*gojq.Query, error) {
	if source == "" {
		return nil, fmt.Errorf("the expression is empty")
	}
	query, err := gojq.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("%q is not jq: %w", source, err)
	}
	return query, nil
}
