package admission

import (
	"context"
	"reflect"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// CustomResources runs the API server's processing of new
// CustomResourceDefinitions: defaulting, conversion, and validation with structural
// schemas, defaults, CEL compilation and CEL cost.
func CustomResources(o argo.Objects) []problem.Problem { return argo.Each(o, CustomResource) }

// CustomResource reports why the API server would refuse a
// CustomResourceDefinition.
func CustomResource(r *problem.Report, emitted *apiextensionsv1.CustomResourceDefinition) {
	v1 := emitted.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(v1)
	crd := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(v1, crd, nil); err != nil {
		r.Add(nil, problem.CodeCRD, "", "%v", err)
		return
	}
	prepareForCreate(crd)
	for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), crd) {
		r.Problems = append(r.Problems, problem.Problem{
			Object: problem.Reference(v1), Path: err.Field, Code: problem.CodeCRD, Message: errorText(err),
		})
	}
}

// prepareForCreate does what the API server's strategy does before validation.
func prepareForCreate(crd *apiextensions.CustomResourceDefinition) {
	crd.Status = apiextensions.CustomResourceDefinitionStatus{}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			crd.Status.StoredVersions = []string{v.Name}
			return
		}
	}
}

// errorText returns the API server's message without the Go literal that it prints
// for a struct.
func errorText(err *field.Error) string {
	if err.BadValue != nil && reflect.Indirect(reflect.ValueOf(err.BadValue)).Kind() == reflect.Struct {
		return err.Type.String() + ": " + err.Detail
	}
	return err.ErrorBody()
}
