package argoperator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
)

// TestFixesOfFindings writes the fix of every finding into the file that has it, for the wrong
// definitions in testdata: the finding must disappear, and what was written must not be
// another error, except a consequence of the rest of the file: these definitions have many
// errors.
func TestFixesOfFindings(t *testing.T) {
	tried := 0
	for _, dir := range []string{"expression", "definition/err"} {
		dir = filepath.Join(root, "testdata", dir)
		files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tried += tryFixes(t, dir, filepath.Base(file), string(data))
		}
	}
	if tried < 140 {
		t.Errorf("only %d fixes tried", tried)
	}
}

// tryFixes returns how many fixes of the findings in a file were written into it.
func tryFixes(t *testing.T, dir, name, text string) (tried int) {
	t.Helper()
	before := findingsIn(t, dir, name, text)
	for _, f := range before {
		fix, word := fixOf(f)
		if fix == "" || f.File != name {
			continue
		}
		fixed, from, to := written(text, f.Position, fix, word)
		if from == to {
			continue
		}
		tried++
		for _, left := range findingsIn(t, dir, name, fixed) {
			same := left.Line == f.Line && left.Code == f.Code && left.Message == f.Message
			inside := left.Line == f.Line && from < left.Column && left.Column <= to
			if same || inside && left.Severity == diag.Error && !had(before, left) && !consequence(left) {
				t.Errorf("%s:%d: %s\n%s\nwritten: %s\nleft: %s", name, f.Line, f.Message, f.Hint, strings.Split(fixed, "\n")[f.Line-1], left.Message)
				break
			}
		}
	}
	return tried
}

func findingsIn(t *testing.T, dir, name, text string) diag.List {
	t.Helper()
	result, err := argoperator.Generate([]argoperator.Source{{Name: name, Data: []byte(text), Dir: os.DirFS(dir)}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Findings
}

func had(list diag.List, f diag.Finding) bool {
	return slices.ContainsFunc(list, func(other diag.Finding) bool { return other.Line == f.Line && other.Code == f.Code })
}

// consequence reports whether a finding is about the value together with others, or
// about a value below it.
func consequence(f diag.Finding) bool {
	return slices.Contains([]string{diag.DuplicateKey, diag.DuplicateValue, diag.MissingKey, diag.WrongType, diag.UnknownField}, f.Code)
}

var meant = regexp.MustCompile(`^did you mean (\S+)\?`)

// fixOf returns what the hint of a finding says to write, in the place of a value or of a
// word alone; "" if it says it in prose.
func fixOf(f diag.Finding) (fix string, word bool) {
	if m := meant.FindStringSubmatch(f.Hint); m != nil {
		return m[1], true
	}
	if fix, why, _ := strings.Cut(f.Fix, ": "); strings.Contains(why, " letters, digits") {
		return fix, false
	}
	if strings.HasPrefix(f.Fix, "a DNS name") {
		return "", false
	}
	return f.Fix, false
}

var (
	wordAhead  = regexp.MustCompile(`^[\w/.-]*`)
	pathBefore = regexp.MustCompile(`[$\w.]*$`)
)

// written returns a text with a fix in the place of the scalar at a position, or of the word
// there, and the columns that the fix takes. They are equal if it cannot be written, as in a
// scalar of several lines.
func written(text string, at diag.Position, fix string, oneWord bool) (fixed string, first, end int) {
	lines := strings.Split(text, "\n")
	if at.Line == 0 {
		return "", 0, 0
	}
	line := lines[at.Line-1]
	from := diag.Offset(line, at.Column)
	to := from + len(wordAhead.FindString(line[from:]))
	switch {
	case oneWord && strings.ContainsAny(fix[:1], ".$"): // the whole path
		from -= len(pathBefore.FindString(line[:from]))
	case !oneWord:
		from, to = scalarAt(text, at)
	}
	if from == to {
		return "", 0, 0
	}
	lines[at.Line-1] = line[:from] + fix + line[to:]
	return strings.Join(lines, "\n"), from, from + len(fix)
}

// scalarAt returns the bytes of the line of a position that its scalar takes.
func scalarAt(text string, at diag.Position) (from, to int) {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil {
		return 0, 0
	}
	var best *yaml.Node
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Line == at.Line && n.Column <= at.Column && (best == nil || n.Column > best.Column) {
			best = n
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(&doc)
	if best == nil || best.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return 0, 0
	}
	line := strings.Split(text, "\n")[at.Line-1]
	from = diag.Offset(line, best.Column)
	form := regexp.QuoteMeta(best.Value)
	switch {
	case best.Style&yaml.DoubleQuotedStyle != 0:
		form = `"(?:[^"\\]|\\.)*"`
	case best.Style&yaml.SingleQuotedStyle != 0:
		form = `'(?:[^']|'')*'`
	}
	took := regexp.MustCompile(`^` + form).FindStringIndex(line[from:])
	if took == nil || at.Column > best.Column+took[1] {
		return 0, 0
	}
	return from, from + took[1]
}

// TestFixesOfTypes writes the fix of a type or a marker in the style of another language: a
// schema without errors must be left.
func TestFixesOfTypes(t *testing.T) {
	for given, want := range map[string]string{
		`enum(a,b)`: `"string | enum=a,b"`, `enum=a,b`: `"string | enum=a,b"`, `"oneOf[a, b]"`: `"string | enum=a,b"`, `"a, b"`: `"string | enum=a,b"`,
		`a | b`: `"string | enum=a,b"`, `choice`: `"string | enum=a,b"`,
		`"{map[string]: quantity}"`: `"map[string]quantity"`, `"{map[name]: quantity}"`: `"map[string]quantity"`,
		`"map[int]string"`: `"map[string]string"`, `"map[string]"`: `"map[string]string"`, `"[]"`: `"[]string"`,
		`"[]string | enum=a,b"`: `['string | enum=a,b']`, `"[][]integer | minimum=1"`: `[['integer | minimum=1']]`,
		`"map[string]string | minLength=2 pattern=\"^it's\""`: `{"map[string]": "string | minLength=2 pattern=\"^it's\""}`,
		`"[]string | unique=true"`:                            `"[]string | uniqueItems=true"`,
		`string | optional`:                                   `string`, `string | default=a optional`: `string | default=a`, `string | default=a | optional`: `string | default=a`,
		`string | default=a | enum=a,b`: `"string | default=a enum=a,b"`, `string|required|minLength=1`: `string|required=true minLength=1`,
		`string required`: `string | required=true`, `string!`: `string | required=true`, `optional string`: `string`, `string?`: `string`,
		`secret`: `core/v1.SecretKeySelector`, `PodSpec`: `core/v1.PodSpec`, `EnvVar`: `core/v1.EnvVar`, `email`: `string | format=email`, `uint16`: `integer`,
		`string(10)`: `string | maxLength=10`, `integer 1..5`: `integer | minimum=1 maximum=5`, `int (1-5)`: `integer | minimum=1 maximum=5`,
		`string = a`: `string | default=a`, `int = 3`: `integer | default=3`, `string | regex=^a`: `string | pattern=^a`, `integer | max=3`: `integer | maximum=3`,
		`string | oneof=a,b`: `string | enum=a,b`,
	} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			definition := func(field string) string {
				return `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: types}
spec:
  api:
    group: example.com
    kind: Thing
    versions:
    - name: v1
      schema:
        spec:
          field: ` + field + `
  children:
  - {name: settings, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}
`
			}
			found := findingsIn(t, ".", "operator.yaml", definition(given))
			if len(found) != 1 {
				t.Fatalf("%d findings, want 1: %v", len(found), found)
			}
			fix, oneWord := fixOf(found[0])
			fixed, _, _ := written(definition(given), found[0].Position, fix, oneWord)
			if fixed != definition(want) {
				t.Errorf("fixed:\n%s\nwant %s", fixed, want)
			}
			if left := findingsIn(t, ".", "operator.yaml", definition(want)); len(left) > 0 {
				t.Error(left)
			}
		})
	}
}
