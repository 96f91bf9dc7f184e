package resource

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Prune removes in place what the API server does not store: unknown fields, and nulls
// that are not allowed. It returns the sorted paths of the unknown fields.
func (s *Schema) Prune(object map[string]any) []string {
	track := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	meta, found, unknown, metaErr := objectmeta.GetObjectMetaWithOptions(
		object,
		objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true},
	)
	kept := keep(object, "apiVersion", "kind", "metadata")
	unknown = append(unknown, pruning.PruneWithOptions(object, s.structural, true, track)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	_, embedded := objectmeta.CoerceWithOptions(nil, object, s.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	for key, value := range kept {
		object[key] = value
	}
	if found && metaErr == nil {
		// Metadata that cannot be decoded is kept. Validate reports it.
		_ = objectmeta.SetObjectMeta(object, meta)
		if meta.CreationTimestamp.IsZero() {
			unstructured.RemoveNestedField(object, "metadata", "creationTimestamp")
		}
	}
	unknown = append(unknown, embedded...)
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

func keep(object map[string]any, keys ...string) map[string]any {
	kept := map[string]any{}
	for _, key := range keys {
		if value, ok := object[key]; ok {
			kept[key] = value
		}
	}
	return kept
}

// Default sets the defaults of the schema in place.
func (s *Schema) Default(object map[string]any) {
	defaulting.Default(object, s.structural)
}

// Defaulted returns a copy of an object with the defaults of the schema.
func (s *Schema) Defaulted(object map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(object)
	s.Default(out)
	return out
}

// Validate returns what the API server would reject: for a create or, with an old
// object, for an update. In an update, transition rules apply, and unchanged invalid
// values are tolerated. Call Default first, like the server.
//
// Two messages of the server are left out: the note that rules were not evaluated
// because the object is invalid, and duplicate errors of a value that the scale
// subresource reads.
//
// Fields that the server sets from the request may be missing: the namespace and, in an
// update, the resourceVersion and other fields that the server sets.
func (s *Schema) Validate(object, old map[string]any) field.ErrorList {
	errs, broken := s.validate(object, old)
	return append(errs, broken...)
}

// validate returns the errors of the schema and, separately, the validation rules that
// do not hold.
func (s *Schema) validate(object, old map[string]any) (errs, broken field.ErrorList) {
	return s.validateBy(nil, object, old)
}

func (s *Schema) validateBy(pays *purse, object, old map[string]any) (errs, broken field.ErrorList) {
	u, err := decoded(object)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}, nil
	}
	if errs := s.ofKind(u); len(errs) > 0 {
		return errs, nil
	}
	if _, _, err := objectmeta.GetObjectMeta(u.Object, false); err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("metadata"), u.Object["metadata"], err.Error())}, nil
	}
	s.place(u)
	if old == nil {
		return s.validateNew(u, pays)
	}
	before, err := decoded(old)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("the old object: %w", err))}, nil
	}
	s.place(before)
	inherit(u, before)
	return s.validateUpdate(u, before)
}

// decoded returns the object as the API server decodes it from JSON.
func decoded(object map[string]any) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	return u, json.Unmarshal(data, &u.Object)
}

// ofKind checks apiVersion and kind.
func (s *Schema) ofKind(u *unstructured.Unstructured) field.ErrorList {
	var errs field.ErrorList
	for _, want := range []struct{ key, value string }{{"apiVersion", s.kind.apiVersion()}, {"kind", s.kind.Kind}} {
		if got := u.Object[want.key]; got != want.value {
			if got == nil {
				got = ""
			}
			errs = append(errs, field.Invalid(field.NewPath(want.key), got, "must be "+want.value))
		}
	}
	return errs
}

// place sets the namespace as the server does from the path of a request.
func (s *Schema) place(u *unstructured.Unstructured) {
	switch {
	case !s.kind.Namespaced && u.GetNamespace() != "":
		u.SetNamespace("")
	case s.kind.Namespaced && u.GetNamespace() == "":
		u.SetNamespace("default")
	}
}

// inherit copies the fields that the server sets and a client need not send.
func inherit(u, old *unstructured.Unstructured) {
	if old.GetResourceVersion() == "" {
		old.SetResourceVersion("1")
	}
	u.SetResourceVersion(old.GetResourceVersion())
	u.SetGeneration(old.GetGeneration())
	from, _, _ := unstructured.NestedMap(old.Object, "metadata")
	for _, key := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		_, has, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", key)
		if value, ok := from[key]; ok && !has {
			_ = unstructured.SetNestedField(u.Object, value, "metadata", key)
		}
	}
}

// SortErrors sorts errors by field and message, because validation visits labels and
// annotations in random order.
func SortErrors(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errs
}

// forSample is Validate of a new object within the limits of the search for samples.
func (s *Schema) forSample(object map[string]any) field.ErrorList {
	errs, broken := s.validateBy(s.purse, object, nil)
	return append(errs, broken...)
}

// validateNew validates a new object. pays limits the rules, if it is not nil.
func (s *Schema) validateNew(u *unstructured.Unstructured, pays *purse) (errs, broken field.ErrorList) {
	errs = SortErrors(metav.ValidateObjectMetaAccessor(u, s.kind.Namespaced, metav.NameIsDNSSubdomain, field.NewPath("metadata")))
	errs = append(errs, validation.ValidateCustomResource(nil, u.Object, s.validator)...)
	errs = append(errs, s.scale(u, errs)...)
	errs = append(errs, objectmeta.Validate(nil, u.Object, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, u.Object)...)
	if s.rules == nil || blocked(errs) {
		return errs, nil
	}
	validate := func(budget int64) (field.ErrorList, int64) {
		return s.rules.Validate(context.Background(), nil, s.structural, u.Object, nil, budget)
	}
	if pays != nil {
		return errs, pays.pay(validate)
	}
	broken, _ = validate(celconfig.RuntimeCELCostBudget)
	return errs, broken
}

func (s *Schema) validateUpdate(u, old *unstructured.Unstructured) (errs, broken field.ErrorList) {
	related := common.NewCorrelatedObject(u.Object, old.Object, &model.Structural{Structural: s.structural})
	errs = SortErrors(metav.ValidateObjectMetaAccessorUpdate(u, old, field.NewPath("metadata")))
	errs = append(
		errs,
		validation.ValidateCustomResourceUpdate(nil, u.Object, old.Object, s.validator, validation.WithRatcheting(related))...)
	errs = append(errs, s.scale(u, errs)...)
	errs = append(errs, objectmeta.Validate(nil, u.Object, s.structural, false)...)
	if len(listtype.ValidateListSetsAndMaps(nil, s.structural, old.Object)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, u.Object)...)
	}
	if s.rules == nil || blocked(errs) {
		return errs, nil
	}
	broken, _ = s.rules.Validate(
		context.Background(),
		nil,
		s.structural,
		u.Object,
		old.Object,
		celconfig.RuntimeCELCostBudget,
		cel.WithRatcheting(related),
	)
	return errs, broken
}

// blocked reports whether validation rules are not evaluated because the object is
// invalid: they may rely on the schema.
func blocked(errs field.ErrorList) bool {
	return slices.ContainsFunc(errs, func(err *field.Error) bool {
		switch err.Type {
		case field.ErrorTypeNotSupported,
			field.ErrorTypeRequired,
			field.ErrorTypeTooLong,
			field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return true
		}
		return false
	})
}
