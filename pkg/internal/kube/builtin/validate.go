package builtin

import (
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Verdict has the reasons why an object is refused, by who refuses it.
type Verdict struct {
	Refusals field.ErrorList // by the API server
	Later    field.ErrorList // when the controller creates pods and volume claims of the object
	Images   field.ErrorList // by the kubelet
	Newer    field.ErrorList // by older versions of Kubernetes, and by those with a feature off
}

// Origins of refusals that have a known remedy.
const (
	OriginImage    = "image"    // the name of an image
	OriginSelector = "selector" // a selector that does not select the pods of its own template
	OriginEnding   = "ending"   // the restartPolicy of pods that must end

	originNewer = "newer" // what the next versions of Kubernetes accept
)

// Validate validates a decoded object apart from its own metadata. Fields that the API
// server sets may be missing. It may modify the object.
func Validate(object runtime.Object) Verdict {
	var v Verdict
	v.walk(reflect.ValueOf(object).Elem(), nil)
	v.sortNewer()
	switch object.(type) {
	case *policyv1.PodDisruptionBudget, *coordinationv1.Lease, *nodev1.RuntimeClass:
		return v // any qualified name may be a finalizer of these
	}
	if meta, err := meta.Accessor(object); err == nil {
		v.Refusals = append(
			v.Refusals,
			every(form(finalizer))(reflect.ValueOf(meta.GetFinalizers()), field.NewPath("metadata", "finalizers"))...)
	}
	return v
}

// sortNewer moves the refusals of what newer versions accept.
func (v *Verdict) sortNewer() {
	newer := func(err *field.Error) bool { return err.Origin == originNewer }
	for _, list := range []*field.ErrorList{&v.Refusals, &v.Later} {
		for _, err := range *list {
			if newer(err) {
				v.Newer = append(v.Newer, err)
			}
		}
		*list = slices.DeleteFunc(*list, newer)
	}
}

// newer returns the refusal of a field that Kubernetes accepts by default since a version, or with a feature gate.
func newer(at *field.Path, since, gate string) *field.Error {
	return field.Forbidden(at, "needs Kubernetes "+since+", or the feature gate "+gate).WithOrigin(originNewer)
}

func (v *Verdict) walk(value reflect.Value, at *field.Path) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			v.walk(value.Elem(), at)
		}
	case reflect.Slice:
		for i := range value.Len() {
			v.walk(value.Index(i), at.Index(i))
		}
	case reflect.Struct:
		v.object(value, at)
	}
}

func (v *Verdict) object(value reflect.Value, at *field.Path) {
	object := value.Addr().Interface()
	v.Refusals = append(v.Refusals, rulesOf(object, at)...)
	v.Images = append(v.Images, images(object, at)...)
	for _, f := range layoutOf(value.Type()) {
		inner := value.FieldByIndex(f.index)
		if len(f.checks) == 0 && isEmpty(inner) {
			continue
		}
		path := child(at, f.name)
		for _, check := range f.checks {
			v.Refusals = append(v.Refusals, check(inner, path)...)
		}
		switch {
		case !f.nested:
		case f.later:
			later := Verdict{}
			later.walk(inner, path)
			v.Later, v.Images = append(v.Later, later.Refusals...), append(v.Images, later.Images...)
		default:
			v.walk(inner, path)
		}
	}
}

// isEmpty reports whether walk finds nothing in a value.
func isEmpty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Pointer:
		return value.IsNil()
	case reflect.Slice:
		return value.Len() == 0
	}
	return false
}

func child(at *field.Path, name string) *field.Path {
	if at == nil {
		return field.NewPath(name)
	}
	return at.Child(name)
}

// layout is a field of a type that has rules, itself or inside.
type layout struct {
	index  []int
	name   string
	checks []check
	nested bool
	later  bool
}

// layouts has the []layout by reflect.Type.
var layouts sync.Map

func layoutOf(t reflect.Type) []layout {
	if known, ok := layouts.Load(t); ok {
		return known.([]layout) //nolint:forcetypeassert // see layouts
	}
	fields := fieldsOf(t, t, nil)
	layouts.Store(t, fields)
	return fields
}

// fieldsOf returns the fields of a struct that is the type itself, or embedded in it.
func fieldsOf(t, embedded reflect.Type, index []int) []layout {
	var fields []layout
	for i := range embedded.NumField() {
		f := embedded.Field(i)
		name, at := jsonName(f), append(slices.Clone(index), i)
		switch {
		case !f.IsExported() || name == "-":
		case name == "" && nests(f.Type):
			fields = append(fields, fieldsOf(t, f.Type, at)...)
		default:
			of := place{t, name}
			nested := nests(f.Type) && !unvalidated[of] && !unvalidated[place{embedded, name}]
			if checks := checks()[of]; len(checks) > 0 || nested {
				fields = append(fields, layout{index: at, name: name, checks: checks, nested: nested, later: later[of]})
			}
		}
	}
	return fields
}

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// nests reports whether values of a type contain structs to validate.
func nests(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(decodesItself)
}
