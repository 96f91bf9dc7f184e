package argoperator_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/testing/edited"
)

// FuzzGenerate requires that every definition that parses can be built, and that
// its objects pass the checks. It mutates the definitions of the examples and of
// testdata.
func FuzzGenerate(f *testing.F) {
	var definitions [][]byte
	for _, pattern := range []string{"/examples/*/operator.yaml", "/testdata/operators/*/operator.yaml"} {
		files, _ := filepath.Glob(root + pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(len(definitions)), uint64(0), uint64(0), uint64(0))
			definitions = append(definitions, data)
		}
	}
	files := fstest.MapFS{}
	for _, name := range []string{"main.py", "logic/main.py", "main.js", "main.rb", "logic/main.sh", "logic/lib/quota.sh", "deployment-manifest.json", "logic/deployment-manifest.json"} {
		files[name] = &fstest.MapFile{Data: []byte("{}\n")}
	}
	f.Fuzz(func(t *testing.T, which uint8, first, second, third uint64) {
		text := edited.YAML(definitions[int(which)%len(definitions)], first, second, third)
		result, err := argoperator.Generate([]argoperator.Source{{Name: "fuzz.yaml", Data: text, Dir: files}}, argoperator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		passesChecks(t, string(text), result.Operators)
		if result.Findings.HasErrors() != (len(result.Operators) == 0) {
			t.Errorf("%d operators despite findings %v", len(result.Operators), result.Findings)
		}
		charts, err := result.Charts("0.1.0")
		if err != nil {
			t.Error(err)
		}
		for _, format := range output.Formats() {
			if _, err := format.Files(charts); err != nil {
				t.Error(err)
			}
		}
	})
}
