package realcrds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/resource"
)

// TestRealCRDs makes an operator for every CustomResourceDefinition of the
// modules, and samples of all its versions, which have to be legal. It
// downloads, so it wants to be asked: ARGOPERATOR_REAL_CRDS=1, or a part of the
// paths of the modules that it shall take.
func TestRealCRDs(t *testing.T) {
	wanted := os.Getenv("ARGOPERATOR_REAL_CRDS")
	if wanted == "" {
		t.Skip("ARGOPERATOR_REAL_CRDS is not set")
	}
	for _, m := range Modules() {
		if wanted != "1" && !strings.Contains(m.Path, wanted) {
			continue
		}
		t.Run(path.Base(m.Path), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			crds, err := Fetch(ctx, m)
			if err != nil {
				t.Fatal(err)
			}
			for _, crd := range crds {
				t.Run(crd.Name, func(t *testing.T) { try(t, crd) })
			}
		})
	}
}

func try(t *testing.T, c CRD) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(c.Data, &crd); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	result := operate(t, c, crd)
	generated := time.Since(start)
	count := 0
	for _, v := range crd.Spec.Versions {
		if v.Served {
			count += trySamples(t, result, &crd, v.Name)
		}
	}
	t.Logf("%d KB, %d samples; generated in %s, all in %s", len(c.Data)>>10, count, generated.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
}

// operate generates an operator that keeps one child for each custom resource.
func operate(t *testing.T, c CRD, crd apiextensionsv1.CustomResourceDefinition) argoperator.Result {
	t.Helper()
	namespace, version := "", ""
	if crd.Spec.Scope == apiextensionsv1.ClusterScoped {
		namespace = ", namespace: default"
	}
	for _, v := range crd.Spec.Versions {
		if version == "" && v.Served {
			version = v.Name
		}
	}
	text := fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: sample}
spec:
  api: {crd: {file: crd.yaml, version: %s}}
  children:
  - name: config
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }"%s}
`, version, namespace)
	result, err := argoperator.Generate([]argoperator.Source{{
		Name: "operator.yaml", Data: []byte(text), Dir: fstest.MapFS{"crd.yaml": {Data: c.Data}},
	}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		say := t.Errorf
		if f.Severity == diag.Warning {
			say = t.Logf // such as of its size, which is true
		}
		say("%s:%d:%d: %s: %s [%s]", f.File, f.Line, f.Column, f.Severity, f.Message, f.Code)
	}
	if len(result.Operators) == 0 {
		t.FailNow()
	}
	return result
}

// trySamples has every sort of sample judged as it would come out of a file.
func trySamples(t *testing.T, result argoperator.Result, crd *apiextensionsv1.CustomResourceDefinition, version string) int {
	t.Helper()
	s, err := resource.FromCRD(crd, version)
	if err != nil {
		t.Error(err)
		return 0
	}
	r := rand.New(rand.NewPCG(1, 2))
	made := 0
	for name, make := range map[string]func() (map[string]any, error){
		"minimal": s.Minimal, "full": s.Full,
		"random": func() (map[string]any, error) { return s.Random(r) },
	} {
		object, err := make()
		if err != nil {
			t.Errorf("%s %s: %v", version, name, err)
			continue
		}
		made++
		data, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		_, findings, err := result.Resources([]argoperator.Source{{Name: "sample.yaml", Data: data}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if findings.HasErrors() {
			t.Errorf("%s %s is refused: %v", version, name, findings)
		}
	}
	return made
}
