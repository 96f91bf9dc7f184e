package expression

import (
	"errors"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// broken is text that is no jq, and where gojq stopped reading it.
type broken struct {
	text   string
	tokens []jq.Token
	bad    int // the token; len(tokens) is the end of the text
}

// slips are what people write who know another language, with what jq has for
// it: the first that knows better speaks.
var slips = [...]func(broken) string{
	broken.nested, broken.singleQuotes, broken.logical, broken.negation, broken.shell, broken.fallback,
	broken.ternary, broken.method, broken.spaced, broken.equality, broken.unended,
}

// syntaxHint says how to write what gojq refuses.
func syntaxHint(text string, err error) string {
	b := broken{text: text}
	b.tokens, _, _ = jq.Lex(text)
	b.bad = len(b.tokens)
	var at *gojq.ParseError
	if errors.As(err, &at) && at.Token != "" {
		from := at.Offset - len(at.Token)
		if i := slices.IndexFunc(b.tokens, func(t jq.Token) bool { return t.End() > from }); i >= 0 {
			b.bad = i
		}
	}
	for _, slip := range slips {
		if hint := slip(b); hint != "" {
			return hint
		}
	}
	return "expressions are jq: fields are read as .spec.field, and values passed on to functions with |"
}

// is says that a token, counted from where gojq stopped, is written so.
func (b broken) is(offset int, texts ...string) bool {
	i := b.bad + offset
	return 0 <= i && i < len(b.tokens) && slices.Contains(texts, b.tokens[i].Text)
}

// from is where a token begins, counted from where gojq stopped.
func (b broken) from(offset int) int {
	if i := b.bad + offset; i < len(b.tokens) {
		return b.tokens[i].At
	}
	return len(b.text)
}

// with is a rule and the text as it should be, if that is jq and short.
func with(rule, fixed string) string {
	if _, err := gojq.Parse(fixed); err != nil || len(fixed) > 100 || strings.ContainsAny(fixed, "\n#") {
		return rule
	}
	return rule + ": " + fixed
}

func (b broken) nested() string {
	if !b.is(0, "$") || !b.is(1, "{") {
		return ""
	}
	var whole strings.Builder
	parts, err := split(b.text)
	for _, p := range parts {
		whole.WriteString(p.text)
	}
	if err != nil {
		return "there is no ${ } inside an expression"
	}
	return with("write one expression, without ${ } inside", whole.String())
}

func (b broken) singleQuotes() string {
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
	return with("write texts in double quotes, and for YAML single quotes around the whole", fixed.String())
}

// words are the operators that jq has words for.
var words = map[string]string{"&&": "and", "||": "or"}

func (b broken) logical() string {
	last := b.bad
	if !b.is(-1, "&", "|") {
		last++ // gojq stops at the first & and at the second |
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
		fixed = "" // it may have the characters in it
	}
	return with("jq writes "+word+" for "+op, fixed)
}

func (b broken) negation() string {
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
	if !plainPath(operand) {
		operand = "(" + operand + ")"
	}
	return with(rule, operand+" | not")
}

// plainPath says that text is nothing but .a.b or $a.b.
func plainPath(text string) bool {
	tokens, end, _ := jq.Lex(text)
	for i, t := range tokens {
		if t.Kind != jq.TokenIndex && (t.Kind != jq.TokenVar || i > 0) {
			return false
		}
	}
	return end == len(text) && len(tokens) > 0
}

func (b broken) shell() string {
	if (b.is(0, "$") && b.is(1, "(")) || b.is(0, "`") {
		return "no commands run here: jq reads fields and passes them on to functions, as in .metadata.name | ascii_upcase"
	}
	return ""
}

// fallback is a shell's ${name:-value}.
func (b broken) fallback() string {
	if !b.is(0, ":") || !b.is(1, "-", "=") || b.from(1) != b.from(0)+1 {
		return ""
	}
	before, value := strings.TrimSpace(b.text[:b.from(0)]), strings.TrimSpace(b.text[b.from(1)+1:])
	if _, err := gojq.Parse(value); err != nil || value == "" || jq.IsName(value[:1]) {
		value = jq.Quote(value)
	}
	if !plainPath(before) {
		return "jq writes // before what is used instead of null"
	}
	return with("jq writes // before what is used instead of null", before+" // "+value)
}

// ternary is c ? a : b, and Python's a if c else b.
func (b broken) ternary() string {
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
	return with(rule, "if "+cut(0, question)+" then "+cut(question+1, then)+" else "+cut(then+1, len(b.text))+" end")
}

// topLevel finds a token outside of brackets and braces, -1 if there is none.
func (b broken) topLevel(text string, from int) int {
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

// method is .field.name(arguments).
func (b broken) method() string {
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
	if !plainPath(before) || strings.Contains(function, " ") {
		return rule
	}
	return with(rule, before+" | "+function+strings.ReplaceAll(after, ",", ";"))
}

// spaced is a function with its argument behind it, as Helm and shells have it.
func (b broken) spaced() string {
	if b.bad == 0 || b.bad == len(b.tokens) {
		return ""
	}
	name, arg := b.tokens[b.bad-1], b.tokens[b.bad]
	if name.Kind != jq.TokenWord || !slices.Contains([]jq.TokenKind{jq.TokenString, jq.TokenNumber, jq.TokenIndex, jq.TokenVar}, arg.Kind) {
		return ""
	}
	before, _ := strings.CutSuffix(strings.TrimSpace(b.text[:name.At]), "|")
	if before = strings.TrimSpace(before); name.Text == "default" {
		if !plainPath(before) {
			before = ""
		}
		return with("jq writes // before what is used instead of null", before+" // "+b.text[arg.At:])
	}
	if known, ok := builtins()[name.Text+"/1"]; ok && !known.deaf {
		return "the arguments of a function stand in parentheses: " + name.Text + "(" + arg.Text + ")"
	}
	if hint := foreignHint(name.Text); hint != "" {
		return hint
	}
	return "jq passes values on to functions with |, and further arguments stand in parentheses"
}

func (b broken) equality() string {
	if b.is(0, "=") && b.is(-1, "==", "!=") {
		return "jq compares with == and !="
	}
	return ""
}

// unended is what stops too early.
func (b broken) unended() string {
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
		return with("an if goes up to its end", b.text+" end")
	case count("(") > count(")"):
		return "a ( is not closed"
	case count("[") > count("]"):
		return "a [ is not closed"
	}
	return ""
}
