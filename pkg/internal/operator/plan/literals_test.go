package plan

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// verb is a verb of a format string, in quotes or not.
var verb = regexp.MustCompile(`%(\[\d\])?[sdq]`)

// TestNoProgramsInGo requires that jq of more than a line is in the jq files, which have
// comments and are parsed when they are generated.
func TestNoProgramsInGo(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || name == "direct_generated.go" {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gojq.Parse(verb.ReplaceAllString(text, ".x")); err == nil && (len(text) > 120 || strings.Contains(text, "\n")) {
				t.Errorf("%s: move this jq to a file of the directory direct: %s", files.Position(literal.Pos()), text)
			}
			return true
		})
	}
}
