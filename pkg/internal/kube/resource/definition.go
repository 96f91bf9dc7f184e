package resource

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateDefinition returns why the API server refuses a new CustomResourceDefinition, or the
// change of one: it sets defaults, converts, and validates, with structural schemas, defaults,
// and the rules in CEL and their cost. Old is nil for a new one.
func ValidateDefinition(old, now *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	changed, err := internalDefinition(now)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	if old == nil { // what the strategy does before a creation
		changed.Status = apiextensions.CustomResourceDefinitionStatus{}
	}
	for _, v := range changed.Spec.Versions { // and before any write
		if v.Storage && !apiextensions.IsStoredVersion(changed, v.Name) {
			changed.Status.StoredVersions = append(changed.Status.StoredVersions, v.Name)
		}
	}
	if old == nil {
		return validation.ValidateCustomResourceDefinition(context.Background(), changed)
	}
	before, err := internalDefinition(old)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return validation.ValidateCustomResourceDefinitionUpdate(context.Background(), changed, before)
}

func internalDefinition(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	crd, out := crd.DeepCopy(), &apiextensions.CustomResourceDefinition{}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out, nil)
}
