package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
)

var docs = filepath.Join("..", "..", "..", "..", "docs")

// ruledKinds returns the kinds that direct/ready.jq has a definition for.
func ruledKinds(t *testing.T) []string {
	t.Helper()
	set, err := jqfile.Parse(os.DirFS("direct"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, program := range set.Programs {
		for _, d := range program.Query.FuncDefs {
			if i := strings.LastIndex(d.Name, "_"); program.Name == "ready" && i > 0 {
				kinds = append(kinds, d.Name[i+1:])
			}
		}
	}
	return slices.Sorted(slices.Values(kinds))
}

// section returns the lines of a page below a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %s", page, heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

// TestReadyDocs requires a row of the documentation for every kind with a rule, and no other.
func TestReadyDocs(t *testing.T) {
	var documented []string
	for line := range strings.Lines(section(t, "reference/expressions.md", "Readiness")) {
		if cell, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | "); row && cell != "kind" && cell != "another kind" {
			kinds, _, _ := strings.Cut(cell, " of type ")
			documented = append(documented, strings.Split(kinds, ", ")...)
		}
	}
	if diff := cmp.Diff(ruledKinds(t), slices.Sorted(slices.Values(documented))); diff != "" {
		t.Errorf("kinds -in direct/ready.jq +in the table of docs/reference/expressions.md:\n%s", diff)
	}
}

// TestReadyChildren requires that the tests evaluate the rule of every kind.
func TestReadyChildren(t *testing.T) {
	for _, kind := range ruledKinds(t) {
		if !slices.ContainsFunc(readyChildren(t), func(c Child) bool { return c.Kind.Kind == kind }) {
			t.Errorf("readyChildren has no %s", kind)
		}
	}
}

// TestReadyRecipe requires that the recipe for a readiness rule names every place.
func TestReadyRecipe(t *testing.T) {
	recipe := section(t, "contributing/programs.md", "A readiness rule")
	for _, place := range []string{
		"pkg/internal/operator/plan/direct/ready.jq", "go generate ./pkg/internal/operator/plan", "TestReadyTable", "readyChildren",
		"expressions.md", "pkg/internal/run/testsuite/ready.go", "TestGolden", "TestOperators",
	} {
		if !strings.Contains(recipe, place) {
			t.Errorf("the recipe does not name %s", place)
		}
	}
}
