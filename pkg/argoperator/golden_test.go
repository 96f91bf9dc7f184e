package argoperator_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/output"
	"github.com/argoperator/argoperator/pkg/manifest"
	"github.com/argoperator/argoperator/templates"
)

const root = "../.."

// TestGolden holds the output for every example and every definition in
// testdata/operators to testdata/golden. UPDATE=1 rewrites it.
func TestGolden(t *testing.T) {
	examples, _ := filepath.Glob(root + "/examples/*/operator.yaml")
	more, _ := filepath.Glob(root + "/testdata/operators/*/operator.yaml")
	files := append(examples, more...)
	if len(files) < 2 {
		t.Fatalf("only %d definitions found", len(files))
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			first, second := generated(t, file), generated(t, file)
			if diff := cmp.Diff(first, second); diff != "" {
				t.Fatalf("two runs differ:\n%s", diff)
			}
			compareGolden(t, filepath.Join(root, "testdata", "golden", name+".yaml"), first)
		})
	}
}

// resultOf generates the operators of a file.
func resultOf(t *testing.T, file string) argoperator.Result {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	result, err := argoperator.Generate([]argoperator.Source{{
		Name: filepath.ToSlash(file), Data: data, Dir: os.DirFS(filepath.Dir(file)),
	}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func generated(t *testing.T, file string) string {
	t.Helper()
	result := resultOf(t, file)
	for _, f := range result.Findings {
		t.Errorf("%s:%d:%d: %s %s: %s", f.File, f.Line, f.Column, f.Severity, f.Code, f.Message)
	}
	for _, o := range result.Objects() {
		shorten(t, o)
	}
	files, err := output.Formats()[0].Files(result.Outputs())
	if err != nil {
		t.Fatal(err)
	}
	return string(files[0].Data)
}

// shorten leaves the pod-side script, which has tests of its own, out of every golden.
func shorten(t *testing.T, o manifest.Object) {
	t.Helper()
	m, ok := o.(*corev1.ConfigMap)
	if !ok || m.Data["reconcile.py"] == "" {
		return
	}
	if m.Data["reconcile.py"] != templates.Runtime {
		t.Error("the emitted script is not templates/runtime/reconcile.py")
	}
	m.Data["reconcile.py"] = "# templates/runtime/reconcile.py\n"
}

func compareGolden(t *testing.T, golden, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-%s +generated (UPDATE=1 rewrites it):\n%s", golden, diff)
	}
}
