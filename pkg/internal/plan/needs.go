package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/expression"
)

// A template that reads a field of another child would remove what it computed from it
// while that field has no value. Therefore an annotation of each child lists the fields
// that had a value when it was written, and the child is not written while one of them
// has none.

// knownAnnotation of a child lists those fields, in JSON.
const knownAnnotation = "argoperator.dev/known-fields"

// need is an expression of a template that can be null because a field of another child
// has no value.
type need struct {
	expression.Need
	inPod json.RawMessage
}

func needsOf(program *expression.Program) []need {
	if program == nil {
		return nil
	}
	var out []need
	for _, n := range program.Needs() {
		node, _ := expression.BareForPod(n.Text) // its problems are reported with the template
		out = append(out, need{n, encode(node)})
	}
	return out
}

// fieldJQ returns the jq of a field of another child; null if it has no value.
func fieldJQ(f expression.ChildField) string { return "(" + f.Text + "?)" }

// knownJQ returns the jq of the annotation of a child, with $children bound. It is
// empty if its template needs nothing of other children.
func knownJQ(c Child) string {
	var fields []string
	for _, n := range c.needs {
		for _, f := range n.Fields {
			known := fmt.Sprintf("(if %s == null then empty else %s end)", fieldJQ(f), quote(f.Text))
			if !slices.Contains(fields, known) {
				fields = append(fields, known)
			}
		}
	}
	if fields == nil {
		return ""
	}
	return "[" + strings.Join(fields, ", ") + "]"
}

// runtimeNeeds returns the needs of a child in the form that the pod reads.
func runtimeNeeds(c Child) []RuntimeNeed {
	var out []RuntimeNeed
	for _, n := range c.needs {
		one := RuntimeNeed{Expr: n.inPod}
		for _, f := range n.Fields {
			one.Paths = append(one.Paths, RuntimePath{Keys: append([]string{f.Child}, f.Keys...), Text: f.Text})
		}
		out = append(out, one)
	}
	return out
}
