package jq

import (
	"strconv"

	"github.com/itchyny/gojq"
)

// Traced is compiled jq that records which of its branches a run reaches. It is not safe
// for concurrent use.
type Traced struct {
	*Program
	trace *trace
}

// trace is the record of a program.
type trace struct {
	reached []bool // by branch
	fresh   bool   // a branch was reached for the first time
}

// reachedName is the function that records a branch. No program can call or define it.
const reachedName = "%reached"

// CompileTraced is Compile with a record of the branches: of the parts that are evaluated
// for some inputs only. It modifies the query, and returns nil if the query has no
// branches. The bodies of the functions that skip names are left out.
func CompileTraced(query *gojq.Query, skip func(function string) bool, variables ...string) (*Traced, error) {
	t := &tracer{skip: skip, skipped: map[*gojq.Query]bool{}}
	Walk(query, t.visit)
	if t.branches == 0 {
		return nil, nil
	}
	record := &trace{reached: make([]bool, t.branches)}
	code, err := compile(query, variables, gojq.WithFunction(reachedName, 1, 1, record.reach))
	if err != nil {
		return nil, err
	}
	return &Traced{code, record}, nil
}

// Fresh reports whether a branch was reached for the first time since the last call.
func (t *Traced) Fresh() bool {
	fresh := t.trace.fresh
	t.trace.fresh = false
	return fresh
}

// Forget removes the record, so that every branch is new.
func (t *Traced) Forget() {
	clear(t.trace.reached)
	t.trace.fresh = false
}

func (t *trace) reach(_ any, args []any) any {
	if branch, ok := args[0].(int); ok && !t.reached[branch] {
		t.reached[branch], t.fresh = true, true
	}
	return nil
}

// tracer adds the calls that record branches.
type tracer struct {
	branches int
	skip     func(function string) bool
	skipped  map[*gojq.Query]bool // bodies of functions
}

func (t *tracer) visit(node any) bool {
	switch node := node.(type) {
	case *gojq.Query:
		if t.skipped[node] {
			return false
		}
		for _, def := range node.FuncDefs {
			t.skipped[def.Body] = t.skip(def.Name)
		}
		switch node.Op {
		case gojq.OpAnd, gojq.OpOr, gojq.OpAlt:
			node.Right = t.branch(node.Right)
		}
	case *gojq.Term:
		t.term(node)
	case *gojq.Func:
		if node.Name == "select" && len(node.Args) == 1 {
			node.Args[0] = term(gojq.Term{Type: gojq.TermTypeIf, If: &gojq.If{
				Cond: node.Args[0],
				Then: term(gojq.Term{Type: gojq.TermTypeTrue}),
				Else: term(gojq.Term{Type: gojq.TermTypeFalse}),
			}})
		}
	}
	return true
}

func (t *tracer) term(node *gojq.Term) {
	switch node.Type {
	case gojq.TermTypeIf:
		t.conditional(node.If)
	case gojq.TermTypeTry:
		if node.Try.Catch != nil {
			node.Try.Catch = t.branch(node.Try.Catch)
		}
	case gojq.TermTypeReduce:
		node.Reduce.Update = t.branch(node.Reduce.Update)
	case gojq.TermTypeForeach:
		node.Foreach.Update = t.branch(node.Foreach.Update)
	}
}

func (t *tracer) conditional(node *gojq.If) {
	if node.Else == nil && len(node.Elif) == 0 && fails(node.Then) {
		return // a guard, which every other input passes
	}
	node.Then = t.branch(node.Then)
	for _, e := range node.Elif {
		e.Then = t.branch(e.Then)
	}
	if node.Else == nil {
		node.Else = term(gojq.Term{Type: gojq.TermTypeIdentity})
	}
	node.Else = t.branch(node.Else)
}

// branch returns a query that is recorded when it is evaluated. It yields the same
// values, and the same paths.
func (t *tracer) branch(q *gojq.Query) *gojq.Query {
	number := term(gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(t.branches)})
	t.branches++
	return &gojq.Query{Left: call(reachedName, number), Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: "$%reached"}}, Right: q}
}

// fails reports whether a query only raises an error.
func fails(q *gojq.Query) bool {
	return q.Term != nil && q.Term.Type == gojq.TermTypeFunc && q.Term.Func.Name == "error"
}
