package testsuite_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/simulate"
	"github.com/argoperator/argoperator/pkg/testsuite"
)

// suiteOf reads a definition and the tests below the directory beside it.
func suiteOf(tb testing.TB, dir string) testsuite.Suite {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: data, Dir: os.DirFS(dir)}}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		tb.Fatal(err, result.Findings)
	}
	suite := testsuite.Suite{Operators: result.Operators}
	err = fs.WalkDir(os.DirFS(dir), "tests", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		tests, findings := argoperator.ParseTests(argoperator.Source{Name: path, Data: text, Dir: os.DirFS(dir), Lenient: true}, filepath.Dir(path))
		if findings.HasErrors() {
			tb.Error(text, findings)
		}
		suite.Tests = append(suite.Tests, tests...)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if findings := testsuite.Check([]testsuite.Suite{suite}); len(findings) > 0 {
		tb.Fatal(findings)
	}
	return suite
}

func local() simulate.Runner {
	return simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}}
}

func printed(tb testing.TB, r testsuite.Result, dir string) string {
	tb.Helper()
	var out strings.Builder
	printer := testsuite.Printer{Findings: diag.Printer{Source: func(file string) []byte {
		data, _ := os.ReadFile(filepath.Join(dir, file))
		return data
	}}}
	if err := printer.Print(&out, r); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// TestExamples runs the tests of every example.
func TestExamples(t *testing.T) {
	dirs, err := filepath.Glob("../../examples/*/tests")
	if err != nil || len(dirs) < 4 {
		t.Fatalf("%d examples with tests (%v)", len(dirs), err)
	}
	for _, tests := range dirs {
		dir := filepath.Dir(tests)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			results, err := testsuite.Run(context.Background(), []testsuite.Suite{suiteOf(t, dir)}, testsuite.Options{Runner: local(), Parallel: 2})
			if err != nil {
				t.Fatal(err)
			}
			if len(results) < 3 {
				t.Errorf("only %d tests", len(results))
			}
			for _, r := range results {
				if r.State() != testsuite.Passed {
					t.Error(printed(t, r, dir))
				}
			}
		})
	}
}

// BenchmarkDirect is the tests of an operator without pods, what is prepared
// taken into account once for all of them.
func BenchmarkDirect(b *testing.B) {
	suite := suiteOf(b, "../../examples/memcached")
	b.ReportAllocs()
	for b.Loop() {
		results, err := testsuite.Run(context.Background(), []testsuite.Suite{suite}, testsuite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range results {
			if r.State() != testsuite.Passed {
				b.Fatal(printed(b, r, "../../examples/memcached"))
			}
		}
	}
}
