package expression

import (
	"fmt"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// neverNull warns of a comparison with null of a field that the API server never leaves
// out: its result is always the same.
func (a *analyser) neverNull(q *gojq.Query, left, right value) {
	v := left
	if left.kinds == null {
		v, right = right, left
	}
	if q.Op != gojq.OpEq && q.Op != gojq.OpNe || right.kinds != null || len(right.from) > 0 {
		return
	}
	why, by, hint := a.alwaysThere(v)
	if why == "" {
		return
	}
	if hint == "" {
		hint = "remove the comparison, or " + by + " in the schema"
	}
	result := map[gojq.Operator]string{gojq.OpNe: "true", gojq.OpEq: "false"}[q.Op]
	a.report(q, Problem{
		Code: BadExpression, Warning: true, Hint: hint,
		Message: fmt.Sprintf("%s is always %s: %s", a.shown(q), result, why),
	})
}

// neverOther warns of a field after // that is never read, because the API server never leaves out the
// one before it.
func (a *analyser) neverOther(q *gojq.Query, left, right value) {
	if left.kinds&boolean != 0 || len(right.from) == 0 {
		return // false counts as missing, and a constant does no harm
	}
	why, by, hint := a.alwaysThere(left)
	if why == "" {
		return
	}
	if hint == "" {
		hint = "remove " + by + " in the schema, or what follows //"
	}
	a.report(q, Problem{
		Code: BadExpression, Warning: true, Hint: hint,
		Message: fmt.Sprintf("%s never reads %s: %s", a.shown(q), a.called(q.Right, right), why),
	})
}

// alwaysThere says why a field of the spec has a value in every custom resource, by what in the schema,
// and how to make it optional if that is not obvious; why is empty if it may be missing.
func (a *analyser) alwaysThere(v value) (why, by, hint string) {
	if v.kinds&null != 0 || a.scope.Draft || a.scope.Live {
		return "", "", ""
	}
	if len(v.from) != 1 || v.from[0].root != inputRoot || len(v.from[0].path) < 2 || v.from[0].path[0] != "spec" {
		return "", "", ""
	}
	path := v.from[0].String()
	given, known := schema.Default(v.shape)
	switch {
	case !known:
		return "", "", ""
	case given == "{}" && v.kinds == object && !requires(v.shape):
		return "the API server sets " + path + " to its default {}", "the default",
			"in the schema, write required=true for a field of " + path + ", so that it has no default {}; or test one of its fields"
	case given != "":
		return "the API server sets " + path + " to its default " + given, "the default", ""
	}
	return path + " is required", "required=true", ""
}

// requires reports whether an object has a field that its author must set.
func requires(t schema.Type) bool {
	for _, name := range t.Fields() {
		if t.Needed(name) {
			return true
		}
	}
	return false
}
