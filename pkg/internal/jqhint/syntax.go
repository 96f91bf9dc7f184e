// Package jqhint recognises the syntax and the functions of other languages where jq is
// wanted, and says what is written in jq.
package jqhint

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// syntaxError is text that is not jq, and the token at which gojq stopped.
type syntaxError struct {
	context Context
	text    string
	tokens  []jq.Token
	bad     int // index of the token; len(tokens) at the end of the text
}

// foreign maps functions of other languages to their equivalent in jq: a function, or a
// hint.
var foreign = map[string]string{
	"len": "length", "size": "length", "count": "length", "keys_unsorted": "keys",
	"lower": "ascii_downcase", "toLower": "ascii_downcase", "toLowerCase": "ascii_downcase", "lowerAscii": "ascii_downcase", "downcase": "ascii_downcase",
	"upper": "ascii_upcase", "toUpper": "ascii_upcase", "toUpperCase": "ascii_upcase", "upperAscii": "ascii_upcase", "upcase": "ascii_upcase",
	"startsWith": "startswith", "hasPrefix": "startswith", "endsWith": "endswith", "hasSuffix": "endswith",
	"trimPrefix": "ltrimstr", "trimSuffix": "rtrimstr", "strip": "trim", "matches": "test", "regexMatch": "test",
	"toString": "tostring", "string": "tostring", "str": "tostring", "int": "tonumber", "int64": "tonumber", "atoi": "tonumber", "float": "tonumber",
	"toJson": "tojson", "toJSON": "tojson", "fromJson": "fromjson", "splitList": "split", "filter": "select", "uniq": "unique", "sum": "add",
	"b64enc": "@base64", "b64dec": "@base64d", "base64": "@base64",
	"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null",

	"quote": "leave it out, values need no quotes", "squote": "leave it out, values need no quotes",
	"nindent": "leave it out, values need no indentation", "indent": "leave it out, values need no indentation",
	"toYaml":  "leave it out, an expression by itself keeps the kind of its value; | tojson makes a text of it",
	"default": `write // before what is used instead of null: .spec.field // "value"`, "coalesce": `write // between them: .spec.a // .spec.b`,
	"ternary": "write if … then … else … end", "required": "say required=true in the schema",
	"printf": `write a text with \( ) in it: "\(.metadata.name)-web"`, "format": `write a text with \( ) in it: "\(.metadata.name)-web"`,
	"replace": `write gsub("a"; "b")`, "trunc": "write .[:63]", "substr": "write .[0:8]",
	"list": "write [1, 2]", "dict": "write {key: 1}", "include": "there are no named templates", "lookup": "of the cluster only $children.NAME is known",
}

// Foreign returns the equivalent in jq of a function of another language: a function, or
// a hint, which has blanks; "" for other names.
func Foreign(name string) string { return foreign[name] }

// ForeignHint returns the jq equivalent of a function of another language, or "".
func ForeignHint(name string) string {
	known := foreign[name]
	if known == "" || strings.Contains(known, " ") {
		return known
	}
	return "write " + known + " instead"
}

// misspellings are checks for the syntax of other languages, each with the equivalent in jq.
// The first match is used.
var misspellings = [...]func(syntaxError) string{
	syntaxError.nested, syntaxError.singleQuotes, syntaxError.logical, syntaxError.negation, syntaxError.shell, syntaxError.fallback,
	syntaxError.ternary, syntaxError.contained, syntaxError.method, syntaxError.spaced, syntaxError.equality, syntaxError.unended,
}

// Context is what an expression can use.
type Context struct {
	Variables []string
	TakesOne  func(name string) bool // a function that takes its input and one argument
}

// Syntax returns how to fix a syntax error.
func (c Context) Syntax(text string, err error) string {
	b := syntaxError{context: c, text: text}
	b.tokens, _, _ = jq.Lex(text)
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
	return "expressions are jq: fields are read as .spec.field, and values passed on to functions with |"
}

// is reports whether a token, counted from where gojq stopped, has one of the texts.
func (b syntaxError) is(offset int, texts ...string) bool {
	i := b.bad + offset
	return 0 <= i && i < len(b.tokens) && slices.Contains(texts, b.tokens[i].Text)
}

// from returns the offset of a token, counted from where gojq stopped.
func (b syntaxError) from(offset int) int {
	if i := b.bad + offset; i < len(b.tokens) {
		return b.tokens[i].At
	}
	return len(b.text)
}

// with returns a rule and the corrected text, if that is jq that a Sensor runs, and
// short.
func (b syntaxError) with(rule, fixed string) string {
	query, err := gojq.Parse(fixed)
	if err == nil {
		_, err = jq.Compile(query, b.context.Variables...)
	}
	if err != nil || len(fixed) > 100 || strings.ContainsAny(fixed, "\n#") {
		return rule
	}
	return rule + ": " + fixed
}

func (b syntaxError) nested() string {
	if !b.is(0, "$") || !b.is(1, "{") {
		return ""
	}
	whole, ok := unwrapped(b.text)
	if !ok {
		return "there is no ${ } inside an expression"
	}
	return b.with("write one expression, without ${ } inside", whole)
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

func (b syntaxError) singleQuotes() string {
	if !b.is(0, "'") {
		return ""
	}
	pieces := strings.Split(b.text, "'")
	var fixed strings.Builder
	for i, piece := range pieces {
		if i%2 == 1 {
			piece = jq.Quote(piece)
		}
		fixed.WriteString(piece)
	}
	return b.with("write texts in double quotes, and for YAML single quotes around the whole", fixed.String())
}

// words maps operators to the words that jq uses.
var words = map[string]string{"&&": "and", "||": "or"}

func (b syntaxError) logical() string {
	last := b.bad
	if !b.is(-1, "&", "|") {
		last++ // gojq stops at the first & but at the second |
	}
	if last < 1 || last >= len(b.tokens) {
		return ""
	}
	op := b.tokens[last-1].Text + b.tokens[last].Text
	word := words[op]
	if word == "" || b.tokens[last].Space {
		return ""
	}
	fixed := b.text
	for written, word := range words {
		fixed = strings.Join(strings.Fields(strings.ReplaceAll(fixed, written, " "+word+" ")), " ")
	}
	if slices.ContainsFunc(b.tokens, func(t jq.Token) bool { return t.Kind == jq.TokenString || t.Kind == jq.TokenOpen }) {
		fixed = "" // the characters may be part of a string
	}
	return b.with("jq writes "+word+" for "+op, fixed)
}

func (b syntaxError) negation() string {
	rule := ""
	switch {
	case b.is(0, "!"):
		rule = "jq negates with | not"
	case b.is(-1, "not"):
		rule = "not stands behind in jq, after a |"
		b.bad--
	default:
		return ""
	}
	operand := strings.TrimSpace(b.text[b.from(1):])
	if b.bad > 0 || operand == "" {
		return rule
	}
	if !PlainPath(operand) {
		operand = "(" + operand + ")"
	}
	return b.with(rule, operand+" | not")
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
		return "no commands run here: jq reads fields and passes them on to functions, as in .metadata.name | ascii_upcase"
	}
	return ""
}

// fallback matches ${name:-value} of a shell.
func (b syntaxError) fallback() string {
	if !b.is(0, ":") || !b.is(1, "-", "=") || b.from(1) != b.from(0)+1 {
		return ""
	}
	before, value := strings.TrimSpace(b.text[:b.from(0)]), strings.TrimSpace(b.text[b.from(1)+1:])
	if _, err := gojq.Parse(value); err != nil || value == "" || jq.IsName(value[:1]) {
		value = jq.Quote(value)
	}
	if !PlainPath(before) {
		return "jq writes // before what is used instead of null"
	}
	return b.with("jq writes // before what is used instead of null", before+" // "+value)
}

// ternary matches c ? a : b, and Python's a if c else b.
func (b syntaxError) ternary() string {
	const rule = "jq writes if … then … else … end"
	if b.is(0, "if") && b.bad > 0 {
		return rule
	}
	mark, colon := b.topLevel("?", 0), -1
	if mark > 0 && mark <= b.bad {
		colon = b.topLevel(":", mark)
	}
	if colon < 0 {
		return ""
	}
	cut := func(from, to int) string { return strings.TrimSpace(b.text[from:to]) }
	question, then := b.tokens[mark].At, b.tokens[colon].At
	return b.with(rule, "if "+cut(0, question)+" then "+cut(question+1, then)+" else "+cut(then+1, len(b.text))+" end")
}

// topLevel returns the index of a token outside brackets and braces, or -1.
func (b syntaxError) topLevel(text string, from int) int {
	depth := 0
	for i, t := range b.tokens {
		switch t.Text {
		case "{", "[":
			depth++
		case "}", "]":
			depth--
		}
		if i >= from && depth == 0 && t.Text == text {
			return i
		}
	}
	return -1
}

// method matches .field.name(arguments).
func (b syntaxError) method() string {
	if !b.is(0, "(") || b.bad == 0 || b.tokens[b.bad-1].Kind != jq.TokenIndex {
		return ""
	}
	const rule = "jq has no methods: a value is passed on to a function with |"
	name := b.tokens[b.bad-1]
	before, after := b.text[:name.At], b.text[b.from(0):]
	if rest, ok := strings.CutPrefix(after, "()"); ok {
		after = rest
	}
	function := name.Text[1:]
	if known, ok := foreign[function]; ok {
		function = known
	}
	if !PlainPath(before) || strings.Contains(function, " ") {
		return rule
	}
	if fixed := macro(before, name.Text[1:], after); fixed != "" {
		return b.with(rule, fixed)
	}
	return b.with(rule, before+" | "+function+strings.ReplaceAll(after, ",", ";"))
}

// macro writes the calls in which CEL binds a variable, or has a default, in jq; "" if it
// is none of them.
func macro(before, name, call string) string {
	inner, closed := strings.CutSuffix(strings.TrimPrefix(call, "("), ")")
	if !closed {
		return ""
	}
	if name == "orValue" {
		return before + " // " + inner
	}
	variable, body, two := strings.Cut(inner, ",")
	function := map[string]string{"exists": "any(BODY)", "all": "all(BODY)", "map": "map(BODY)", "filter": "map(select(BODY))"}[name]
	if !two || function == "" || !jq.IsName(strings.TrimSpace(variable)) {
		return ""
	}
	of := regexp.MustCompile(`\b` + strings.TrimSpace(variable) + `\b(\.?)`)
	body = of.ReplaceAllString(strings.TrimSpace(body), ".")
	return before + " | " + strings.Replace(function, "BODY", body, 1)
}

// contained matches VALUE in LIST.
func (b syntaxError) contained() string {
	if !b.is(0, "in") {
		return ""
	}
	value, list := strings.TrimSpace(b.text[:b.from(0)]), strings.TrimSpace(b.text[b.from(0)+len("in"):])
	return b.with("jq asks where a list has a value, null if nowhere", list+" | index("+value+") != null")
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
	before, _ := strings.CutSuffix(strings.TrimSpace(b.text[:name.At]), "|")
	if before = strings.TrimSpace(before); name.Text == "default" {
		if !PlainPath(before) {
			before = ""
		}
		return b.with("jq writes // before what is used instead of null", before+" // "+b.text[arg.At:])
	}
	if b.context.TakesOne(name.Text) {
		return "the arguments of a function stand in parentheses: " + name.Text + "(" + arg.Text + ")"
	}
	if hint := ForeignHint(name.Text); hint != "" {
		return hint
	}
	return "jq passes values on to functions with |, and further arguments stand in parentheses"
}

func (b syntaxError) equality() string {
	if b.is(0, "=") && b.is(-1, "==", "!=") {
		return "jq compares with == and !="
	}
	return ""
}

// unended matches text that ends too early.
func (b syntaxError) unended() string {
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
		return b.with("an if goes up to its end", b.text+" end")
	case count("(") > count(")"):
		return "a ( is not closed"
	case count("[") > count("]"):
		return "a [ is not closed"
	}
	return ""
}
