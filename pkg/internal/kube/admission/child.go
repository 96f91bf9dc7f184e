package admission

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/builtin"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Child validates a child object. A built-in kind is validated against its Go type
// and the API server's rules, a kind with a CustomResourceDefinition against its
// schema, any other kind only in its metadata. Fields that the server sets may be
// missing: defaults and the namespace. crd may be nil; one of another kind is
// ignored.
func Child(object map[string]any, crd *apiextensionsv1.CustomResourceDefinition) []problem.Problem {
	u := &unstructured.Unstructured{}
	r := problem.About(u)
	data, err := json.Marshal(object)
	if err == nil {
		err = utiljson.Unmarshal(data, &u.Object)
	}
	if err != nil {
		r.Add(nil, problem.CodeChild, "", "the object is no JSON: %v", err)
		return r.Problems
	}
	for _, key := range []string{"apiVersion", "kind"} {
		if text, ok := u.Object[key].(string); !ok || text == "" {
			required(r, field.NewPath(key), "")
		}
	}
	if len(r.Problems) > 0 {
		return r.Problems
	}
	kind := u.GroupVersionKind()
	switch typed := typeOf(kind); {
	case typed != nil:
		builtIn(r, u, typed)
	case crd != nil && crd.Spec.Group == kind.Group && crd.Spec.Names.Kind == kind.Kind:
		custom(r, u, crd)
	default:
		metadata(r, u)
	}
	slices.SortStableFunc(r.Problems, func(a, b problem.Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return r.Problems
}

// typeOf returns an empty object of the kind's Go type; nil for an unknown kind.
func typeOf(kind schema.GroupVersionKind) any {
	if object, err := scheme.Scheme.New(kind); err == nil {
		return object
	}
	if object := argo.NewObject(kind); object != nil {
		return object
	}
	return nil
}

// builtIn decodes an object into its type and validates the
// values as the API server does.
func builtIn(r *problem.Report, u *unstructured.Unstructured, typed any) {
	argo.Shape(r, problem.CodeChild, nil, reflect.TypeOf(typed).Elem(), u.Object)
	if len(r.Problems) > 0 {
		final(r)
		return
	}
	if err := argo.Fill(reflect.ValueOf(typed).Elem(), u.Object); err != nil {
		r.Add(nil, problem.CodeChild, "", "%v", err)
		final(r)
		return
	}
	metadata(r, u)
	if object, ok := typed.(runtime.Object); ok &&
		scheme.Scheme.Recognizes(u.GroupVersionKind()) { // the API server does not validate the pods in Argo's kinds
		verdict := builtin.Validate(object)
		refused(r, verdict.Refusals)
		warned(r, problem.CodeChild, verdict.Later)
		warned(r, problem.CodeChild, verdict.Newer)
		warned(r, problem.CodeImage, verdict.Images)
	}
}

// required reports a missing value in the API server's wording.
func required(r *problem.Report, at *field.Path, hint string) {
	r.Add(at, problem.CodeChild, hint, "Required value")
	r.Problems[len(r.Problems)-1].Required = true
}

// Values reports what the API server refuses in the metadata of an object, and in the values of
// a built-in kind. Names and namespaces may be missing, because tools such as kustomize add
// them. It may modify the object.
func Values(r *problem.Report, object manifest.Object) {
	kind := object.GetObjectKind().GroupVersionKind()
	if object.GetName() == "" {
		object.SetName("x")
	}
	errs := apivalidation.ValidateObjectMetaAccessor(
		object, object.GetNamespace() != "", builtin.Name(kind.GroupKind()), field.NewPath("metadata"))
	if scheme.Scheme.Recognizes(kind) {
		errs = append(errs, builtin.Validate(object).Refusals...)
	}
	refused(r, slices.DeleteFunc(errs, func(err *field.Error) bool {
		return err.Type == field.ErrorTypeRequired && strings.HasSuffix(err.Field, ".namespace")
	}))
}

// Builtin returns what the API server refuses in the values of an object of a built-in kind in JSON; nothing of another
// kind, or of one that cannot be decoded.
func Builtin(kind schema.GroupVersionKind, data []byte) []problem.Problem {
	typed, err := scheme.Scheme.New(kind)
	object, ok := typed.(manifest.Object)
	if err != nil || !ok || json.Unmarshal(data, object) != nil {
		return nil
	}
	r := problem.About(object)
	Values(r, object)
	return r.Problems
}

// final marks the problems after which the API server does not look at the values.
func final(r *problem.Report) {
	for i := range r.Problems {
		r.Problems[i].Final = true
	}
}

// custom validates an object with the schema of its kind.
func custom(r *problem.Report, u *unstructured.Unstructured, crd *apiextensionsv1.CustomResourceDefinition) {
	kind := u.GroupVersionKind()
	s, err := resource.FromCRD(crd, kind.Version)
	if err != nil {
		r.Add(field.NewPath("apiVersion"), problem.CodeChild, "", "%v", err)
		return
	}
	whole := runtime.DeepCopyJSON(u.Object)
	for _, path := range s.Prune(whole) {
		r.Add(field.NewPath(path), problem.CodeChild, "the API server drops it", "unknown field of %s %s", kind.Kind, kind.Version)
	}
	s.Default(whole)
	refused(r, s.Validate(whole, nil))
}

// refused adds errors in the API server's wording.
func refused(r *problem.Report, errs field.ErrorList) {
	for _, err := range resource.SortErrors(errs) {
		at := err.Field
		if at == "<nil>" {
			at = ""
		}
		value, _ := err.BadValue.(string)
		r.Problems = append(
			r.Problems,
			problem.Problem{
				Object:      problem.Reference(r.Object),
				Path:        at,
				Code:        problem.CodeChild,
				Message:     errorText(err),
				Hint:        remedy(err),
				Required:    err.Type == field.ErrorTypeRequired,
				Forbidden:   err.Type == field.ErrorTypeForbidden || err.Type == field.ErrorTypeNotFound,
				Unsupported: err.Type == field.ErrorTypeNotSupported,
				Value:       value,
			},
		)
	}
}

// warned adds warnings about what the API server accepts.
func warned(r *problem.Report, code string, errs field.ErrorList) {
	before := len(r.Problems)
	refused(r, errs)
	for i := range r.Problems[before:] {
		r.Problems[before+i].Warning, r.Problems[before+i].Code = true, code
	}
}

// remedy returns a hint for an error of the API server whose message does not
// suggest the fix.
func remedy(err *field.Error) string {
	key, isItem := lastStep(err.Field)
	switch {
	case err.Origin == builtin.OriginEnding: // the key may be there, with another value
		return "write " + key + ": OnFailure or Never"
	case err.Type == field.ErrorTypeRequired && !isItem:
		return "add " + key
	case err.Origin == builtin.OriginImage:
		return "use [REGISTRY/]NAME[:TAG][@DIGEST] in lower case, for example ghcr.io/team/app:1.2"
	case err.Origin == builtin.OriginSelector:
		return "copy all labels of spec.selector.matchLabels to spec.template.metadata.labels"
	case err.Type == field.ErrorTypeNotSupported:
		return supportedHint(err)
	}
	return ""
}

// metadata validates the metadata that every kind has.
func metadata(r *problem.Report, u *unstructured.Unstructured) {
	before := len(r.Problems)
	at := field.NewPath("metadata")
	argo.Shape(r, problem.CodeChild, at, reflect.TypeFor[metav1.ObjectMeta](), u.Object["metadata"])
	if len(r.Problems) > before {
		return
	}
	var meta metav1.ObjectMeta
	data, err := json.Marshal(u.Object["metadata"])
	if err == nil {
		err = json.Unmarshal(data, &meta)
	}
	if err != nil {
		r.Add(at, problem.CodeChild, "", "%v", err)
		return
	}
	if meta.Name == "" {
		required(r, at.Child("name"), "set metadata.name; an operator identifies its children by name")
		return
	}
	refused(r, apivalidation.ValidateObjectMeta(&meta, meta.Namespace != "", builtin.Name(u.GroupVersionKind().GroupKind()), at))
}
