package diag

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"testing"
)

func TestCodes(t *testing.T) {
	constants := constantsOf(t, "codes.go")
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, c := range Codes() {
		switch {
		case seen[c.Code]:
			t.Errorf("code %s is listed twice", c.Code)
		case !kebab.MatchString(c.Code):
			t.Errorf("code %s is not kebab-case", c.Code)
		case c.Doc == "" || c.Doc[len(c.Doc)-1] != '.':
			t.Errorf("code %s has no sentence", c.Code)
		case !constants[c.Code]:
			t.Errorf("code %s has no constant", c.Code)
		}
		seen[c.Code] = true
	}
	for code := range constants {
		if !seen[code] {
			t.Errorf("code %s is missing in Codes", code)
		}
	}
}

// constantsOf returns the values of a file's string constants.
func constantsOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, value := range spec.Values {
			if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				if out[text] {
					t.Errorf("two constants are %s", text)
				}
				out[text] = true
			}
		}
		return true
	})
	return out
}
