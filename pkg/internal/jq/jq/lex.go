package jq

import "strings"

// Token is a lexical unit of jq with its position. gojq's syntax tree has no positions:
// Positions finds them by walking the tree and the tokens in parallel.
type Token struct {
	Kind  TokenKind
	Text  string // as written
	At    int    // bytes from the start of the source
	Space bool   // white space or a comment precedes it
}

// End returns the offset after the token.
func (t Token) End() int { return t.At + len(t.Text) }

// TokenKind is the kind of a token.
type TokenKind byte

// The kinds of tokens.
const (
	TokenWord   TokenKind = iota // a name or a keyword
	TokenIndex                   // .name
	TokenVar                     // $name
	TokenFormat                  // @name
	TokenNumber
	TokenString // without interpolation
	TokenOpen   // the start of a string with interpolation, up to its first \(
	TokenMiddle // from the ) of an interpolation to the next \(
	TokenClose  // from the last ) to the closing quote
	TokenPunct
)

// lexer splits jq into tokens like gojq. It stops at the end of the source or at an
// unbalanced closing brace.
type lexer struct {
	source string
	at     int
	tokens []Token
	nested []byte // the open ( [ { of the source; '"' for \(
	broken bool   // a string or an interpolation is not closed
}

// Lex returns the tokens of a program and its end: an unbalanced closing brace, or the
// end of the source. whole is true if every string and interpolation is closed.
func Lex(source string) (tokens []Token, end int, whole bool) {
	l := &lexer{source: source}
	for l.next() {
	}
	return l.tokens, l.at, !l.broken
}

// longest first
var operators = [...]string{"?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", ".."}

func (l *lexer) next() bool {
	space := l.skip()
	if l.at >= len(l.source) || l.broken {
		return false
	}
	rest := l.source[l.at:]
	switch c := rest[0]; {
	case c == '"':
		return l.text(TokenString, TokenOpen, 1, space)
	case isLetter(c):
		return l.add(TokenWord, wordLen(rest), space)
	case c == '.' && len(rest) > 1 && isLetter(rest[1]):
		return l.add(TokenIndex, 1+nameLen(rest[1:]), space)
	case c == '$' && len(rest) > 1 && isLetter(rest[1]):
		return l.add(TokenVar, 1+wordLen(rest[1:]), space)
	case c == '@' && len(rest) > 1 && (isLetter(rest[1]) || isDigit(rest[1])):
		return l.add(TokenFormat, 1+nameLen(rest[1:]), space)
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return l.add(TokenNumber, numberLen(rest), space)
	}
	return l.punct(rest, space)
}

func (l *lexer) punct(rest string, space bool) bool {
	switch c := rest[0]; c {
	case '(', '[', '{':
		l.nested = append(l.nested, c)
	case ')', ']', '}':
		if len(l.nested) == 0 {
			if c == '}' {
				return false
			}
			break
		}
		opened := l.nested[len(l.nested)-1]
		l.nested = l.nested[:len(l.nested)-1]
		if opened == '"' && c == ')' {
			return l.text(TokenClose, TokenMiddle, 1, space)
		}
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return l.add(TokenPunct, len(op), space)
		}
	}
	return l.add(TokenPunct, 1, space)
}

// text reads a string, or the part of a string after an interpolation, up to its
// closing quote or the next interpolation.
func (l *lexer) text(closed, opens TokenKind, from int, space bool) bool {
	rest := l.source[l.at:]
	for i := from; i < len(rest); i++ {
		switch {
		case rest[i] == '"':
			return l.add(closed, i+1, space)
		case rest[i] == '\\' && i+1 < len(rest) && rest[i+1] == '(':
			l.nested = append(l.nested, '"')
			return l.add(opens, i+2, space)
		case rest[i] == '\\':
			i++
		}
	}
	l.broken = true
	l.add(closed, len(rest), space)
	return false
}

func (l *lexer) add(kind TokenKind, n int, space bool) bool {
	l.tokens = append(l.tokens, Token{kind, l.source[l.at : l.at+n], l.at, space})
	l.at += n
	return true
}

// skip skips white space and comments.
func (l *lexer) skip() bool {
	from := l.at
	for l.at < len(l.source) {
		switch l.source[l.at] {
		case ' ', '\t', '\n', '\r':
			l.at++
		case '#':
			l.at += commentLen(l.source[l.at:])
		default:
			return l.at > from
		}
	}
	return l.at > from
}

// commentLen: a backslash before the end of the line continues the comment.
func commentLen(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i+1 < len(s) && s[i] == '\r' && s[i+1] == '\n' {
				i++
			}
		case '\n', '\r':
			return i
		}
	}
	return len(s)
}

// IsName reports whether a text is a name in jq, for example a field name that needs no
// quotes.
func IsName(s string) bool { return s != "" && isLetter(s[0]) && nameLen(s) == len(s) }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func nameLen(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}

// wordLen is nameLen for names that may be module::name.
func wordLen(s string) int {
	n := nameLen(s)
	if strings.HasPrefix(s[n:], "::") && n+2 < len(s) && isLetter(s[n+2]) {
		n += 2 + nameLen(s[n+2:])
	}
	return n
}

func numberLen(s string) int {
	n, dot := 0, false
	for n < len(s) && (isDigit(s[n]) || s[n] == '.' && !dot) {
		dot = dot || s[n] == '.'
		n++
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		n++
		if n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		for n < len(s) && isDigit(s[n]) {
			n++
		}
	}
	return n
}

// Compact joins tokens with the least space that jq needs.
func Compact(tokens []Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.Space && !apart(tokens[i-1], t) {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

// apart reports whether two tokens remain separate without space between them.
func apart(a, b Token) bool {
	plain := func(t Token) bool {
		return t.Kind == TokenPunct && t.Text[0] != '.' && t.Text[0] != '?'
	}
	if a.Kind == TokenPunct && b.Kind == TokenPunct {
		if strings.Contains("()[]{},;", a.Text) || strings.Contains("()[]{},;", b.Text) {
			return true
		}
		two, _, _ := Lex(a.Text + b.Text)
		return len(two) == 2 && two[0].Text == a.Text
	}
	return plain(a) || plain(b)
}
