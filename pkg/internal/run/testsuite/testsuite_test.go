package testsuite_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

// suiteOf reads a definition and the tests in the directory next to it.
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

// TestDocs runs every test on docs/how-to/test.md.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/how-to/test.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, ran := "../../../../examples/memcached", 0
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		suite := suiteOf(t, dir)
		tests, findings := argoperator.ParseTests(argoperator.Source{Name: "testing.md", Data: []byte(text), Dir: os.DirFS(dir)}, "tests")
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		suite.Tests = tests
		results, err := testsuite.Run(context.Background(), []testsuite.Suite{suite}, testsuite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			ran++
			if r.State() != testsuite.Passed {
				t.Error(printed(t, r, "."))
			}
		}
	}
	if ran == 0 {
		t.Error("the page has no test")
	}
}

// BenchmarkDirect measures the tests of an operator without pods, including the
// preparation that all of them share.
func BenchmarkDirect(b *testing.B) {
	suite := suiteOf(b, "../../../../examples/memcached")
	b.ReportAllocs()
	for b.Loop() {
		results, err := testsuite.Run(context.Background(), []testsuite.Suite{suite}, testsuite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range results {
			if r.State() != testsuite.Passed {
				b.Fatal(printed(b, r, "../../../../examples/memcached"))
			}
		}
	}
}

const testdata = "../../../../testdata/tests"

// read reads the tests of a file in testdata next to its definition.
func read(t *testing.T, path string) (testsuite.Suite, diag.List) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata, path))
	if err != nil {
		t.Fatal(err)
	}
	tests, findings := argoperator.ParseTests(argoperator.Source{Name: path, Data: data, Dir: os.DirFS(testdata)}, filepath.Dir(path))
	suite := testsuite.Suite{Operators: operators(t), Tests: tests}
	if !findings.HasErrors() {
		findings = append(findings, testsuite.Check([]testsuite.Suite{suite})...)
	}
	return suite, findings
}

// operators in testdata
func operators(t *testing.T) []argoperator.Operator {
	t.Helper()
	generateOnce.Do(func() {
		data, err := os.ReadFile(filepath.Join(testdata, "operator.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: data}}, argoperator.Options{})
		if err != nil || len(result.Operators) != 1 {
			t.Fatal(err, result.Findings)
		}
		generated = result.Operators
	})
	return generated
}

// Generating is slow, and its result never changes.
var (
	generateOnce sync.Once
	generated    []argoperator.Operator
)

// compare compares text with the file NAME.out.
func compare(t *testing.T, path, got string) {
	t.Helper()
	goldenfile.Compare(t, filepath.Join(testdata, strings.TrimSuffix(path, ".yaml")+".out"), got)
}

func files(t *testing.T, dir string, atLeast int) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(testdata, dir, "*.yaml"))
	if err != nil || len(found) < atLeast {
		t.Fatalf("%d files in %s (%v)", len(found), dir, err)
	}
	for i, name := range found {
		found[i] = filepath.ToSlash(filepath.Join(dir, filepath.Base(name)))
	}
	return found
}

// TestInvalidTests covers errors in the test files, with their positions.
func TestInvalidTests(t *testing.T) {
	for _, path := range files(t, "wrong", 20) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, findings := read(t, path)
			if len(findings) == 0 {
				t.Error("no finding")
			}
			var out strings.Builder
			if err := diag.Text(&out, findings, source); err != nil {
				t.Fatal(err)
			}
			compare(t, path, out.String())
		})
	}
}

func source(file string) []byte {
	data, _ := os.ReadFile(filepath.Join(testdata, file))
	return data
}

// TestFailing requires that each failed expectation is reported with the actual
// value.
func TestFailing(t *testing.T) {
	for _, path := range files(t, "failing", 20) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			suite, findings := read(t, path)
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			results, err := testsuite.Run(context.Background(), []testsuite.Suite{suite}, testsuite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if results[0].State() != testsuite.Failed {
				t.Error("no expectation failed")
			}
			compare(t, path, printed(t, results[0], testdata))
		})
	}
}

// TestPassing covers every supported expectation with a test that passes.
func TestPassing(t *testing.T) {
	suite, findings := read(t, "passing/all.yaml")
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	update := goldenfile.Update()
	results, err := testsuite.Run(context.Background(), []testsuite.Suite{suite}, testsuite.Options{Update: update})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range results[0].Goldens {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(testdata, g.File)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(testdata, g.File), g.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if results[0].State() != testsuite.Passed {
		t.Error(printed(t, results[0], testdata))
	}
}
