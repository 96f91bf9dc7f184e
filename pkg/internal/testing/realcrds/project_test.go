package realcrds

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestProjects makes a project of every CustomResourceDefinition as a user
// would, by the program: init --from-crd, generate, test. It downloads, so it
// wants to be asked as TestRealCRDs does.
func TestProjects(t *testing.T) {
	if os.Getenv("ARGOPERATOR_REAL_CRDS") == "" {
		t.Skip("ARGOPERATOR_REAL_CRDS is not set")
	}
	program := filepath.Join(t.TempDir(), "argoperator")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../../../cmd/argoperator").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	made := 0
	eachCRD(t, func(t *testing.T, c CRD) {
		project(t, program, c)
		made++
	})
	t.Logf("%d projects", made)
}

// project goes the way from a CustomResourceDefinition to a tested operator.
func project(t *testing.T, program string, c CRD) {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(c.Data, &crd); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	file, dir := filepath.Join(work, "crd.yaml"), filepath.Join(work, "made")
	if err := os.WriteFile(file, c.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	var took []string
	for _, args := range [][]string{
		{"init", strings.ToLower(crd.Spec.Names.Kind), "--from-crd", file, "--dir", dir},
		{"generate", "-f", dir},
		{"test", "-f", dir},
	} {
		began := time.Now()
		var out, problems bytes.Buffer
		cmd := exec.CommandContext(t.Context(), program, args...) //nolint:gosec // ourselves
		cmd.Stdout, cmd.Stderr = &out, &problems
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s%.2000s", args[0], err, &problems, &out)
		}
		if args[0] == "test" && !strings.Contains(out.String(), "test passed") && !strings.Contains(out.String(), "tests passed") {
			t.Errorf("no test passed:\n%s", &out)
		}
		took = append(took, args[0]+" "+time.Since(began).Round(time.Millisecond).String())
	}
	t.Logf("%d KB: %s", len(c.Data)>>10, strings.Join(took, ", "))
}
