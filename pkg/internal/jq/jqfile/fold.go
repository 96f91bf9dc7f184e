package jqfile

import (
	"slices"

	"github.com/itchyny/gojq"
)

// fold simplifies a node whose children are simplified already. Only the truth of a
// condition is kept: `true and E` becomes E, so options must only be used as
// conditions.
func fold(q *gojq.Query) *gojq.Query {
	if len(q.FuncDefs) == 0 {
		return foldNode(q)
	}
	only := *q
	only.FuncDefs = nil
	out := foldNode(&only)
	if out == &only {
		return q
	}
	c := *out
	c.FuncDefs = slices.Concat(q.FuncDefs, out.FuncDefs)
	return &c
}

func foldNode(q *gojq.Query) *gojq.Query {
	if q.Term != nil {
		return foldTerm(q)
	}
	switch q.Op {
	case gojq.OpPipe:
		return foldPipe(q)
	case gojq.OpAnd:
		return foldCondition(q, gojq.TermTypeTrue, gojq.TermTypeFalse)
	case gojq.OpOr:
		return foldCondition(q, gojq.TermTypeFalse, gojq.TermTypeTrue)
	case gojq.OpComma:
		switch {
		case isEmpty(q.Left):
			return q.Right
		case isEmpty(q.Right):
			return q.Left
		}
	case gojq.OpAlt:
		if is(q.Left, gojq.TermTypeNull) {
			return q.Right
		}
	case gojq.OpAdd:
		return foldSum(q)
	}
	return q
}

func isEmpty(q *gojq.Query) bool {
	return is(q, gojq.TermTypeFunc) && q.Term.Func.Name == "empty" && len(q.Term.Func.Args) == 0
}

// foldCondition folds `and` and `or`. One constant is neutral, the other determines the
// result.
func foldCondition(q *gojq.Query, nothing, all gojq.TermType) *gojq.Query {
	switch {
	case is(q.Left, all), is(q.Right, all):
		return lone(gojq.Term{Type: all})
	case is(q.Left, nothing):
		return q.Right
	case is(q.Right, nothing):
		return q.Left
	}
	return q
}

func foldTerm(q *gojq.Query) *gojq.Query {
	t := q.Term
	switch t.Type {
	case gojq.TermTypeQuery:
		if len(t.SuffixList) == 0 {
			return t.Query // the printer adds the necessary parentheses
		}
		if bare(t.Query) && (t.Query.Term.Type == gojq.TermTypeFunc || t.Query.Term.Type == gojq.TermTypeIndex) {
			inner := *t.Query.Term
			inner.SuffixList = slices.Concat(inner.SuffixList, t.SuffixList)
			return &gojq.Query{Term: &inner}
		}
	case gojq.TermTypeIf:
		if len(t.SuffixList) == 0 {
			return foldIf(q)
		}
	}
	return q
}

// foldIf folds a constant condition. The rewriter has removed the branches after a true
// one, and the false ones.
func foldIf(q *gojq.Query) *gojq.Query {
	f := q.Term.If
	switch {
	case is(f.Cond, gojq.TermTypeTrue):
		return f.Then
	case !is(f.Cond, gojq.TermTypeFalse):
		return foldElif(q)
	case f.Else == nil:
		return Input().query
	}
	return f.Else
}

func foldElif(q *gojq.Query) *gojq.Query {
	f := q.Term.If
	if n := len(f.Elif); n > 0 && is(f.Elif[n-1].Cond, gojq.TermTypeTrue) {
		return lone(gojq.Term{Type: gojq.TermTypeIf, If: &gojq.If{Cond: f.Cond, Then: f.Then, Elif: f.Elif[:n-1], Else: f.Elif[n-1].Then}})
	}
	return q
}

// foldPipe rotates a pipe such as (a | b) | c, so that it needs no parentheses. Names
// are unique, so their scope does not matter.
func foldPipe(q *gojq.Query) *gojq.Query {
	left, right := q.Left, q.Right
	if len(q.Patterns) == 0 {
		switch {
		case is(right, gojq.TermTypeIdentity):
			return left
		case is(left, gojq.TermTypeIdentity):
			return right
		case negates(right) && is(left, gojq.TermTypeTrue), negates(right) && is(left, gojq.TermTypeFalse):
			return boolean(left.Term.Type == gojq.TermTypeFalse)
		case len(left.FuncDefs) > 0 || left.Term == nil && left.Op == gojq.OpPipe:
			inner := &gojq.Query{
				Left:     left.Left,
				Op:       gojq.OpPipe,
				Patterns: left.Patterns,
				Right:    fold(&gojq.Query{Left: left.Right, Op: gojq.OpPipe, Right: right}),
			}
			if left.Op != gojq.OpPipe || left.Term != nil {
				only := *left
				only.FuncDefs = nil
				inner = &gojq.Query{Left: &only, Op: gojq.OpPipe, Right: right}
			}
			inner.FuncDefs = left.FuncDefs
			return inner
		}
		return q
	}
	if is(left, gojq.TermTypeObject) && len(left.Term.Object.KeyVals) == 0 && len(q.Patterns) == 1 && q.Patterns[0].Name != "" &&
		!reads(right, q.Patterns[0].Name) {
		return right // {} as $x, of a disabled option
	}
	return q
}

func negates(q *gojq.Query) bool {
	return is(q, gojq.TermTypeFunc) && q.Term.Func.Name == "not"
}

// reads reports whether a query contains a variable.
func reads(q *gojq.Query, name string) bool {
	found := false
	each(q, func(q *gojq.Query) {
		if q.Term == nil {
			return
		}
		found = found || q.Term.Type == gojq.TermTypeFunc && q.Term.Func.Name == name || isRaw(q.Term)
		if q.Term.Type == gojq.TermTypeObject {
			found = found || slices.ContainsFunc(q.Term.Object.KeyVals, func(f *gojq.ObjectKeyVal) bool { return f.Key == name })
		}
	})
	return found
}

// foldSum merges constants, and objects with different keys.
func foldSum(q *gojq.Query) *gojq.Query {
	left, right := q.Left, q.Right
	if chain := right; chain.Term == nil && chain.Op == gojq.OpAdd && len(chain.FuncDefs) == 0 { // a + ("b" + c)
		if _, ok := constant(first(chain)); ok {
			return foldSum(
				&gojq.Query{Left: foldSum(&gojq.Query{Left: left, Op: gojq.OpAdd, Right: chain.Left}), Op: gojq.OpAdd, Right: chain.Right},
			)
		}
	}
	if is(right, gojq.TermTypeObject) && len(right.Term.Object.KeyVals) == 0 && makesObject(left) {
		return left
	}
	last := left
	if left.Term == nil && left.Op == gojq.OpAdd && len(left.FuncDefs) == 0 {
		last = left.Right
	}
	sum, ok := sumOf(last, right)
	switch {
	case !ok:
		return q
	case last == left:
		return sum
	}
	return &gojq.Query{Left: left.Left, Op: gojq.OpAdd, Right: sum}
}

// makesObject reports whether an operand of a sum is an object literal, so that the sum
// is an object.
func makesObject(q *gojq.Query) bool {
	for q.Term == nil && q.Op == gojq.OpAdd && len(q.FuncDefs) == 0 {
		if is(q.Right, gojq.TermTypeObject) {
			return true
		}
		q = q.Left
	}
	return is(q, gojq.TermTypeObject)
}

func first(q *gojq.Query) *gojq.Query {
	for q.Term == nil && q.Op == gojq.OpAdd && len(q.FuncDefs) == 0 {
		q = q.Left
	}
	return q
}

// sumOf returns the sum of two string or object literals.
func sumOf(a, b *gojq.Query) (*gojq.Query, bool) {
	if x, ok := constant(a); ok {
		y, ok := constant(b)
		return String(x + y).query, ok
	}
	if !is(a, gojq.TermTypeObject) || !is(b, gojq.TermTypeObject) {
		return nil, false
	}
	fields := slices.Clone(a.Term.Object.KeyVals)
	for _, f := range b.Term.Object.KeyVals {
		if keyOf(f) == "" ||
			slices.ContainsFunc(fields, func(o *gojq.ObjectKeyVal) bool { return keyOf(o) == "" || keyOf(o) == keyOf(f) }) {
			return nil, false
		}
		fields = append(fields, f)
	}
	return lone(gojq.Term{Type: gojq.TermTypeObject, Object: &gojq.Object{KeyVals: fields}}), true
}

func keyOf(f *gojq.ObjectKeyVal) string {
	if f.KeyString != nil && f.KeyString.Queries == nil {
		return f.KeyString.Str
	}
	return f.Key
}
