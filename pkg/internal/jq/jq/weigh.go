package jq

import (
	"context"
	"errors"

	"github.com/itchyny/gojq"
)

// Weighed is compiled jq that counts what a run costs. It is not safe for concurrent use.
type Weighed struct {
	program *Program
	scale   *scale
}

// scale adds up the cost of steps of which one takes as long as many.
type scale struct{ cost int }

// Text and items that are copied in the time of one step.
const (
	textPerStep  = 1024
	itemsPerStep = 64
)

// CompileWeighed is Compile with a count of costs. It modifies the query, and returns nil for
// one with fewer loops.
func CompileWeighed(query *gojq.Query, least int, variables ...string) (*Weighed, error) {
	s, loops := &scale{}, 0
	Walk(query, func(node any) bool {
		loops += s.weigh(node)
		return true
	})
	if loops < least {
		return nil, nil
	}
	var options []gojq.CompilerOption
	for name, weighed := range s.functions() {
		options = append(options, gojq.WithFunction(name, len(weighed.args), len(weighed.args), weighed.run))
	}
	program, err := compile(query, variables, options...)
	if err != nil {
		return nil, err
	}
	return &Weighed{program, s}, nil
}

// Run returns the cost in steps, or MaxSteps and more if it exceeds a limit.
func (w *Weighed) Run(ctx context.Context, input any, values ...any) (cost int) {
	w.scale.cost = 0
	m := &meter{Context: ctx}
	_, err := w.program.run(m, input, values)
	cost = m.steps + w.scale.cost
	if limit := new(LimitError); errors.As(err, &limit) {
		return max(MaxSteps, cost)
	}
	return cost
}

// The functions that replace operators and functions of which a single step may take long.
const (
	plusName    = "%plus"
	minusName   = "%minus"
	findingName = "%in "
)

// crossing functions compare every item of a list with every item of another.
var crossing = []string{"contains", "inside", "index", "rindex", "indices"}

// looping functions run over their input.
var looping = set("map", "map_values", "any", "all", "range", "to_entries", "from_entries", "with_entries", "select", "recurse",
	"walk", "paths", "flatten", "while", "until", "repeat", "limit", "first", "last", "splits", "scan", "gsub", "sub",
	"IN", "INDEX", "GROUP_BY", "test", "match", "capture", "add", "join", "unique_by", "group_by", "sort_by", "min_by", "max_by")

// weigh replaces what the scale has to see, and returns how many loops a node adds.
func (s *scale) weigh(node any) (loops int) {
	switch node := node.(type) {
	case *gojq.Query:
		return weighOperator(node)
	case *gojq.Term:
		for _, suffix := range node.SuffixList {
			if suffix.Iter || suffix.Index != nil && suffix.Index.IsSlice {
				loops++
			}
		}
		if node.Type == gojq.TermTypeReduce || node.Type == gojq.TermTypeForeach || node.Type == gojq.TermTypeRecurse {
			loops++
		}
	case *gojq.Func:
		for _, name := range crossing {
			if node.Name == name && len(node.Args) == 1 {
				node.Name = findingName + name
				return 2
			}
		}
		switch {
		case node.Name == "combinations":
			return 2
		case looping[node.Name]:
			return 1
		}
	}
	return loops
}

func weighOperator(q *gojq.Query) (loops int) {
	switch q.Op {
	case gojq.OpAdd:
		*q = gojq.Query{FuncDefs: q.FuncDefs, Term: call(plusName, q.Left, q.Right).Term}
		return 1
	case gojq.OpSub:
		*q = gojq.Query{FuncDefs: q.FuncDefs, Term: call(minusName, q.Left, q.Right).Term}
		return 2
	case gojq.OpMul, gojq.OpUpdateAdd, gojq.OpUpdateSub:
		return 1
	}
	return 0
}

// weighedFunction is a function of gojq's with the cost of its arguments.
type weighedFunction struct {
	args []string
	run  func(input any, args []any) any
}

func (s *scale) functions() map[string]weighedFunction {
	out := map[string]weighedFunction{
		plusName: {[]string{"$a", "$b"}, func(_ any, args []any) any {
			s.cost += copied(args[0]) + copied(args[1])
			return builtin("$a + $b").of(nil, args[0], args[1])
		}},
		minusName: {[]string{"$a", "$b"}, func(_ any, args []any) any {
			s.cross(args[0], args[1])
			return builtin("$a - $b").of(nil, args[0], args[1])
		}},
	}
	for _, name := range crossing {
		out[findingName+name] = weighedFunction{[]string{"$a"}, func(input any, args []any) any {
			s.cross(input, args[0])
			return builtin(name+"($a)").of(input, args[0], nil)
		}}
	}
	return out
}

// cross adds the cost of comparing two lists, before a step that has no limit does it.
func (s *scale) cross(a, b any) {
	if s.cost += crossed(a, b); s.cost > MaxSteps {
		panic(&LimitError{unending, endless})
	}
}

// copied returns the cost of a copy of a value.
func copied(value any) int {
	switch value := value.(type) {
	case string:
		return len(value) / textPerStep
	case []any:
		return len(value) / itemsPerStep
	case map[string]any:
		return len(value)
	}
	return 0
}

// crossed returns the cost of comparing every item of a list with every item of another, or with
// a value.
func crossed(a, b any) int {
	left, _ := a.([]any)
	if right, ok := b.([]any); ok {
		return len(left) * len(right)
	}
	return len(left)
}
