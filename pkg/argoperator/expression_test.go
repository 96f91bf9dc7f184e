package argoperator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

// TestExpressionMistakes compares the findings for common errors in templates and
// conditions with testdata/expression: NAME.out has the output of argoperator lint for
// NAME.yaml, which has one error. In first-file.yaml and no-consequences.yaml, errors of
// every phase are reported together, without their consequences. UPDATE=1 rewrites the
// output.
func TestExpressionMistakes(t *testing.T) {
	const dir = root + "/testdata/expression"
	files, err := filepath.Glob(dir + "/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("only %d definitions found (%v)", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, printedText := linted(t, dir, name+".yaml")
			if len(findings) == 0 {
				t.Fatal("the error has no finding")
			}
			for _, f := range findings {
				if f.Line == 0 || f.Column == 0 {
					t.Errorf("%q points to an empty position", f.Message)
				}
			}
			goldenfile.Compare(t, filepath.Join(dir, name+".out"), printedText)
		})
	}
}

// linted returns the findings in a file and their printed form.
func linted(t *testing.T, dir, name string) (diag.List, string) {
	t.Helper()
	read := func(file string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	result, err := argoperator.Generate([]argoperator.Source{{
		Name: name, Data: read(name), Dir: os.DirFS(dir),
	}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := diag.Text(&out, result.Findings, read); err != nil {
		t.Fatal(err)
	}
	return result.Findings, out.String()
}
