package expression

import (
	"errors"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// given returns the paths that exist whenever the scope's condition is true. ok is false if
// the condition is invalid, which is reported at the condition.
func given(scope Scope) (paths []read, ok bool) {
	if scope.Given == "" {
		return nil, true
	}
	condition := &templates{scope: scope, trial: true}
	condition.scope.Given = ""
	e := condition.expr(nil, bare(scope.Given), (*templates).wantBoolean)
	if e == nil || failed(condition.problems) {
		return nil, false
	}
	return condition.assured(e.query), true
}

// assured returns the paths that exist if a condition is true.
func (c *templates) assured(q *gojq.Query) []read {
	q = jq.Unwrap(q)
	if len(q.FuncDefs) == 0 && q.Op == gojq.OpAnd {
		return slices.Concat(c.assured(q.Left), c.assured(q.Right))
	}
	if len(q.FuncDefs) == 0 && q.Op == gojq.OpOr {
		return common(c.assured(q.Left), c.assured(q.Right))
	}
	if trueOfNothing(c.scope, q) {
		return nil
	}
	a := &analyser{scope: c.scope}
	a.use(a.query(q, c.input(), nil).value)
	return a.reads
}

// Implies reports whether a condition is certainly true only if another one is: it
// contains each part of the other one's `and`.
func Implies(condition, other string) bool {
	parts := conjuncts(condition)
	return len(parts) > 0 && !slices.ContainsFunc(conjuncts(other), func(part string) bool { return !slices.Contains(parts, part) })
}

// conjuncts returns the parts of `and`, each in one spelling.
func conjuncts(source string) []string {
	if strings.TrimSpace(source) == "" {
		return nil
	}
	q, err := parse(bare(source).text)
	if err != nil {
		return []string{source}
	}
	var parts []string
	var walk func(q *gojq.Query)
	walk = func(q *gojq.Query) {
		if q = jq.Unwrap(q); len(q.FuncDefs) == 0 && q.Op == gojq.OpAnd {
			walk(q.Left)
			walk(q.Right)
			return
		}
		parts = append(parts, q.String())
	}
	walk(q)
	return parts
}

// common returns the paths that lead to both, or to an ancestor.
func common(left, right []read) []read {
	var both []read
	for _, l := range left {
		for _, r := range right {
			n := 0
			for n < min(len(l.path), len(r.path)) && l.path[n] == r.path[n] {
				n++
			}
			same := func(other read) bool { return other.root == l.root && slices.Equal(other.path, l.path[:n]) }
			if l.root == r.root && n > 0 && !slices.ContainsFunc(both, same) {
				both = append(both, read{l.root, l.path[:n]})
			}
		}
	}
	return both
}

// trueOfNothing reports whether a condition is true for an empty object, like `.spec.x
// == null` and `(.spec.x // 1) > 0`. Such a condition does not show that a path exists.
func trueOfNothing(scope Scope, q *gojq.Query) bool {
	q, _, err := parseOwn(bound(scope.variablesOf(q), q.String()))
	if err != nil {
		return true
	}
	code, err := jq.Compile(q, variables()...)
	if err != nil {
		return true
	}
	v, err := (&Program{code: code}).Run(map[string]any{}, Vars{})
	var limit *jq.LimitError
	return errors.As(err, &limit) || (err == nil && v != nil && v != false)
}
