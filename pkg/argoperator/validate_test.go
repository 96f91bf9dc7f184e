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

// TestValidate compares the findings about custom resources with testdata/validate:
// in the directory of each operator, NAME.yaml is a custom resource, NAME.old its
// previous version, if any, and NAME.out the output of argoperator validate.
// UPDATE=1 rewrites it.
func TestValidate(t *testing.T) {
	operators, err := filepath.Glob(root + "/testdata/validate/*/operator.yaml")
	if err != nil || len(operators) < 4 {
		t.Fatalf("only %d operators found (%v)", len(operators), err)
	}
	for _, operator := range operators {
		dir := filepath.Dir(operator)
		result := generatedFrom(t, dir)
		files, err := filepath.Glob(dir + "/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			if name == "operator" || name == "crd" {
				continue
			}
			t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) {
				findings := validated(t, result, dir, name)
				for _, f := range findings {
					if f.Code != diag.NoCustomResource && (f.Line == 0 || f.Column == 0) {
						t.Errorf("%q points to an empty position", f.Message)
					}
				}
				if strings.HasPrefix(name, "legal") && findings.HasErrors() {
					t.Errorf("a valid custom resource is refused: %v", findings)
				}
				var out bytes.Buffer
				if err := diag.Text(&out, findings, func(file string) []byte { return content(t, filepath.Join(dir, file)) }); err != nil {
					t.Fatal(err)
				}
				goldenfile.Compare(t, filepath.Join(dir, name+".out"), out.String())
			})
		}
	}
}

func generatedFrom(t *testing.T, dir string) argoperator.Result {
	t.Helper()
	result, err := argoperator.Generate([]argoperator.Source{{
		Name: "operator.yaml", Data: content(t, filepath.Join(dir, "operator.yaml")), Dir: os.DirFS(dir),
	}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Findings.HasErrors() {
		t.Fatalf("%s: %v", dir, result.Findings)
	}
	return result
}

func validated(t *testing.T, result argoperator.Result, dir, name string) diag.List {
	t.Helper()
	sources := []argoperator.Source{{Name: name + ".yaml", Data: content(t, filepath.Join(dir, name+".yaml"))}}
	var old []argoperator.Source
	if data, err := os.ReadFile(filepath.Join(dir, name+".old")); err == nil {
		old = []argoperator.Source{{Name: name + ".old", Data: data}}
	}
	_, findings, err := result.Resources(sources, old)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

func content(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
