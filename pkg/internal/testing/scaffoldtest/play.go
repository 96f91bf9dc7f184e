package scaffoldtest

import (
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

// Play runs the tests of a project, which must pass.
func Play(t *testing.T, operator argoperator.Result, files []scaffold.File) {
	t.Helper()
	result, findings := Played(t, operator, files)
	for _, f := range append(findings, result.Findings()...) {
		t.Errorf("%s:%d: %s: %s", f.File, f.Line, f.Code, f.Message)
	}
	if len(result.Steps) < 2 {
		t.Errorf("the test has %d steps", len(result.Steps))
	}
}

// Played runs the tests of a project and returns their result, and the findings about the
// test itself.
func Played(t *testing.T, operator argoperator.Result, files []scaffold.File) (testsuite.Result, diag.List) {
	t.Helper()
	const file = "tests/first-steps.yaml"
	dir := scaffold.Directory(files)
	tests, findings := definition.ParseTests(source.Input{Name: file, Data: dir[file].Data, Dir: dir}, "tests")
	if len(tests) != 1 || findings.HasErrors() {
		t.Fatalf("%d tests, %v", len(tests), findings)
	}
	suites := []testsuite.Suite{{Operators: operator.Operators, Tests: tests}}
	findings = append(findings, testsuite.Check(suites)...)
	results, err := testsuite.Run(t.Context(), suites, testsuite.Options{Runner: Machine()})
	if err != nil {
		t.Fatal(err)
	}
	return results[0], findings
}

// Fails checks that the tests of a project fail after a change of its files: each pair
// has a text and what replaces it.
func Fails(t *testing.T, result scaffold.Result, changes map[string]string) {
	t.Helper()
	for old, changed := range changes {
		files := make([]scaffold.File, len(result.Files))
		found := false
		for i, f := range result.Files {
			files[i] = f
			if strings.HasPrefix(f.Path, "tests/") || strings.HasPrefix(f.Path, "samples/") || !strings.Contains(string(f.Data), old) {
				continue
			}
			found = true
			files[i].Data = []byte(strings.ReplaceAll(string(f.Data), old, changed))
		}
		if !found {
			t.Errorf("no file contains %q", old)
			continue
		}
		dir := scaffold.Directory(files)
		operator, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: dir["operator.yaml"].Data, Dir: dir}}, argoperator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if operator.Findings.HasErrors() {
			t.Errorf("%q: %v", changed, operator.Findings)
			continue
		}
		if played, _ := Played(t, operator, files); played.State() != testsuite.Failed {
			t.Errorf("the tests pass with %q in place of %q", changed, old)
		}
	}
}
