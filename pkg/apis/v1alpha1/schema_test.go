package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/apis/v1alpha1/internal/schemagen/schema"
)

func TestJSONSchemaIsUpToDate(t *testing.T) {
	want, err := schema.Generate(".")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(v1alpha1.JSONSchema())); diff != "" {
		t.Errorf("schema.json is stale, run go generate ./pkg/apis/... (-want +got):\n%s", diff)
	}
}
