package cmd

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/e2e/pages"
)

// TestExamples runs the tests of every example. TestDocsRun runs those that a block
// of the README runs.
func TestExamples(t *testing.T) {
	all, err := pages.Read(repository)
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := filepath.Glob(filepath.Join(repository, "examples", "*", "operator.yaml"))
	if err != nil || len(definitions) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, definition := range definitions {
		dir := "examples/" + filepath.Base(filepath.Dir(definition))
		command := "argoperator test -f " + dir
		inREADME := slices.ContainsFunc(all, func(p pages.Page) bool {
			return p.Name == dir+"/README.md" && slices.ContainsFunc(p.Blocks, func(b pages.Block) bool {
				return b.Info() == "sh" && slices.Contains(strings.Split(b.Text, "\n"), command)
			})
		})
		if inREADME {
			continue
		}
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("ansible-playbook"); err != nil && dir == "examples/ansible" {
				t.Skip("no ansible-playbook on the PATH")
			}
			if out, err := shell(repository, command); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
