package jqfile

import (
	"slices"

	"github.com/itchyny/gojq"
)

// inline replaces calls of definitions that are called once, or that take filters, by
// their bodies, and removes unused definitions, until nothing changes. A definition
// with filters generates a request with different fields for each call:
// pkg/internal/kube/argo reads the requests of a program as literals from its syntax.
func inline(q *gojq.Query, recursive func(string) bool) *gojq.Query {
	for range 100 { // more than the levels of definitions
		calls, defs := map[string]int{}, []*gojq.FuncDef(nil)
		each(q, func(q *gojq.Query) {
			defs = append(defs, q.FuncDefs...)
			if q.Term != nil && q.Term.Type == gojq.TermTypeFunc {
				calls[q.Term.Func.Name]++
			}
		})
		chosen, unused := map[string]*gojq.FuncDef{}, false
		for _, d := range defs {
			n := calls[d.Name]
			if recursive(d.Name) {
				n -= callsOf(d.Name, d.Body)
				calls[d.Name] = n
			}
			unused = unused || n == 0
			if (n == 1 || n > 1 && len(d.Args) > 0) && !recursive(d.Name) && !takesValues(d) {
				chosen[d.Name] = d
			}
		}
		if len(chosen) == 0 && !unused {
			return q
		}
		for _, d := range defs { // a definition that another one calls is inlined later
			if chosen[d.Name] != nil {
				each(d.Body, func(q *gojq.Query) {
					if q.Term != nil && q.Term.Type == gojq.TermTypeFunc {
						delete(chosen, q.Term.Func.Name)
					}
				})
			}
		}
		goes := func(d *gojq.FuncDef) bool { return calls[d.Name] == 0 || chosen[d.Name] != nil }
		q = (&rewriter{query: func(q *gojq.Query) *gojq.Query {
			if slices.ContainsFunc(q.FuncDefs, goes) {
				c := *q
				c.FuncDefs = slices.DeleteFunc(slices.Clone(q.FuncDefs), goes)
				q = &c
			}
			return fold(expanded(q, chosen))
		}}).of(q)
	}
	return q
}

func callsOf(name string, q *gojq.Query) int {
	n := 0
	each(q, func(q *gojq.Query) {
		if q.Term != nil && q.Term.Type == gojq.TermTypeFunc && q.Term.Func.Name == name {
			n++
		}
	})
	return n
}

// takesValues reports whether a definition binds an argument to a variable.
func takesValues(d *gojq.FuncDef) bool {
	return slices.ContainsFunc(d.Args, func(a string) bool { return a[0] == '$' })
}

// expanded replaces a call by the body of its definition.
func expanded(q *gojq.Query, defs map[string]*gojq.FuncDef) *gojq.Query {
	if q.Term == nil || q.Term.Type != gojq.TermTypeFunc {
		return q
	}
	d := defs[q.Term.Func.Name]
	if d == nil || len(d.Args) != len(q.Term.Func.Args) {
		return q
	}
	body := d.Body
	if len(d.Args) > 0 {
		arguments := map[string]*gojq.Query{}
		for i, name := range d.Args {
			arguments[name] = q.Term.Func.Args[i]
		}
		body = (&rewriter{query: func(q *gojq.Query) *gojq.Query { return fold(replaced(q, arguments)) }}).of(body)
	}
	return inPlace(q, body)
}

// replaced replaces a name without arguments by its value.
func replaced(q *gojq.Query, by map[string]*gojq.Query) *gojq.Query {
	if q.Term == nil || q.Term.Type != gojq.TermTypeFunc || len(q.Term.Func.Args) > 0 || by[q.Term.Func.Name] == nil {
		return q
	}
	return inPlace(q, by[q.Term.Func.Name])
}

// inPlace replaces a term by a query, keeping suffixes and definitions.
func inPlace(of, q *gojq.Query) *gojq.Query {
	return &gojq.Query{FuncDefs: of.FuncDefs, Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q, SuffixList: of.Term.SuffixList}}
}
