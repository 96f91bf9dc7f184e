// Package terminal writes text for users: to a terminal, a log, or a picture.
//
// Text of the input is printed but never interpreted. It cannot move the cursor, change
// colours, hide other text or start a line.
package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fprintf is fmt.Fprintf with escaped arguments. The format is not escaped.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	return fmt.Fprintf(w, format, escaped(args)...)
}

// Sprintf is fmt.Sprintf with escaped arguments. The format is not escaped.
func Sprintf(format string, args ...any) string { return fmt.Sprintf(format, escaped(args)...) }

func escaped(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Styled:
			out[i] = string(a)
		case int, float64, bool:
			out[i] = a
		default:
			out[i] = argument{a}
		}
	}
	return out
}

// argument formats its value and escapes the result.
type argument struct{ value any }

// Format implements [fmt.Formatter].
func (a argument) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, Escape(fmt.Sprintf(fmt.FormatString(f, verb), a.value)))
}

// Escape escapes characters that move the cursor, end the line or hide text, in the
// notation of Go and JSON:
// , \x1b, \u202e.
func Escape(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[0])
		case unprintable(r):
			out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			out.WriteRune(r)
		}
		text = text[size:]
	}
	return out.String()
}

// Lines escapes a text of several lines, and indents all but the first, so that none of
// them looks like a line of argoperator itself.
func Lines(text, indent string) Styled {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = Escape(strings.TrimSuffix(lines[i], "\r"))
	}
	return Styled(strings.Join(lines, "\n"+indent))
}

// Mask replaces the characters that Escape escapes, each by one character, so that the
// others stay in their columns.
func Mask(text string) string {
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// unprintable reports whether a character has an effect other than being visible. Marks
// and spaces of all scripts are printable, and so is a tab.
func unprintable(r rune) bool {
	return r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}
