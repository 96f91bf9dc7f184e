// Command generate writes the types of Kubernetes for server-side apply as Go values.
package main

import (
	"log"
	"os"

	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/argoperator/argoperator/pkg/internal/testing/generate/gosource"
)

func main() {
	types := applyconfigurations.NewTypeConverter(scheme.Scheme).TypeResolver.(*typed.Parser).Schema.Types
	source, err := gosource.File("cluster", "appliedTypes", types, "pkg/internal/testing/generate/applied")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("types_generated.go", source, 0o644); err != nil {
		log.Fatal(err)
	}
}
