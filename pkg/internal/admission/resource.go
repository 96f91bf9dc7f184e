package admission

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/internal/resource"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// API is a kind whose objects are judged.
type API struct {
	crd        *apiextensionsv1.CustomResourceDefinition // nil for one that is in the cluster already
	kind       schema.GroupVersionKind
	namespaced bool
	schemas    map[string]*resource.Schema
}

// NewAPI is the kind that emitted objects define; one of which they define
// nothing is in the cluster already.
func NewAPI(emitted []manifest.Object, group, version, kind string, namespaced bool) *API {
	a := &API{kind: schema.GroupVersionKind{Group: group, Version: version, Kind: kind}, namespaced: namespaced, schemas: map[string]*resource.Schema{}}
	for _, o := range emitted {
		if crd, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok && crd.Spec.Group == group && crd.Spec.Names.Kind == kind {
			a.crd = crd
		}
	}
	return a
}

// Is tells whether an object is of the kind, whatever the version.
func (a *API) Is(group, kind string) bool { return a.kind.Group == group && a.kind.Kind == kind }

// Kind is its name without group and version.
func (a *API) Kind() string { return a.kind.Kind }

// Versions are those that the API server takes, as apiVersion spells them.
func (a *API) Versions() []string {
	if a.crd == nil {
		return []string{a.kind.GroupVersion().String()}
	}
	var out []string
	for _, v := range a.crd.Spec.Versions {
		if v.Served {
			out = append(out, a.kind.Group+"/"+v.Name)
		}
	}
	return out
}

// Judge says what the API server would refuse of an object when kubectl sends
// it: as a new one, or as a change where there is an old one. The object's kind
// is the API's. A change is told from a new object only where there is a
// CustomResourceDefinition: of other kinds it is not known what may change.
func (a *API) Judge(object, old map[string]any) ([]problem.Problem, error) {
	u := &unstructured.Unstructured{Object: object}
	r := problem.About(u)
	version := u.GetAPIVersion()
	if served := a.Versions(); !slices.Contains(served, version) {
		r.Add(field.NewPath("apiVersion"), diag.WrongAPIVersion, nearestOf(version, served, "served"), "%s is not served as %s", a.kind.Kind, version)
		return r.Problems, nil
	}
	if a.crd == nil {
		a.judgeExisting(r, u)
		return r.Problems, nil
	}
	s, err := a.Schema(u.GroupVersionKind().Version)
	if err != nil {
		return nil, err
	}
	a.warnings(r, u, a.crd.Spec.Scope == apiextensionsv1.ClusterScoped)
	judgeCustom(r, s, object, old)
	return r.Problems, nil
}

// Schema of a version; nil for a kind of which only its users know one.
func (a *API) Schema(version string) (*resource.Schema, error) {
	if a.crd == nil {
		return nil, nil
	}
	if known := a.schemas[version]; known != nil {
		return known, nil
	}
	made, err := resource.FromCRD(a.crd, version)
	if err != nil {
		return nil, err
	}
	a.schemas[version] = made
	return made, nil
}

// warnings are what the API server lets pass and its users should know.
func (a *API) warnings(r *problem.Report, u *unstructured.Unstructured, clusterScoped bool) {
	if namespace, has, _ := unstructured.NestedString(u.Object, "metadata", "namespace"); clusterScoped && has && namespace != "" {
		r.Add(field.NewPath("metadata", "namespace"), diag.DroppedField, "remove it",
			"%s is cluster-scoped: the API server drops the namespace", a.kind.Kind)
	}
	if a.crd != nil {
		for _, v := range a.crd.Spec.Versions {
			if v.Name != u.GroupVersionKind().Version || !v.Deprecated {
				continue
			}
			text := fmt.Sprintf("%s %s is deprecated", u.GetAPIVersion(), a.kind.Kind)
			if v.DeprecationWarning != nil {
				text = *v.DeprecationWarning
			}
			r.Add(field.NewPath("apiVersion"), diag.DeprecatedVersion, "", "%s", text)
		}
	}
	for i := range r.Problems {
		r.Problems[i].Warning = true
	}
}

func judgeCustom(r *problem.Report, s *resource.Schema, object, old map[string]any) {
	a := s.Admit(object, old)
	unknown := a.Unknown
	if unreadable(a.Invalid) {
		// The server says no more than that. The type says where, and the rest of
		// the object can be judged all the same.
		shaped(r, field.NewPath("metadata"), reflect.TypeFor[metav1.ObjectMeta](), object["metadata"])
		rest := maps.Clone(object)
		rest["metadata"] = map[string]any{"name": "sample"}
		a = s.Admit(rest, nil)
	}
	mistyped := map[string]bool{}
	for _, err := range a.Invalid {
		p := worded(r, err, a.Object, s)
		if !mistyped[p.Path] { // what else is said of such a value is its type again
			r.Problems = append(r.Problems, p)
		}
		mistyped[p.Path] = mistyped[p.Path] || p.Code == diag.WrongType
	}
	for _, path := range unknown {
		if !below(path, mistyped) {
			r.Add(field.NewPath(path), diag.UnknownField, unknownHint(s, object, path), "unknown field %s", path)
		}
	}
	for _, err := range a.FailedRules {
		r.Problems = append(r.Problems, problem.Problem{
			Object: problem.Reference(r.Object), Path: pathOf(err), Code: diag.FailedValidationRule, Message: prefixed(pathOf(err), err.Detail),
		})
	}
}

// below tells whether a path leads into a value of a wrong type.
func below(path string, mistyped map[string]bool) bool {
	for at := range mistyped {
		if rest, ok := strings.CutPrefix(path, at); ok && mistyped[at] && strings.ContainsAny(rest[:min(1, len(rest))], ".[") {
			return true
		}
	}
	return false
}

// unreadable says that metadata is not what it must be for anything else to be judged.
func unreadable(errs field.ErrorList) bool { return len(errs) == 1 && errs[0].Field == "metadata" }

// judgeExisting holds an object of a kind that is in the cluster already to its
// Go type and, unlike a child, lets the API server give it a name.
func (a *API) judgeExisting(r *problem.Report, u *unstructured.Unstructured) {
	a.warnings(r, u, !a.namespaced)
	typed := typeOf(u.GroupVersionKind())
	before := len(r.Problems)
	if typed != nil {
		shaped(r, nil, reflect.TypeOf(typed).Elem(), u.Object)
	} else {
		shaped(r, field.NewPath("metadata"), reflect.TypeFor[metav1.ObjectMeta](), u.Object["metadata"])
		r.Add(nil, diag.MissingSchema, "", "no schema of %s is known: only its metadata was judged", a.kind.Kind)
		r.Problems[len(r.Problems)-1].Warning = true
	}
	for _, p := range r.Problems[before:] {
		if strings.HasPrefix(p.Path, "metadata") {
			return // what is not even readable is not judged
		}
		if !p.Warning {
			typed = nil
		}
	}
	for _, err := range a.existingErrors(u, typed) {
		r.Problems = append(r.Problems, worded(r, err, u.Object, nil))
	}
}

func (a *API) existingErrors(u *unstructured.Unstructured, typed any) field.ErrorList {
	placed := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(u.Object)}
	switch {
	case !a.namespaced:
		placed.SetNamespace("")
	case placed.GetNamespace() == "":
		placed.SetNamespace("default")
	}
	errs := apivalidation.ValidateObjectMetaAccessor(placed, a.namespaced, childName(a.kind.GroupKind()), field.NewPath("metadata"))
	if typed == nil || !scheme.Scheme.Recognizes(u.GroupVersionKind()) {
		return errs
	}
	data, err := json.Marshal(u.Object)
	if err == nil {
		err = json.Unmarshal(data, typed)
	}
	if err != nil {
		return append(errs, field.InternalError(nil, err))
	}
	return append(errs, walkRules(reflect.ValueOf(typed).Elem(), nil)...)
}

// shaped is shape with the codes and the words of custom resources.
func shaped(r *problem.Report, at *field.Path, t reflect.Type, value any) {
	before := len(r.Problems)
	argo.Shape(r, "", at, t, value)
	for i := before; i < len(r.Problems); i++ {
		r.Problems[i].Message = prefixed(r.Problems[i].Path, r.Problems[i].Message)
	}
}
