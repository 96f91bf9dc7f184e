package admission

import (
	"cmp"
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
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/builtin"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// API is a kind whose custom resources are validated.
type API struct {
	crd        *apiextensionsv1.CustomResourceDefinition // nil for an existing kind
	kind       schema.GroupVersionKind
	namespaced bool
	schemas    map[string]*resource.Schema
}

// NewAPI returns the kind with its CustomResourceDefinition, if that is among the
// emitted objects; otherwise the kind exists in the cluster.
func NewAPI(emitted []manifest.Object, group, version, kind string, namespaced bool) *API {
	a := &API{
		kind:       schema.GroupVersionKind{Group: group, Version: version, Kind: kind},
		namespaced: namespaced,
		schemas:    map[string]*resource.Schema{},
	}
	for _, o := range emitted {
		if crd, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok && crd.Spec.Group == group && crd.Spec.Names.Kind == kind {
			a.crd = crd
		}
	}
	return a
}

// Is reports whether an object is of the kind in any version.
func (a *API) Is(group, kind string) bool { return a.kind.Group == group && a.kind.Kind == kind }

// Kind returns the name of the kind.
func (a *API) Kind() string { return a.kind.Kind }

// Versions returns the served versions in the form of an apiVersion.
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

// Validate returns the errors with which the API server would refuse an object from
// kubectl: a create, or an update if old is set. The object's kind must be the
// API's. Updates are only validated with a CustomResourceDefinition, because the
// immutable fields of other kinds are unknown.
func (a *API) Validate(object, old map[string]any) ([]problem.Problem, error) {
	u := &unstructured.Unstructured{Object: object}
	r := problem.About(u)
	version := u.GetAPIVersion()
	if served := a.Versions(); !slices.Contains(served, version) {
		r.Add(
			field.NewPath("apiVersion"),
			diag.WrongAPIVersion,
			nearestHint(version, served, "served"),
			"%s is not served as %s",
			a.kind.Kind,
			version,
		)
		return r.Problems, nil
	}
	if a.crd == nil {
		a.validateExisting(r, u)
		return r.Problems, nil
	}
	s, err := a.Schema(u.GroupVersionKind().Version)
	if err != nil {
		return nil, err
	}
	a.warnings(r, u, a.crd.Spec.Scope == apiextensionsv1.ClusterScoped)
	validateCustom(r, s, a.rules(u.GroupVersionKind().Version), object, old)
	return r.Problems, nil
}

// rules returns the validation rules about the whole object.
func (a *API) rules(version string) apiextensionsv1.ValidationRules {
	for _, v := range a.crd.Spec.Versions {
		if v.Name == version && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			return v.Schema.OpenAPIV3Schema.XValidations
		}
	}
	return nil
}

// Schema returns the schema of a version; nil for an existing kind.
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

// warnings adds warnings for what the API server accepts but users should know.
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

// validateCustom adds the errors of a custom resource. rules are the validation rules about
// the whole object.
func validateCustom(r *problem.Report, s *resource.Schema, rules apiextensionsv1.ValidationRules, object, old map[string]any) {
	a := s.Admit(object, old)
	unknown := a.Unknown
	if unreadable(a.Invalid) {
		// The server reports nothing else. Validate metadata by its type and the
		// rest of the object without it.
		shaped(r, field.NewPath("metadata"), reflect.TypeFor[metav1.ObjectMeta](), object["metadata"])
		rest := maps.Clone(object)
		rest["metadata"] = map[string]any{"name": "sample"}
		a = s.Admit(rest, nil)
	}
	mistyped := map[string]bool{}
	for _, err := range a.Invalid {
		p := toProblem(r, err, a.Object, s)
		if !mistyped[p.Path] { // a value of a wrong type causes further errors
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
		path := pathOf(err)
		r.Problems = append(r.Problems, problem.Problem{
			Object: problem.Reference(r.Object), Path: cmp.Or(path, fieldOfRule(rules, err)),
			Code: diag.FailedValidationRule, Message: prefixPath(path, err.Detail),
		})
	}
}

// below reports whether a path leads into a value of a wrong type.
func below(path string, mistyped map[string]bool) bool {
	for at := range mistyped {
		if rest, ok := strings.CutPrefix(path, at); ok && mistyped[at] && strings.ContainsAny(rest[:min(1, len(rest))], ".[") {
			return true
		}
	}
	return false
}

// unreadable reports whether metadata is too malformed to validate the rest.
func unreadable(errs field.ErrorList) bool { return len(errs) == 1 && errs[0].Field == "metadata" }

// validateExisting validates an object of an existing kind by its Go type. Unlike a
// child, it may have a generated name.
func (a *API) validateExisting(r *problem.Report, u *unstructured.Unstructured) {
	a.warnings(r, u, !a.namespaced)
	typed := typeOf(u.GroupVersionKind())
	before := len(r.Problems)
	if typed != nil {
		shaped(r, nil, reflect.TypeOf(typed).Elem(), u.Object)
	} else {
		shaped(r, field.NewPath("metadata"), reflect.TypeFor[metav1.ObjectMeta](), u.Object["metadata"])
		r.Add(nil, diag.MissingSchema, "", "unknown schema of %s: only its metadata was checked", a.kind.Kind)
		r.Problems[len(r.Problems)-1].Warning = true
	}
	for _, p := range r.Problems[before:] {
		if strings.HasPrefix(p.Path, "metadata") {
			return // malformed metadata cannot be validated
		}
		if !p.Warning {
			typed = nil
		}
	}
	for _, err := range a.existingErrors(u, typed) {
		r.Problems = append(r.Problems, toProblem(r, err, u.Object, nil))
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
	errs := apivalidation.ValidateObjectMetaAccessor(placed, a.namespaced, builtin.Name(a.kind.GroupKind()), field.NewPath("metadata"))
	object, ok := typed.(runtime.Object)
	if !ok || !scheme.Scheme.Recognizes(u.GroupVersionKind()) {
		return errs
	}
	data, err := json.Marshal(u.Object)
	if err == nil {
		err = json.Unmarshal(data, object)
	}
	if err != nil {
		return append(errs, field.InternalError(nil, err))
	}
	return append(errs, builtin.Validate(object).Refusals...)
}

// shaped is argo.Shape with the codes and wording for custom resources.
func shaped(r *problem.Report, at *field.Path, t reflect.Type, value any) {
	before := len(r.Problems)
	argo.Shape(r, "", at, t, value)
	for i, p := range r.Problems[before:] {
		r.Problems[before+i].Message = diag.About(p.Path, p.Message)
	}
}
