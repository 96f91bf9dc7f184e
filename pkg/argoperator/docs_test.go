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

// TestDocsRecipes: what docs/expressions.md says comes out of its recipes does.
func TestDocsRecipes(t *testing.T) {
	all := docs(t)
	i := slices.IndexFunc(all, func(p pages.Page) bool { return p.Name == "docs/expressions.md" })
	if i < 0 {
		t.Fatal("there is no docs/expressions.md")
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
		t.Errorf("failed on the way: %v", failures)
	}
	return out.Objects
}

// compareOut holds an object on a page to the one of that kind and name that was
// made: all of it but the metadata, of which only the name is shown.
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
				t.Errorf("%s: not what comes out (-page +render):\n%s", f.At, diff)
			}
			return
		}
	}
	t.Errorf("%s: no such object comes out", f.At)
}

// TestDocsLinks: whatever in the repository a page links to is there.
func TestDocsLinks(t *testing.T) {
	link, code := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile("(?s)```.*?```")
	for _, p := range docs(t) {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(p.Text, ""), -1) {
			target, _, _ := strings.Cut(found[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(p.Name), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", p.Name, found[1])
			}
		}
	}
}

// TestDocsWidth keeps lines short enough to be read side by side; tables and
// what the program says cannot be broken.
func TestDocsWidth(t *testing.T) {
	for _, p := range docs(t) {
		if strings.HasPrefix(p.Name, "docs/reference/") {
			continue
		}
		said := ""
		for _, b := range p.Blocks {
			if b.Words[0] == "console" {
				said += b.Text
			}
		}
		for i, line := range strings.Split(p.Text, "\n") {
			if n := len([]rune(line)); n > 130 && !strings.HasPrefix(line, "|") && !strings.Contains(said, line+"\n") && !strings.Contains(line, "://") {
				t.Errorf("%s:%d has %d characters, more than 130", p.Name, i+1, n)
			}
		}
	}
}
