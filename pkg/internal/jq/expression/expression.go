// Package expression compiles the expressions between `${` and `}`. It finds them in
// text, parses them as jq, checks them against the types of their input and of their
// result, and compiles a template to one jq program. It also compiles them to the
// expression trees that the operator's pod evaluates.
//
// The meaning of jq is that of gojq, because a Sensor runs it. The package rejects only
// what certainly cannot work; an unknown type is accepted.
package expression

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// Problem is a problem of an expression.
type Problem struct {
	Path    []string // of the value, relative to the root given to CompileStatus or Template
	Offset  int      // bytes into the scalar at Path; 0 with a Length of 0 is the whole scalar
	Length  int
	OnKey   bool   // it is about the key of Path, not about the value
	Code    string // one of the Code constants; CompileStatus leaves it empty
	Warning bool
	Known   bool // it follows from an error of the definition that is reported there
	Message string
	Hint    string
	// Fix is jq, or ${ } with jq, to write instead of the bytes of the scalar from FixAt to
	// FixEnd, and Caveat a remark about it. It is "" if nothing is known to work; then Hint may have advice.
	Fix, Caveat   string
	FixAt, FixEnd int

	otherFixes []string // if Fix does not fit the place
	spelling   string   // in the same place: the field that is probably meant
	guessed    bool     // Hint says what is probably meant
}

// advice is what to do about a problem: a sentence, or what is probably meant.
type advice struct{ sentence, meant string }

func (a advice) hint() string {
	if a.meant != "" {
		return "did you mean " + a.meant + "?"
	}
	return a.sentence
}

// The codes of problems.
const (
	BadExpression        = "bad-expression"         // it does not parse, or is not allowed there
	UnknownField         = "unknown-field"          // a field that the object does not have
	WrongType            = "wrong-type"             // a value that can never be valid
	MayBeNull            = "may-be-null"            // a warning: an optional field where null fails or does damage
	DefaultReplacesFalse = "default-replaces-false" // a warning: // replaces an intended false
)

// part is a piece of a scalar: literal text, or an expression.
type part struct {
	text  string
	expr  bool
	at    int  // bytes from the start of the scalar
	tight bool // no space next to the braces of an expression in a value
}

// unclosed is an expression without a closing brace.
type unclosed struct {
	at      int // of its ${
	message string
}

func (u *unclosed) Error() string { return u.message }

// split splits text at its `${ }` expressions. `$${` is a literal `${`.
func split(text string) ([]part, error) {
	var parts []part
	var literal strings.Builder
	start := 0
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, part{text: literal.String(), at: start})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); {
		if literal.Len() == 0 {
			start = i
		}
		switch {
		case strings.HasPrefix(text[i:], "$${"):
			literal.WriteString("${")
			i += 3
		case strings.HasPrefix(text[i:], "${"):
			end, err := until(text[i+2:])
			if err != nil {
				return nil, &unclosed{i, err.Error()}
			}
			flush()
			parts = append(parts, trimmed(text[i+2:i+2+end], i+2))
			i += end + 3
		default:
			literal.WriteByte(text[i])
			i++
		}
	}
	flush()
	if len(parts) == 0 {
		parts = append(parts, part{})
	}
	return parts, nil
}

// trimmed returns an expression without surrounding space.
func trimmed(source string, at int) part {
	left := strings.TrimLeft(source, " \t\r\n")
	text := strings.Trim(source, " \t\r\n")
	return part{text: text, expr: true, at: at + len(source) - len(left), tight: text == source}
}

// until returns the offset of the brace that closes an expression. Braces nest. Braces
// in jq strings and comments do not count, except within `\( )`.
func until(text string) (int, error) {
	_, end, whole := jq.Lex(text)
	switch {
	case !whole:
		return 0, fmt.Errorf("a string in ${%s has no closing quote", text)
	case end == len(text):
		return 0, fmt.Errorf("${%s has no closing }", text)
	}
	return end, nil
}

// suffixed matches a path and a text behind it that jq would subtract.
var suffixed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(\.[\w.]+)\s*([-_/][A-Za-z][\w./-]*)\s*$`) })

// closed returns what to write for an expression that does not end. text follows its ${.
func closed(text string) string {
	if inner, _, found := strings.Cut(text, "}"); found && shellParameter().MatchString(inner) {
		return literally(inner)
	}
	if m := suffixed().FindStringSubmatch(text); m != nil {
		return "write ${ " + m[1] + " }" + m[2]
	}
	stem := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "}"))
	for _, end := range []string{"", `"`, ")", "]", "}", `")`, `"]`, `"}`, "))"} {
		if _, err := parse(stem + end); err == nil && !strings.Contains(stem, "\n") && len(stem) < 100 {
			return "write ${ " + stem + end + " }, or $${ for the characters ${"
		}
	}
	if word := unquoted(text); word != "" {
		return "close the string: " + word
	}
	return "close the expression with }, or $${ for the characters ${"
}

// unquoted returns the string that lacks its closing quote, if it is one word.
func unquoted(text string) string {
	if _, _, whole := jq.Lex(text); whole {
		return ""
	}
	for at := range len(text) {
		word := quotedWord().FindString(text[at:])
		if word == "" {
			continue
		}
		better := text[:at] + word + `"` + text[at+len(word):]
		if end, err := until(better); err == nil {
			if _, err := parse(strings.TrimSpace(better[:end])); err == nil {
				return word + `"`
			}
		}
	}
	return ""
}

// quotedWord matches a quote and the word behind it that no quote follows.
var quotedWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^"[\w.-]+\b`) })

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
