package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

// TestPrograms requires that the page lists every program that argoperator starts, and who
// chooses it.
func TestPrograms(t *testing.T) {
	file := filepath.Join(repository, "docs", "explanation", "programs.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(data), "writes the table -->\n")
	_, after, ends := strings.Cut(rest, "<!-- end -->\n")
	if !begins || !ends {
		t.Fatal("the page has no place for the table")
	}
	table := "| program | started by | for | chosen by |\n|---|---|---|---|\n"
	for _, u := range process.Uses() {
		name := u.Program
		if !strings.Contains(name, "`") {
			name = "`" + name + "`"
		}
		table += fmt.Sprintf("| %s | %s | %s | %s |\n", name, u.Commands, u.For, u.ChosenBy)
	}
	goldenfile.Compare(t, file, before+"writes the table -->\n"+table+"<!-- end -->\n"+after)
}
