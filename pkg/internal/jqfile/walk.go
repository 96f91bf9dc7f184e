package jqfile

import "github.com/itchyny/gojq"

// each calls a function for every query within a query, and that itself. It
// writes to none: parsed files are shared.
func each(q *gojq.Query, f func(*gojq.Query)) {
	if q == nil {
		return
	}
	for _, d := range q.FuncDefs {
		each(d.Body, f)
	}
	each(q.Left, f)
	each(q.Right, f)
	if q.Term != nil {
		eachIn(q.Term, f)
	}
	f(q)
}

func eachIn(t *gojq.Term, f func(*gojq.Query)) {
	each(t.Query, f)
	eachOfText(t.Str, f)
	eachOfIndex(t.Index, f)
	for _, s := range t.SuffixList {
		eachOfIndex(s.Index, f)
	}
	switch t.Type {
	case gojq.TermTypeFunc:
		for _, a := range t.Func.Args {
			each(a, f)
		}
	case gojq.TermTypeArray:
		each(t.Array.Query, f)
	case gojq.TermTypeObject:
		for _, kv := range t.Object.KeyVals {
			eachOfText(kv.KeyString, f)
			each(kv.KeyQuery, f)
			each(kv.Val, f)
		}
	case gojq.TermTypeUnary:
		eachIn(t.Unary.Term, f)
	case gojq.TermTypeIf:
		each(t.If.Cond, f)
		each(t.If.Then, f)
		for _, e := range t.If.Elif {
			each(e.Cond, f)
			each(e.Then, f)
		}
		each(t.If.Else, f)
	case gojq.TermTypeTry:
		each(t.Try.Body, f)
		each(t.Try.Catch, f)
	case gojq.TermTypeReduce:
		each(t.Reduce.Query, f)
		each(t.Reduce.Start, f)
		each(t.Reduce.Update, f)
	case gojq.TermTypeForeach:
		each(t.Foreach.Query, f)
		each(t.Foreach.Start, f)
		each(t.Foreach.Update, f)
		each(t.Foreach.Extract, f)
	case gojq.TermTypeLabel:
		each(t.Label.Body, f)
	}
}

func eachOfText(s *gojq.String, f func(*gojq.Query)) {
	if s != nil {
		for _, q := range s.Queries {
			each(q, f)
		}
	}
}

func eachOfIndex(i *gojq.Index, f func(*gojq.Query)) {
	if i != nil {
		eachOfText(i.Str, f)
		each(i.Start, f)
		each(i.End, f)
	}
}
