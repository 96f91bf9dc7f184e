package selfcheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// TestEveryCodeHasAMutation requires a mutation for each code, because a code
// without one may belong to a check that cannot fail.
func TestEveryCodeHasAMutation(t *testing.T) {
	mutated := map[string]bool{}
	for _, m := range mutations() {
		mutated[m.code] = true
	}
	seen := map[string]bool{}
	for _, code := range append(literals(t, "codes.go"), literals(t, "../../kube/problem/codes.go")...) {
		if seen[code] || !strings.HasPrefix(code, "check-") {
			t.Errorf("%s: codes must be unique and start with check-", code)
		}
		seen[code] = true
		if !mutated[code] && code != problem.CodeChild && code != problem.CodeImage { // tested with the children in pkg/internal/kube/admission
			t.Errorf("no mutation for %s", code)
		}
	}
}

// TestCodesAreDocumented requires a sentence about each code that users can see.
func TestCodesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, c := range problem.Codes() {
		documented[c.Code] = true
		if !strings.HasSuffix(c.Doc, ".") {
			t.Errorf("%s: the documentation is not a sentence", c.Code)
		}
	}
	constants := literals(t, "../../kube/problem/codes.go")
	for _, code := range constants {
		if !documented[code] {
			t.Errorf("%s is not documented", code)
		}
	}
	if len(documented) != len(constants) {
		t.Errorf("%d codes are documented, but %d have a constant", len(documented), len(constants))
	}
}

// literals returns the values of the constants in a file.
func literals(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			value, _ := strconv.Unquote(literal.Value)
			out = append(out, value)
		}
		return true
	})
	return out
}
