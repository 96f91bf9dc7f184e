package jqfile

import (
	"slices"

	"github.com/itchyny/gojq"
)

// inline puts the body of each definition that is called once, or that takes
// filters, in the place of its calls, and drops those that nothing calls, until
// nothing changes. One with filters makes a request with other fields for each
// call: pkg/internal/check reads the requests of a program from its syntax, as literals.
func inline(q *gojq.Query) *gojq.Query {
	for range 100 { // more levels of definitions than there are
		calls := callsIn(q)
		each(q, func(q *gojq.Query) {
			for _, d := range q.FuncDefs { // those of itself do not count
				calls[d.Name] -= callsOf(d.Name, d.Body)
			}
		})
		chosen, unused := map[string]*gojq.FuncDef{}, false
		each(q, func(q *gojq.Query) {
			for _, d := range q.FuncDefs {
				unused = unused || calls[d.Name] == 0
				if (calls[d.Name] == 1 || calls[d.Name] > 1 && len(d.Args) > 0) && inlinable(d) {
					chosen[d.Name] = d
				}
			}
		})
		if len(chosen) == 0 && !unused {
			return q
		}
		for _, d := range chosen { // one that calls another waits for its turn
			for name := range callsIn(d.Body) {
				delete(chosen, name)
			}
		}
		q = (&rewriter{inPlace: true, query: func(q *gojq.Query) *gojq.Query {
			q.FuncDefs = slices.DeleteFunc(q.FuncDefs, func(d *gojq.FuncDef) bool { return calls[d.Name] == 0 || chosen[d.Name] != nil })
			return fold(expanded(q, chosen))
		}}).of(q)
	}
	return q
}

// callsIn counts the calls in a query by the name of the function.
func callsIn(q *gojq.Query) map[string]int {
	calls := map[string]int{}
	each(q, func(q *gojq.Query) {
		if q.Term != nil && q.Term.Type == gojq.TermTypeFunc {
			calls[q.Term.Func.Name]++
		}
	})
	return calls
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

// inlinable says that a definition takes no values and does not call itself.
func inlinable(d *gojq.FuncDef) bool {
	if slices.ContainsFunc(d.Args, func(a string) bool { return a[0] == '$' }) {
		return false
	}
	return callsOf(d.Name, d.Body) == 0
}

// expanded is a call with the body of its definition in its place.
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

// replaced is a name without arguments with what it stands for in its place.
func replaced(q *gojq.Query, by map[string]*gojq.Query) *gojq.Query {
	if q.Term == nil || q.Term.Type != gojq.TermTypeFunc || len(q.Term.Func.Args) > 0 || by[q.Term.Func.Name] == nil {
		return q
	}
	return inPlace(q, by[q.Term.Func.Name])
}

// inPlace is another query in the place of a term, with its suffixes and definitions.
func inPlace(of, q *gojq.Query) *gojq.Query {
	return &gojq.Query{FuncDefs: of.FuncDefs, Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q, SuffixList: of.Term.SuffixList}}
}
