package jqfile

import (
	"slices"

	"github.com/itchyny/gojq"
)

// rewriter rewrites a query bottom-up: a function returns the replacement of each node.
// It does not modify nodes: changed nodes and their ancestors are copied, others are
// shared.
type rewriter struct {
	query func(*gojq.Query) *gojq.Query
}

func (r *rewriter) of(q *gojq.Query) *gojq.Query {
	if q == nil {
		return nil
	}
	left, right, term, defs := r.of(q.Left), q.Right, q.Term, q.FuncDefs
	if q.Op == gojq.OpAnd && is(left, gojq.TermTypeFalse) || q.Op == gojq.OpOr && is(left, gojq.TermTypeTrue) {
		right = left // the right side is not needed
	} else {
		right = r.of(right)
	}
	if term != nil {
		term = r.term(term)
	}
	defs = mapped(defs, r.def)
	if left != q.Left || right != q.Right || term != q.Term || !same(defs, q.FuncDefs) {
		q = &gojq.Query{FuncDefs: defs, Term: term, Left: left, Right: right, Patterns: q.Patterns, Op: q.Op}
	}
	return r.query(q)
}

// mapped applies a function to the items of a list. It returns the same list if no item
// changes.
func mapped[T comparable](list []T, of func(T) T) []T {
	out := list
	for i, one := range list {
		made := of(one)
		if made == one {
			continue
		}
		if same(out, list) {
			out = slices.Clone(list)
		}
		out[i] = made
	}
	return out
}

// same reports whether two slices are the same slice.
func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (r *rewriter) def(d *gojq.FuncDef) *gojq.FuncDef {
	if body := r.of(d.Body); body != d.Body {
		return &gojq.FuncDef{Name: d.Name, Args: d.Args, Body: body}
	}
	return d
}

func (r *rewriter) term(t *gojq.Term) *gojq.Term {
	c := *t
	c.Query, c.Str, c.Index = r.of(t.Query), r.text(t.Str), r.index(t.Index)
	c.SuffixList = mapped(t.SuffixList, r.suffix)
	switch t.Type {
	case gojq.TermTypeFunc:
		if args := mapped(t.Func.Args, r.of); !same(args, t.Func.Args) {
			c.Func = &gojq.Func{Name: t.Func.Name, Args: args}
		}
	case gojq.TermTypeArray:
		if q := r.of(t.Array.Query); q != t.Array.Query {
			c.Array = &gojq.Array{Query: q}
		}
	case gojq.TermTypeObject:
		if fields := mapped(t.Object.KeyVals, r.field); !same(fields, t.Object.KeyVals) {
			c.Object = &gojq.Object{KeyVals: fields}
		}
	case gojq.TermTypeUnary:
		if inner := r.term(t.Unary.Term); inner != t.Unary.Term {
			c.Unary = &gojq.Unary{Op: t.Unary.Op, Term: inner}
		}
	case gojq.TermTypeIf:
		c.If = r.branches(t.If)
	default:
		r.control(t, &c)
	}
	if c.Query == t.Query && c.Str == t.Str && c.Index == t.Index && same(c.SuffixList, t.SuffixList) && c.Func == t.Func &&
		c.Array == t.Array &&
		c.Object == t.Object && c.Unary == t.Unary && c.If == t.If && c.Try == t.Try && c.Reduce == t.Reduce && c.Foreach == t.Foreach &&
		c.Label == t.Label {
		return t
	}
	copied := c
	return &copied
}

// control rewrites the content of a try, a loop or a label.
func (r *rewriter) control(t, c *gojq.Term) {
	switch t.Type {
	case gojq.TermTypeTry:
		if f := (gojq.Try{Body: r.of(t.Try.Body), Catch: r.of(t.Try.Catch)}); f != *t.Try {
			c.Try = &f
		}
	case gojq.TermTypeReduce:
		f := *t.Reduce
		f.Query, f.Start, f.Update = r.of(f.Query), r.of(f.Start), r.of(f.Update)
		if f != *t.Reduce {
			c.Reduce = &f
		}
	case gojq.TermTypeForeach:
		f := *t.Foreach
		f.Query, f.Start, f.Update, f.Extract = r.of(f.Query), r.of(f.Start), r.of(f.Update), r.of(f.Extract)
		if f != *t.Foreach {
			c.Foreach = &f
		}
	case gojq.TermTypeLabel:
		if body := r.of(t.Label.Body); body != t.Label.Body {
			c.Label = &gojq.Label{Ident: t.Label.Ident, Body: body}
		}
	}
}

func (r *rewriter) suffix(s *gojq.Suffix) *gojq.Suffix {
	if index := r.index(s.Index); index != s.Index {
		return &gojq.Suffix{Index: index}
	}
	return s
}

// text keeps the parentheses of an interpolation, which are part of its syntax.
func (r *rewriter) text(s *gojq.String) *gojq.String {
	if s == nil || s.Queries == nil {
		return s
	}
	queries := mapped(s.Queries, func(q *gojq.Query) *gojq.Query {
		if q.Term.Str != nil {
			return q
		}
		if inner := r.of(q.Term.Query); inner != q.Term.Query {
			return lone(gojq.Term{Type: gojq.TermTypeQuery, Query: inner})
		}
		return q
	})
	if same(queries, s.Queries) {
		return s
	}
	return &gojq.String{Queries: queries}
}

func (r *rewriter) index(i *gojq.Index) *gojq.Index {
	if i == nil || i.Start == nil && i.End == nil && i.Str == nil {
		return i
	}
	c := *i
	c.Str, c.Start, c.End = r.text(i.Str), r.of(i.Start), r.of(i.End)
	if c == *i {
		return i
	}
	copied := c
	return &copied
}

func (r *rewriter) field(f *gojq.ObjectKeyVal) *gojq.ObjectKeyVal {
	c := *f
	c.KeyString, c.KeyQuery, c.Val = r.text(f.KeyString), r.of(f.KeyQuery), r.of(f.Val)
	if key, ok := constant(c.KeyQuery); ok { // (hole::child): …
		c.KeyString, c.KeyQuery = &gojq.String{Str: key}, nil
	}
	if c == *f {
		return f
	}
	copied := c
	return &copied
}

// branches removes branches with a constant false condition, and those after a constant
// true one.
func (r *rewriter) branches(f *gojq.If) *gojq.If {
	var kept []gojq.IfElif
	otherwise, changed := f.Else, false
	add := func(cond, then *gojq.Query) (last bool) {
		b := gojq.IfElif{Cond: r.of(cond), Then: then}
		changed = changed || b.Cond != cond
		if is(b.Cond, gojq.TermTypeFalse) {
			return false
		}
		b.Then = r.of(then)
		changed = changed || b.Then != then
		kept = append(kept, b)
		return is(b.Cond, gojq.TermTypeTrue)
	}
	last := add(f.Cond, f.Then)
	for i := 0; i < len(f.Elif) && !last; i++ {
		last = add(f.Elif[i].Cond, f.Elif[i].Then)
	}
	if !last {
		otherwise = r.of(f.Else)
	}
	if !changed && otherwise == f.Else && len(kept) == 1+len(f.Elif) {
		return f
	}
	if len(kept) == 0 {
		kept = append(kept, gojq.IfElif{Cond: boolean(false), Then: boolean(false)})
	}
	c := &gojq.If{Cond: kept[0].Cond, Then: kept[0].Then, Else: otherwise}
	for _, b := range kept[1:] {
		c.Elif = append(c.Elif, &b)
	}
	return c
}

// bare reports whether a query is a single term without definitions.
func bare(q *gojq.Query) bool { return q != nil && q.Term != nil && len(q.FuncDefs) == 0 }

// constant returns the text of a string constant.
func constant(q *gojq.Query) (string, bool) {
	if bare(q) && q.Term.Type == gojq.TermTypeString && q.Term.Str.Queries == nil && len(q.Term.SuffixList) == 0 {
		return q.Term.Str.Str, true
	}
	return "", false
}

// is reports whether a query is only a term of a type.
func is(q *gojq.Query, t gojq.TermType) bool {
	return bare(q) && q.Term.Type == t && len(q.Term.SuffixList) == 0
}
