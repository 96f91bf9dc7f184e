package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// How a block of a page is tried, by the words behind its three backticks:
//
//	sh                a script, run here: it ends with 0
//	console           commands after "$ " and what each prints, held to it
//	sh cluster        a script that the cluster suite runs
//	console cluster   the same, with what is printed
//	sh ci             targets of make that continuous integration runs
//	LANGUAGE FILE     a file that the blocks behind it find
//	LANGUAGE          nothing to run
//
// Blocks of a page run in order in one directory, a copy of what of the
// repository they need.

type block struct {
	line  int // of its first line
	words []string
	text  string
}

func (b block) runs() bool { return b.words[0] == "sh" || b.words[0] == "console" }

func (b block) file() string {
	if !b.runs() && len(b.words) == 2 && strings.Contains(b.words[1], ".") {
		return b.words[1]
	}
	return ""
}

// TestDocsRun runs the commands of every page that need no cluster.
func TestDocsRun(t *testing.T) {
	ran := 0
	for _, name := range docPages(t) {
		blocks := blocksOf(t, name)
		if !slices.ContainsFunc(blocks, block.runs) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(repository, "examples"))); err != nil {
				t.Fatal(err)
			}
			for _, b := range blocks {
				b.try(t, name, dir)
			}
		})
		ran++
	}
	if ran < 5 {
		t.Errorf("only %d pages have commands", ran)
	}
}

func (b block) try(t *testing.T, page, dir string) {
	t.Helper()
	at := fmt.Sprintf("%s:%d", page, b.line)
	switch how := strings.Join(b.words, " "); {
	case b.file() != "":
		if err := os.WriteFile(filepath.Join(dir, b.file()), []byte(b.text), 0o644); err != nil {
			t.Fatal(err)
		}
	case !b.runs():
	case how == "sh cluster" || how == "console cluster":
		if !strings.Contains(b.text, "kubectl") {
			t.Errorf("%s: it needs no cluster", at)
		}
	case how == "sh ci":
		inCI(t, at, b.text)
	case strings.Contains(b.text, "kubectl"):
		t.Errorf("%s: it needs a cluster: mark it so", at)
	case how == "sh":
		if out, err := shell(dir, b.text); err != nil {
			t.Errorf("%s: %v\n%s", at, err, out)
		}
	case how == "console":
		b.converse(t, at, dir)
	default:
		t.Errorf("%s: nothing tells how to try a block of %q", at, how)
	}
}

// converse runs each command and compares what it prints, findings and all.
func (b block) converse(t *testing.T, at, dir string) {
	t.Helper()
	for _, exchange := range strings.Split("\n"+b.text, "\n$ ")[1:] {
		command, want, _ := strings.Cut(strings.TrimSuffix(exchange, "\n"), "\n")
		got, _ := shell(dir, command+" 2>&1") // it may be about a failure
		if diff := gocmp.Diff(want, strings.TrimSuffix(got, "\n")); diff != "" {
			t.Errorf("%s: $ %s\n(-page +printed)\n%s", at, command, diff)
		}
	}
}

func shell(dir, script string) (output string, err error) {
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// inCI: a block for continuous integration names targets of make that it runs.
func inCI(t *testing.T, at, script string) {
	t.Helper()
	ci, err := os.ReadFile(filepath.Join(repository, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(script) {
		command, _, _ := strings.Cut(line, "#")
		command = strings.TrimSpace(command)
		if !strings.HasPrefix(command, "make ") || !strings.Contains(string(ci), command) {
			t.Errorf("%s: continuous integration does not run %q", at, command)
		}
	}
}

// docPages are all pages, from the root of the repository.
func docPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "examples/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(found), err)
		}
		for _, file := range found {
			page, err := filepath.Rel(repository, file)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, filepath.ToSlash(page))
		}
	}
	return pages
}

var fence = regexp.MustCompile("(?m)^```(.*)$")

// blocksOf are the blocks of code of a page.
func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	marks := fence.FindAllStringSubmatchIndex(text, -1)
	if len(marks)%2 != 0 {
		t.Fatalf("%s: a block has no end", page)
	}
	var blocks []block
	for i := 0; i < len(marks); i += 2 {
		b := block{line: strings.Count(text[:marks[i][1]], "\n") + 2, words: strings.Fields(text[marks[i][2]:marks[i][3]]), text: text[marks[i][1]+1 : marks[i+1][0]]}
		if len(b.words) == 0 {
			t.Fatalf("%s:%d: the block does not say in which language it is: text, if in none", page, b.line)
		}
		blocks = append(blocks, b)
	}
	return blocks
}
