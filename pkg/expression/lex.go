package expression

import "strings"

// token is a lexical unit of jq with its place. gojq's syntax tree has no
// places: spans finds them by walking the tree and the tokens side by side.
type token struct {
	kind  tokenKind
	text  string // as written
	at    int    // bytes from the start of the source
	space bool   // white space or a comment stands before it
}

type tokenKind byte

const (
	tokenWord   tokenKind = iota // a name or a keyword
	tokenIndex                   // .name
	tokenVar                     // $name
	tokenFormat                  // @name
	tokenNumber
	tokenString // without interpolation
	tokenOpen   // the start of a string with interpolation, up to its first \(
	tokenMiddle // from the ) of an interpolation to the next \(
	tokenClose  // from the last ) to the closing quote
	tokenPunct
)

// lexer cuts jq into tokens as gojq does. It stops at the end of the source or
// at a brace that closes nothing.
type lexer struct {
	source string
	at     int
	tokens []token
	nested []byte // the open ( [ { of the source; '"' for \(
	broken bool   // a string or an interpolation is not closed
}

// lex returns the tokens of an expression and where it ends: at a brace that
// closes nothing, or at the end of the source. It is whole if all that it opens
// within strings is closed.
func lex(source string) (tokens []token, end int, whole bool) {
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
		return l.text(tokenString, tokenOpen, 1, space)
	case isLetter(c):
		return l.add(tokenWord, wordLen(rest), space)
	case c == '.' && len(rest) > 1 && isLetter(rest[1]):
		return l.add(tokenIndex, 1+nameLen(rest[1:]), space)
	case c == '$' && len(rest) > 1 && isLetter(rest[1]):
		return l.add(tokenVar, 1+wordLen(rest[1:]), space)
	case c == '@' && len(rest) > 1 && (isLetter(rest[1]) || isDigit(rest[1])):
		return l.add(tokenFormat, 1+nameLen(rest[1:]), space)
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return l.add(tokenNumber, numberLen(rest), space)
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
			return l.text(tokenClose, tokenMiddle, 1, space)
		}
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return l.add(tokenPunct, len(op), space)
		}
	}
	return l.add(tokenPunct, 1, space)
}

// text reads a string, or what follows an interpolation in one: to its closing
// quote, or to the next interpolation.
func (l *lexer) text(closed, opens tokenKind, from int, space bool) bool {
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

func (l *lexer) add(kind tokenKind, n int, space bool) bool {
	l.tokens = append(l.tokens, token{kind, l.source[l.at : l.at+n], l.at, space})
	l.at += n
	return true
}

// skip passes over white space and comments.
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

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func nameLen(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}

// wordLen is nameLen for what may be module::name.
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

// compact writes tokens with as little space between them as jq needs.
func compact(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.space && !apart(tokens[i-1], t) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// apart says that two tokens are two also when nothing stands between them.
func apart(a, b token) bool {
	plain := func(t token) bool {
		return t.kind == tokenPunct && t.text[0] != '.' && t.text[0] != '?'
	}
	if a.kind == tokenPunct && b.kind == tokenPunct {
		if strings.Contains("()[]{},;", a.text) || strings.Contains("()[]{},;", b.text) {
			return true
		}
		two, _, _ := lex(a.text + b.text)
		return len(two) == 2 && two[0].text == a.text
	}
	return plain(a) || plain(b)
}
