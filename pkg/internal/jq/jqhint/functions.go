package jqhint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// pattern is what functions of other languages are in jq. S is the value that they are
// for, A and B are further arguments.
type pattern struct {
	names string
	args  int // further arguments
	jq    string
}

var patterns = []pattern{
	{"len size count", 0, `S | length`},
	{"lower toLower toLowerCase lowerAscii lowercase downcase", 0, `S | ascii_downcase`},
	{"upper toUpper toUpperCase upperAscii uppercase upcase", 0, `S | ascii_upcase`},
	{"trim strip trimSpace trimAll", 0, `S | trim`},
	{"startsWith hasPrefix startswith", 1, `S | startswith(A)`},
	{"endsWith hasSuffix endswith", 1, `S | endswith(A)`},
	{"matches regexMatch mustRegexMatch", 1, `S | test(A)`},
	{"trimPrefix removeprefix removePrefix", 1, `S | ltrimstr(A)`},
	{"trimSuffix removesuffix removeSuffix", 1, `S | rtrimstr(A)`},
	{"replace replaceAll", 2, `S | split(A) | join(B)`},
	{"substring slice", 1, `S[A:]`},
	{"substring substr slice", 2, `S[A:B]`},
	{"trunc truncate", 1, `S[:A]`},
	{"indexOf", 1, `(S | index(A)) // -1`},
	{"split splitList", 1, `S | split(A)`},
	{"join", 1, `S | join(A)`},
	{"join", 0, `S | join("")`},
	{"string str toString String", 0, `S | tostring`},
	{"int int64 integer float float64 double uint toInt toNumber number Number parseInt parseFloat atoi", 0, `S | tonumber`},
	{"bool toBool", 0, `S | toboolean`},
	{"toJson toJSON toRawJson to_json tojson json.marshal json.dumps JSON.stringify jsonencode", 0, `S | tojson`},
	{"fromJson fromJSON from_json fromjson json.unmarshal json.loads JSON.parse jsondecode", 0, `S | fromjson`},
	{"quote squote toYaml toYAML to_yaml dyn bytes range toList", 0, `S`},
	{"nindent indent required", 1, `S`},
	{"b64enc b64encode base64 base64encode base64.encode", 0, `S | @base64`},
	{"b64dec b64decode base64decode base64.decode", 0, `S | @base64d`},
	{"urlquery urlencode", 0, `S | @uri`},
	{"default orValue orElse else", 1, `S // A`},
	{"ternary", 2, `if S then A else B end`},
	{"has hasValue exists defined isset present", 0, `S != null`},
	{"isNull is_null isNil isnull", 0, `S == null`},
	{"empty isEmpty is_empty", 0, `(S | length) == 0`},
	{"hasKey containsKey has_key haskey", 1, `S | has(A)`},
	{"get", 1, `S[A]`},
	{"get", 2, `S[A] // B`},
	{"first", 0, `S | first`},
	{"last", 0, `S | last`},
	{"rest", 0, `S[1:]`},
	{"initial", 0, `S[:-1]`},
	{"uniq distinct", 0, `S | unique`},
	{"sorted sortAlpha", 0, `S | sort`},
	{"sum", 0, `S | add`},
	{"until untilStep lists.range", 0, `[range(S)]`},
	{"type typeOf kindOf typeof", 0, `S | type`},
	{"concat", 1, `S + A`},
	{"append", 1, `S + [A]`},
	{"eq", 1, `S == A`},
	{"ne", 1, `S != A`},
	{"lt", 1, `S < A`},
	{"le", 1, `S <= A`},
	{"gt", 1, `S > A`},
	{"ge", 1, `S >= A`},
	{"add", 1, `S + A`},
	{"sub", 1, `S - A`},
	{"mul", 1, `S * A`},
	{"div", 1, `S / A | floor`},
	{"mod", 1, `S % A`},
	{"sha256sum", 0, `S | sha256`},
	{"sha1sum sha1 md5 md5sum hash adler32sum fnv", 0, `S | fingerprint`},
	{"max math.greatest Math.max", 1, `[S, A] | max`},
	{"min math.least Math.min", 1, `[S, A] | min`},
	{"ceil math.ceil Math.ceil", 0, `S | ceil`},
	{"floor math.floor Math.floor", 0, `S | floor`},
	{"round math.round Math.round", 0, `S | round`},
	{"keys keys_unsorted", 0, `S | keys`},
	{"values", 0, `[S[]]`},
	{"coalesce", 1, `S // A`},
	{"coalesce", 2, `S // A // B`},
}

// Equivalent returns what a function of another language is in jq, as VALUE | length; "" if
// it has no equivalent.
func Equivalent(function string) string {
	for _, known := range patterns {
		if slices.Contains(strings.Fields(known.names), function) {
			return strings.NewReplacer("S", "VALUE", "A", "a", "B", "b").Replace(known.jq)
		}
	}
	return ""
}

// subjectFirst are the functions of Helm that name their subject first. The others name it
// last.
var subjectFirst = []string{
	"eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "div", "mod", "max", "min", "coalesce", "hasKey", "get", "append", "concat",
}

// namespaces have functions in CEL, Python and JavaScript.
var namespaces = map[string]bool{"base64": true, "json": true, "JSON": true, "math": true, "Math": true, "lists": true, "strings": true}

// apply returns what a function makes of its subject; nil for an unknown function.
func (p *parser) apply(name string, subject *node, args []*node) *node {
	switch {
	case (name == "contains" || name == "includes") && len(args) == 1:
		return p.contains(subject, args[0])
	case name == "and" || name == "or":
		return nil
	}
	for _, known := range patterns {
		if known.args == len(args) && slices.Contains(strings.Fields(known.names), name) {
			return p.filled(known.jq, subject, args)
		}
	}
	return nil
}

// filled reads a pattern with its arguments.
func (p *parser) filled(pattern string, subject *node, args []*node) *node {
	if strings.Contains(pattern, "S | ") || strings.Contains(pattern, "S[") {
		subject = p.guard(subject)
	}
	inner := *p
	inner.tokens, _ = lex(pattern)
	inner.at, inner.bound, inner.variables = 0, map[string]*node{"S": subject}, nil
	inner.context.Value = nil
	for i, arg := range args {
		inner.bound[string(rune('A'+i))] = arg
	}
	n := inner.expression()
	p.failed = p.failed || inner.failed
	return n
}

// contains is about a text or a list.
func (p *parser) contains(subject, value *node) *node {
	switch kind, _ := p.kindOf(subject); kind {
	case "array":
		return p.member(value, subject)
	case "object":
		return pipe(p.guard(subject), call("has", value))
	}
	return pipe(p.guard(subject), call("contains", value))
}

// member returns whether a list has a value, or an object a key.
func (p *parser) member(value, list *node) *node {
	if list.op == opList {
		return call("IN", append([]*node{value}, &node{op: opList, text: ",", args: list.args})...)
	}
	if kind, _ := p.kindOf(list); kind == "object" {
		return pipe(p.guard(list), call("has", value))
	}
	items := &node{op: opEach, args: []*node{list}}
	if _, nullable := p.kindOf(list); nullable {
		items = &node{op: opTry, args: []*node{items}}
	}
	return call("IN", value, items)
}

// guard gives a value that may be null a default.
func (p *parser) guard(n *node) *node {
	if !p.options.guarded {
		return n
	}
	kind, nullable := p.kindOf(n)
	other := map[string]string{"array": "[]", "object": "{}", "string": `""`, "integer": "0", "number": "0"}[kind]
	if !nullable || other == "" {
		return n
	}
	return binary(n, "//", term(other))
}

// kindOf returns the kind of a value, and whether it may be null; "" if it is unknown.
func (p *parser) kindOf(n *node) (kind string, nullable bool) {
	if p.context.Kind == nil {
		return "", false
	}
	text, ok := newPrinter(p.root).whole(n)
	if !ok {
		return "", false
	}
	return p.context.Kind(text)
}

// method reads base.name(arguments).
func (p *parser) method(base *node, name string) *node {
	if n := p.macro(base, name); n != nil {
		return n
	}
	item := p.itemOf(name)
	args, _ := p.arguments(item)
	if p.failed {
		return p.fail()
	}
	if (name == "format" || name == "sprintf") && base.op == opTerm {
		return p.format1(base, args)
	}
	if p.elementwise(name) && p.known(name, len(args)) {
		return pipe(p.guard(base), &node{op: opCall, text: name, args: args, scope: item})
	}
	if n := p.apply(name, base, args); n != nil {
		return n
	}
	if p.known(name, len(args)) {
		return pipe(p.guard(base), call(name, args...))
	}
	return p.fail()
}

// itemOf returns what . is in the last argument of a function of jq that looks at every
// item; nil for other functions.
func (p *parser) itemOf(name string) *scope {
	if !p.elementwise(name) {
		return nil
	}
	return &scope{name: "one"}
}

func (p *parser) elementwise(name string) bool {
	return slices.Contains(
		[]string{"map", "any", "all", "sort_by", "group_by", "min_by", "max_by", "unique_by", "with_entries", "map_values"},
		name,
	)
}

// macros are the calls in which CEL and JavaScript bind a variable, with the function of
// jq.
var macros = map[string]string{
	"map": "map", "filter": "select", "exists": "any", "some": "any", "any": "any", "all": "all", "every": "all", "find": "find",
	"exists_one": "one", "existsOne": "one", "sortBy": "sort_by", "flatMap": "flatten", "select": "select", "groupBy": "group_by",
}

// macro reads (variable, body) and variable => body; nil if it is neither.
func (p *parser) macro(subject *node, name string) *node {
	function, known := macros[name]
	offset := 1
	if p.peek(1).text == "(" && p.peek(3).text == ")" { // (x) => body
		offset = 2
	}
	variable, after := p.peek(offset), p.peek(2*offset)
	if !known || variable.kind != word || !slices.Contains([]string{",", ";", "=>"}, after.text) ||
		after.text != "=>" && p.known(variable.text, 0) {
		return nil
	}
	p.at += 2*offset + 1
	item := &scope{name: variable.text}
	before := p.variables
	p.variables = map[string]*scope{}
	for name, s := range before {
		p.variables[name] = s
	}
	p.variables[variable.text] = item
	body := p.expression()
	var result *node
	if p.accept(",", ";") {
		result = p.expression()
	}
	p.expect(")")
	p.variables = before
	return p.comprehension(p.guard(subject), function, body, result, item)
}

func (p *parser) comprehension(list *node, function string, body, result *node, item *scope) *node {
	over := func(name string, body *node) *node {
		return &node{
			op:    opPipe,
			args:  []*node{list, {op: opCall, text: name, args: []*node{body}, scope: item}},
			scope: &scope{name: "value"},
		}
	}
	selected := &node{op: opCall, text: "select", args: []*node{body}, scope: item}
	switch function {
	case "select":
		return over("map", selected)
	case "find":
		return pipe(over("map", selected), call("first"))
	case "one":
		return binary(pipe(over("map", selected), call("length")), "==", term("1"))
	case "flatten":
		return pipe(over("map", body), call("flatten", term("1")))
	case "map":
		if result != nil { // CEL: map(x, condition, value)
			return over("map", &node{op: opPipe, args: []*node{selected, result}, scope: item})
		}
	}
	if result != nil {
		return p.fail()
	}
	return over(function, body)
}

// function reads name(arguments).
func (p *parser) function(name string) *node {
	start, failed := p.at, p.failed
	item := p.itemOf(name)
	args, separator := p.arguments(item)
	if p.failed {
		return p.fail()
	}
	if len(args) == 0 {
		if p.known(name, 0) {
			return call(name)
		}
		return p.fail()
	}
	native := p.known(name, len(args)) && !(name == "has" && args[0].op == opField)
	if native && (separator != "," || !p.foreign(name, len(args)-1)) {
		return &node{op: opCall, text: name, args: args, scope: item}
	}
	if p.elementwise(name) || name == "filter" { // map(list, x, body) is nowhere, but filter(f) is
		p.at, p.failed = start, failed
		if name == "filter" && len(args) == 1 {
			inner := &scope{name: "one"}
			args, _ = p.arguments(inner)
			return &node{op: opCall, text: "map", args: []*node{{op: opCall, text: "select", args: args, scope: inner}}, scope: inner}
		}
		args, _ = p.arguments(nil)
	}
	switch name {
	case "printf", "sprintf", "format":
		return p.format1(args[0], args[1:])
	case "max", "min", "math.greatest", "math.least", "Math.max", "Math.min":
		if len(args) > 1 {
			return pipe(
				&node{op: opList, args: args},
				call(map[bool]string{true: "max", false: "min"}[strings.HasSuffix(name, "max") || strings.HasSuffix(name, "greatest")]),
			)
		}
	}
	if n := p.apply(name, args[0], args[1:]); n != nil {
		return n
	}
	if p.known(name, len(args)-1) { // of jq, with its input as an argument
		return pipe(p.guard(args[0]), call(name, args[1:]...))
	}
	return p.fail()
}

// foreign reports whether another language has a function.
func (p *parser) foreign(name string, args int) bool {
	return slices.ContainsFunc(patterns, func(known pattern) bool {
		return known.args == args && slices.Contains(strings.Fields(known.names), name)
	}) || name == "contains" && args == 1
}

// applyPrefix returns what a function of Helm makes of its arguments; nil for an unknown
// function.
func (p *parser) applyPrefix(name string, args []*node) *node {
	last := len(args) - 1
	switch {
	case last < 0:
		return nil
	case name == "and" || name == "or":
		n := args[0]
		for _, arg := range args[1:] {
			n = binary(n, name, arg)
		}
		return n
	case name == "printf":
		return p.format1(args[0], args[1:])
	case name == "list":
		return &node{op: opList, args: args}
	case name == "dict" && len(args)%2 == 0:
		for i := range args {
			if i%2 == 0 && args[i].op != opTerm {
				args[i] = &node{op: opList, text: "(", args: []*node{args[i]}}
			}
		}
		return &node{op: opObject, args: args}
	case name == "index":
		n := args[0]
		for _, key := range args[1:] {
			n = &node{op: opIndex, args: []*node{n, key}}
		}
		return n
	case name == "ternary" && last == 2:
		return p.apply(name, args[2], args[:2])
	case slices.Contains(subjectFirst, name):
		return p.apply(name, args[0], args[1:])
	}
	if n := p.apply(name, args[last], args[:last]); n != nil {
		return n
	}
	if p.known(name, last) && !p.known(name, last+1) {
		return pipe(p.guard(args[last]), call(name, args[:last]...))
	}
	return nil
}

var verb = regexp.MustCompile(`%[-+ 0#]*[0-9]*[sdvqf]|%%`)

// format1 returns a text with the values that %s and %d stand for.
func (p *parser) format1(template *node, values []*node) *node {
	literal, isText := strings.CutPrefix(template.text, `"`)
	literal, closed := strings.CutSuffix(literal, `"`)
	if len(values) == 1 && values[0].op == opList {
		values = values[0].args
	}
	if template.op != opTerm || !isText || !closed || strings.Contains(literal, `\(`) {
		return p.fail()
	}
	n := &node{op: opString}
	at := 0
	for _, found := range verb.FindAllStringIndex(literal, -1) {
		if literal[found[0]:found[1]] == "%%" {
			continue
		}
		if len(n.args)/2 >= len(values) {
			return p.fail()
		}
		n.args = append(n.args, term(unquoted(literal[at:found[0]])), values[len(n.args)/2])
		at = found[1]
	}
	if len(n.args)/2 != len(values) {
		return p.fail()
	}
	n.args = append(n.args, term(unquoted(literal[at:])))
	return n
}

// unquoted returns the text that a part of a string of jq stands for.
func unquoted(literal string) string {
	return strings.NewReplacer(`%%`, `%`, `\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(literal)
}

// isName reports whether a string of jq is the name of a field.
func isName(quoted string) (string, bool) {
	name, ok := strings.CutPrefix(quoted, `"`)
	name, closed := strings.CutSuffix(name, `"`)
	return name, ok && closed && jq.IsName(name)
}
