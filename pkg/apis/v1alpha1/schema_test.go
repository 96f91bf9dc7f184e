package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/testing/generate/schemagen/schema"
)

func TestJSONSchemaIsUpToDate(t *testing.T) {
	have := map[string][]byte{"schema.json": v1alpha1.JSONSchema(), "test.schema.json": v1alpha1.OperatorTestSchema()}
	for name, generate := range schema.Files() {
		want, err := generate(".")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(have[name])); diff != "" {
			t.Errorf("%s is stale, run go generate ./pkg/apis/... (-want +got):\n%s", name, diff)
		}
	}
}
