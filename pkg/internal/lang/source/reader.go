package source

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// reader walks through the source text of a scalar. YAML folds, indents and strips
// white space, but keeps the order of all other characters. So the nth character of the
// value that is not white space, called mark, is the nth one of the source.
type reader struct {
	lines []string
	line  int // from 0
	at    int // in bytes
	quote byte
}

// find advances to a byte of the value of the scalar; false if it is not found.
func (r *reader) find(n *yaml.Node, offset int) bool {
	offset = min(max(offset, 0), len(n.Value))
	before := strings.TrimRightFunc(n.Value[:offset], isSpace)
	marks := 0
	for _, c := range before {
		if !isSpace(c) {
			marks++
		}
	}
	if !r.begin(n.Style) {
		return false
	}
	for range marks {
		if !r.mark() {
			return false
		}
		r.skip()
	}
	if c, _ := utf8.DecodeRuneInString(n.Value[offset:]); offset < len(n.Value) && !isSpace(c) {
		return r.mark()
	}
	for range utf8.RuneCountInString(n.Value[len(before):offset]) {
		if c, ok := r.peek(); ok && isSpace(c) {
			r.skip()
		}
	}
	return true
}

// begin advances to the first character of the value, after tag, anchor, quote and
// header.
func (r *reader) begin(style yaml.Style) bool {
	for {
		if !r.mark() {
			return false
		}
		if c, _ := r.peek(); c != '&' && c != '!' {
			break
		}
		for c, ok := r.peek(); ok && !isSpace(c); c, ok = r.peek() {
			r.skip()
		}
	}
	switch {
	case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		r.line, r.at = r.line+1, 0
	case style&yaml.DoubleQuotedStyle != 0:
		r.at, r.quote = r.at+1, '"'
	case style&yaml.SingleQuotedStyle != 0:
		r.at, r.quote = r.at+1, '\''
	}
	return r.line < len(r.lines)
}

// mark advances to the next character that is not white space; false if there is none.
func (r *reader) mark() bool {
	for r.line < len(r.lines) {
		if r.at >= len(r.lines[r.line]) {
			r.line, r.at = r.line+1, 0
			continue
		}
		if c, ok := r.peek(); ok && !isSpace(c) {
			return true
		}
		r.skip()
	}
	return false
}

// peek returns the character of the value at this position of the source; false at the
// end of a line.
func (r *reader) peek() (rune, bool) {
	rest := r.lines[r.line][r.at:]
	if rest == "" {
		return 0, false
	}
	if r.quote == '"' && rest[0] == '\\' {
		return unescape(rest), true
	}
	c, _ := utf8.DecodeRuneInString(rest)
	return c, true
}

// skip advances by one character.
func (r *reader) skip() {
	rest := r.lines[r.line][r.at:]
	_, size := utf8.DecodeRuneInString(rest)
	switch {
	case r.quote == '"' && strings.HasPrefix(rest, `\`):
		size = escapeLength(rest)
	case r.quote == '\'' && strings.HasPrefix(rest, "''"):
		size = 2
	}
	r.at += min(size, len(rest))
}

func isSpace(c rune) bool { return strings.ContainsRune(" \t\r\n\u0085\u2028\u2029", c) }

// escapeLength returns the number of bytes of an escape sequence of a double-quoted
// scalar.
func escapeLength(text string) int {
	if len(text) < 2 {
		return 1
	}
	_, size := utf8.DecodeRuneInString(text[1:])
	return 1 + size + map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
}

// unescape returns the character of an escape sequence. It only has to be right about
// white space. A backslash at the end of a line returns none.
func unescape(text string) rune {
	if strings.TrimRight(text, "\r") == `\` {
		return ' '
	}
	switch text[1] {
	case 'n', 't', 'r', ' ', '\t', 'N', 'L', 'P':
		return ' '
	case 'x', 'u', 'U':
		digits := text[2:min(len(text), escapeLength(text))]
		if code, err := strconv.ParseUint(digits, 16, 32); err == nil {
			return rune(code)
		}
	}
	return '.'
}
