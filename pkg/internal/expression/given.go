package expression

import (
	"errors"
	"slices"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// given are the paths that are there whenever the condition of the scope is
// true; none if the condition itself is wrong, which is told where it stands.
func given(scope Scope) []read {
	if scope.Given == "" {
		return nil
	}
	condition := &templates{scope: scope}
	condition.scope.Given = ""
	e := condition.expr(nil, bare(scope.Given))
	if e == nil {
		return nil
	}
	condition.wantBoolean(e)
	if failed(condition.problems) {
		return nil
	}
	return condition.assured(e.query)
}

// assured are the paths that are there where a condition is true.
func (c *templates) assured(q *gojq.Query) []read {
	q = jq.Unwrap(q)
	if len(q.FuncDefs) == 0 && q.Op == gojq.OpAnd {
		return slices.Concat(c.assured(q.Left), c.assured(q.Right))
	}
	if len(q.FuncDefs) == 0 && q.Op == gojq.OpOr {
		return common(c.assured(q.Left), c.assured(q.Right))
	}
	if trueOfNothing(q) {
		return nil
	}
	a := &analyser{scope: c.scope}
	a.use(a.query(q, c.input(), nil).value)
	return a.reads
}

// common are the paths that lead to one of both, or to something above it.
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

// trueOfNothing says that a condition is true also of an empty object, like
// `.spec.x == null` and `(.spec.x // 1) > 0`: then it shows that nothing is there.
func trueOfNothing(q *gojq.Query) bool {
	code, err := jq.Compile(q, variables()...)
	if err != nil {
		return true
	}
	v, err := (&Program{code: code}).Run(map[string]any{}, Vars{})
	var limit *jq.LimitError
	return errors.As(err, &limit) || (err == nil && v != nil && v != false)
}
