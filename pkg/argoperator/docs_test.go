package argoperator_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/simulate"
)

// page is one file of documentation.
type page struct {
	name string // from the root of the repository
	text string
}

// fence is a block of code on a page.
type fence struct {
	line int // of its first line of code
	info string
	text string
}

func pages(t *testing.T) []page {
	t.Helper()
	names := []string{filepath.Join(root, "README.md")}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "examples/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(found), err)
		}
		names = append(names, found...)
	}
	var out []page
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page{filepath.ToSlash(relative), string(data)})
	}
	return out
}

func (p page) fences() []fence {
	var out []fence
	var open *fence
	for i, line := range strings.Split(p.text, "\n") {
		info, is := strings.CutPrefix(line, "```")
		switch {
		case is && open == nil:
			open = &fence{line: i + 2, info: info}
		case is:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return out
}

// operators made of a definition that a page shows; any finding is a mistake of the page.
func operators(t *testing.T, at, definition string) argoperator.Result {
	t.Helper()
	result, err := argoperator.Generate([]argoperator.Source{{
		Name: at, Data: []byte(definition), Dir: os.DirFS(filepath.Join(root, "examples", "memcached")),
	}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Errorf("%s, line %d of the definition: %s %s: %s", at, f.Line, f.Severity, f.Code, f.Message)
	}
	return result
}

// TestDocsDefinitions: every whole definition that a page shows is without a finding.
func TestDocsDefinitions(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		for _, f := range p.fences() {
			if f.info == "yaml" && strings.Contains(f.text, "\nkind: Operator\n") {
				operators(t, p.name, f.text)
				checked++
			}
		}
	}
	if checked < 2 {
		t.Errorf("only %d definitions were found on the pages", checked)
	}
}

// TestDocsRecipes: what docs/expressions.md says comes out of its recipes does.
func TestDocsRecipes(t *testing.T) {
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return p.name == "docs/expressions.md" })
	if i < 0 {
		t.Fatal("there is no docs/expressions.md")
	}
	var definition, resource string
	var rendered []map[string]any
	recipes, compared := 0, 0
	for _, f := range all[i].fences() {
		switch {
		case f.info == "yaml" && strings.Contains(f.text, "kind: Operator\n"):
			definition = f.text
		case f.info == "yaml" && strings.HasPrefix(f.text, "children:\n"):
			rendered = render(t, operators(t, all[i].name, definition+recipe(f.text)), resource)
			recipes++
		case f.info == "yaml":
			resource = f.text
		case f.info == "yaml out":
			compareOut(t, f, rendered)
			compared++
		}
	}
	if recipes < 5 || compared != recipes {
		t.Errorf("%d recipes with %d outcomes", recipes, compared)
	}
}

// recipe are children and status of a page, to be put at the end of a definition
// that ends with children.
func recipe(text string) string {
	text = strings.TrimPrefix(text, "children:\n")
	return "  " + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n  "), "  ")
}

func render(t *testing.T, result argoperator.Result, resource string) []map[string]any {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 on the PATH, which carries what the direct engine cannot")
	}
	objects, err := simulate.Decode([]byte(resource))
	if err != nil {
		t.Fatal(err)
	}
	var happenings []simulate.Happening
	for _, o := range objects {
		happenings = append(happenings, simulate.Happening{Event: simulate.Added, Object: o})
	}
	out, err := simulate.Render(context.Background(), simulate.Inputs{
		Objects: result.Objects(), Runner: simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH")}},
	}, happenings)
	if err != nil {
		t.Fatal(err)
	}
	if failures := out.Trace.Failures(); len(failures) > 0 {
		t.Errorf("failed on the way: %v", failures)
	}
	return out.Objects
}

// compareOut holds an object on a page to the one of that kind and name that was
// made: all of it but the metadata, of which only the name is shown.
func compareOut(t *testing.T, f fence, rendered []map[string]any) {
	t.Helper()
	var want map[string]any
	if err := yaml.Unmarshal([]byte(f.text), &want); err != nil {
		t.Fatalf("line %d: %v", f.line, err)
	}
	for _, object := range rendered {
		var got map[string]any
		data, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		metadata, _ := got["metadata"].(map[string]any)
		got["metadata"] = map[string]any{"name": metadata["name"]}
		if cmp.Equal(got["kind"], want["kind"]) && cmp.Equal(got["metadata"], want["metadata"]) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("line %d: not what comes out (-page +render):\n%s", f.line, diff)
			}
			return
		}
	}
	t.Errorf("line %d: no such object comes out", f.line)
}

// TestDocsLinks: whatever in the repository a page links to is there.
func TestDocsLinks(t *testing.T) {
	link, code := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile("(?s)```.*?```")
	for _, p := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(p.text, ""), -1) {
			target, _, _ := strings.Cut(found[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(p.name), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", p.name, found[1])
			}
		}
	}
}

// TestDocsWidth keeps lines short enough to be read side by side; tables and
// what the code says cannot be broken.
func TestDocsWidth(t *testing.T) {
	for _, p := range pages(t) {
		if strings.HasPrefix(p.name, "docs/reference/") {
			continue
		}
		for i, line := range strings.Split(p.text, "\n") {
			if n := len([]rune(line)); n > 130 && !strings.HasPrefix(line, "|") && !strings.Contains(line, "://") {
				t.Errorf("%s:%d has %d characters, more than 130", p.name, i+1, n)
			}
		}
	}
}
