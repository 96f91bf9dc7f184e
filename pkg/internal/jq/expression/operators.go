package expression

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqhint"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// ofNumber returns the kind of a number literal.
func ofNumber(text string) kinds {
	if strings.ContainsAny(text, ".eE") {
		return number
	}
	return integer
}

func (a *analyser) unary(u *gojq.Unary, in value, names *env) result {
	r := a.term(u.Term, in, names)
	a.use(r.value)
	a.wants(u.Term, r.value, number, u.Op.String()+" takes")
	if r.value = some(r.kinds & number); r.kinds == 0 {
		r.value = unknown()
	}
	return r
}

func (a *analyser) operator(q *gojq.Query, in value, names *env) result {
	switch q.Op {
	case gojq.OpAlt:
		return a.alternative(q, in, names)
	case gojq.OpAnd, gojq.OpOr:
		return a.losing(func() result { return a.logical(q, in, names) })
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe:
		return a.losing(func() result { return a.comparison(q, in, names) })
	case gojq.OpAdd, gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod:
		return a.arithmetic(q, in, names)
	}
	return a.update(q, in, names)
}

// logical walks `and` and `or`.
func (a *analyser) logical(q *gojq.Query, in value, names *env) result {
	before := len(a.guards)
	if q.Op == gojq.OpAnd {
		a.pending = append(a.pending, q.Right)
	}
	left := a.tested(q.Left, in, names)
	if q.Op == gojq.OpAnd {
		a.pending = a.pending[:len(a.pending)-1]
	}
	a.assigned(q.Right)
	a.branches++
	right := a.query(q.Right, in, names)
	a.branches--
	a.guards = a.guards[:before]
	a.use(right.value)
	r := left.then(right)
	r.value, r.min = some(boolean), min(left.min, right.min)
	return r
}

// update walks an assignment, which yields a copy of its input with another value at a
// path.
func (a *analyser) update(q *gojq.Query, in value, names *env) result {
	a.use(in)
	a.pathsOnly++ // the path need not exist
	a.use(a.query(q.Left, in, names).value)
	a.pathsOnly--
	right := one(unknown())
	if q.Op == gojq.OpModify {
		a.use(a.query(q.Right, unknown(), names).value)
	} else {
		right = a.query(q.Right, in, names)
		a.use(right.value)
	}
	return right.then(one(value{kinds: in.kinds&^null&(object|array) | in.kinds&null*(object|array)}))
}

// alternative walks left // right: the values of left other than null and false, or
// those of right if there are none.
func (a *analyser) alternative(q *gojq.Query, in value, names *env) result {
	a.branches++
	a.defaulted++
	left := a.query(q.Left, in, names)
	a.defaulted--
	a.looseDefault(q)
	right := a.query(q.Right, in, names)
	a.branches--
	a.look(left.value)
	a.neverOther(q, left.value, right.value)
	if left.kinds&^null == boolean && isTrue(q.Right) {
		a.report(q, Problem{
			Code: DefaultReplacesFalse, Warning: true,
			Message: fmt.Sprintf("%s is true even if %s is false: // replaces false, too", a.shown(q), a.called(q.Left, left.value)),
			Fix:     a.unlessFalse(q), Caveat: "or give the field a default in the schema",
		})
	}
	r := result{join(left.present(), right.value), right.min, max(left.max, right.max)}
	if left.min > 0 && left.kinds&(null|boolean) == 0 {
		r.min = 1
	}
	r.absent = right.absent
	return r
}

// unlessFalse returns `left // true` as a comparison that keeps false.
func (a *analyser) unlessFalse(q *gojq.Query) string {
	left := a.source(q.Left)
	if !jqhint.PlainPath(left) {
		left = "(" + left + ")"
	}
	if len(a.source(q)) == len(a.text) {
		return left + " != false"
	}
	return "(" + left + " != false)"
}

func isTrue(q *gojq.Query) bool {
	return q.Term != nil && q.Term.Type == gojq.TermTypeTrue && len(q.Term.SuffixList) == 0
}

// wide treats integers and fractions as one kind, for comparisons.
func wide(k kinds) kinds {
	if k&number != 0 {
		k |= number
	}
	return k
}

func (a *analyser) comparison(q *gojq.Query, in value, names *env) result {
	left, right := a.query(q.Left, in, names), a.query(q.Right, in, names)
	a.use(left.value)
	a.use(right.value)
	a.neverNull(q, left.value, right.value)
	l, r := left.kinds&^null, right.kinds&^null
	if l != 0 && r != 0 && wide(l)&wide(r) == 0 {
		a.misfit(q, fmt.Sprintf("%s is %s and %s is %s: %s cannot compare them",
			a.called(q.Left, left.value), l, a.called(q.Right, right.value), r, q.Op), "")
	} else if q.Op != gojq.OpEq && q.Op != gojq.OpNe {
		if !isZero(left.value, q.Op, right.value, q.Right) {
			a.missing(q.Left, left.value, "null is less than any other value")
		}
		if !isZero(right.value, mirrored[q.Op], left.value, q.Left) {
			a.missing(q.Right, right.value, "null is less than any other value")
		}
	} else {
		a.neverZero(q, q.Left, left.value, q.Right, right.value)
		a.neverZero(q, q.Right, right.value, q.Left, left.value)
		if q.Op == gojq.OpNe {
			a.notEmpty(q.Left, left.value, right.value)
			a.notEmpty(q.Right, right.value, left.value)
		}
	}
	both := left.then(right)
	both.value = some(boolean)
	return both
}

// neverZero warns of a comparison of a count of a built-in kind with 0, or with a field that can be 0:
// the API server omits the count then.
func (a *analyser) neverZero(q *gojq.Query, node *gojq.Query, v value, otherNode *gojq.Query, other value) {
	if len(v.from) != 1 || v.kinds&null == 0 || a.lenient > 0 || a.guarded(v.from[0]) || !a.omitsZero(v.from[0]) {
		return
	}
	count := v.from[0]
	hint := fmt.Sprintf("write (%s // 0)", a.written(node, v, count))
	if n, literal := numberLiteral(otherNode); literal && n == 0 {
		result := map[gojq.Operator]string{gojq.OpNe: "true", gojq.OpEq: "false"}[q.Op]
		a.report(node, Problem{
			Code: MayBeNull, Warning: true, Hint: hint,
			Message: fmt.Sprintf("the API server omits %s while it is 0, so %s is always %s", count, a.shown(q), result),
		})
		return
	}
	if q.Op != gojq.OpEq || len(other.from) != 1 || other.from[0].root != inputRoot {
		return
	}
	field := other.from[0]
	zero := schema.MayBeZero(other.shape)
	if a.scope.Live {
		zero = a.scope.Zero != nil && a.scope.Zero(field.path)
	}
	if zero && !TestsNumber(a.text, field.String()) {
		a.report(node, Problem{
			Code: MayBeNull, Warning: true, Hint: hint,
			Message: fmt.Sprintf("the API server omits %s while it is 0, so this is false when %s is 0", count, field),
		})
	}
}

// omitsZero reports whether the API server omits what is at a path while it is 0.
func (a *analyser) omitsZero(from read) bool {
	path, in := from.path, a.scope.Input
	if from.root == childrenRoot && len(path) > 1 {
		path, in = path[1:], a.scope.Children[path[0]]
	} else if from.root != inputRoot {
		return false
	}
	last := len(path) - 1
	return in != nil && last > 0 && schema.OmitsZero(schema.At(in, path[:last]...), path[last])
}

// TestsNumber reports whether an expression compares a path with a number.
func TestsNumber(text, path string) bool {
	const compares = `\s*(==|!=|<=?|>=?)\s*`
	quoted := regexp.QuoteMeta(path)
	tests, err := regexp.Compile(quoted + compares + `[0-9]|[0-9]` + compares + quoted)
	return err == nil && tests.MatchString(text)
}

// notEmpty warns of a comparison with the empty string, which null passes, unless the other
// operand of `and` is about the value, too.
func (a *analyser) notEmpty(node *gojq.Query, v, other value) {
	if v.absent == nil || other.text == nil || *other.text != "" {
		return
	}
	path := v.absent.read.String()
	if !slices.ContainsFunc(a.pending, func(q *gojq.Query) bool { return strings.Contains(a.source(q), path) }) {
		a.missing(node, v, `null != "" is true`)
	}
}

// mirrored maps comparisons to those with swapped operands.
var mirrored = map[gojq.Operator]gojq.Operator{gojq.OpLt: gojq.OpGt, gojq.OpLe: gojq.OpGe, gojq.OpGt: gojq.OpLt, gojq.OpGe: gojq.OpLe}

// isZero reports whether a missing value intentionally compares like 0: counters in a
// status are omitted while they are 0.
func isZero(v value, op gojq.Operator, other value, node *gojq.Query) bool {
	if v.absent == nil || len(v.from) != 1 || !slices.Contains(v.from[0].path, "status") {
		return false
	}
	if len(other.from) == 1 && other.from[0].String() == ".metadata.generation" {
		return op == gojq.OpLt || op == gojq.OpGe // it is 1 or more
	}
	n, literal := numberLiteral(node)
	return literal && (n > 0 || n == 0 && (op == gojq.OpLe || op == gojq.OpGt))
}

// numberLiteral returns the value of a literal number.
func numberLiteral(node *gojq.Query) (n float64, ok bool) {
	t := node.Term
	if t == nil || t.Type != gojq.TermTypeNumber || len(t.SuffixList) > 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(t.Number, 64)
	return n, err == nil
}

// pair is an operation of an operator on two kinds.
type pair struct{ left, right, makes kinds }

// arithmetics lists what the operators accept. Adding null yields the other operand.
var arithmetics = map[gojq.Operator][]pair{
	gojq.OpAdd: {
		{integer, integer, integer},
		{number, fraction, number},
		{fraction, number, number},
		{str, str, str},
		{array, array, array},
		{object, object, object},
		{null, anything, 0},
		{anything, null, 0}, // kind of the other operand
	},
	gojq.OpSub: {{integer, integer, integer}, {number, fraction, number}, {fraction, number, number}, {array, array, array}},
	gojq.OpMul: {
		{integer, integer, integer},
		{number, fraction, number},
		{fraction, number, number},
		{str, number, str | null},
		{number, str, str | null},
		{object, object, object},
	},
	gojq.OpDiv: {{number, number, number}, {str, str, array}},
	gojq.OpMod: {{number, number, integer}},
}

func (a *analyser) arithmetic(q *gojq.Query, in value, names *env) result {
	left, right := a.query(q.Left, in, names), a.query(q.Right, in, names)
	a.use(left.value)
	a.use(right.value)
	made, fits := combine(q.Op, left.kinds, right.kinds)
	both := left.then(right)
	if !fits {
		if a.lenient == 0 {
			a.report(q, Problem{
				Code: WrongType, Fix: a.joinedText(q, left.kinds|right.kinds),
				Message: fmt.Sprintf("%s is %s and %s is %s: %s cannot combine them", a.called(q.Left, left.value), orNull(left.kinds),
					a.called(q.Right, right.value), orNull(right.kinds), q.Op),
			})
		}
		both.value = unknown()
		return both
	}
	// null + {} and null + [] yield the other operand
	if damage := nullIn(q.Op); q.Op != gojq.OpAdd || made&(number|str) != 0 {
		a.missing(q.Left, left.value, damage)
		a.missing(q.Right, right.value, damage)
	}
	both.value = some(made)
	if q.Op == gojq.OpAdd && left.text != nil && right.text != nil {
		text := *left.text + *right.text
		both.text = &text
	}
	if made == array || made == object {
		both.shape = sum(left.value, right.value)
	}
	return both
}

// combine returns the possible kinds of a result. The operands do not fit if the
// operation fails whenever neither is null.
func combine(op gojq.Operator, left, right kinds) (made kinds, fits bool) {
	if left == 0 || right == 0 {
		return 0, true
	}
	for _, p := range arithmetics[op] {
		if left&p.left != 0 && right&p.right != 0 {
			made |= p.makes
			fits = true
		}
	}
	if op == gojq.OpAdd {
		made |= right * (left & null)
		made |= left * (right & null)
		fits = fits || left == null || right == null
	}
	return made, fits
}

// orNull removes null if there are other kinds.
func orNull(k kinds) kinds {
	if k == null {
		return k
	}
	return k &^ null
}

func nullIn(op gojq.Operator) string {
	if op == gojq.OpAdd {
		return "null + x yields x"
	}
	return op.String() + " fails with null"
}

// joinedText returns the sum of a string and a number as one string, or "".
func (a *analyser) joinedText(q *gojq.Query, both kinds) string {
	if q.Op != gojq.OpAdd || !slices.Contains([]kinds{str | integer, str | number, str | fraction, str | boolean}, both&^null) {
		return ""
	}
	text := ""
	for _, side := range []*gojq.Query{q.Left, q.Right} {
		source := a.source(side)
		if t := side.Term; t != nil && t.Type == gojq.TermTypeString && t.Str.Queries == nil && len(t.SuffixList) == 0 {
			text += source[1 : len(source)-1]
			continue
		}
		text += `\(` + source + ")"
	}
	return `"` + text + `"`
}

// sum returns the type of the sum of two arrays or objects, or nil.
func sum(left, right value) schema.Type {
	switch {
	case left.empty || left.kinds == null:
		return right.shape
	case right.empty || right.kinds == null:
		return left.shape
	}
	return nil
}
