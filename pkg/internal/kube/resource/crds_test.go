package resource

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// realCRDs are files of modules that the build needs anyway.
var realCRDs = []string{
	"github.com/argoproj/argo-events manifests/base/crds/*.yaml",
	"github.com/argoproj/argo-workflows/v3 manifests/base/crds/full/argoproj.io_workfloweventbindings.yaml",
	"k8s.io/apiextensions-apiserver test/integration/ratcheting_test_cases/crds/*.yaml",
	"k8s.io/apiextensions-apiserver pkg/test/example/*.yaml",
	"sigs.k8s.io/structured-merge-diff/v4 internal/testdata/prometheus-crd.yaml",
}

func TestSamplesOfRealKinds(t *testing.T) {
	crds := readCRDs(t)
	if len(crds) == 0 {
		t.Skip("no CustomResourceDefinitions in the module cache")
	}
	for _, crd := range crds {
		t.Run(crd.Spec.Names.Kind, func(t *testing.T) {
			s, err := FromCRD(crd, "")
			if err != nil {
				t.Fatal(err)
			}
			checkSamples(t, s, 2)
		})
	}
}

// checkSamples generates samples of every sort and validates them.
func checkSamples(t *testing.T, s *Schema, randoms int) {
	t.Helper()
	checkSample(t, s, "minimal", s.Minimal)
	checkSample(t, s, "full", s.Full)
	checkSample(t, s, "start", s.Start)
	r := rand.New(rand.NewPCG(3, 4))
	for range randoms {
		checkSample(t, s, "random", func() (map[string]any, error) { return s.Random(r) })
	}
	cases, err := s.Edges()
	if err != nil {
		t.Error(err)
	}
	for _, c := range cases {
		checkSample(t, s, c.Name, func() (map[string]any, error) { return c.Object, nil })
	}
}

func checkSample(t *testing.T, s *Schema, name string, make func() (map[string]any, error)) {
	t.Helper()
	object, err := make()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if errs := s.Validate(object, nil); len(errs) > 0 {
		t.Errorf("%s is refused: %v\n%s", name, errs.ToAggregate(), jsonText(object))
	}
	whole := map[string]any{}
	for key, value := range object {
		whole[key] = value
	}
	if unknown := s.Prune(whole); len(unknown) > 0 {
		t.Errorf("%s has fields that the API server drops: %v", name, unknown)
	}
}

func readCRDs(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, line := range realCRDs {
		module, pattern, _ := strings.Cut(line, " ")
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil || len(bytes.TrimSpace(dir)) == 0 {
			continue
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			out = append(out, readCRD(t, file)...)
		}
	}
	return out
}

func readCRD(t *testing.T, file string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, document := range strings.Split(string(data), "\n---") {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(document), crd); err == nil && crd.Kind == "CustomResourceDefinition" && crd.APIVersion == "apiextensions.k8s.io/v1" {
			out = append(out, crd)
		}
	}
	return out
}
