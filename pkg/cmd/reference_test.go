package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

const repository = "../.."

// TestReference compares the pages of docs/reference with the code. UPDATE=1
// rewrites them.
func TestReference(t *testing.T) {
	pages := map[string]string{
		"commands.md":          commandsPage(t),
		"definition.md":        keysPage(t, definitionIntroduction, v1alpha1.JSONSchema(), definitionExamples),
		"tests.md":             keysPage(t, testsIntroduction, v1alpha1.OperatorTestSchema(), testExamples),
		"types-and-markers.md": schemaPage(t),
		"findings.md":          findingsPage(t),
		"mistakes.md":          mistakesPage(t),
		"rules.md":             rulesReference(t),
		"limits.md":            limitsPage(),
	}
	for name, want := range pages {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(repository, "docs", "reference", name)
			goldenfile.Compare(t, file, want)
		})
	}
}

const generatedNote = "<!-- Made of the code by UPDATE=1 go test ./pkg/cmd -run TestReference. -->\n\n"

// commandsPage returns the page with the help of each command.
func commandsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" + generatedNote)
	b.WriteString("What each command says with `--help`. Results go to standard output, everything else to standard error.\n")
	for _, path := range commandPaths(newRoot(streams{})) {
		var out bytes.Buffer
		if code := run(append(slices.Clone(path), "--help"), streams{out: &out, err: &out}); code != exitOK {
			t.Fatalf("%s --help: exit code %d: %s", path, code, &out)
		}
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", strings.Join(append([]string{"argoperator"}, path...), " "), out.String())
	}
	return b.String()
}

// commandPaths returns the words after argoperator, starting with the program
// itself.
func commandPaths(c *cobra.Command) [][]string {
	var path []string
	if c.HasParent() {
		path = strings.Fields(c.CommandPath())[1:]
	}
	paths := [][]string{path}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "completion" {
			paths = append(paths, commandPaths(sub)...)
		}
	}
	return paths
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func cell(text string) string { return strings.ReplaceAll(oneLine(text), "|", `\|`) }

// findingsPage lists the codes, each with an example finding.
func findingsPage(t *testing.T) string {
	examples := exampleFindings(t)
	var b strings.Builder
	b.WriteString("# Findings\n\n" + generatedNote)
	b.WriteString("Each finding ends in a code, which is never renamed and never used for anything else:\n" +
		"`file:line:column: error: what is wrong [code]`, and below it what to do. Errors end a command with exit code 1;\n" +
		"warnings and notes do not.\n\n")
	b.WriteString("## In definitions, custom resources and tests\n")
	for _, c := range diag.Codes() {
		example, ok := examples[c.Code]
		if !ok {
			t.Errorf("no expected output in testdata has the code %s: write a test for it", c.Code)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n```text\n%s\n```\n", c.Code, c.Doc, example)
	}
	b.WriteString("\n## In generated manifests\n\n" +
		"`argoperator generate` also checks the manifests that it prints, as far as text of the definition decides whether\n" +
		"they work. The finding names the object and its field, at the part of the definition that it comes from.\n\n| code | |\n|---|---|\n")
	for _, c := range problem.Codes() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.Code, cell(c.Doc))
	}
	return b.String()
}

// exampleFindings returns findings of each code from the expected output of tests:
// the shortest of the first file that has any.
func exampleFindings(t *testing.T) map[string]string {
	t.Helper()
	findingLine := regexp.MustCompile(`^(\S+: )?(error|warning|note): .* \[([a-z0-9-]+)\]$`)
	examples := map[string]string{}
	for _, file := range expectedOutputs(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shortest := map[string]string{}
		lines := strings.Split(string(data), "\n")
		for i, line := range lines {
			found := findingLine.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			text := line
			for _, more := range lines[i+1:] {
				if !strings.HasPrefix(more, "  ") {
					break
				}
				text += "\n" + more
			}
			if previous, ok := shortest[found[3]]; !ok || len(text) < len(previous) {
				shortest[found[3]] = text
			}
		}
		for code, text := range shortest {
			if _, ok := examples[code]; !ok {
				examples[code] = text
			}
		}
	}
	return examples
}

// expectedOutputs returns the files in testdata with expected output.
func expectedOutputs(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"testdata/*/*/*.out", "testdata/*/*.out", "pkg/*/testdata/*/*.out", "pkg/*/testdata/*.out", "testdata/script/*.txtar"} {
		found, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}
