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
// because it may depend on other fields. What certainly does is left out: what is missing, what
// is forbidden, rules about more than one field, and fields that no value may be in.
func partial(object map[string]any, crd *apiextensionsv1.CustomResourceDefinition) []problem.Problem {
	var out []problem.Problem
	for _, p := range admission.Child(object, crd) {
		certain := p.Final || strings.HasPrefix(p.Path, "metadata.")
		value := schema.ValueAt(object, p.Segments()...)
		if p.Required || p.Forbidden || !certain && (value == nil || !isScalar(value) || excluded(object, crd, p)) {
			continue
		}
		p.Warning = p.Warning || !certain
		out = append(out, p)
	}
	return out
}

// Values that most fields of their types accept.
var (
	ordinaryTexts   = []any{"a", "1", "* * * * *"}
	ordinaryNumbers = []any{1, 8080, 1.5}
)

// excluded reports whether a field of a built-in kind accepts no ordinary value of its type.
func excluded(object map[string]any, crd *apiextensionsv1.CustomResourceDefinition, p problem.Problem) bool {
	if crd != nil || p.Unsupported {
		return false
	}
	at, values := p.Segments(), ordinaryNumbers
	switch schema.ValueAt(object, at...).(type) {
	case string:
		values = ordinaryTexts
	case bool:
		values = []any{true, false}
	}
	return !slices.ContainsFunc(values, func(value any) bool {
		other, _ := replaced(object, at, value)
		return !slices.ContainsFunc(admission.Child(other.(map[string]any), crd), func(q problem.Problem) bool { return q.Path == p.Path })
	})
}
