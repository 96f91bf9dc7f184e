package definition

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The strict decoder must return the same as the usual one, except for the status.
func TestCRDIsReadUnchanged(t *testing.T) {
	defs, list := parseFile(t, testdata+"/ok/crd.yaml")
	if len(defs) != 1 {
		t.Fatal(list)
	}
	data, err := os.ReadFile(testdata + "/ok/crd/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, want); err != nil {
		t.Fatal(err)
	}
	want.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	if diff := cmp.Diff(want, defs[0].CRD); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
