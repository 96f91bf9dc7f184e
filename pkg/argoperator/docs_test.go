package argoperator_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/e2e/pages"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/simulate"
)

func docs(t *testing.T) []pages.Page {
	t.Helper()
	all, err := pages.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// operators generates the operators of a definition on a page. Any finding is an
// error on the page.
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

// TestDocsDefinitions requires that every complete definition on a page has no
// findings.
func TestDocsDefinitions(t *testing.T) {
	checked := 0
	for _, p := range docs(t) {
		for _, f := range p.Blocks {
			if f.Info() == "yaml" && strings.Contains(f.Text, "\nkind: Operator\n") {
				operators(t, p.Name, f.Text)
				checked++
			}
		}
	}
	if checked < 2 {
		t.Errorf("only %d definitions were found on the pages", checked)
	}
}

// TestDocsRecipes compares the results on docs/reference/expressions.md with the output of
// its recipes.
func TestDocsRecipes(t *testing.T) {
	all := docs(t)
	i := slices.IndexFunc(all, func(p pages.Page) bool { return p.Name == "docs/reference/expressions.md" })
	if i < 0 {
		t.Fatal("docs/reference/expressions.md is missing")
	}
	var definition, resource string
	var rendered []map[string]any
	recipes, compared := 0, 0
	for _, f := range all[i].Blocks {
		switch {
		case f.Info() == "yaml" && strings.Contains(f.Text, "kind: Operator\n"):
			definition = f.Text
		case f.Info() == "yaml" && strings.HasPrefix(f.Text, "children:\n"):
			rendered = render(t, operators(t, all[i].Name, definition+recipe(f.Text)), resource)
			recipes++
		case f.Info() == "yaml":
			resource = f.Text
		case f.Info() == "yaml out":
			compareOut(t, f, rendered)
			compared++
		}
	}
	if recipes < 5 || compared != recipes {
		t.Errorf("%d recipes with %d results", recipes, compared)
	}
}

// recipe returns the children and status on a page, to append to a definition that
// ends with children.
func recipe(text string) string {
	text = strings.TrimPrefix(text, "children:\n")
	return "  " + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n  "), "  ")
}

func render(t *testing.T, result argoperator.Result, resource string) []map[string]any {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 on the PATH, which operators of the workflow engine need")
	}
	objects, err := simulate.Decode([]byte(resource))
	if err != nil {
		t.Fatal(err)
	}
	var happenings []simulate.Action
	for _, o := range objects {
		happenings = append(happenings, simulate.Action{Event: simulate.Added, Object: o})
	}
	out, err := simulate.Render(context.Background(), simulate.Inputs{
		Objects: result.Objects(), Kinds: result.Kinds(), Runner: simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH")}},
	}, happenings)
	if err != nil {
		t.Fatal(err)
	}
	if failures := out.Trace.Failures(); len(failures) > 0 {
		t.Errorf("failed before the end: %v", failures)
	}
	return out.Objects
}

// compareOut compares an object on a page with the generated one of the same kind
// and name. It ignores all metadata except the name.
func compareOut(t *testing.T, f pages.Block, rendered []map[string]any) {
	t.Helper()
	var want map[string]any
	if err := yaml.Unmarshal([]byte(f.Text), &want); err != nil {
		t.Fatalf("%s: %v", f.At, err)
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
				t.Errorf("%s: output differs (-page +render):\n%s", f.At, diff)
			}
			return
		}
	}
	t.Errorf("%s: render did not print this object", f.At)
}

// TestDocsLinks requires that every file that a page links to exists, and that a
// linked page has the linked heading.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, p := range docs(t) {
		for _, found := range link.FindAllStringSubmatch(withoutBlocks(p.Text), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(found[1], "#")
			file := filepath.Join(root, filepath.Dir(p.Name), target)
			if target == "" {
				file = filepath.Join(root, p.Name)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which does not exist", p.Name, found[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(t, file), anchor) {
				t.Errorf("%s links to %s, but that page has no such heading", p.Name, found[1])
			}
		}
	}
}

func withoutBlocks(page string) string {
	return regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page, "")
}

// anchors returns the anchors of the headings of a page. GitHub and the site
// (docs/.vitepress) derive them from the text in the same way.
func anchors(t *testing.T, file string) []string {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	punctuation := regexp.MustCompile(`[^\pL\pM\p{Nd}\p{Pc} -]`)
	var all []string
	for _, found := range heading.FindAllStringSubmatch(withoutBlocks(string(page)), -1) {
		text := strings.ToLower(link.ReplaceAllString(found[1], "$1"))
		slug := strings.ReplaceAll(punctuation.ReplaceAllString(text, ""), " ", "-")
		unique := slug
		for n := 1; slices.Contains(all, unique); n++ {
			unique = fmt.Sprintf("%s-%d", slug, n)
		}
		all = append(all, unique)
	}
	return all
}
