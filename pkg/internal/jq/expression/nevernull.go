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
	if q.Op != gojq.OpEq && q.Op != gojq.OpNe || right.kinds != null || len(right.from) > 0 || v.kinds&null != 0 || a.scope.Draft ||
		a.scope.Live {
		return
	}
	if len(v.from) != 1 || v.from[0].root != inputRoot || len(v.from[0].path) < 2 || v.from[0].path[0] != "spec" {
		return
	}
	path := v.from[0].String()
	given, known := schema.Default(v.shape)
	if !known {
		return
	}
	why, hint := path+" is required", "remove the comparison, or required=true in the schema"
	switch {
	case given == "{}" && v.kinds == object && !requires(v.shape):
		why = "the API server sets " + path + " to its default {}"
		hint = "in the schema, write required=true for a field of " + path + ", so that it has no default {}; or test one of its fields"
	case given != "":
		why = "the API server sets " + path + " to its default " + given
		hint = "remove the comparison, or the default in the schema"
	}
	result := map[gojq.Operator]string{gojq.OpNe: "true", gojq.OpEq: "false"}[q.Op]
	a.report(
		q,
		Problem{Code: BadExpression, Warning: true, Message: fmt.Sprintf("%s is always %s: %s", a.shown(q), result, why), Hint: hint},
	)
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
