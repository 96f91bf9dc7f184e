package cluster

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
)

// Definitions are the CustomResourceDefinitions.
var Definitions = schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}

// illegalDefinition returns why the API server refuses a CustomResourceDefinition, or a change
// of one.
func illegalDefinition(old, o Object) field.ErrorList {
	now, err := typedDefinition(o)
	var before *apiextensionsv1.CustomResourceDefinition
	if err == nil && old != nil {
		before, err = typedDefinition(old)
	}
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return resource.ValidateDefinition(before, now)
}

func typedDefinition(o Object) (*apiextensionsv1.CustomResourceDefinition, error) {
	out := &apiextensionsv1.CustomResourceDefinition{}
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(o.DeepCopy().Object, out)
}
