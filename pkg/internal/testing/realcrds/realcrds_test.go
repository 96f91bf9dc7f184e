package realcrds

import (
	"context"
	"fmt"
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
)

// TestRealCRDs makes an operator for every CustomResourceDefinition of the
// modules, and samples of all its versions, which have to be legal. It
// downloads, so it wants to be asked: ARGOPERATOR_REAL_CRDS=1, or a part of the
// paths of the modules to test.
func TestRealCRDs(t *testing.T) {
	eachCRD(t, try)
}

// eachCRD plays a test with every CustomResourceDefinition that is asked for.
func eachCRD(t *testing.T, play func(*testing.T, CRD)) {
	t.Helper()
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
				t.Run(crd.Name, func(t *testing.T) { play(t, crd) })
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
			count += trySamples(t, result, v.Name, len(c.Data))
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

// large is the size from which on samples at the borders take minutes.
const large = 256 << 10

// trySamples makes every sort of sample, and validates them as the API server would.
func trySamples(t *testing.T, result argoperator.Result, version string, size int) int {
	t.Helper()
	wanted := []argoperator.SampleOptions{
		{Kind: argoperator.Minimal, Version: version},
		{Kind: argoperator.Full, Version: version},
		{Kind: argoperator.Random, Version: version, Seed: 1},
		{Kind: argoperator.Random, Version: version, Seed: 2},
	}
	if size < large {
		wanted = append(wanted, argoperator.SampleOptions{Kind: argoperator.Edge, Version: version})
	}
	made := 0
	for _, options := range wanted {
		texts, err := result.Samples(options)
		if err != nil {
			t.Errorf("%s %s %d: %v", version, options.Kind, options.Seed, err)
		}
		made += len(texts)
	}
	return made
}
