package argoperator_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/e2e/pages"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
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

// pagesOfExpressions are the pages with one definition, one custom resource, and
// children with their results.
var pagesOfExpressions = []string{"docs/reference/expressions.md", "docs/how-to/write-expressions.md"}

// expressionsPage is a page whose expressions are evaluated.
type expressionsPage struct {
	pages.Page
	definition, resource string
}

func pageOfExpressions(t *testing.T, name string) expressionsPage {
	t.Helper()
	all := docs(t)
	i := slices.IndexFunc(all, func(p pages.Page) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("%s is missing", name)
	}
	page := expressionsPage{Page: all[i]}
	for _, f := range page.Blocks {
		switch {
		case f.Info() != "yaml":
		case page.definition == "" && strings.Contains(f.Text, "kind: Operator\n"):
			page.definition = f.Text
		case page.resource == "" && strings.HasPrefix(f.Text, "apiVersion: shop.example.com/v1\n"):
			page.resource = f.Text
		}
	}
	if page.definition == "" || page.resource == "" {
		t.Fatalf("%s has no definition or no custom resource", name)
	}
	return page
}

// TestDocsRecipes compares the children on the pages of expressions with the objects
// below them.
func TestDocsRecipes(t *testing.T) {
	for _, name := range pagesOfExpressions {
		page := pageOfExpressions(t, name)
		var rendered []map[string]any
		recipes, compared := 0, 0
		for _, f := range page.Blocks {
			switch {
			case f.Info() == "yaml" && (strings.HasPrefix(f.Text, "children:\n") || strings.HasPrefix(f.Text, "variables:\n")):
				rendered = render(t, operators(t, f.At, page.with(f.Text)), page.resource)
				recipes++
			case f.Info() == "yaml out":
				compareOut(t, f, rendered)
				compared++
			}
		}
		if recipes < 2 || compared < recipes {
			t.Errorf("%s: %d recipes with %d results", name, recipes, compared)
		}
	}
}

// TestDocsQuoting requires that the values on docs/reference/expressions.md are invalid
// and valid as its table says.
func TestDocsQuoting(t *testing.T) {
	page := pageOfExpressions(t, "docs/reference/expressions.md")
	rows := page.tables("invalid")["invalid"]
	if len(rows) < 10 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, row := range rows {
		for i, valid := range map[int]bool{0: false, 2: true} {
			result, err := argoperator.Generate([]argoperator.Source{{Name: page.Name, Data: []byte(page.definition + childWith(row[i]))}}, argoperator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(result.Findings) == 0; got != valid {
				t.Errorf("%s is valid: %t, want %t: %v", row[i], got, valid, result.Findings)
			}
		}
	}
}

// childWith returns a child with one line of YAML: a key of the child, or of the child's
// object.
func childWith(line string) string {
	key, _, _ := strings.Cut(line, ":")
	indent := map[string]int{"when": 4, "forEach": 4, "labels": 8, "data": 6}[key]
	if indent == 0 {
		line, indent = "data:\n        "+line, 6
	}
	suffix := "quoted"
	if key == "forEach" {
		suffix = "${ $index }"
	}
	return "  - name: quoted\n    template:\n      apiVersion: v1\n      kind: ConfigMap\n      metadata:\n        name: ${ .metadata.name }-" +
		suffix + "\n" + strings.Repeat(" ", indent) + line + "\n"
}

// TestDocsTranslations evaluates the jq in the tables of docs/reference/expressions.md that
// show what replaces the syntax of other languages.
func TestDocsTranslations(t *testing.T) {
	page := pageOfExpressions(t, "docs/reference/expressions.md")
	var child strings.Builder
	child.WriteString("  - name: translated\n    template:\n      apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: \"${ .metadata.name }-translated\"}\n      data:\n")
	want := map[string]any{}
	for _, rows := range page.tables("jq") {
		for _, row := range rows {
			if row[2] == "" {
				continue // not an expression
			}
			key := "row-" + strconv.Itoa(len(want))
			child.WriteString("        " + key + ": |-\n          ${ " + row[1] + " | tojson }\n")
			want[key] = row[2]
		}
	}
	if len(want) < 30 {
		t.Errorf("only %d translations", len(want))
	}
	for _, object := range render(t, operators(t, page.Name, page.definition+child.String()), page.resource) {
		metadata, _ := object["metadata"].(map[string]any)
		if metadata["name"] == "hello-translated" {
			if diff := cmp.Diff(want, object["data"]); diff != "" {
				t.Errorf("results differ (-page +rendered):\n%s", diff)
			}
			return
		}
	}
	t.Error("render did not print the translations")
}

// tables returns the rows of the tables that have a column of a name, by the name of
// their first column.
func (p expressionsPage) tables(column string) map[string][][]string {
	out := map[string][][]string{}
	in := ""
	for line := range strings.Lines(p.Text) {
		cells := tableCells(line)
		switch {
		case len(cells) == 0:
			in = ""
		case in == "" && slices.Contains(cells, column):
			in = cells[0]
		case in != "" && !strings.HasPrefix(line, "|---"):
			out[in] = append(out[in], cells)
		}
	}
	return out
}

// tableCells returns the cells of a row of a Markdown table, without the backticks around
// a whole cell.
func tableCells(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
	var cells []string
	for cell := range strings.SplitSeq(line, "|") {
		cell = strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|"))
		cells = append(cells, strings.TrimSuffix(strings.TrimPrefix(cell, "`"), "`"))
	}
	return cells
}

// recipe returns the children and status on a page, to append to a definition that
// ends with children.
func recipe(text string) string {
	text = strings.TrimPrefix(text, "children:\n")
	return "  " + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n  "), "  ")
}

// with returns the definition with the children of a recipe, and with what is above them there.
func (p expressionsPage) with(text string) string {
	above, children, _ := strings.Cut(text, "children:\n")
	if above != "" {
		above = recipe(above)
	}
	return strings.Replace(p.definition, "spec:\n", "spec:\n"+above, 1) + recipe(children)
}

func render(t *testing.T, result argoperator.Result, resource string) []map[string]any {
	t.Helper()
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

// maxWords limits the length of a page that people read from start to end.
const maxWords = 1500

// TestDocsLength limits the length of pages. Pages that are looked up or generated may be
// longer.
func TestDocsLength(t *testing.T) {
	for _, p := range docs(t) {
		generated := strings.Contains(p.Text, "\n<!-- ")
		if n := len(strings.Fields(p.Text)); n > maxWords && !generated && !strings.HasPrefix(p.Name, "docs/reference/") && p.Name != "docs/CHANGELOG.md" {
			t.Errorf("%s has %d words, more than %d: split it", p.Name, n, maxWords)
		}
	}
}

// TestDocsIndex requires that the index links to every page.
func TestDocsIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range docs(t) {
		if name, found := strings.CutPrefix(p.Name, "docs/"); found && name != "README.md" && !strings.Contains(string(index), "("+name+")") {
			t.Errorf("docs/README.md does not link to %s", name)
		}
	}
}

// TestDocsFiles requires that the text before a block names the file that the block is:
// readers do not see the words behind the backticks.
func TestDocsFiles(t *testing.T) {
	for _, p := range docs(t) {
		for _, b := range p.Blocks {
			if b.File() == "" {
				continue
			}
			_, number, _ := strings.Cut(b.At, ":")
			line, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(p.Text, "\n")
			if before := strings.Join(lines[max(0, line-7):line-2], "\n"); !strings.Contains(before, path.Base(b.File())) {
				t.Errorf("%s: the text above does not name %s", b.At, b.File())
			}
		}
	}
}
