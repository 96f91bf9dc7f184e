package explain_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/explain"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
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
			goldenfile.Compare(t, filepath.Join("testdata", "golden", name+".txt"), text.String())
			goldenfile.Compare(t, filepath.Join("testdata", "golden", name+".json"), data.String())
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
