package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

const definitionIntroduction = `# Definition

` + generatedNote + `A definition describes an operator in one YAML document of ` + "`kind: Operator`" + `.
[Types and markers](types-and-markers.md) are the language of ` + "`schema`" + `, [expressions](expressions.md) the language of ` + "`${ }`" + `.
` + "`argoperator schema`" + ` prints this reference as a JSON Schema for [editors](../how-to/editors-and-pipelines.md).
`

const testsIntroduction = `# Tests

` + generatedNote + `A test is a YAML document of ` + "`kind: OperatorTest`" + `. [Test an operator](../how-to/test.md) explains how to write and run tests.
` + "`argoperator schema OperatorTest`" + ` prints this reference as a JSON Schema for [editors](../how-to/editors-and-pipelines.md).
`

// The files with the examples of each page, in the order of their sections. A comment
// "# example: SECTION" is above the part that a section shows.
var (
	definitionExamples = []string{"website/operator.yaml", "definition/*.yaml"}
	testExamples       = []string{"website/tests/*.yaml", "clock/tests/*.yaml"}
)

// firstRelease is the version of each key that does not state another one.
const firstRelease = "v0.1.0"

// property is a key in a JSON Schema.
type property struct {
	Ref         string          `json:"$ref"`
	Type        string          `json:"type"`
	Enum        []string        `json:"enum"`
	Items       *property       `json:"items"`
	Values      json.RawMessage `json:"additionalProperties"`
	Default     json.RawMessage `json:"default"`
	Description string          `json:"description"`
	Markdown    string          `json:"markdownDescription"`

	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// keyReference is a page with the keys of a file: a section for each mapping, in the
// order in which a file has them.
type keyReference struct {
	defs     map[string]json.RawMessage
	examples map[string][]string // by section
	listed   map[string]bool
	page     strings.Builder
}

func keysPage(t *testing.T, introduction string, schema []byte, files []string) string {
	t.Helper()
	var root struct {
		Ref  string                     `json:"$ref"`
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &root); err != nil {
		t.Fatal(err)
	}
	r := keyReference{defs: root.Defs, examples: exampleFragments(t, files), listed: map[string]bool{}}
	r.page.WriteString(introduction)
	r.section(t, name(root.Ref))
	for section := range r.examples {
		if !r.listed[section] {
			t.Errorf("there is no section %s for the examples in %s", section, files)
		}
	}
	return r.page.String()
}

// section describes a mapping and those inside of it, each once.
func (r *keyReference) section(t *testing.T, def string) {
	t.Helper()
	if r.listed[def] {
		return
	}
	r.listed[def] = true
	mapping := decodeProperty(t, r.defs[def])
	text, _, _ := mapping.text()
	fmt.Fprintf(&r.page, "\n## %s\n\n%s\n", def, text)
	for _, example := range r.examples[def] {
		fmt.Fprintf(&r.page, "\n```yaml\n%s```\n", example)
	}
	r.page.WriteString("\n| key | type | default | since | description |\n|---|---|---|---|---|\n")
	var inside []string
	for _, key := range keysInOrder(t, r.defs[def]) {
		p := decodeProperty(t, mapping.Properties[key])
		kind, of := p.kind(t)
		text, value, version := p.text()
		if slices.Contains(mapping.Required, key) {
			value = "required"
		}
		fmt.Fprintf(&r.page, "| `%s` | %s | %s | %s | %s |\n", key, kind, cell(value), version, cell(text))
		if of != "" {
			inside = append(inside, of)
		}
		if !regexp.MustCompile(`(?m)(^|[ {])` + key + `:`).MatchString(strings.Join(r.examples[def], "")) {
			t.Errorf("no example of %s shows the key %s: testdata/reference", def, key)
		}
	}
	for _, of := range inside {
		r.section(t, of)
	}
}

// kind returns the type of a key's value, and the section that describes it.
func (p property) kind(t *testing.T) (text, def string) {
	def = name(p.Ref)
	switch {
	case def == "Fields":
		return "[fields](types-and-markers.md)", ""
	case def == "Nothing":
		return "`{}`", ""
	case def != "":
		return fmt.Sprintf("[%s](#%s)", def, strings.ToLower(def)), def
	case len(p.Enum) > 0:
		return "`" + strings.Join(p.Enum, "`, `") + "`", ""
	case p.Type == "array" && p.Items != nil:
		text, def = p.Items.kind(t)
		return "list of " + plural(text), def
	case p.Type == "object" && len(p.Values) > 0 && p.Values[0] == '{':
		text, def = decodeProperty(t, p.Values).kind(t)
		return "map of " + plural(text), def
	}
	return cmp.Or(p.Type, "any"), ""
}

func plural(kind string) string {
	if strings.HasPrefix(kind, "[") {
		return kind
	}
	return kind + "s"
}

// text returns the description of a key, its default and its version, which the
// generator of the schema has put together.
func (p property) text() (text, value, version string) {
	version = firstRelease
	for i, paragraph := range strings.Split(cmp.Or(p.Markdown, p.Description), "\n\n") {
		if words, ok := strings.CutPrefix(paragraph, "Default: "); ok {
			value = words
		} else if words, ok := strings.CutPrefix(paragraph, "Since: "); ok {
			version = words
		} else if i == 0 {
			text = paragraph
		}
	}
	if p.Default != nil {
		value = "`" + value + "`"
	}
	return relative.Replace(text), relative.Replace(value), version
}

const published = "https://github.com/argoperator/argoperator/blob/main/docs/"

// relative replaces links to the repository by those of a page.
var relative = strings.NewReplacer(published+"reference/", "", published, "../")

func name(ref string) string { return strings.TrimPrefix(ref, "#/$defs/") }

func decodeProperty(t *testing.T, data json.RawMessage) property {
	t.Helper()
	var p property
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return p
}

// keysInOrder returns the properties of a schema in its order.
func keysInOrder(t *testing.T, schema json.RawMessage) []string {
	t.Helper()
	var holder struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &holder); err != nil {
		t.Fatal(err)
	}
	in := json.NewDecoder(bytes.NewReader(holder.Properties))
	if _, err := in.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for in.More() {
		key, err := in.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, fmt.Sprint(key))
		if err := in.Decode(new(json.RawMessage)); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

var mark = regexp.MustCompile(`^ *# example: (\w+)$`)

// exampleFragments returns the examples of each section: the lines of a value, below the
// lines of the keys that lead to it. An example of the first line is the whole file.
func exampleFragments(t *testing.T, patterns []string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, file := range exampleFiles(t, patterns...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var lines, sections []string
		wanted := map[int][]string{} // sections by the line of their example
		for line := range strings.Lines(string(data)) {
			if found := mark.FindStringSubmatch(strings.TrimSuffix(line, "\n")); found != nil {
				sections = append(sections, found[1])
				continue
			}
			wanted[len(lines)], sections = sections, nil
			lines = append(lines, line)
		}
		for i := range lines {
			for _, section := range wanted[i] {
				out[section] = append(out[section], fragment(lines, i))
			}
		}
	}
	return out
}

// fragment returns the value that begins in a line.
func fragment(lines []string, start int) string {
	if strings.HasPrefix(lines[start], "apiVersion:") {
		return strings.Join(lines, "")
	}
	var parents []string
	for at, i := start, start-1; i >= 0; i-- {
		if contains(lines[i], lines[at]) {
			parents, at = append(parents, lines[i]), i
		}
	}
	slices.Reverse(parents)
	end := start + 1
	for end < len(lines) && contains(lines[start], lines[end]) {
		end++
	}
	return strings.Join(append(parents, lines[start:end]...), "")
}

// contains reports whether a line is inside of the value of an earlier one, judging by
// their indentation: a list may be indented like its key.
func contains(outer, inner string) bool {
	outerIndent, innerIndent := indentation(outer), indentation(inner)
	return outerIndent < innerIndent || outerIndent == innerIndent && isItem(inner) && !isItem(outer)
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func isItem(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "- ") }

func exampleFiles(t *testing.T, patterns ...string) []string {
	t.Helper()
	var out []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(repository, "testdata", "reference", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("no example matches %s: %v", pattern, err)
		}
		out = append(out, files...)
	}
	return out
}

// TestReferenceDefinitions requires that the definitions of the examples have no
// findings.
func TestReferenceDefinitions(t *testing.T) {
	for _, file := range exampleFiles(t, "*/operator.yaml", "definition/*.yaml") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte("kind: Operator\n")) {
			continue
		}
		source := argoperator.Source{Name: filepath.Base(file), Data: data, Dir: os.DirFS(filepath.Dir(file))}
		result, err := argoperator.Generate([]argoperator.Source{source}, argoperator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range result.Findings {
			t.Errorf("%s:%d: %s", file, f.Line, f.Message)
		}
	}
}

// TestReferenceTests runs the tests of the examples.
func TestReferenceTests(t *testing.T) {
	for _, dir := range []string{"website", "clock"} {
		var out bytes.Buffer
		if code := run([]string{"test", "--run-logic", "-f", filepath.Join(repository, "testdata", "reference", dir)}, streams{out: &out, err: &out}); code != exitOK {
			t.Errorf("exit code %d:\n%s", code, &out)
		}
	}
}
