// Command linters runs `argo lint`, `argo-events lint` and `argoperator lint` on the same
// manifests, and writes what each finds into docs/explanation/linters.md.
//
//	linters -argolint argolint -argoeventslint argoeventslint -argoperator argoperator
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// groups are the archives of manifests with one mistake each, in the order of the page.
var groups = []group{
	{"events", "Argo Events", "The first collection: mistakes from issues and documentation, before most of the rules were written."},
	{"workflows", "Argo Workflows", "The same for Workflows."},
	{"more-events", "Argo Events, written later", "Written by somebody who did not know the rules, from issues and the source of Argo Events."},
	{"more-workflows", "Argo Workflows, written later", "The same for Workflows."},
	{"later-events", "Argo Events, written last", "Written by two others who did not know the rules, half of them by somebody who looked for what no validator can see."},
	{"later-workflows", "Argo Workflows, written last", "The same for Workflows."},
}

// group is an archive in testdata/linters.
type group struct{ file, title, about string }

// marker precedes the description of a mistake, in its line or alone in the line before.
const marker = "# mistake: "

func main() {
	var l linters
	root := flag.String("root", "../..", "the repository")
	flag.StringVar(&l.workflows, "argolint", "", "program of e2e/tools/argolint")
	flag.StringVar(&l.events, "argoeventslint", "", "program of e2e/linters/argoeventslint")
	flag.StringVar(&l.ours, "argoperator", "", "argoperator")
	flag.Parse()
	if err := run(*root, l); err != nil {
		fmt.Fprintln(os.Stderr, "linters:", err)
		os.Exit(1)
	}
}

// linters are the paths of the programs.
type linters struct{ workflows, events, ours string }

// verdict is what the linters say of a manifest.
type verdict struct {
	name, about       string
	workflows, events bool
	ours              string // "line", "elsewhere" or ""
}

func run(root string, l linters) error {
	dir, err := os.MkdirTemp("", "linters")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var page strings.Builder
	page.WriteString(head)
	var all []verdict
	parts := map[string][]verdict{}
	for _, g := range groups {
		list, err := l.check(filepath.Join(root, "testdata", "linters", g.file+".txtar"), dir)
		if err != nil {
			return err
		}
		all, parts[g.file] = append(all, list...), list
	}
	correct, err := l.check(filepath.Join(root, "testdata", "linters", "correct.txtar"), dir)
	if err != nil {
		return err
	}
	page.WriteString("| | manifests | `argo lint` | `argo-events lint` | `argoperator lint` | at the line |\n|---|---|---|---|---|---|\n")
	for _, g := range groups {
		page.WriteString(summary(g.title, parts[g.file]))
	}
	page.WriteString(summary("**all mistakes**", all))
	page.WriteString(summary("correct manifests: errors", correct))
	page.WriteString(limits)
	for _, g := range groups {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| manifest | mistake | `argo lint` | `argo-events lint` | `argoperator lint` |\n|---|---|---|---|---|\n", g.title, g.about)
		for _, v := range parts[g.file] {
			fmt.Fprintf(&page, "| %s | %s | %s | %s | %s |\n", v.name, cell(v.about), mark(v.workflows), mark(v.events), v.shown())
		}
	}
	return os.WriteFile(filepath.Join(root, "docs", "explanation", "linters.md"), []byte(page.String()), 0o644)
}

// check runs the linters on each manifest of an archive, alone.
func (l linters) check(archive, dir string) ([]verdict, error) {
	parsed, err := txtar.ParseFile(archive)
	if err != nil {
		return nil, err
	}
	var out []verdict
	for _, f := range parsed.Files {
		file := filepath.Join(dir, f.Name)
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			return nil, err
		}
		about, lines := mistakeIn(string(f.Data))
		v := verdict{name: strings.TrimSuffix(f.Name, ".yaml"), about: about}
		if v.workflows, err = fails(l.workflows, file); err != nil {
			return nil, err
		}
		if v.events, err = fails(l.events, file); err != nil {
			return nil, err
		}
		if v.ours, err = l.findings(file, lines); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// mistakeIn returns the description of the mistake in a manifest, and its lines.
func mistakeIn(text string) (about string, lines []int) {
	for n, line := range strings.Split(text, "\n") {
		before, after, found := strings.Cut(line, marker)
		if !found {
			continue
		}
		about = after
		lines = append(lines, n+1)
		if strings.TrimSpace(before) == "" {
			lines = append(lines, n+2)
		}
	}
	return about, lines
}

// fails reports whether a program rejects a file. argo lint also fails if it finds no Workflow.
func fails(program, file string) (bool, error) {
	out, err := exec.Command(program, file).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return !bytes.Contains(out, []byte("found nothing to lint")), nil
	}
	return false, err
}

// habits are the codes of findings that are true of most manifests here, and no mistake of them.
var habits = []string{
	"default-service-account", "expression-filter", "http-timeout", "lua-script", "no-dead-letter", "non-persistent-bus",
	"unauthenticated-webhook", "unchecked-http-status", "filter-loses-deletes", "after-start",
}

// findings returns where argoperator finds something in a file.
func (l linters) findings(file string, lines []int) (string, error) {
	out, err := exec.Command(l.ours, "lint", "-f", file, "-o", "json").Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return "", err
	}
	var list struct {
		Items []struct {
			Line           int
			Code, Severity string
		}
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return "", err
	}
	where := ""
	for _, f := range list.Items {
		switch {
		case slices.Contains(lines, f.Line) && !slices.Contains(habits, f.Code):
			return "line", nil
		case len(lines) > 0 && !slices.Contains(habits, f.Code), f.Severity == "error":
			where = "elsewhere"
		}
	}
	return where, nil
}

func (v verdict) shown() string {
	return map[string]string{"line": "line", "elsewhere": "yes", "": "–"}[v.ours]
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return "–"
}

// cell returns a text for a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "{{", "`{{", "}}", "}}`", "<", "&lt;").Replace(text)
}

func summary(title string, list []verdict) string {
	count := func(is func(verdict) bool) int {
		n := 0
		for _, v := range list {
			if is(v) {
				n++
			}
		}
		return n
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d |\n", title, len(list),
		count(func(v verdict) bool { return v.workflows }), count(func(v verdict) bool { return v.events }),
		count(func(v verdict) bool { return v.ours != "" }), count(func(v verdict) bool { return v.ours == "line" }))
}

const head = `# Three linters on the same mistakes

<!-- Made by make linters. -->

` + "`argo lint`" + ` of Argo Workflows and ` + "`argo-events lint`" + ` of Argo Events run the validators of the controllers, on one file at a time. This page
shows what they and ` + "`argoperator lint`" + ` find in the same manifests, each with one mistake that ` + "`kubectl apply`" + ` accepts, and in correct ones.

`

const limits = `
- "Yes" means that the linter reports something. The manifests are otherwise correct, so it is the mistake. Only ` + "`argoperator lint`" + ` names
  lines: "line" means that a finding is at the line of the mistake.
- Findings of ` + "`argoperator lint`" + ` that are true of most manifests here, such as a webhook without a secret, do not count.
- The versions are Argo Workflows 3.7.18 and Argo Events 1.9.11. ` + "`argo lint`" + ` runs with ` + "`--offline --strict`" + `. Of ` + "`argo-events lint`" + ` the two
  validators run as it calls them.
- The manifests are in [testdata/linters](../../testdata/linters). We use them to improve the rules, so other mistakes are found less
  often. Before we did, ` + "`argoperator lint`" + ` found 31 of the 60 mistakes written later. Of the 100 written last, it found 32 in one half and
  23 in the other.
`
