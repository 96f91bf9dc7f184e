package jq

import "github.com/itchyny/gojq"

// Walk visits a query and all queries, terms, calls and objects in it, each a pointer,
// parents first. visit reports whether to visit the children of a node. Use it for code
// that treats a construct the same everywhere; code that depends on the context must
// switch on the nodes itself.
func Walk(q *gojq.Query, visit func(node any) bool) {
	if q == nil || !visit(q) {
		return
	}
	for _, d := range q.FuncDefs {
		Walk(d.Body, visit)
	}
	Walk(q.Left, visit)
	for _, p := range q.Patterns {
		walkPattern(p, visit)
	}
	Walk(q.Right, visit)
	walkTerm(q.Term, visit)
}

func walkTerm(t *gojq.Term, visit func(any) bool) {
	if t == nil || !visit(t) {
		return
	}
	switch t.Type {
	case gojq.TermTypeFunc:
		if visit(t.Func) {
			walkAll(visit, t.Func.Args...)
		}
	case gojq.TermTypeObject:
		walkObject(t.Object, visit)
	case gojq.TermTypeArray:
		Walk(t.Array.Query, visit)
	case gojq.TermTypeUnary:
		walkTerm(t.Unary.Term, visit)
	case gojq.TermTypeIf:
		walkAll(visit, t.If.Cond, t.If.Then)
		for _, e := range t.If.Elif {
			walkAll(visit, e.Cond, e.Then)
		}
		Walk(t.If.Else, visit)
	case gojq.TermTypeTry:
		walkAll(visit, t.Try.Body, t.Try.Catch)
	case gojq.TermTypeReduce:
		walkPattern(t.Reduce.Pattern, visit)
		walkAll(visit, t.Reduce.Query, t.Reduce.Start, t.Reduce.Update)
	case gojq.TermTypeForeach:
		walkPattern(t.Foreach.Pattern, visit)
		walkAll(visit, t.Foreach.Query, t.Foreach.Start, t.Foreach.Update, t.Foreach.Extract)
	case gojq.TermTypeLabel:
		Walk(t.Label.Body, visit)
	}
	Walk(t.Query, visit)
	walkString(t.Str, visit)
	walkIndex(t.Index, visit)
	for _, s := range t.SuffixList {
		walkIndex(s.Index, visit)
	}
}

func walkAll(visit func(any) bool, queries ...*gojq.Query) {
	for _, q := range queries {
		Walk(q, visit)
	}
}

func walkObject(o *gojq.Object, visit func(any) bool) {
	if !visit(o) {
		return
	}
	for _, f := range o.KeyVals {
		walkString(f.KeyString, visit)
		walkAll(visit, f.KeyQuery, f.Val)
	}
}

func walkPattern(p *gojq.Pattern, visit func(any) bool) {
	if p == nil {
		return
	}
	for _, item := range p.Array {
		walkPattern(item, visit)
	}
	for _, f := range p.Object {
		walkString(f.KeyString, visit)
		Walk(f.KeyQuery, visit)
		walkPattern(f.Val, visit)
	}
}

func walkString(s *gojq.String, visit func(any) bool) {
	if s != nil {
		walkAll(visit, s.Queries...)
	}
}

func walkIndex(i *gojq.Index, visit func(any) bool) {
	if i != nil {
		walkString(i.Str, visit)
		walkAll(visit, i.Start, i.End)
	}
}

// Unwrap returns a query without the parentheses around it.
func Unwrap(q *gojq.Query) *gojq.Query {
	for q != nil && q.Term != nil && q.Term.Type == gojq.TermTypeQuery && len(q.Term.SuffixList) == 0 && len(q.FuncDefs) == 0 {
		q = q.Term.Query
	}
	return q
}
