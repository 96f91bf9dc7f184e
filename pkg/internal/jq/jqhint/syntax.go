// Package jqhint translates expressions of other languages to jq: CEL, the templates of Go
// and Helm, JSONPath, and a little of shells, Python and JavaScript.
//
// The rule of this package: it returns a translation only if the caller's check accepts
// it. A hint that fails when it is typed is worse than none.
package jqhint

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// Context is what an expression can use. Nil functions know nothing.
type Context struct {
	// Function reports whether jq has a function with a number of arguments.
	Function func(name string, args int) bool
	// Value returns what a name and the fields behind it stand for, as jq, and how many of
	// the fields belong to it; "" if it is no value.
	Value func(name, path string) (jq string, fields int)
	// Kind returns the kind of the value of an expression, "" if it is unknown, and
	// whether it may be null.
	Kind func(jq string) (kind string, nullable bool)
	// Check returns the number of problems of an expression; 0 if there are none.
	Check func(jq string) int
	// Loop tells that the expression is a list to loop over.
	Loop bool
}

// longest is the size in bytes of an expression that is translated.
const longest = 400

// Translate returns an expression of another language as jq: the translation with the
// fewest problems, which are fewer than a number. "" if there is none, or if the text is
// that jq already.
func (c Context) Translate(source string, fewer int) string {
	if len(source) > longest || strings.Contains(source, "\n") || c.Check == nil {
		return ""
	}
	best := ""
	tried := map[string]bool{strings.TrimSpace(source): true}
	all := variants(source)
	if list, ok := List(source); ok && c.Loop {
		all = append(all, list, list+" // []")
	}
	for _, source := range all {
		for i := range 8 {
			text := c.translated(source, options{first: i&1 > 0, guarded: i&2 > 0, alternative: i&4 > 0})
			if text == "" || tried[text] {
				continue
			}
			tried[text] = true
			if problems := c.Check(text); problems < fewer {
				best, fewer = text, problems
			}
			if fewer == 0 {
				return best
			}
		}
	}
	return best
}

// variants returns a text, and it without the delimiters of other languages.
func variants(source string) []string {
	out := []string{strings.TrimSpace(source)}
	add := func(text string, ok bool) {
		if text = strings.TrimSpace(text); ok && text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	add(unwrapped(source))
	quoted := plainKeys().ReplaceAllString(out[0], `$1"$2"$3`)
	add(quoted, quoted != out[0])
	if before, value, found := strings.Cut(out[0], ":-"); found { // ${name:-value} of a shell
		if _, err := gojq.Parse(value); err != nil || jq.IsName(value[:min(1, len(value))]) {
			value = jq.Quote(value)
		}
		add(before+" // "+value, true)
	}
	for _, pair := range [][2]string{{"{{", "}}"}, {"$(", ")"}, {"{", "}"}} {
		inner, opened := strings.CutPrefix(out[0], pair[0])
		inner, closed := strings.CutSuffix(inner, pair[1])
		add(strings.Trim(inner, "- "), opened && closed)
	}
	return out
}

// plainKeys matches the keys of an object that jq takes only in quotes, such as the name of a label.
var plainKeys = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([{,]\s*)([A-Za-z]\w*(?:[-./]+\w+)+)(\s*:)`) })

// loops match the statements with which other languages loop over a list.
var loops = []*regexp.Regexp{
	regexp.MustCompile(`^(?:(?:for|foreach|forEach|forall|each|range)\b\s*)?(?:(?:const|let|var)\s+)?\$?\w+(?:\s*,\s*\$?\w+)?` +
		`\s*(?:\b(?:in|of)\b|:=|=>|:)\s*(?:range\b\s*)?(.+)$`),
	regexp.MustCompile(`^(?:for|foreach|forEach|forall|each|range|in)\s+([.$\w].*)$`),
	regexp.MustCompile(`^(.+?)\s+as\s+\$?\w+$`),
}

// List returns the list of a loop in another language, such as `item in .spec.items`; false
// if a text is none.
func List(source string) (string, bool) {
	text := strings.TrimSpace(source)
	if inner, ok := strings.CutPrefix(text, "{{"); ok {
		text = strings.Trim(strings.TrimSuffix(inner, "}}"), "- ")
	}
	if before, inner, ok := strings.Cut(text, "("); ok && strings.TrimSpace(before) == "for" {
		text = "for " + strings.TrimSuffix(inner, ")")
	}
	for _, loop := range loops {
		if found := loop.FindStringSubmatch(text); found != nil {
			return found[1], true
		}
	}
	return "", false
}

// unwrapped removes the ${ } around parts of a text.
func unwrapped(text string) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		_, end, whole := jq.Lex(rest)
		if !whole || end == len(rest) {
			return "", false
		}
		b.WriteString(strings.TrimSpace(rest[:end]))
		text = rest[end+1:]
	}
}

// translated returns the jq of a text under some guesses; "" if it is not understood.
func (c Context) translated(source string, o options) string {
	tokens, ok := lex(source)
	if !ok || len(tokens) == 0 {
		return ""
	}
	root := &scope{name: "cr"}
	p := &parser{context: c, options: o, tokens: tokens, dot: root, root: root}
	n := p.expression()
	if p.failed || p.at < len(tokens) {
		return ""
	}
	text, ok := newPrinter(root).whole(n)
	if !ok {
		return ""
	}
	return text
}

// Unavailable returns why a function of another language has no equivalent, or "".
func Unavailable(function string) string {
	switch {
	case slices.Contains([]string{"include", "tpl", "template"}, function):
		return "there are no named templates: write the expression itself here"
	case function == "lookup":
		return "read objects of the cluster as $children.NAME, or list them under spec.related and read $related.NAME"
	case strings.HasPrefix(function, "rand") ||
		slices.Contains([]string{"uuidv4", "genPassword", "genSelfSignedCert", "genCA", "shuffle"}, function):
		return "a random value would change with every event: for a name, take .metadata.uid[0:8]; " +
			"for a password, refer to a Secret, because everybody who may read the custom resource sees its uid"
	case slices.Contains([]string{"date", "dateModify", "ago", "htmlDate", "timestamp", "getSeconds", "now"}, function):
		return "the time would change the result without an event: take it from a field, such as .metadata.creationTimestamp"
	}
	return ""
}

// syntaxError is text that is not jq, and the token at which gojq stopped.
type syntaxError struct {
	text   string
	tokens []jq.Token
	bad    int // index of the token; len(tokens) at the end of the text
}

// misspellings are checks for the syntax of other languages, each with the rule of jq. The
// first match is used.
var misspellings = [...]func(syntaxError) string{
	syntaxError.unavailable, syntaxError.statement, syntaxError.unterminated, syntaxError.nested, syntaxError.braces, syntaxError.shell,
	syntaxError.singleQuotes, syntaxError.logical, syntaxError.negation, syntaxError.fallback, syntaxError.ternary,
	syntaxError.contained, syntaxError.method, syntaxError.spaced, syntaxError.adjacent, syntaxError.comparison,
}

// Syntax returns the rule that text breaks, for text that has no translation.
func Syntax(source string, err error) string {
	b := syntaxError{text: source}
	b.tokens, _, _ = jq.Lex(source)
	b.bad = len(b.tokens)
	var at *gojq.ParseError
	if errors.As(err, &at) && at.Token != "" {
		from := at.Offset - len(at.Token)
		if i := slices.IndexFunc(b.tokens, func(t jq.Token) bool { return t.End() > from }); i >= 0 {
			b.bad = i
		}
	}
	for _, slip := range misspellings {
		if hint := slip(b); hint != "" {
			return hint
		}
	}
	for i, t := range b.tokens {
		if equivalent := Equivalent(t.Text); t.Kind == jq.TokenWord && equivalent != "" && (i == 0 || b.tokens[i-1].Text != "|") {
			return "write " + equivalent
		}
	}
	return "an expression is jq: read fields as .spec.field, and pass values to functions with |"
}

// is reports whether a token, counted from where gojq stopped, has one of the texts.
func (b syntaxError) is(offset int, texts ...string) bool {
	i := b.bad + offset
	return 0 <= i && i < len(b.tokens) && slices.Contains(texts, b.tokens[i].Text)
}

// has reports whether there is a token of a text.
func (b syntaxError) has(texts ...string) bool {
	return slices.ContainsFunc(b.tokens, func(t jq.Token) bool { return slices.Contains(texts, t.Text) })
}

// unavailable matches functions of other languages that have no equivalent.
func (b syntaxError) unavailable() string {
	for _, t := range b.tokens {
		if why := Unavailable(t.Text); t.Kind == jq.TokenWord && why != "" {
			return why
		}
	}
	return ""
}

// statement matches {{ if }}, {{ else }} and {{ end }} of Go templates.
func (b syntaxError) statement() string {
	first := b.tokens[:min(1, len(b.tokens))]
	for _, t := range first {
		if t.Text == "else" || t.Text == "end" || t.Text == "if" && !b.has("then") || t.Text == "range" || t.Text == "with" {
			return "an expression is a value, not a statement: write ${ if CONDITION then A else B end }"
		}
	}
	return ""
}

func (b syntaxError) nested() string {
	if b.is(0, "$") && b.is(1, "{") {
		return "write one expression, without ${ } inside"
	}
	return ""
}

func (b syntaxError) braces() string {
	if strings.Contains(b.text, "{{") {
		return "templates of Go and Helm are not expanded: write the expression in jq, without {{ }}"
	}
	return ""
}

func (b syntaxError) singleQuotes() string {
	if b.is(0, "'") {
		return "write strings in double quotes"
	}
	return ""
}

func (b syntaxError) logical() string {
	for i, t := range b.tokens[:min(len(b.tokens), b.bad+2)] {
		if i == 0 || t.Space {
			continue
		}
		operator := b.tokens[i-1].Text + t.Text
		if word := map[string]string{"&&": "and", "||": "or"}[operator]; word != "" {
			return "write " + word + " instead of " + operator
		}
	}
	return ""
}

func (b syntaxError) negation() string {
	if b.is(0, "!") || b.is(-1, "not") {
		return "write not after the value: .spec.enabled | not"
	}
	return ""
}

// PlainPath reports whether text is only a path, .a.b or $a.b.
func PlainPath(text string) bool {
	tokens, end, _ := jq.Lex(text)
	for i, t := range tokens {
		if t.Kind != jq.TokenIndex && (t.Kind != jq.TokenVar || i > 0) {
			return false
		}
	}
	return end == len(text) && len(tokens) > 0
}

func (b syntaxError) shell() string {
	if (b.is(0, "$") && b.is(1, "(")) || b.is(0, "`") {
		return "an expression runs no command: it reads fields, such as .metadata.name, and passes them to functions of jq"
	}
	return ""
}

// fallback matches ${name:-value} of a shell.
func (b syntaxError) fallback() string {
	if b.is(0, ":") && b.is(1, "-", "=") {
		return `write // before a default: .spec.field // "value"`
	}
	return ""
}

// ternary matches c ? a : b.
func (b syntaxError) ternary() string {
	if b.has("?") && b.has(":") {
		return "write a choice as if CONDITION then A else B end"
	}
	return ""
}

// contained matches VALUE in LIST.
func (b syntaxError) contained() string {
	if b.is(0, "in") {
		return "write IN(VALUE; LIST[]) to ask whether a list has a value"
	}
	return ""
}

// method matches .field.name(arguments).
func (b syntaxError) method() string {
	if b.is(0, "(") && b.bad > 0 && b.tokens[b.bad-1].Kind == jq.TokenIndex {
		return "jq has no methods: write VALUE | FUNCTION, and arguments as in split(\",\")"
	}
	return ""
}

// spaced matches a function followed by its argument, as in Helm and shells.
func (b syntaxError) spaced() string {
	if b.bad == 0 || b.bad == len(b.tokens) {
		return ""
	}
	name, arg := b.tokens[b.bad-1], b.tokens[b.bad]
	if name.Kind != jq.TokenWord || !slices.Contains([]jq.TokenKind{jq.TokenString, jq.TokenNumber, jq.TokenIndex, jq.TokenVar}, arg.Kind) {
		return ""
	}
	if equivalent := Equivalent(name.Text); equivalent != "" {
		return "write " + equivalent
	}
	return "write VALUE | FUNCTION, and the arguments of a function in parentheses"
}

// adjacent matches values beside each other, and the operators that join strings elsewhere.
func (b syntaxError) adjacent() string {
	if b.is(0, "~", "&") && !b.is(1, "=", "&") ||
		0 < b.bad && b.bad < len(b.tokens) && b.tokens[b.bad].Kind == jq.TokenString && b.tokens[b.bad-1].Kind == jq.TokenIndex {
		return "join strings with +"
	}
	return ""
}

func (b syntaxError) comparison() string {
	if b.is(0, "=", "<", ">", "~") && (b.is(-1, "=", "==", "!=", "<", ">") || b.is(1, "=")) {
		return "compare with ==, !=, <, <=, > or >="
	}
	return ""
}

// unterminated matches text that ends too early.
func (b syntaxError) unterminated() string {
	if b.bad < len(b.tokens) || b.bad == 0 {
		return ""
	}
	count := func(word string) (n int) {
		for _, t := range b.tokens {
			if t.Text == word {
				n++
			}
		}
		return n
	}
	switch last := b.tokens[b.bad-1]; {
	case last.Kind == jq.TokenPunct && !strings.Contains(")]}?", last.Text), last.Text == "and" || last.Text == "or":
		return "something is missing after " + last.Text
	case count("if") > count("end"):
		return "write end after the if"
	case count("(") > count(")"):
		return "add the missing )"
	case count("[") > count("]"):
		return "add the missing ]"
	}
	return ""
}
