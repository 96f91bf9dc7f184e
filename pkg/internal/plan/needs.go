package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/expression"
)

// A template that reads a field of another child loses what it made of it when
// that field has no value for a moment. So each child has an annotation with the
// fields that had a value when it was written, and it is not written as long as
// one of them has none.

// knownAnnotation of a child is those fields, as a list in JSON.
const knownAnnotation = "argoperator.dev/known-fields"

// need is an expression of a template that may come out null because a field of
// another child has no value.
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
		node, _ := expression.BareForPod(n.Text) // its problems are those of the template
		out = append(out, need{n, encode(node)})
	}
	return out
}

// fieldJQ is the value of a field of another child; null where there is none.
func fieldJQ(f expression.ChildField) string { return "(" + f.Text + "?)" }

// knownJQ is the jq of the annotation of a child, with $children bound; empty
// where its template needs nothing of other children.
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

// runtimeNeeds are the needs of a child as the pod knows them.
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
