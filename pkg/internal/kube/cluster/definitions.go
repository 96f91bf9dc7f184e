package cluster

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Definitions are the CustomResourceDefinitions.
var Definitions = schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}

// illegalDefinition returns why the API server refuses a CustomResourceDefinition, or a change
// of one.
func illegalDefinition(old, o Object) field.ErrorList {
	now, wrong := internalDefinition(o)
	if wrong != nil {
		return wrong
	}
	if old == nil {
		now.Status = apiextensions.CustomResourceDefinitionStatus{}
		for _, v := range now.Spec.Versions {
			if v.Storage {
				now.Status.StoredVersions = []string{v.Name}
			}
		}
		return validation.ValidateCustomResourceDefinition(context.Background(), now)
	}
	before, wrong := internalDefinition(old)
	if wrong != nil {
		return wrong
	}
	return validation.ValidateCustomResourceDefinitionUpdate(context.Background(), now, before)
}

func internalDefinition(o Object) (*apiextensions.CustomResourceDefinition, field.ErrorList) {
	v1, out := &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.DeepCopy().Object, v1)
	if err == nil {
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(v1)
		err = apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(v1, out, nil)
	}
	if err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	return out, nil
}
