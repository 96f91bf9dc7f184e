package jqfile

import (
	"slices"

	"github.com/itchyny/gojq"
)

// rewriter changes a query, the inner nodes first: each node is what its function
// makes of it. Unless it may write to the nodes themselves, it copies them.
type rewriter struct {
	query   func(*gojq.Query) *gojq.Query
	inPlace bool
}

func (r *rewriter) of(q *gojq.Query) *gojq.Query {
	if q == nil {
		return nil
	}
	c := q
	if !r.inPlace {
		copied := *q
		c = &copied
	}
	c.Left, c.Right = r.of(q.Left), r.of(q.Right)
	if q.Term != nil {
		c.Term = r.term(q.Term)
	}
	if len(q.FuncDefs) > 0 {
		defs := make([]*gojq.FuncDef, len(q.FuncDefs))
		for i, d := range q.FuncDefs {
			defs[i] = r.def(d)
		}
		c.FuncDefs = defs
	}
	return r.query(c)
}

func (r *rewriter) def(d *gojq.FuncDef) *gojq.FuncDef {
	if r.inPlace {
		d.Body = r.of(d.Body)
		return d
	}
	return &gojq.FuncDef{Name: d.Name, Args: d.Args, Body: r.of(d.Body)}
}

func (r *rewriter) term(t *gojq.Term) *gojq.Term {
	c := t
	if !r.inPlace {
		copied := *t
		c = &copied
	}
	c.Query = r.of(t.Query)
	c.Str = r.text(t.Str)
	c.Index = r.index(t.Index)
	switch t.Type {
	case gojq.TermTypeFunc:
		if len(t.Func.Args) > 0 {
			c.Func = &gojq.Func{Name: t.Func.Name, Args: r.all(t.Func.Args)}
		}
	case gojq.TermTypeArray:
		c.Array = &gojq.Array{Query: r.of(t.Array.Query)}
	case gojq.TermTypeObject:
		c.Object = r.object(t.Object)
	case gojq.TermTypeUnary:
		c.Unary = &gojq.Unary{Op: t.Unary.Op, Term: r.term(t.Unary.Term)}
	case gojq.TermTypeIf:
		c.If = r.branches(t.If)
	case gojq.TermTypeTry:
		c.Try = &gojq.Try{Body: r.of(t.Try.Body), Catch: r.of(t.Try.Catch)}
	case gojq.TermTypeReduce:
		f := t.Reduce
		c.Reduce = &gojq.Reduce{Query: r.of(f.Query), Pattern: f.Pattern, Start: r.of(f.Start), Update: r.of(f.Update)}
	case gojq.TermTypeForeach:
		f := t.Foreach
		c.Foreach = &gojq.Foreach{Query: r.of(f.Query), Pattern: f.Pattern, Start: r.of(f.Start), Update: r.of(f.Update), Extract: r.of(f.Extract)}
	case gojq.TermTypeLabel:
		c.Label = &gojq.Label{Ident: t.Label.Ident, Body: r.of(t.Label.Body)}
	}
	if len(t.SuffixList) > 0 {
		c.SuffixList = r.suffixes(t.SuffixList)
	}
	return c
}

// suffixes copies those that have a query in them.
func (r *rewriter) suffixes(list []*gojq.Suffix) []*gojq.Suffix {
	out := list
	for i, s := range list {
		index := r.index(s.Index)
		if index == s.Index {
			continue
		}
		if &out[0] == &list[0] {
			out = slices.Clone(list)
		}
		out[i] = &gojq.Suffix{Index: index}
	}
	return out
}

func (r *rewriter) all(list []*gojq.Query) []*gojq.Query {
	out := make([]*gojq.Query, len(list))
	for i, q := range list {
		out[i] = r.of(q)
	}
	return out
}

// text keeps the parentheses of an interpolation, which are part of its syntax.
func (r *rewriter) text(s *gojq.String) *gojq.String {
	if s == nil || s.Queries == nil {
		return s
	}
	c := &gojq.String{Queries: []*gojq.Query{}}
	for _, q := range s.Queries {
		if q.Term.Str == nil {
			q = lone(gojq.Term{Type: gojq.TermTypeQuery, Query: r.of(q.Term.Query)})
		}
		c.Queries = append(c.Queries, q)
	}
	return c
}

func (r *rewriter) index(i *gojq.Index) *gojq.Index {
	if i == nil || i.Start == nil && i.End == nil && (i.Str == nil || i.Str.Queries == nil) {
		return i
	}
	return &gojq.Index{Name: i.Name, Str: r.text(i.Str), Start: r.of(i.Start), End: r.of(i.End), IsSlice: i.IsSlice}
}

func (r *rewriter) object(o *gojq.Object) *gojq.Object {
	c := &gojq.Object{}
	for _, f := range o.KeyVals {
		field := &gojq.ObjectKeyVal{Key: f.Key, KeyString: r.text(f.KeyString), KeyQuery: r.of(f.KeyQuery), Val: r.of(f.Val)}
		if key, ok := constant(field.KeyQuery); ok { // (hole::child): …
			field.KeyString, field.KeyQuery = &gojq.String{Str: key}, nil
		}
		c.KeyVals = append(c.KeyVals, field)
	}
	return c
}

func (r *rewriter) branches(f *gojq.If) *gojq.If {
	c := &gojq.If{Cond: r.of(f.Cond), Then: r.of(f.Then), Else: r.of(f.Else)}
	for _, e := range f.Elif {
		c.Elif = append(c.Elif, &gojq.IfElif{Cond: r.of(e.Cond), Then: r.of(e.Then)})
	}
	return c
}

// bare says that a query is a single term without definitions.
func bare(q *gojq.Query) bool { return q != nil && q.Term != nil && len(q.FuncDefs) == 0 }

// constant is the text of a constant.
func constant(q *gojq.Query) (string, bool) {
	if bare(q) && q.Term.Type == gojq.TermTypeString && q.Term.Str.Queries == nil && len(q.Term.SuffixList) == 0 {
		return q.Term.Str.Str, true
	}
	return "", false
}

// is says that a query is a single term of a type, and nothing else.
func is(q *gojq.Query, t gojq.TermType) bool {
	return bare(q) && q.Term.Type == t && len(q.Term.SuffixList) == 0
}
