package childcheck

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// partial validates what a patch writes of an object whose other fields are not known. Problems
// with types and with metadata are certain. What the rules of a kind do not accept is a warning,
// because it may depend on other fields. What certainly does is left out: missing and forbidden
// values, rules about several fields, and fields that accept no value.
func partial(object map[string]any, crd *apiextensionsv1.CustomResourceDefinition) []problem.Problem {
	var out []problem.Problem
	for _, p := range admission.Child(object, crd) {
		certain := p.Final || strings.HasPrefix(p.Path, "metadata.")
		value := schema.ValueAt(object, p.Segments()...)
		missing := p.Required && value == nil
		if missing || p.Forbidden || !certain && !isLikely(object, value, crd, p) {
			continue
		}
		p.Warning = p.Warning || !certain
		out = append(out, p)
	}
	return out
}

// isLikely reports whether the problem of a value, or of an entry of a mapping, is likely one of it alone.
func isLikely(object map[string]any, value any, crd *apiextensionsv1.CustomResourceDefinition, p problem.Problem) bool {
	at := p.Segments()
	switch {
	case value == nil:
		return false
	case !isScalar(value):
		return entryOf(object, p) != ""
	case crd != nil:
		return p.Value != "object" || value == "object" // that is of a rule about the object around it
	}
	return p.Unsupported || p.Value == at[len(at)-1] || !excluded(object, value, p)
}

// Values that most fields of their types accept.
var (
	ordinaryTexts   = []any{"a", "1", "/a", "10%", "10.0.0.1", "10.0.0.0/8", "* * * * *"}
	ordinaryNumbers = []any{1, 8080, 1.5}
)

// excluded reports whether a field of a built-in kind accepts no ordinary value of its type.
func excluded(object map[string]any, value any, p problem.Problem) bool {
	values := ordinaryNumbers
	switch value.(type) {
	case string:
		values = ordinaryTexts
	case bool:
		values = []any{true, false}
	}
	return !slices.ContainsFunc(values, func(value any) bool {
		other, _ := replaced(object, p.Segments(), value)
		return !slices.ContainsFunc(admission.Child(other.(map[string]any), nil), func(q problem.Problem) bool { return q.Path == p.Path })
	})
}
