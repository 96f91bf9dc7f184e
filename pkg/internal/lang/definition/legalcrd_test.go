package definition

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// The API server accepts the CustomResourceDefinition of every legal definition.
func TestLegalDefinitionsHaveLegalCRDs(t *testing.T) {
	for _, file := range files(t, "ok/*.yaml") {
		defs, list := parseFile(t, file)
		if list.HasErrors() {
			t.Fatal(list)
		}
		for _, def := range defs {
			if def.Schemas == nil {
				continue
			}
			crd := crdOf(def)
			apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
			internal := &apiextensions.CustomResourceDefinition{}
			if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
				t.Fatal(err)
			}
			internal.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
			for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal) {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
		}
	}
}

func crdOf(def *Definition) *apiextensionsv1.CustomResourceDefinition {
	api := def.Operator.Spec.API
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: api.Plural + "." + api.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: api.Group,
			Scope: apiextensionsv1.ResourceScope(api.Scope),
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: api.Kind, Plural: api.Plural, Singular: strings.ToLower(api.Kind), ListKind: api.Kind + "List",
				ShortNames: api.ShortNames, Categories: api.Categories,
			},
		},
	}
	for _, v := range api.Versions {
		crd.Spec.Versions = append(crd.Spec.Versions, crdVersionOf(v, def.Schemas[v.Name]))
	}
	return crd
}

func crdVersionOf(v v1alpha1.Version, schema *apiextensionsv1.JSONSchemaProps) apiextensionsv1.CustomResourceDefinitionVersion {
	out := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: v.Name, Served: *v.Served, Storage: *v.Storage, Deprecated: v.Deprecated,
		Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema.DeepCopy()},
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
	}
	if v.DeprecationWarning != "" {
		out.DeprecationWarning = &v.DeprecationWarning
	}
	for _, c := range v.Columns {
		out.AdditionalPrinterColumns = append(out.AdditionalPrinterColumns, apiextensionsv1.CustomResourceColumnDefinition{
			Name: c.Name, Type: c.Type, JSONPath: c.Path, Priority: c.Priority,
		})
	}
	if s := v.Scale; s != nil {
		out.Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: s.SpecReplicasPath, StatusReplicasPath: s.StatusReplicasPath, LabelSelectorPath: &s.LabelSelectorPath,
		}
	}
	for _, f := range v.SelectableFields {
		out.SelectableFields = append(out.SelectableFields, apiextensionsv1.SelectableField{JSONPath: f})
	}
	return out
}
