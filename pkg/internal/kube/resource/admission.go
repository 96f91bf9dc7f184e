package resource

import (
	"fmt"
	"math"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Admission is the result of a kubectl request at the API server.
type Admission struct {
	// Object as it would be stored: without unknown fields, with defaults.
	Object map[string]any
	// Unknown are the paths of fields that are not in the schema. Strict validation,
	// kubectl's default, rejects them.
	Unknown []string
	// Invalid are the violations of the schema, in metadata and for the scale
	// subresource.
	Invalid field.ErrorList
	// FailedRules are the validation rules that do not hold. They are not evaluated if
	// Invalid could mislead them.
	FailedRules field.ErrorList
}

// Admit processes an object like the API server: as a create or, with an old object, as
// an update. It changes neither object.
func (s *Schema) Admit(object, old map[string]any) Admission {
	a := Admission{Object: runtime.DeepCopyJSON(object)}
	a.Unknown = s.Prune(a.Object)
	s.Default(a.Object)
	if s.kind.Status {
		delete(a.Object, "status") // it is written through the status subresource only
	}
	if u := (&unstructured.Unstructured{Object: a.Object}); old == nil && u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(u.GetGenerateName() + "00000") // as long as the suffix that the server appends
	}
	if old != nil {
		old = runtime.DeepCopyJSON(old)
		s.Prune(old)
		s.Default(old)
		if status, has := old["status"]; has && s.kind.Status {
			a.Object["status"] = status
		}
	}
	a.Invalid, a.FailedRules = s.validate(a.Object, old)
	return a
}

// scale checks the fields that the scale subresource reads. The API server's own code
// for it is not importable.
func (s *Schema) scale(u *unstructured.Unstructured, known field.ErrorList) field.ErrorList {
	if s.kind.Scale == nil {
		return nil
	}
	errs := replicas(u, s.kind.Scale.SpecReplicasPath)
	errs = append(errs, replicas(u, s.kind.Scale.StatusReplicasPath)...)
	errs = append(errs, selector(u, s.kind.Scale)...)
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return slices.ContainsFunc(known, func(k *field.Error) bool { return k.Field == err.Field })
	})
}

func replicas(u *unstructured.Unstructured, path string) field.ErrorList {
	at := field.NewPath(strings.TrimPrefix(path, "."))
	count, _, err := unstructured.NestedInt64(u.Object, fields(path)...)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, count, err.Error())}
	case count < 0:
		return field.ErrorList{field.Invalid(at, count, "should be a non-negative integer")}
	case count > math.MaxInt32:
		return field.ErrorList{field.Invalid(at, count, fmt.Sprintf("should be less than or equal to %d", math.MaxInt32))}
	}
	return nil
}

func selector(u *unstructured.Unstructured, scale *apiextensionsv1.CustomResourceSubresourceScale) field.ErrorList {
	if scale.LabelSelectorPath == nil || *scale.LabelSelectorPath == "" {
		return nil
	}
	path := *scale.LabelSelectorPath
	text, _, err := unstructured.NestedString(u.Object, fields(path)...)
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath(strings.TrimPrefix(path, ".")), text, err.Error())}
	}
	return nil
}

func fields(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
