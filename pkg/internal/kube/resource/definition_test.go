package resource

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestValidateDefinition covers what the API server does before it validates a definition: it
// tells which versions are stored.
func TestValidateDefinition(t *testing.T) {
	definition := func(storage string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "caches.example.com", ResourceVersion: "1"}}
		crd.Spec.Group, crd.Spec.Scope = "example.com", apiextensionsv1.NamespaceScoped
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "caches", Singular: "cache", Kind: "Cache", ListKind: "CacheList"}
		for _, v := range versions {
			crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
				Name: v, Served: true, Storage: v == storage,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			})
		}
		return crd
	}
	old := definition("v1", "v1")
	old.Status.StoredVersions = []string{"v1"}
	next := definition("v2", "v1", "v2")
	next.Status = old.Status
	gone := definition("v2", "v2")
	gone.Status = old.Status
	for _, tt := range []struct {
		name     string
		old, now *apiextensionsv1.CustomResourceDefinition
		legal    bool
	}{
		{"new", nil, definition("v1", "v1"), true},
		{"another version is stored from now on", old, next, true},
		{"a stored version is missing", old, gone, false},
		{"no version is stored", nil, definition("", "v1"), false},
	} {
		if found := ValidateDefinition(tt.old, tt.now); (len(found) == 0) != tt.legal {
			t.Errorf("%s: %v", tt.name, found)
		}
	}
}
