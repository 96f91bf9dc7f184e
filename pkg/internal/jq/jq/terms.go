package jq

import "github.com/itchyny/gojq"

// kept returns the changed copy of a node, or the node itself if nothing changed.
func kept[T any](b *bounder, before int, node *T, made T) *T {
	if b.changes == before {
		return node
	}
	out := new(T)
	*out = made
	return out
}

func (b *bounder) term(t *gojq.Term) *gojq.Term {
	if t == nil {
		return nil
	}
	before := b.changes
	c := *t
	c.Index, c.Func, c.Object, c.Array = b.index(t.Index), b.function(t.Func), b.object(t.Object), b.array(t.Array)
	c.If, c.Try, c.Reduce, c.Foreach, c.Label = b.condition(t.If), b.try(t.Try), b.reduce(t.Reduce), b.foreach(t.Foreach), b.label(t.Label)
	c.Str, c.Query = b.text(t.Str, t.Type == gojq.TermTypeString || t.Type == gojq.TermTypeFormat), b.query(t.Query)
	c.SuffixList = each(b, t.SuffixList, b.suffix)
	if t.Unary != nil {
		inner := b.changes
		c.Unary = kept(b, inner, t.Unary, gojq.Unary{Op: t.Unary.Op, Term: b.term(t.Unary.Term)})
	}
	if t.Func != nil || t.Str != nil || t.Format != "" {
		b.guard(&c)
	}
	return kept(b, before, t, c)
}

// guard adds a guard to a term that is a function, a format or a string.
func (b *bounder) guard(t *gojq.Term) {
	bare := *t
	bare.SuffixList = nil
	switch {
	case t.Type == gojq.TermTypeFunc:
		if guards := b.guardsOf(t.Func); len(guards) > 0 {
			b.wrap(t, bare, guards...)
		}
	case t.Type == gojq.TermTypeFormat && t.Str == nil:
		b.wrap(t, bare, call(boundedName))
	case t.Type == gojq.TermTypeString && t.Str != nil && interpolations(t.Str) > 1:
		*t = gojq.Term{Type: gojq.TermTypeQuery, Query: b.pipe(term(bare), call(shortName)), SuffixList: t.SuffixList}
	}
}

// wrap inserts functions before a term.
func (b *bounder) wrap(t *gojq.Term, bare gojq.Term, guards ...*gojq.Query) {
	q := term(bare)
	for _, guard := range guards {
		q = b.pipe(guard, q)
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: q, SuffixList: t.SuffixList}
}

// guardsOf returns the guards for the input of a function.
func (b *bounder) guardsOf(f *gojq.Func) []*gojq.Query {
	once, searches := searching[f.Name]
	switch {
	case f.Name == "split" && len(f.Args) == 1: // not a regular expression
	case searches && len(f.Args) <= once:
		return []*gojq.Query{call(matchableName)}
	case searches:
		return []*gojq.Query{call(searchableName)}
	case f.Name == "transpose":
		return []*gojq.Query{call(transposableName), call(boundedName)}
	case f.Name == "pick" && len(f.Args) == 1 && b.far(f.Args[0]):
		b.follows = true
		return []*gojq.Query{nearby(f.Args[0])}
	case measured[f.Name]:
		return []*gojq.Query{call(boundedName)}
	}
	return nil
}

// function adds guards to the arguments of a function. The guards of its input are
// inserted before the term.
func (b *bounder) function(f *gojq.Func) *gojq.Func {
	if f == nil {
		return nil
	}
	b.deletes = b.deletes || deleting[f.Name]
	before := b.changes
	c := gojq.Func{Name: f.Name, Args: each(b, f.Args, b.query)}
	switch {
	case measuredArguments[f.Name]:
		c.Args = each(b, c.Args, func(q *gojq.Query) *gojq.Query { return b.pipe(q, call(boundedName)) })
	case f.Name == "join" && len(f.Args) == 1 && !b.defined["join"]:
		b.changes++
		c.Name = joinName
	case f.Name == "setpath" && len(f.Args) == 2:
		c.Args = []*gojq.Query{b.pipe(c.Args[0], call(nearName)), c.Args[1]}
	case f.Name == "fromstream" && len(f.Args) == 1:
		c.Args = []*gojq.Query{b.pipe(c.Args[0], call(nearEventName))}
	}
	return kept(b, before, f, c)
}

// interpolations counts the interpolated values of a string.
func interpolations(s *gojq.String) int {
	n := 0
	for _, q := range s.Queries {
		if q.Term.Str == nil || q.Term.Type != gojq.TermTypeString {
			n++
		}
	}
	return n
}

// text adds guards to the interpolated values of a string, which gojq encodes as JSON.
func (b *bounder) text(s *gojq.String, written bool) *gojq.String {
	if s == nil || s.Queries == nil {
		return s
	}
	before := b.changes
	c := gojq.String{Str: s.Str, Queries: each(b, s.Queries, func(q *gojq.Query) *gojq.Query {
		if q.Term.Str != nil {
			return q
		}
		q = b.query(q)
		if !written {
			return q
		}
		return term(gojq.Term{Type: gojq.TermTypeQuery, Query: b.pipe(q, call(boundedName))})
	})}
	return kept(b, before, s, c)
}

func (b *bounder) funcDef(d *gojq.FuncDef) *gojq.FuncDef {
	if b.defined == nil {
		b.defined = map[string]bool{}
	}
	b.defined[d.Name] = true
	for _, argument := range d.Args {
		b.defined[argument] = true
	}
	before := b.changes
	return kept(b, before, d, gojq.FuncDef{Name: d.Name, Args: d.Args, Body: b.query(d.Body)})
}

func (b *bounder) pattern(p *gojq.Pattern) *gojq.Pattern {
	if p == nil {
		return nil
	}
	before := b.changes
	c := gojq.Pattern{Name: p.Name, Array: each(b, p.Array, b.pattern)}
	c.Object = each(b, p.Object, func(o *gojq.PatternObject) *gojq.PatternObject {
		inner := b.changes
		return kept(
			b,
			inner,
			o,
			gojq.PatternObject{Key: o.Key, KeyString: b.text(o.KeyString, true), KeyQuery: b.query(o.KeyQuery), Val: b.pattern(o.Val)},
		)
	})
	return kept(b, before, p, c)
}

func (b *bounder) index(i *gojq.Index) *gojq.Index {
	if i == nil {
		return nil
	}
	before := b.changes
	return kept(
		b,
		before,
		i,
		gojq.Index{Name: i.Name, Str: b.text(i.Str, true), Start: b.query(i.Start), End: b.query(i.End), IsSlice: i.IsSlice},
	)
}

func (b *bounder) object(o *gojq.Object) *gojq.Object {
	if o == nil {
		return nil
	}
	before := b.changes
	return kept(b, before, o, gojq.Object{KeyVals: each(b, o.KeyVals, func(kv *gojq.ObjectKeyVal) *gojq.ObjectKeyVal {
		inner := b.changes
		return kept(
			b,
			inner,
			kv,
			gojq.ObjectKeyVal{Key: kv.Key, KeyString: b.text(kv.KeyString, true), KeyQuery: b.query(kv.KeyQuery), Val: b.query(kv.Val)},
		)
	})})
}

func (b *bounder) array(a *gojq.Array) *gojq.Array {
	if a == nil {
		return nil
	}
	before := b.changes
	return kept(b, before, a, gojq.Array{Query: b.query(a.Query)})
}

func (b *bounder) suffix(s *gojq.Suffix) *gojq.Suffix {
	before := b.changes
	return kept(b, before, s, gojq.Suffix{Index: b.index(s.Index), Iter: s.Iter, Optional: s.Optional})
}

func (b *bounder) condition(i *gojq.If) *gojq.If {
	if i == nil {
		return nil
	}
	before := b.changes
	return kept(b, before, i, gojq.If{
		Cond: b.query(i.Cond), Then: b.query(i.Then), Else: b.query(i.Else),
		Elif: each(b, i.Elif, func(e *gojq.IfElif) *gojq.IfElif {
			inner := b.changes
			return kept(b, inner, e, gojq.IfElif{Cond: b.query(e.Cond), Then: b.query(e.Then)})
		}),
	})
}

func (b *bounder) try(t *gojq.Try) *gojq.Try {
	if t == nil {
		return nil
	}
	before := b.changes
	return kept(b, before, t, gojq.Try{Body: b.query(t.Body), Catch: b.query(t.Catch)})
}

func (b *bounder) reduce(r *gojq.Reduce) *gojq.Reduce {
	if r == nil {
		return nil
	}
	before := b.changes
	return kept(
		b,
		before,
		r,
		gojq.Reduce{Query: b.query(r.Query), Pattern: b.pattern(r.Pattern), Start: b.query(r.Start), Update: b.query(r.Update)},
	)
}

func (b *bounder) foreach(f *gojq.Foreach) *gojq.Foreach {
	if f == nil {
		return nil
	}
	before := b.changes
	return kept(
		b,
		before,
		f,
		gojq.Foreach{
			Query:   b.query(f.Query),
			Pattern: b.pattern(f.Pattern),
			Start:   b.query(f.Start),
			Update:  b.query(f.Update),
			Extract: b.query(f.Extract),
		},
	)
}

func (b *bounder) label(l *gojq.Label) *gojq.Label {
	if l == nil {
		return nil
	}
	before := b.changes
	return kept(b, before, l, gojq.Label{Ident: l.Ident, Body: b.query(l.Body)})
}
