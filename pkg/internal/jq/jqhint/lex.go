package jqhint

import (
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// kind is the kind of a token.
type kind byte

const (
	word   kind = iota // a name or a keyword
	number             // as written
	text               // a string, as jq
	joined             // a string with expressions in it: parts
	named              // $name or @name
	punct
	end
)

// token is a lexical unit of the languages that this package reads: jq, CEL, the
// templates of Go and Helm, JSONPath, and a little of shells, Python and JavaScript.
type token struct {
	kind  kind
	text  string
	parts []string // of joined, alternately a literal and an expression
	space bool     // white space precedes it
}

// longest first
var symbols = []string{"===", "!==", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?:", "=~", "//", "..", "<>", ":="}

// lex splits a text into tokens; false if a string is not closed.
func lex(source string) ([]token, bool) {
	var out []token
	for at := 0; at < len(source); {
		rest := source[at:]
		trimmed := strings.TrimLeft(rest, " \t\r\n")
		t, size, ok := next(trimmed)
		if !ok {
			return nil, false
		}
		if size == 0 {
			break
		}
		t.space = len(trimmed) < len(rest)
		out = append(out, t)
		at += len(rest) - len(trimmed) + size
	}
	return out, true
}

// next reads the first token of a text, which is 0 bytes long at the end.
func next(s string) (t token, size int, ok bool) {
	if s == "" {
		return token{}, 0, true
	}
	switch c := s[0]; {
	case c == '"' || c == '\'' || c == '`':
		return quoted(s, 0)
	case len(s) > 1 && (c == 'f' || c == 'r' || c == 'b') && (s[1] == '"' || s[1] == '\''):
		t, size, ok = quoted(s[1:], c)
		return t, size + 1, ok
	case isLetter(c):
		n := nameLength(s)
		return token{kind: word, text: s[:n]}, n, true
	case (c == '$' || c == '@') && len(s) > 1 && isLetter(s[1]):
		n := 1 + nameLength(s[1:])
		return token{kind: named, text: s[:n]}, n, true
	case isDigit(c):
		n := len(s) - len(strings.TrimLeft(s, "0123456789"))
		if rest := s[n:]; len(rest) > 1 && rest[0] == '.' && isDigit(rest[1]) {
			n += 1 + len(rest[1:]) - len(strings.TrimLeft(rest[1:], "0123456789"))
		}
		return token{kind: number, text: s[:n]}, n, true
	}
	for _, symbol := range symbols {
		if strings.HasPrefix(s, symbol) {
			return token{kind: punct, text: symbol}, len(symbol), true
		}
	}
	return token{kind: punct, text: s[:1]}, 1, true
}

// quoted reads a string. prefix is the letter before it in Python and CEL, or 0.
func quoted(s string, prefix byte) (t token, size int, ok bool) {
	if s[0] == '"' && prefix == 0 {
		tokens, _, _ := jq.Lex(s)
		size = tokens[0].End()
		open := 0
		for _, t := range tokens { // a string may hold expressions with strings
			if size = t.End(); t.Kind == jq.TokenOpen {
				open++
			} else if t.Kind == jq.TokenClose {
				open--
			}
			if open == 0 {
				break
			}
		}
		return token{kind: text, text: s[:size]}, size, size > 1 && s[size-1] == '"'
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == s[0]:
			return ofParts(b.String(), s[0], prefix), i + 1, true
		case c == '\\' && prefix != 'r' && i+1 < len(s):
			i++
			b.WriteString(unescaped(s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return token{}, 0, false
}

func unescaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '\\', '\'', '"', '`':
		return string(c)
	}
	return `\` + string(c)
}

// ofParts returns the token of a string, which may have expressions in braces.
func ofParts(content string, quote, prefix byte) token {
	opening := map[bool]string{true: "${", false: "{"}[quote == '`']
	if quote != '`' && prefix != 'f' {
		return token{kind: text, text: jq.Quote(content)}
	}
	t := token{kind: joined}
	for {
		before, rest, found := strings.Cut(content, opening)
		inside, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			t.parts = append(t.parts, content)
			return t
		}
		t.parts = append(t.parts, before, inside)
		content = after
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func nameLength(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}
