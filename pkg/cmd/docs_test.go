package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/e2e/pages"
)

// TestDocsRun runs the commands of every page that need no cluster: in order, in
// one directory with a copy of the examples.
func TestDocsRun(t *testing.T) {
	all, err := pages.Read(repository)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range all {
		if !slices.ContainsFunc(page.Blocks, pages.Block.Runs) {
			continue
		}
		t.Run(page.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(repository, "examples"))); err != nil {
				t.Fatal(err)
			}
			for _, b := range page.Blocks {
				try(t, b, dir)
			}
		})
		ran++
	}
	if ran < 5 {
		t.Errorf("only %d pages have commands", ran)
	}
}

func try(t *testing.T, b pages.Block, dir string) {
	t.Helper()
	if err := b.Save(dir); err != nil {
		t.Fatal(err)
	}
	switch {
	case !b.Runs():
	case b.OnCluster():
		if !strings.Contains(b.Text, "kubectl") {
			t.Errorf("%s: it needs no cluster", b.At)
		}
	case b.Info() == "sh ci":
		inCI(t, b)
	case strings.Contains(b.Text, "kubectl"):
		t.Errorf("%s: it needs a cluster: mark the block", b.At)
	case b.Info() == "sh":
		if out, err := shell(dir, testedElsewhere(b.Text)); err != nil {
			t.Errorf("%s: %v\n%s", b.At, err, out)
		}
	case b.Info() == "console":
		for _, e := range b.Exchanges() {
			printed, _ := shell(dir, e.Command) // the page may show a failure
			if diff := gocmp.Diff(pages.Timeless(e.Prints), pages.Timeless(printed)); diff != "" {
				t.Errorf("%s: $ %s\n(-page +printed)\n%s", b.At, e.Command, diff)
			}
		}
	default:
		t.Errorf("%s: no rule to run a block of %q", b.At, b.Info())
	}
}

// tests matches the line of a page that runs all tests of an example. TestOperators of
// pkg/internal/run/testsuite runs them.
var tests = regexp.MustCompile(`(?m)^argoperator test -f (examples/[a-z-]+)(?: +#.*)?$`)

// testedElsewhere replaces such lines with a check that the example has tests.
func testedElsewhere(script string) string {
	return tests.ReplaceAllString(script, "ls $1/tests/*.yaml")
}

// shell runs a script and returns its output, including findings. It runs the binary under
// test, so a page may also build argoperator.
func shell(dir, script string) (printed string, err error) {
	script = strings.ReplaceAll(script, "go run ./cmd/argoperator", "argoperator")
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// inCI requires that continuous integration runs the make targets in a block.
func inCI(t *testing.T, b pages.Block) {
	t.Helper()
	ci, err := os.ReadFile(filepath.Join(repository, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.Text) {
		command, _, _ := strings.Cut(line, "#")
		command = strings.TrimSpace(command)
		if !strings.HasPrefix(command, "make ") || !strings.Contains(string(ci), command) {
			t.Errorf("%s: continuous integration does not run %q", b.At, command)
		}
	}
}
