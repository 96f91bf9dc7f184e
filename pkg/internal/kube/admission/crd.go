package admission

import (
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// CustomResources runs the API server's processing of new CustomResourceDefinitions.
func CustomResources(o argo.Objects) []problem.Problem { return argo.Each(o, CustomResource) }

// CustomResource reports why the API server would refuse a
// CustomResourceDefinition.
func CustomResource(r *problem.Report, crd *apiextensionsv1.CustomResourceDefinition) {
	for _, err := range resource.ValidateDefinition(nil, crd) {
		r.Problems = append(r.Problems, problem.Problem{
			Object: problem.Reference(crd), Path: err.Field, Code: problem.CodeCRD, Message: errorText(err),
		})
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
