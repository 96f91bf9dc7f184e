package expression

import (
	"fmt"
	"slices"

	"github.com/itchyny/gojq"
)

// tighter are the operators that bind tighter than //.
var tighter = []gojq.Operator{
	gojq.OpAnd, gojq.OpOr, gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe,
	gojq.OpAdd, gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod,
}

// looseDefault warns of an operator behind a default: `.a // 0 >= .b` is `.a // (0 >= .b)`.
// It warns only where the default is a literal that nobody would write as the left operand
// of that operator.
func (a *analyser) looseDefault(q *gojq.Query) {
	right := q.Right
	for right.Op == gojq.OpAlt {
		right = right.Right
	}
	op, first := right.Op, right
	for slices.Contains(tighter, first.Op) {
		op, first = first.Op, first.Left
	}
	from, ok := a.spans[q]
	to, known := a.spans[first]
	if first == right || !meantAsDefault(first, op) || !ok || !known {
		return
	}
	a.report(right, Problem{
		Code: BadExpression, Warning: true,
		Message: fmt.Sprintf("// binds looser than %s: the default is %s", op, a.shown(right)),
		Fix:     "(" + a.text[from.At:to.End] + ")" + a.text[to.End:from.End],
		Caveat:  "or put parentheses around the default",
		FixAt:   from.At, FixEnd: from.End,
	})
}

// meantAsDefault reports whether a literal is pointless as the left operand of an operator.
func meantAsDefault(q *gojq.Query, op gojq.Operator) bool {
	if q.Term == nil || len(q.FuncDefs) > 0 {
		return false
	}
	switch literal := q.String(); op {
	case gojq.OpAnd, gojq.OpOr:
		return literal == "true" || literal == "false"
	case gojq.OpAdd, gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod:
		return slices.Contains([]string{"0", `""`, "[]", "{}"}, literal)
	}
	switch t := q.Term; t.Type {
	case gojq.TermTypeNumber, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNull:
		return len(t.SuffixList) == 0
	case gojq.TermTypeString:
		return len(t.SuffixList) == 0 && t.Str.Queries == nil
	}
	return slices.Contains([]string{"[]", "{}"}, q.String())
}
