package check

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
	file, err := parser.ParseFile(token.NewFileSet(), "../problem/codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	mutated := map[string]bool{}
	for _, m := range mutations() {
		mutated[m.code] = true
	}
	codes := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			code, _ := strconv.Unquote(literal.Value)
			if codes[code] || !strings.HasPrefix(code, "check-") {
				t.Errorf("%s: codes must be unique and start with check-", code)
			}
			codes[code] = true
			if !mutated[code] && code != problem.CodeChild && code != problem.CodeImage { // tested with the children in pkg/internal/kube/admission
				t.Errorf("no mutation for %s", code)
			}
		}
		return true
	})
	for _, c := range problem.Codes() {
		if !codes[c.Code] {
			t.Errorf("%s is documented but has no constant", c.Code)
		}
		if !strings.HasSuffix(c.Doc, ".") {
			t.Errorf("%s: the documentation is not a sentence", c.Code)
		}
	}
}
