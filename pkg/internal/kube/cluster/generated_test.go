package cluster

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/argoperator/argoperator/pkg/internal/testing/generate/gosource"
)

// TestGenerated requires that the types are those of client-go.
func TestGenerated(t *testing.T) {
	types := applyconfigurations.NewTypeConverter(scheme.Scheme).TypeResolver.(*typed.Parser).Schema.Types
	want, err := gosource.File("cluster", "appliedTypes", types, "pkg/internal/testing/generate/applied")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("types_generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Error("types_generated.go differs from the types of client-go: run go generate ./pkg/internal/kube/cluster")
	}
	if diff := cmp.Diff(types, appliedTypes, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(schema.Map{})); diff != "" {
		t.Errorf("-client-go +generated:\n%.2000s", diff)
	}
}
