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

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/e2e/pages"
)

const lintPage = "docs/how-to/lint.md"

// TestLintPageLive compares the findings in a cluster that the page shows with those in
// the objects that kubectl printed there.
func TestLintPageLive(t *testing.T) {
	all, err := pages.Read(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range all {
		i := slices.IndexFunc(page.Blocks, func(b pages.Block) bool { return b.Info() == "text live" })
		if page.Name != lintPage || i < 0 {
			continue
		}
		objects, err := os.ReadFile(filepath.Join(repository, "testdata", "lint", "live", "shop.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		run([]string{"lint", "-f", "-"}, streams{in: bytes.NewReader(objects), out: &out, err: &out})
		if diff := gocmp.Diff(page.Blocks[i].Exchanges()[0].Prints+"\n", out.String()); diff != "" {
			t.Errorf("%s (-page +printed):\n%s", page.Blocks[i].At, diff)
		}
		return
	}
	t.Errorf("%s has no block of live objects", lintPage)
}

// TestLintPageNumbers compares the numbers of the page with the expected output for the
// examples of Argo.
func TestLintPageNumbers(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, lintPage))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile(filepath.Join(repository, "testdata", "lint", "argo-examples.out"))
	if err != nil {
		t.Fatal(err)
	}
	var files, wrong int
	for _, header := range regexp.MustCompile(`(?m)^# .*$`).FindAllString(string(examples), -1) {
		var inModule, wrongInModule int
		_, counts, _ := strings.Cut(header, ": ")
		if _, err := fmt.Sscanf(counts, "%d files, errors in %d", &inModule, &wrongInModule); err != nil {
			t.Fatalf("%s: %v", header, err)
		}
		files, wrong = files+inModule, wrong+wrongInModule
	}
	for _, want := range []string{fmt.Sprintf("errors in %d of the %d example files", wrong, files)} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%s does not say %q", lintPage, want)
		}
	}
}
