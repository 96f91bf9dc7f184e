package jqhint

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// op is the kind of a node.
type op byte

const (
	opTerm   op = iota // text, as it is
	opDot              // what . is in scope
	opField            // args[0].text
	opIndex            // args[0][args[1]]
	opSlice            // args[0][args[1]:args[2]]; both may be nil
	opEach             // args[0][]
	opTry              // args[0]?
	opCall             // text(args…), whose arguments see scope
	opPipe             // args[0] | args[1], which sees scope
	opBinary           // args[0] text args[1]
	opMinus            // -args[0]
	opIf               // if args[0] then args[1] elif … else args[n] end
	opList             // [args…]
	opObject           // keys and values
	opString           // args in a text, alternately literals and expressions
)

type node struct {
	op    op
	text  string
	args  []*node
	scope *scope
}

// scope is a part of an expression in which . is the same. name is that of the variable
// that holds . for inner scopes.
type scope struct{ name string }

// parser reads an expression that mixes jq with other languages.
type parser struct {
	context   Context
	options   options
	tokens    []token
	at        int
	dot       *scope            // what . is here
	root      *scope            // what . is at the start
	variables map[string]*scope // of macros and lambdas
	bound     map[string]*node  // the arguments of a pattern
	failed    bool
}

// options are guesses about what is meant.
type options struct {
	alternative bool // || and or are //
	guarded     bool // what may be null gets a default
	first       bool // a filter of JSONPath stands for its first result
}

func (p *parser) fail() *node {
	p.failed, p.at = true, len(p.tokens)
	return term("null")
}

func (p *parser) peek(offset int) token {
	if i := p.at + offset; i >= 0 && i < len(p.tokens) {
		return p.tokens[i]
	}
	return token{kind: end}
}

// is reports whether the next token is one of some symbols or keywords.
func (p *parser) is(texts ...string) bool {
	t := p.peek(0)
	return (t.kind == punct || t.kind == word) && slices.Contains(texts, t.text)
}

func (p *parser) accept(texts ...string) bool {
	if p.is(texts...) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail()
	}
}

// within reads with another meaning of dot.
func (p *parser) within(dot *scope, read func() *node) *node {
	before := p.dot
	p.dot = dot
	n := read()
	p.dot = before
	return n
}

// expression reads a | b | c.
func (p *parser) expression() *node {
	left := p.choice()
	for p.accept("|") {
		if n := p.foreignFilter(left); n != nil {
			left = p.binary(n, 1)
			continue
		}
		inner := &scope{name: "value"}
		left = &node{op: opPipe, args: []*node{left, p.within(inner, p.choice)}, scope: inner}
	}
	return left
}

// foreignFilter reads the function of another language that a value is piped into. Its
// arguments see the same . as the value.
func (p *parser) foreignFilter(subject *node) *node {
	name := p.peek(0)
	if name.kind != word || p.peek(1).text == "." || p.known(name.text, 0) && !p.startsTerm(1) && p.peek(1).text != "(" {
		return nil
	}
	start, failed := p.at, p.failed
	p.at++
	var args []*node
	separator := ""
	if p.is("(") {
		if n := p.macro(subject, name.text); n != nil {
			return n
		}
		args, separator = p.arguments(nil)
		if p.known(name.text, len(args)) && (len(args) < 2 || separator == ";") && name.text != "default" {
			p.at, p.failed = start, failed
			return nil
		}
	} else {
		args = p.prefixArguments()
	}
	if n := p.apply(name.text, subject, args); n != nil {
		return n
	}
	if p.known(name.text, len(args)) {
		return pipe(subject, call(name.text, args...))
	}
	p.at, p.failed = start, failed
	return nil
}

// choice reads c ? a : b, and Python's a if c else b.
func (p *parser) choice() *node {
	n := p.binary(nil, 1)
	switch {
	case p.accept("?"):
		then := p.choice()
		p.expect(":")
		return &node{op: opIf, args: []*node{n, then, p.choice()}}
	case p.is("if"):
		p.at++
		condition := p.binary(nil, 1)
		p.expect("else")
		return &node{op: opIf, args: []*node{condition, n, p.choice()}}
	}
	return n
}

// operators have their precedence, that of jq.
var operators = map[string]int{
	"//": 1, "??": 1, "?:": 1,
	"||": 2, "or": 2, "OR": 2,
	"&&": 3, "and": 3, "AND": 3,
	"==": 4, "===": 4, "!=": 4, "!==": 4, "<>": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "IN": 4, "is": 4, "not": 4, "exists": 4,
	"=~": 4,
	"+":  5, "-": 5, "*": 6, "/": 6, "%": 6,
}

// inJQ are the operators that jq writes otherwise.
var inJQ = map[string]string{
	"??":  "//",
	"?:":  "//",
	"||":  "or",
	"OR":  "or",
	"&&":  "and",
	"AND": "and",
	"===": "==",
	"!==": "!=",
	"<>":  "!=",
}

// binary reads operators from a precedence on, after a left operand if there is one.
func (p *parser) binary(left *node, least int) *node {
	if left == nil {
		left = p.unary()
	}
	for {
		t := p.peek(0)
		precedence := operators[t.text]
		if t.kind != punct && t.kind != word || precedence < least || precedence == 0 ||
			t.text == "not" && !slices.Contains([]string{"in", "exists"}, p.peek(1).text) {
			return left
		}
		p.at++
		left = p.operation(left, t.text, precedence)
	}
}

func (p *parser) operation(left *node, operator string, precedence int) *node {
	switch {
	case operator == "is":
		return p.test(left)
	case operator == "exists":
		return binary(left, "!=", term("null"))
	case operator == "not" && p.accept("exists"):
		return binary(left, "==", term("null"))
	}
	negated := operator == "not" && p.accept("in")
	next := precedence + 1
	if precedence == 1 {
		next = 1 // associates to the right
	}
	right := p.binary(nil, next)
	switch operator {
	case "in", "IN", "not":
		n := p.member(left, right)
		if negated {
			return not(n)
		}
		return n
	case "=~":
		return pipe(left, call("test", right))
	}
	if name, ok := inJQ[operator]; ok {
		operator = name
	}
	if operator == "or" && p.options.alternative {
		operator = "//"
	}
	return binary(left, operator, right)
}

// test reads what follows `is`, as in Jinja and SQL.
func (p *parser) test(left *node) *node {
	equal := p.accept("not")
	switch {
	case p.accept("none", "None", "null", "NULL", "undefined"):
	case p.accept("defined"):
		equal = !equal
	default:
		return p.fail()
	}
	return binary(left, map[bool]string{true: "!=", false: "=="}[equal], term("null"))
}

func (p *parser) unary() *node {
	switch {
	case p.accept("!"), p.is("NOT") && p.accept("NOT"):
		return not(p.unary())
	case p.is("not") && (p.startsTerm(1) || p.peek(1).text == "(" || p.peek(1).text == "!"):
		p.at++
		return not(p.binary(nil, operators["=="]))
	case p.accept("-"):
		return &node{op: opMinus, args: []*node{p.unary()}}
	}
	return p.postfix(p.primary())
}

// startsTerm reports whether an argument begins at a token, as in Go templates.
func (p *parser) startsTerm(offset int) bool {
	switch t := p.peek(offset); {
	case !t.space:
		return false
	case t.kind == text, t.kind == number, t.kind == named, t.kind == joined:
		return true
	case t.kind == word:
		return operators[t.text] == 0 && !slices.Contains([]string{"if", "then", "else", "elif", "end", "as", "for"}, t.text)
	default:
		return t.text == "." || t.text == "$" || t.text == "("
	}
}

// prefixArguments reads the arguments of a function in a Go template.
func (p *parser) prefixArguments() []*node {
	var out []*node
	for p.startsTerm(0) {
		if p.peek(0).kind == word { // a call in it has parentheses around
			out = append(out, p.name(p.tokens[p.at].text))
			continue
		}
		out = append(out, p.postfix(p.primary()))
	}
	return out
}

// arguments reads (a, b) or (a; b), and what separates them. item is what . is in the last
// argument, if not the same as outside.
func (p *parser) arguments(item *scope) (args []*node, separator string) {
	p.expect("(")
	for !p.failed && !p.accept(")") {
		if len(args) > 0 {
			separator = p.peek(0).text
			if !p.accept(",", ";") {
				p.fail()
			}
		}
		dot := p.dot
		if item != nil && !p.another() {
			dot = item
		}
		args = append(args, p.within(dot, p.expression))
	}
	return args, separator
}

// another reports whether an argument follows the one that begins here.
func (p *parser) another() bool {
	depth := 0
	for _, t := range p.tokens[min(p.at, len(p.tokens)):] {
		switch {
		case t.kind != punct:
		case strings.Contains("([{", t.text):
			depth++
		case strings.Contains(")]}", t.text):
			if depth--; depth < 0 {
				return false
			}
		case depth == 0 && (t.text == "," || t.text == ";"):
			return true
		}
	}
	return false
}

func (p *parser) primary() *node {
	t := p.peek(0)
	p.at++
	switch {
	case t.kind == text, t.kind == number:
		return term(t.text)
	case t.kind == joined:
		return p.interpolated(t.parts)
	case t.kind == named && t.text[0] == '$':
		return term(t.text)
	case t.kind == named:
		return p.format(t.text)
	case t.kind == word && t.text == "if":
		return p.condition()
	case t.kind == word:
		p.at--
		return p.name(t.text)
	}
	switch t.text {
	case ".":
		if next := p.peek(0); (next.kind == word || next.kind == text) && !next.space || next.text == "?" && p.peek(1).kind == word {
			p.at-- // the postfix reads the name
		}
		return &node{op: opDot, scope: p.dot}
	case "@":
		return &node{op: opDot, scope: p.dot}
	case "$":
		return &node{op: opDot, scope: p.root}
	case "(":
		n := p.expression()
		p.expect(")")
		return n
	case "[":
		return p.list()
	case "{":
		return p.object()
	}
	return p.fail()
}

// format reads a format such as @base64, of jq alone: @base64 "…" is not read.
func (p *parser) format(name string) *node {
	if p.peek(0).kind == text {
		return p.fail()
	}
	return term(name)
}

// interpolated reads the parts of a string.
func (p *parser) interpolated(parts []string) *node {
	n := &node{op: opString}
	for i, part := range parts {
		if i%2 == 0 {
			n.args = append(n.args, term(part))
			continue
		}
		inner := *p
		var ok bool
		inner.tokens, ok = lex(part)
		inner.at = 0
		n.args = append(n.args, inner.expression())
		if !ok || inner.failed || inner.at < len(inner.tokens) {
			return p.fail()
		}
	}
	return n
}

// condition reads if … then … else … end of jq.
func (p *parser) condition() *node {
	n := &node{op: opIf}
	for {
		n.args = append(n.args, p.expression())
		p.expect("then")
		n.args = append(n.args, p.expression())
		if !p.accept("elif") {
			break
		}
	}
	if p.accept("else") {
		n.args = append(n.args, p.expression())
	}
	if p.peek(0).kind != end || p.failed { // the end may be forgotten
		p.expect("end")
	}
	return n
}

func (p *parser) list() *node {
	n := &node{op: opList}
	for !p.failed && !p.accept("]") {
		if len(n.args) > 0 {
			p.expect(",")
		}
		n.args = append(n.args, p.expression())
	}
	return n
}

func (p *parser) object() *node {
	n := &node{op: opObject}
	for !p.failed && !p.accept("}") {
		if len(n.args) > 0 {
			p.expect(",")
		}
		key := p.peek(0)
		p.at++
		switch {
		case key.kind == word, key.kind == text:
			n.args = append(n.args, term(key.text))
		case key.text == "(":
			n.args = append(n.args, &node{op: opList, text: "(", args: []*node{p.expression()}})
			p.expect(")")
		default:
			return p.fail()
		}
		if p.accept(":") {
			n.args = append(n.args, p.choice())
		} else {
			n.args = append(n.args, nil)
		}
	}
	return n
}

// postfix reads fields, indexes and methods.
func (p *parser) postfix(n *node) *node {
	for !p.failed {
		next := p.peek(1)
		switch {
		case p.peek(0).space && n.op != opDot, p.peek(0).kind != punct:
			return n
		case p.is(".") && next.kind == punct && next.text == "?" && p.peek(2).kind == word: // CEL: .?name
			p.at++
		case p.is("?") && next.text == "." && !next.space && p.peek(2).kind == word && n.op != opDot: // JavaScript: ?.name
			p.at++
			n = p.member1(n)
			continue
		case p.is("?") && (next.kind == end ||
			next.kind == punct && !slices.Contains([]string{".", "$", "(", "[", "{", "-", "!"}, next.text)):
			p.at++
			n = &node{op: opTry, args: []*node{n}}
			continue
		}
		switch {
		case p.is(".") && next.kind == number && !next.space: // .list.0
			p.at += 2
			n = &node{op: opIndex, args: []*node{n, term(next.text)}}
		case p.is(".") && next.kind == punct && next.text == "*":
			p.at += 2
			n = &node{op: opEach, args: []*node{n}}
		case p.is(".") && next.kind == punct && next.text == "[":
			p.at++
		case p.is(".") && next.kind == text:
			p.at += 2
			n = &node{op: opIndex, args: []*node{n, term(next.text)}}
		case p.is("."), p.is("?") && p.peek(-1).text == ".":
			n = p.member1(n)
		case p.is("["):
			n = p.index(n)
		default:
			return n
		}
	}
	return n
}

// member1 reads .name, and the method that it may be.
func (p *parser) member1(base *node) *node {
	p.at++
	name := p.peek(0)
	if name.kind != word || name.space {
		return p.fail()
	}
	p.at++
	if p.is("(") && !p.peek(0).space {
		return p.method(base, name.text)
	}
	if base.op == opDot && base.scope == p.root {
		if n := p.helm(name.text); n != nil {
			return n
		}
	}
	if slices.Contains([]string{"length", "size"}, name.text) {
		if kind, _ := p.kindOf(base); kind == "array" || kind == "string" {
			return pipe(base, call("length"))
		}
	}
	return field(base, name.text)
}

// helm returns the field of the custom resource that an object of Helm stands for.
func (p *parser) helm(name string) *node {
	root := &node{op: opDot, scope: p.root}
	switch {
	case name == "Values":
		return field(root, "spec")
	case name == "Release" && p.peek(0).text == "." && p.peek(1).text == "Namespace":
		p.at += 2
		return field(field(root, "metadata"), "namespace")
	case (name == "Release" || name == "Chart") && p.peek(0).text == "." && p.peek(1).text == "Name":
		p.at += 2
		return field(field(root, "metadata"), "name")
	}
	return nil
}

// index reads [x], [x:y], [*], [] and the filters of JSONPath.
func (p *parser) index(base *node) *node {
	p.expect("[")
	switch {
	case p.accept("]"):
		return &node{op: opEach, args: []*node{base}}
	case p.is("*") && p.peek(1).text == "]":
		p.at += 2
		return p.selected(base, nil)
	case p.is("?") && p.peek(1).text == "(":
		p.at += 2
		inner := &scope{name: "one"}
		condition := p.within(inner, p.expression)
		p.expect(")")
		p.expect("]")
		return p.selected(base, &node{op: opCall, text: "select", args: []*node{condition}, scope: inner})
	}
	p.accept("?") // CEL: list[?0]
	var from, to *node
	if !p.is(":") {
		from = p.choice()
	}
	if p.accept(":") {
		if !p.is("]") {
			to = p.choice()
		}
		p.expect("]")
		return &node{op: opSlice, args: []*node{base, from, to}}
	}
	p.expect("]")
	return &node{op: opIndex, args: []*node{base, from}}
}

// selected reads the path behind [*] or a filter of JSONPath, which is one of each item.
func (p *parser) selected(base, condition *node) *node {
	inner := &scope{name: "one"}
	item := &node{op: opDot, scope: inner}
	if condition != nil {
		inner = condition.scope
		item = &node{op: opDot, scope: inner}
	}
	body := p.postfix(item)
	switch {
	case condition != nil && body == item:
		body = condition
	case condition != nil:
		body = &node{op: opPipe, args: []*node{condition, body}, scope: inner}
	case body == item && !p.options.first:
		return p.guard(base)
	}
	n := pipe(p.guard(base), &node{op: opCall, text: "map", args: []*node{body}, scope: inner})
	if p.options.first {
		return pipe(n, call("first"))
	}
	return n
}

// name reads a name: of a function, of a value, or of a field.
func (p *parser) name(name string) *node {
	p.at++
	if p.is("(") && !p.peek(0).space {
		return p.function(name)
	}
	if n := p.bound[name]; n != nil {
		return n
	}
	if s := p.variables[name]; s != nil {
		return &node{op: opDot, scope: s}
	}
	if constant := map[string]string{
		"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null",
		"nil": "null", "undefined": "null",
	}[name]; constant != "" {
		return term(constant)
	}
	if p.startsTerm(0) {
		return p.prefixCall(name)
	}
	path := strings.Join(p.pathAhead(), ".")
	if n := p.value(name, path); n != nil {
		return n
	}
	if p.peek(0).text == "." && namespaces[name] {
		p.at++
		name += "." + p.peek(0).text
		p.at++
		if p.is("(") {
			return p.function(name)
		}
	}
	if p.known(name, 0) {
		return call(name)
	}
	if n := p.apply(name, &node{op: opDot, scope: p.dot}, nil); n != nil {
		return n
	}
	return p.fail()
}

// value returns the value that a name stands for.
func (p *parser) value(name, path string) *node {
	for _, input := range Inputs() {
		if name == input && path != "" {
			return &node{op: opDot, scope: p.root}
		}
	}
	if p.context.Value == nil {
		return nil
	}
	jq, fields := p.context.Value(name, path)
	if jq == "" {
		return nil
	}
	p.at += 2 * fields
	if rest, ok := strings.CutPrefix(jq, "."); ok {
		n := &node{op: opDot, scope: p.root}
		for part := range strings.SplitSeq(rest, ".") {
			if part != "" {
				n = field(n, part)
			}
		}
		return n
	}
	return term(jq)
}

// Inputs are the names that other tools give to the object that jq calls `.`.
func Inputs() []string {
	return []string{"self", "schema", "this", "cr", "parent", "object", "resource", "instance"}
}

// pathAhead returns the names of the fields that follow, as far as they are plain.
func (p *parser) pathAhead() []string {
	var out []string
	for i := 0; p.peek(i).text == "." && !p.peek(i).space; {
		if p.peek(i+1).text == "?" {
			i++
		}
		if p.peek(i+1).kind != word || p.peek(i+2).text == "(" {
			break
		}
		out = append(out, p.peek(i+1).text)
		i += 2
	}
	return out
}

// prefixCall reads name a b, as Go templates call functions.
func (p *parser) prefixCall(name string) *node {
	args := p.prefixArguments()
	if n := p.applyPrefix(name, args); n != nil {
		return n
	}
	if p.known(name, len(args)) {
		return call(name, args...)
	}
	return p.fail()
}

// known reports whether jq has a function.
func (p *parser) known(name string, args int) bool {
	return jq.IsName(name) && p.context.Function != nil && p.context.Function(name, args)
}

func term(text string) *node { return &node{op: opTerm, text: text} }

func field(base *node, name string) *node { return &node{op: opField, text: name, args: []*node{base}} }

func call(name string, args ...*node) *node { return &node{op: opCall, text: name, args: args} }

func pipe(from, to *node) *node {
	return &node{op: opPipe, args: []*node{from, to}, scope: &scope{name: "value"}}
}

func binary(left *node, operator string, right *node) *node {
	return &node{op: opBinary, text: operator, args: []*node{left, right}}
}

// not negates a condition.
func not(n *node) *node {
	if n.op == opBinary {
		if other := map[string]string{"==": "!=", "!=": "=="}[n.text]; other != "" {
			return binary(n.args[0], other, n.args[1])
		}
	}
	return pipe(n, call("not"))
}
