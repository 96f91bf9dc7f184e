package explain_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/explain"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestGolden compares the explanation of the examples and of the definitions in
// testdata with golden files. UPDATE=1 rewrites them.
func TestGolden(t *testing.T) {
	examples, _ := filepath.Glob("../../../../examples/memcached*/operator.yaml")
	more, _ := filepath.Glob("testdata/*/operator.yaml")
	files := append(examples, more...)
	if len(examples) < 3 || len(more) < 3 {
		t.Fatalf("only %d definitions found", len(files))
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			r, _, _ := explained(t, file)
			var text, data bytes.Buffer
			if err := r.Text(&text); err != nil {
				t.Fatal(err)
			}
			if err := explain.JSON(&data, []explain.Report{r}); err != nil {
				t.Fatal(err)
			}
			compare(t, filepath.Join("testdata", "golden", name+".txt"), text.Bytes())
			compare(t, filepath.Join("testdata", "golden", name+".json"), data.Bytes())
		})
	}
}

// explained parses a definition and explains it.
func explained(t *testing.T, file string) (explain.Report, *plan.Plan, []manifest.Object) {
	t.Helper()
	bytes, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found, findings := definition.Parse(source.Input{Name: filepath.ToSlash(file), Data: bytes, Dir: os.DirFS(filepath.Dir(file))})
	if findings.HasErrors() || len(found) != 1 {
		t.Fatalf("%d definitions; findings: %v", len(found), findings)
	}
	p, findings := plan.New(found[0])
	if findings.HasErrors() {
		t.Fatalf("findings: %v", findings)
	}
	objects := manifest.Build(p)
	return explain.New(p, found[0], objects), p, objects
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-%s +explained (UPDATE=1 rewrites it):\n%s", golden, diff)
	}
}
