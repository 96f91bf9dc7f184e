package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// Builtin returns the type of a built-in kind, derived from its Go type.
func Builtin(apiVersion, kind string) (Type, bool) {
	gv, err := k8sschema.ParseGroupVersion(apiVersion)
	if err != nil {
		return Any(), false
	}
	t, ok := scheme.Scheme.AllKnownTypes()[gv.WithKind(kind)]
	if !ok || !hasMetadata(t) {
		return Any(), false
	}
	return goType(t), true
}

// OfGo returns the type of a Go type by its json tags.
func OfGo(t reflect.Type) Type { return goType(t) }

// hasMetadata distinguishes objects from the options and reviews that the scheme has
// too.
func hasMetadata(t reflect.Type) bool {
	f, ok := t.FieldByName("ObjectMeta")
	return ok && f.Type == typeFor[metav1.ObjectMeta]()
}

func typeFor[T any]() reflect.Type { return reflect.TypeFor[T]() }

// OfKubernetes reports whether a type is one of Kubernetes' own, which its API server decodes without a schema.
func OfKubernetes(t Type) bool {
	_, is := t.(fromGo)
	return is
}

// fromGo is the type of a Go type by its json tags, evaluated lazily.
type fromGo struct {
	t reflect.Type
}

// goType returns the type of a Go type, which may be a pointer. A Go type with a custom
// JSON encoding is unknown unless it is listed here.
func goType(t reflect.Type) Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case typeFor[intstr.IntOrString]():
		return Of(IntOrString)
	case typeFor[resource.Quantity]():
		return Of(Quantity)
	case typeFor[metav1.Time](), typeFor[metav1.MicroTime](), typeFor[metav1.Duration]():
		return Of(String)
	}
	if t.Implements(typeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(typeFor[json.Marshaler]()) {
		return Any()
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return Of(String) // base64
	}
	return fromGo{t}
}

// Name returns the name of a type of Kubernetes in package coretypes, such as core/v1.EnvVar; "" for another type.
func Name(t Type) string {
	g, ok := t.(fromGo)
	if !ok || g.t.Name() == "" {
		return ""
	}
	for _, prefix := range [...]string{"k8s.io/api/", "k8s.io/apimachinery/pkg/apis/"} {
		if of, found := strings.CutPrefix(g.t.PkgPath(), prefix); found {
			return of + "." + g.t.Name()
		}
	}
	return ""
}

func (g fromGo) Kind() Kind {
	switch g.t.Kind() {
	case reflect.Struct, reflect.Map:
		return Object
	case reflect.Slice, reflect.Array:
		return Array
	case reflect.String:
		return String
	case reflect.Bool:
		return Boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Integer
	case reflect.Float32, reflect.Float64:
		return Number
	}
	return Unknown
}

// Nullable returns false: null removes a field from a typed object.
func (g fromGo) Nullable() bool { return false }

func (g fromGo) Open() bool { return g.t.Kind() == reflect.Map || g.Kind() == Unknown }

func (g fromGo) Item() Type {
	if g.Kind() != Array {
		return Any()
	}
	return goType(g.t.Elem())
}

func (g fromGo) Field(name string) (Type, bool) {
	if g.t.Kind() == reflect.Map {
		return goType(g.t.Elem()), true
	}
	f, ok := g.find(name)
	if !ok {
		return Any(), g.Open()
	}
	return goType(f.t), true
}

func (g fromGo) Fields() []string {
	var names []string
	for _, f := range tagged(g.t) {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// byType returns a function that computes its result once for each type: it is the same for all
// operators.
func byType[T any](of func(reflect.Type) T) func(reflect.Type) T {
	var results sync.Map
	return func(t reflect.Type) T {
		if known, ok := results.Load(t); ok {
			return known.(T)
		}
		result := of(t)
		results.Store(t, result)
		return result
	}
}

// written returns the fields that the API server sets if they are missing.
var written = byType(func(t reflect.Type) []string {
	switch t {
	case typeFor[metav1.TypeMeta]():
		return []string{"apiVersion", "kind"}
	case typeFor[metav1.ObjectMeta]():
		return []string{"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"}
	}
	value := reflect.New(t)
	setDefaults(value)
	if job, ok := value.Interface().(*batchv1.JobSpec); ok {
		jobDefaults(job)
	}
	var names []string
	for _, f := range tagged(t) {
		if f.in == t && !value.Elem().FieldByIndex(f.index).IsZero() && !slices.Contains(sometimes[t], f.name) {
			names = append(names, f.name)
		}
	}
	if t == typeFor[corev1.PodSpec]() {
		names = append(names, "serviceAccountName")
	}
	return names
})

// sometimes are fields that are set unless another one has a certain value.
var sometimes = map[reflect.Type][]string{
	typeFor[corev1.ServiceSpec](): {"internalTrafficPolicy"}, // not of an ExternalName
	typeFor[batchv1.JobSpec]():    {"completions"},           // not with parallelism
}

func (g fromGo) Required(name string) bool {
	f, ok := g.find(name)
	return ok && (!f.omitted || f.t.Kind() == reflect.Struct || slices.Contains(written(f.in), name))
}

// Needed reports whether the field has no omitempty. It returns false for a struct,
// whose own fields have tags.
func (g fromGo) Needed(name string) bool {
	f, ok := g.find(name)
	return ok && !f.omitted && f.t.Kind() != reflect.Struct
}

func (g fromGo) find(name string) (tag, bool) {
	fields := tagged(g.t)
	i := slices.IndexFunc(fields, func(f tag) bool { return f.name == name })
	if i < 0 {
		return tag{}, false
	}
	return fields[i], true
}

// tag is a field of a Go struct with its JSON name.
type tag struct {
	name    string
	omitted bool // if empty
	t       reflect.Type
	in      reflect.Type // the enclosing struct
	index   []int        // in that
}

// tagged returns the JSON fields of a struct, including those of inlined structs.
var tagged = byType(tags)

func tags(t reflect.Type) []tag {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var found []tag
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || (!f.IsExported() && !f.Anonymous):
		case name == "" && f.Anonymous:
			found = append(found, tags(f.Type)...)
		case name != "":
			omitted := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			found = append(found, tag{name, omitted, f.Type, t, f.Index})
		}
	}
	return found
}
