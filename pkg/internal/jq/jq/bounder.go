package jq

import (
	"slices"

	"github.com/itchyny/gojq"
)

// bounder adds guards to a query wherever a single step could take too much time or
// memory. It does not modify the query: it copies changed nodes and their ancestors.
type bounder struct {
	changes int
	deletes bool            // gojq may write to constants
	follows bool            // pathName is called
	defined map[string]bool // the functions that the program defines, regardless of arity
}

// bound adds guards to a whole program.
func (b *bounder) bound(program *gojq.Query) *gojq.Query {
	out := b.query(program)
	if !b.follows {
		return out
	}
	c := *out
	path := &gojq.FuncDef{Name: pathName, Args: []string{"f"}, Body: call("path", call("f"))}
	c.FuncDefs = append([]*gojq.FuncDef{path}, c.FuncDefs...)
	return &c
}

// How functions of jq are guarded.
var (
	// The cost of measured functions depends on the size of their input as text.
	measured = set(
		"tojson",
		"tostring",
		"format",
		"add",
		"flatten",
		"contains",
		"inside",
		"index",
		"rindex",
		"indices",
		"sort",
		"sort_by",
		"group_by",
		"unique",
		"unique_by",
		"min",
		"min_by",
		"max",
		"max_by",
		"bsearch",
		"error",
		"halt_error",
		"del",
		"delpaths",
		"map_values",
		"walk",
	)
	// ... and of these on the size of their arguments.
	measuredArguments = set(
		"contains",
		"inside",
		"index",
		"rindex",
		"indices",
		"sort_by",
		"group_by",
		"unique_by",
		"min_by",
		"max_by",
		"bsearch",
		"error",
		"IN",
		"INDEX",
	)
	// searching functions match a regular expression: once, if they have at most this
	// number of arguments.
	searching = map[string]int{"test": 2, "match": 1, "capture": 1, "sub": 2, "scan": 0, "splits": 0, "split": 0, "gsub": 0}
	// deleting functions write null to constants in place of what they delete.
	deleting = set("del", "delpaths", "map_values", "walk", "truncate_stream")
	// leading functions return existing paths, or the first one.
	leading = set("select", "first", "last", "values", "objects", "arrays", "strings")
)

func set(names ...string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

func (b *bounder) query(q *gojq.Query) *gojq.Query {
	if q == nil {
		return nil
	}
	before := b.changes
	defs, t, left, right, patterns := each(
		b,
		q.FuncDefs,
		b.funcDef,
	), b.term(
		q.Term,
	), b.query(
		q.Left,
	), b.query(
		q.Right,
	), each(
		b,
		q.Patterns,
		b.pattern,
	)
	b.deletes = b.deletes || q.Op == gojq.OpModify
	if b.changes == before && !guardable(q) {
		return q
	}
	c := &gojq.Query{Meta: q.Meta, Imports: q.Imports, Term: t, Left: left, Right: right, Patterns: patterns, Op: q.Op}
	if guardable(q) {
		c = b.operator(c)
	}
	c.FuncDefs = defs // outside the guard, which may call them
	return c
}

// guardable reports whether an operator may need a guard.
func guardable(q *gojq.Query) bool {
	switch q.Op {
	case gojq.OpAdd, gojq.OpSub, gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		return !literal(q.Left) && !literal(q.Right)
	case gojq.OpMul,
		gojq.OpAssign,
		gojq.OpModify,
		gojq.OpUpdateAdd,
		gojq.OpUpdateSub,
		gojq.OpUpdateMul,
		gojq.OpUpdateDiv,
		gojq.OpUpdateMod,
		gojq.OpUpdateAlt:
		return true
	}
	return false
}

// operator adds a guard to a binary operator, in place.
func (b *bounder) operator(q *gojq.Query) *gojq.Query {
	switch q.Op {
	case gojq.OpAdd:
		return b.pipe(q, call(shortName))
	case gojq.OpMul:
		b.changes++
		return call(timesName, q.Left, q.Right)
	case gojq.OpSub:
		b.changes++
		return call(withoutName, q.Left, q.Right)
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		q.Left, q.Right = b.pipe(q.Left, call(boundedName)), b.pipe(q.Right, call(boundedName))
		return q
	}
	return b.update(q)
}

// update adds a guard to a query that writes to paths of its input.
func (b *bounder) update(q *gojq.Query) *gojq.Query {
	out := q
	switch q.Op {
	case gojq.OpUpdateAdd, gojq.OpUpdateMul: // as gojq implements them, plus the guard
		op := gojq.OpAdd
		if q.Op == gojq.OpUpdateMul {
			op = gojq.OpMul
		}
		const right = "$%right"
		value := b.operator(&gojq.Query{Left: term(gojq.Term{Type: gojq.TermTypeIdentity}), Op: op, Right: call(right)})
		modify := &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: value}
		out = &gojq.Query{Left: q.Right, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: right}}, Right: modify}
		b.changes++
	}
	if b.far(q.Left) {
		b.follows = true
		return b.pipe(nearby(q.Left), out)
	}
	return out
}

// nearby returns a query that fails unless all paths of a query are near.
func nearby(q *gojq.Query) *gojq.Query {
	return call(nearPathsName, term(gojq.Term{Type: gojq.TermTypeArray, Array: &gojq.Array{Query: call(pathName, q)}}))
}

// far reports whether a query may return a path with a large index.
func (b *bounder) far(q *gojq.Query) bool {
	if q == nil {
		return false
	}
	if q.Term == nil {
		return len(q.FuncDefs) > 0 || b.far(q.Left) || b.far(q.Right)
	}
	t := q.Term
	if farIndex(t.Index) || slices.ContainsFunc(t.SuffixList, func(s *gojq.Suffix) bool { return farIndex(s.Index) }) {
		return true
	}
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeRecurse, gojq.TermTypeIndex:
		return false
	case gojq.TermTypeQuery:
		return b.far(t.Query)
	case gojq.TermTypeFunc:
		return !leading[t.Func.Name] || b.defined[t.Func.Name]
	}
	return true
}

func farIndex(index *gojq.Index) bool {
	if index == nil || index.Name != "" || index.Str != nil {
		return false
	}
	return index.IsSlice || !shortNumber(index.Start)
}

// shortNumber reports whether a query is a number with at most six digits, or a string.
func shortNumber(q *gojq.Query) bool {
	return literal(q) &&
		(q.Term.Type != gojq.TermTypeNumber || len(q.Term.Number) < 7 &&
			!slices.ContainsFunc([]byte(q.Term.Number), func(c byte) bool { return c < '0' || c > '9' }))
}

// literal reports whether a query is a string, a number, a boolean or null.
func literal(q *gojq.Query) bool {
	if q == nil || q.Term == nil || len(q.Term.SuffixList) > 0 || len(q.FuncDefs) > 0 {
		return false
	}
	switch q.Term.Type {
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber:
		return true
	case gojq.TermTypeString:
		return q.Term.Str.Queries == nil
	}
	return false
}

func (b *bounder) pipe(left, right *gojq.Query) *gojq.Query {
	b.changes++
	return &gojq.Query{Left: left, Op: gojq.OpPipe, Right: right}
}

func call(name string, args ...*gojq.Query) *gojq.Query {
	return term(gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}})
}

func term(t gojq.Term) *gojq.Query { return &gojq.Query{Term: &t} }

// each applies a function to a list, and copies the list if something changes.
func each[T any](b *bounder, list []*T, of func(*T) *T) []*T {
	var out []*T
	for i, one := range list {
		before := b.changes
		made := of(one)
		if b.changes > before && out == nil {
			out = slices.Clone(list)
		}
		if out != nil {
			out[i] = made
		}
	}
	if out == nil {
		return list
	}
	return out
}
