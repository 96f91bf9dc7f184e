package definition

import (
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// TestMissingChildren covers that a definition without children and logic is reported as
// one without children, and that the definition is valid with the example of the hint.
func TestMissingChildren(t *testing.T) {
	const head = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: app}
spec:
  api: {group: example.com, kind: App, versions: [{name: v1alpha1, schema: {spec: {size: integer}}}]}
`
	_, list := Parse(source.Input{Name: "x", Data: []byte(head)})
	if len(list) != 1 || !strings.Contains(list[0].Message, `missing key "children"`) {
		t.Fatalf("%v, want one finding about children", list)
	}
	example, _, _ := strings.Cut(strings.TrimPrefix(list[0].Hint, "write "), ";")
	if _, list := Parse(source.Input{Name: "x", Data: []byte(head + "  " + example + "\n")}); len(list) > 0 {
		t.Errorf("%s: %v", example, list)
	}
}
