package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqhint"
)

// Node is a value for the pod, ready for JSON: one of {"object": {…}}, {"array": […]},
// {"value": literal}, {"expr": e} and {"concat": [e…]}. An expression e is a JSON array
// that begins with the name of its operation. As in a Template, a field whose value is
// null is omitted.
type Node = map[string]any

// ForPod compiles a value whose scalars may contain `${ }` for the pod, which runs
// Python without jq. It supports a subset of the jq that Template does, and reports
// what it does not support. It does not check names and types, as Template does that.
func ForPod(value any) (Node, []Problem) { return Scope{}.ForPod(value) }

// BareForPod compiles a bare jq expression for the pod.
func BareForPod(source string) (Node, []Problem) { return Scope{}.BareForPod(source) }

// ForPod is ForPod for a value that reads the variables of the scope.
func (s Scope) ForPod(value any) (Node, []Problem) {
	c := &podCompiler{scope: s}
	return c.value(nil, value), c.problems
}

// BareForPod is BareForPod for an expression that reads the variables of the scope.
func (s Scope) BareForPod(source string) (Node, []Problem) {
	c := &podCompiler{scope: s}
	return Node{"expr": c.expr(nil, bare(source).text)}, c.problems
}

type podCompiler struct {
	scope    Scope
	problems []Problem
	depth    int            // of inlined functions
	size     int            // number of operations so far
	bound    map[string]int // number of variables by name so far
	named    int            // of them, how many give $variables its value
}

func (c *podCompiler) problem(path []string, message, hint string) {
	c.problems = append(c.problems, Problem{Path: slices.Clone(path), Message: message, Hint: hint})
}

func (c *podCompiler) value(path []string, value any) Node {
	switch v := value.(type) {
	case map[string]any:
		fields := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fields[key] = c.value(append(path, key), v[key])
		}
		return Node{"object": fields}
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = c.value(append(path, strconv.Itoa(i)), item)
		}
		return Node{"array": items}
	case string:
		return c.scalar(path, v)
	default:
		return Node{"value": v}
	}
}

func (c *podCompiler) scalar(path []string, text string) Node {
	parts, err := split(text)
	if err != nil {
		c.problem(path, err.Error(), "write ${ expression }, or $${ for the characters ${")
		return nil
	}
	if len(parts) == 1 && !parts[0].expr {
		return Node{"value": parts[0].text}
	}
	exprs := make([]any, len(parts))
	for i, p := range parts {
		exprs[i] = []any{"lit", p.text}
		if p.expr {
			exprs[i] = c.expr(path, p.text)
		}
	}
	if len(exprs) == 1 {
		return Node{"expr": exprs[0]}
	}
	return Node{"concat": exprs}
}

// PodExpressions describes for users what the pod evaluates.
const PodExpressions = "a pod supports fields, [ ] and .[], //, comparisons, + - * / %, and, or, not, if, as, reduce, and the functions " +
	"in docs/reference/expressions.md; for anything else, write logic"

func (c *podCompiler) expr(path []string, source string) any {
	query, err := parse(source)
	var variables []*Variable
	if err == nil {
		if c.scope.choose(query, source) {
			source = query.String()
		}
		if variables = c.scope.variablesOf(query); len(variables) > 0 {
			query, err = parse(bound(variables, source+"\n")) // it may end in a comment
		}
	}
	if err != nil {
		c.problem(path, err.Error(), jqhint.Syntax(source, err))
		return nil
	}
	c.size, c.bound, c.named = 0, map[string]int{}, 0
	for _, v := range variables {
		if v.root == variablesRoot {
			c.named++
		}
	}
	e, err := c.query(query, nil)
	if err == nil && depth(e) > maxDepth {
		err = fmt.Errorf("the expression is nested deeper than the %d levels that a pod takes", maxDepth)
	}
	if err != nil {
		hint := PodExpressions
		if r := (&refused{}); errors.As(err, &r) {
			hint = r.hint
		}
		c.problem(path, c.unfitVariable(variables)+err.Error(), hint)
		return nil
	}
	return e
}

// unfitVariable names the first of some variables that a pod cannot evaluate, before the reason.
func (c *podCompiler) unfitVariable(variables []*Variable) string {
	for _, v := range variables {
		alone := &podCompiler{scope: c.scope, bound: map[string]int{}}
		query, err := parse(v.source)
		if err == nil {
			_, err = alone.query(query, nil)
		}
		if err != nil {
			return "$variables." + v.name + ": "
		}
	}
	return ""
}

// names maps the functions and variables that are in scope, and the arguments of the
// enclosing functions. Functions are inlined, because the pod has only its own
// functions. Every variable gets a unique name, so that an inlined body does not hide a
// variable of its caller.
type names struct {
	above    *names
	name     string
	args     []string
	body     *gojq.Query
	argument bool   // body is an argument of a function call, in the scope `in` of the call
	variable string // of a variable: its name in the pod. body, if it is known, is its value in the scope `in`
	in       *names
}

func (n *names) find(name string, args int) *names {
	for ; n != nil; n = n.above {
		if n.name == name && len(n.args) == args {
			return n
		}
	}
	return nil
}

// inPod returns the name of a variable in the pod.
func (n *names) inPod(name string) string {
	if v := n.find(name, 0); v != nil {
		return v.variable
	}
	return name // $children and other predefined variables
}

// declare adds a variable.
func (c *podCompiler) declare(name string, known *names) *names {
	c.bound[name]++
	unique := name
	if n := c.bound[name]; n > 1 || slices.Contains(variables(), name) {
		unique += "." + strconv.Itoa(n)
	}
	return &names{above: known, name: name, variable: unique}
}

const (
	// maxInlined limits the depth of inlining. Only a recursive function reaches it.
	maxInlined = 60
	// maxSize limits the operations of an expression after inlining: ten functions that
	// call each other twice expand to thousands.
	maxSize = 20_000
	// maxDepth limits the nesting of operations: the pod needs a Python stack frame for
	// each, and more for nested values.
	maxDepth = 200
)

// binary maps the operators with two value operands.
var binary = map[gojq.Operator]string{
	gojq.OpEq: "eq", gojq.OpNe: "ne", gojq.OpLt: "lt", gojq.OpLe: "le", gojq.OpGt: "gt", gojq.OpGe: "ge",
	gojq.OpAdd: "add", gojq.OpSub: "sub", gojq.OpMul: "mul", gojq.OpDiv: "div", gojq.OpMod: "mod",
	gojq.OpAlt: "alt", gojq.OpAnd: "and", gojq.OpOr: "or", gojq.OpComma: "comma", gojq.OpPipe: "pipe",
}

func (c *podCompiler) query(q *gojq.Query, known *names) (any, error) {
	if len(q.Imports) > 0 || q.Meta != nil {
		return nil, fmt.Errorf("expressions have no modules")
	}
	if c.size++; c.size > maxSize {
		return nil, fmt.Errorf("with its functions written out, the expression is larger than a pod takes")
	}
	for _, def := range q.FuncDefs {
		if def.Name != fingerprint || def.String() != podFingerprint() { // the pod has a faster one
			known = &names{above: known, name: def.Name, args: def.Args, body: def.Body, in: known}
		}
	}
	switch {
	case q.Term != nil:
		return c.term(q.Term, known)
	case q.Op == gojq.OpPipe && len(q.Patterns) > 0:
		return c.bind(q, known)
	}
	name, ok := binary[q.Op]
	if !ok {
		return nil, fmt.Errorf("a pod has no operator %s", q.Op)
	}
	form, err := c.form(name, known, q.Left, q.Right)
	if name == "comma" && err == nil {
		form = flatComma(form[1], form[2])
	}
	return form, err
}

// flatComma merges nested comma operators, so that a, b, c is one list.
func flatComma(left, right any) []any {
	form := []any{"comma"}
	for _, side := range []any{left, right} {
		if inner := side.([]any); inner[0] == "comma" {
			form = append(form, inner[1:]...)
		} else {
			form = append(form, inner)
		}
	}
	return form
}

// form returns an operation; a nil part is omitted.
func (c *podCompiler) form(name string, known *names, parts ...*gojq.Query) ([]any, error) {
	form := []any{name}
	for _, part := range parts {
		if part == nil {
			form = append(form, nil)
			continue
		}
		e, err := c.query(part, known)
		if err != nil {
			return nil, err
		}
		form = append(form, e)
	}
	return form, nil
}

// bind compiles `left as $x | right`.
func (c *podCompiler) bind(q *gojq.Query, known *names) (any, error) {
	name, err := pattern(q.Patterns)
	if err != nil {
		return nil, err
	}
	source, err := c.query(q.Left, known)
	if err != nil {
		return nil, err
	}
	inside := c.declare(name, known)
	inside.body, inside.in = q.Left, known
	body, err := c.query(q.Right, inside)
	return []any{"bind", source, body, inside.variable}, err
}

func pattern(patterns []*gojq.Pattern) (string, error) {
	if len(patterns) != 1 || patterns[0].Name == "" {
		return "", fmt.Errorf("a pod supports only one $name after `as`")
	}
	return patterns[0].Name, nil
}

func (c *podCompiler) term(t *gojq.Term, known *names) (any, error) {
	return c.suffixed(t, t.SuffixList, known)
}

// suffixed compiles a term with some of its suffixes. As in gojq, `?` applies to the
// one suffix before it, whose input is the term up to that suffix.
func (c *podCompiler) suffixed(t *gojq.Term, suffixes []*gojq.Suffix, known *names) (any, error) {
	if len(suffixes) == 0 {
		return c.primary(t, known)
	}
	before, last := suffixes[:len(suffixes)-1], suffixes[len(suffixes)-1]
	base, err := c.suffixed(t, before, known)
	if err != nil || !last.Optional {
		return c.suffix(base, last, known, err)
	}
	if len(before) == 0 || before[len(before)-1].Optional {
		return []any{"try", base, nil}, nil
	}
	tried, err := c.suffix(input, before[len(before)-1], known, nil)
	if err != nil {
		return nil, err
	}
	base, err = c.suffixed(t, before[:len(before)-1], known)
	return []any{"pipe", base, []any{"try", tried, nil}}, err
}

func (c *podCompiler) suffix(base any, s *gojq.Suffix, known *names, err error) (any, error) {
	switch {
	case err != nil:
		return nil, err
	case s.Iter:
		return []any{"each", base}, nil
	}
	return c.index(base, s.Index, known)
}

var input = []any{"in"}

func (c *podCompiler) primary(t *gojq.Term, known *names) (any, error) {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return input, nil
	case gojq.TermTypeIndex:
		return c.index(input, t.Index, known)
	case gojq.TermTypeNull:
		return []any{"lit", nil}, nil
	case gojq.TermTypeTrue, gojq.TermTypeFalse:
		return []any{"lit", t.Type == gojq.TermTypeTrue}, nil
	case gojq.TermTypeNumber:
		return literal(t.Number)
	case gojq.TermTypeString:
		return c.str(t.Str, "", known)
	case gojq.TermTypeFormat:
		return c.format(t, known)
	case gojq.TermTypeQuery:
		return c.query(t.Query, known)
	case gojq.TermTypeFunc:
		return c.call(t.Func, known)
	case gojq.TermTypeArray:
		return c.form("collect", known, t.Array.Query)
	case gojq.TermTypeObject:
		return c.object(t.Object, known)
	}
	return c.statement(t, known)
}

func (c *podCompiler) statement(t *gojq.Term, known *names) (any, error) {
	switch t.Type {
	case gojq.TermTypeIf:
		return c.conditional(t.If.Cond, t.If.Then, t.If.Elif, t.If.Else, known)
	case gojq.TermTypeTry:
		return c.try(t.Try, known)
	case gojq.TermTypeReduce:
		return c.reduce(t.Reduce, known)
	case gojq.TermTypeUnary:
		return c.unary(t.Unary, known)
	}
	return nil, fmt.Errorf("a pod does not know %q", t)
}

func (c *podCompiler) try(t *gojq.Try, known *names) (any, error) {
	form, err := c.form("try", known, t.Body, t.Catch)
	if err != nil {
		return nil, err
	}
	if name := untranslatableIn(form[1]); name != "" && form[2] != nil && readsInput(form[2]) {
		return nil, &refused{
			"catch reads the error text of " + name + ", which differs in a pod",
			"after catch, write a value that does not depend on the error, such as catch null",
		}
	}
	return form, nil
}

func (c *podCompiler) reduce(r *gojq.Reduce, known *names) (any, error) {
	name, err := pattern([]*gojq.Pattern{r.Pattern})
	if err != nil {
		return nil, err
	}
	form, err := c.form("reduce", known, r.Query, r.Start)
	if err != nil {
		return nil, err
	}
	inside := c.declare(name, known)
	update, err := c.query(r.Update, inside)
	return append(form, update, inside.variable), err
}

func (c *podCompiler) unary(u *gojq.Unary, known *names) (any, error) {
	if u.Term.Type == gojq.TermTypeNumber {
		return constant(&gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeUnary, Unary: u}})
	}
	inner, err := c.term(u.Term, known)
	name := "_plus/0"
	if u.Op == gojq.OpSub {
		name = "_negate/0"
	}
	return []any{"pipe", inner, []any{"call", name}}, err
}

// literal parses a jq number, which need not be JSON: .5, 5. and 007.
func literal(text string) ([]any, error) {
	if len(text) > maxDigits {
		return nil, fmt.Errorf("a pod takes numbers of at most %d digits", maxDigits)
	}
	return []any{"lit", podNumber(text)}, nil
}

const maxDigits = 1000

// podNumber formats a jq number as JSON that Python parses to the same value: integers
// of any size without, and floating point numbers with a dot or an exponent.
func podNumber(text string) json.Number {
	if !strings.ContainsAny(text, ".eE") {
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return json.Number(n.String())
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil { // too large: infinite in gojq and in Python
		return "1e999"
	}
	digits := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(digits, ".e") {
		digits += ".0"
	}
	return json.Number(digits)
}

// constant compiles a query that gojq treats as a constant inside [ ]; nil if it is not
// one.
func constant(q *gojq.Query) ([]any, error) {
	switch t := q.Term; {
	case t == nil:
	case t.Type == gojq.TermTypeNumber:
		return literal(t.Number)
	case t.Type == gojq.TermTypeUnary && t.Unary.Term.Type == gojq.TermTypeNumber:
		lit, err := literal(t.Unary.Term.Number)
		if err == nil && t.Unary.Op == gojq.OpSub && lit[1] != json.Number("0") {
			lit[1] = "-" + lit[1].(json.Number)
		}
		return lit, err
	case t.Type == gojq.TermTypeString && t.Str.Queries == nil:
		return []any{"lit", t.Str.Str}, nil
	}
	return nil, nil
}

func (c *podCompiler) conditional(cond, then *gojq.Query, elif []*gojq.IfElif, otherwise *gojq.Query, known *names) (any, error) {
	form, err := c.form("if", known, cond, then)
	if err != nil {
		return nil, err
	}
	var no any = input // jq: an absent else is the input
	switch {
	case len(elif) > 0:
		no, err = c.conditional(elif[0].Cond, elif[0].Then, elif[1:], otherwise, known)
	case otherwise != nil:
		no, err = c.query(otherwise, known)
	}
	if err != nil {
		return nil, err
	}
	return append(form, no), nil
}

func (c *podCompiler) object(o *gojq.Object, known *names) (any, error) {
	pairs := []any{}
	for _, kv := range o.KeyVals {
		key, value, err := c.pair(kv, known)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, []any{key, value})
	}
	return []any{"make", pairs}, nil
}

func (c *podCompiler) pair(kv *gojq.ObjectKeyVal, known *names) (key, value any, err error) {
	bare := kv.Key
	switch {
	case kv.KeyQuery != nil:
		key, err = c.query(kv.KeyQuery, known)
	case kv.KeyString != nil:
		key, err = c.str(kv.KeyString, "", known)
	case strings.HasPrefix(bare, "$") && kv.Val != nil: // {$x: 1} is {($x): 1}
		key = []any{"var", known.inPod(bare)}
	default:
		key = []any{"lit", strings.TrimPrefix(bare, "$")}
	}
	switch {
	case err != nil:
		return nil, nil, err
	case kv.Val != nil:
		value, err = c.query(kv.Val, known)
	case strings.HasPrefix(bare, "$"): // {$x} is {x: $x}
		value = []any{"var", known.inPod(bare)}
	case kv.KeyString != nil && kv.KeyString.Queries != nil: // the field of the input with the computed key
	default: // {a} is {a: .a}
		value = []any{"at", input, key}
	}
	return key, value, err
}

func (c *podCompiler) str(s *gojq.String, format string, known *names) (any, error) {
	if len(s.Queries) == 0 {
		return []any{"lit", s.Str}, nil
	}
	form := []any{"text", format}
	for _, q := range s.Queries {
		if q.Term != nil && q.Term.Type == gojq.TermTypeString && len(q.Term.Str.Queries) == 0 && len(q.Term.SuffixList) == 0 {
			form = append(form, []any{"lit", q.Term.Str.Str})
			continue
		}
		e, err := c.query(q, known)
		if err != nil {
			return nil, err
		}
		form = append(form, []any{"value", e})
	}
	return form, nil
}

// podFormats are the formats that the pod supports.
var podFormats = []string{"@text", "@json", "@base64", "@base64d", "@html", "@sh", "@uri"}

func (c *podCompiler) format(t *gojq.Term, known *names) (any, error) {
	if !slices.Contains(podFormats, t.Format) {
		return nil, fmt.Errorf("a pod does not know %s", t.Format)
	}
	if t.Str != nil {
		return c.str(t.Str, t.Format, known)
	}
	return []any{"call", t.Format}, nil
}

func (c *podCompiler) index(base any, i *gojq.Index, known *names) (any, error) {
	switch {
	case i.Name != "":
		return []any{"get", base, i.Name}, nil
	case i.Str != nil && len(i.Str.Queries) == 0:
		return []any{"get", base, i.Str.Str}, nil
	case i.Str != nil:
		key, err := c.str(i.Str, "", known)
		return []any{"at", base, key}, err
	case i.IsSlice:
		return c.slice(base, i, known)
	}
	key, err := constant(i.Start)
	switch {
	case err != nil:
		return nil, err
	case key == nil:
		key, err := c.query(i.Start, known)
		return []any{"at", base, key}, err
	}
	if name, ok := key[1].(string); ok {
		return []any{"get", base, name}, nil
	}
	return []any{"at", base, key}, nil
}

func (c *podCompiler) slice(base any, i *gojq.Index, known *names) (any, error) {
	form := []any{"slice", nil, nil, base}
	for at, edge := range []*gojq.Query{i.Start, i.End} {
		if edge == nil {
			continue
		}
		e, err := c.query(edge, known)
		if err != nil {
			return nil, err
		}
		form[at+1] = e
	}
	return form, nil
}

// call compiles a variable, or a function that the expression, the prelude or the pod
// defines.
func (c *podCompiler) call(f *gojq.Func, known *names) (any, error) {
	if strings.HasPrefix(f.Name, "$") {
		return []any{"var", known.inPod(f.Name)}, nil
	}
	if def := known.find(f.Name, len(f.Args)); def != nil {
		return c.inline(def, f.Args, known)
	}
	full := fmt.Sprintf("%s/%d", f.Name, len(f.Args))
	if def := prelude()[full]; def != nil {
		return c.inline(def, f.Args, known)
	}
	if s, ok := searches[full]; ok {
		return c.search(s, f, known)
	}
	if form, ok := closures[full]; ok {
		return c.form(form, known, f.Args...)
	}
	if !slices.Contains(podFunctions, full) {
		return nil, fmt.Errorf("a pod does not have the function %s", f.Name)
	}
	form, err := c.form("call", known, f.Args...)
	if err != nil {
		return nil, err
	}
	return slices.Insert(form, 1, any(full)), nil
}

// inline compiles the body of a function. Its arguments are functions, too.
func (c *podCompiler) inline(def *names, args []*gojq.Query, known *names) (any, error) {
	if c.depth >= maxInlined {
		return nil, fmt.Errorf("a pod knows no function that calls itself, as %s does", def.name)
	}
	c.depth++
	defer func() { c.depth-- }()
	if def.argument {
		return c.query(def.body, def.in)
	}
	inside := def
	for i, arg := range def.args {
		inside = &names{above: inside, name: strings.TrimPrefix(arg, "$"), body: args[i], argument: true, in: known}
	}
	var binds [][]any
	for i, arg := range def.args {
		if !strings.HasPrefix(arg, "$") {
			continue
		}
		value, err := c.query(args[i], known)
		if err != nil {
			return nil, err
		}
		inside = c.declare(arg, inside)
		inside.body, inside.in = args[i], known
		binds = append(binds, []any{"bind", value, nil, inside.variable})
	}
	body, err := c.query(def.body, inside)
	for _, bind := range slices.Backward(binds) {
		bind[2] = body
		body = bind
	}
	return body, err
}

// prelude returns the functions that the jq manual defines in jq.
var prelude = sync.OnceValue(func() map[string]*names {
	const source = `
def map(f): [.[] | f];
def select(f): if f then . else empty end;
def not: if . then false else true end;
def values: select(. != null);
def nulls: select(. == null);
def strings: select(type == "string");
def numbers: select(type == "number");
def booleans: select(type == "boolean");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def scalars: select(type | . != "array" and . != "object");
def add(f): [f] | add;
def isempty(g): [first(g)] == [];
def any: any(.);
def any(f): any(.[]; f);
def any(g; f): isempty(g | select(f)) | not;
def all: all(.);
def all(f): all(.[]; f);
def all(g; f): isempty(g | select(f | not));
def in(xs): . as $x | xs | has($x);
def IN(s): any(s == .; .);
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def to_entries: [keys[] as $k | {key: $k, value: .[$k]}];
def from_entries: map({(.key // .Key // .name // .Name): (if has("value") then .value else .Value end)}) | add // {};
def with_entries(f): to_entries | map(f) | from_entries;
def range($end): _range(0; $end; 1);
def range($start; $end): _range($start; $end; 1);
def range($start; $end; $step): _range($start; $end; $step);
def sort_by(f): _sort_by(map([f]));
def group_by(f): _group_by(map([f]));
def unique_by(f): _unique_by(map([f]));
def min_by(f): _min_by(map([f]));
def max_by(f): _max_by(map([f]));
def tojson: @json;
def todate: todateiso8601;
def fromdate: fromdateiso8601;
`
	own := ""
	for _, f := range ownFunctions {
		if f.name != fingerprint { // the pod has it
			own += f.jq
		}
	}
	query, err := gojq.Parse(source + own + "0")
	if err != nil {
		panic(fmt.Sprintf("expression: the prelude is no jq: %v", err)) // unreachable
	}
	var list *names
	table := map[string]*names{}
	for _, def := range query.FuncDefs {
		list = &names{above: list, name: def.Name, args: def.Args, body: def.Body}
		table[fmt.Sprintf("%s/%d", def.Name, len(def.Args))] = list
	}
	return table
})

// fingerprint is the function that the pod has itself.
const fingerprint = "fingerprint"

// podFingerprint returns its definition, as it is before expressions that call it.
var podFingerprint = sync.OnceValue(func() string {
	source, _ := withFunctions("0", &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: fingerprint}}})
	query, err := gojq.Parse(source)
	if err != nil {
		panic(fmt.Sprintf("expression: the definition of fingerprint is no jq: %v", err)) // unreachable
	}
	return query.FuncDefs[0].String()
})

// closures maps functions that take expressions to operations; podFunctions are the
// functions that take values.
var closures = map[string]string{
	"empty/0": "empty", "first/1": "first", "last/1": "last", "limit/2": "limit", "map_values/1": "values",
}

var podFunctions = []string{
	"abs/0", "add/0", "ascii_downcase/0", "ascii_upcase/0", "ceil/0", "contains/1", "endswith/1", "error/0", "error/1",
	"explode/0", "fingerprint/0", "flatten/0", "flatten/1", "floor/0", "fromdateiso8601/0", "fromjson/0", "has/1", "implode/0", "index/1",
	"inside/1",
	"join/1", "keys/0", "length/0", "ltrimstr/1", "max/0", "min/0", "reverse/0", "round/0", "rtrimstr/1",
	"sha256/0", "sort/0", "split/1", "startswith/1", "todateiso8601/0", "tonumber/0", "tostring/0", "trim/0", "type/0", "unique/0",
	"_range/3", "_sort_by/1", "_group_by/1", "_unique_by/1", "_min_by/1", "_max_by/1",
}
