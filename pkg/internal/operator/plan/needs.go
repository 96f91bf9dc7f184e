package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
)

// A child waits for the values of other objects that its template needs: without them
// it is not created, and one that exists stays as it is. What a child that is not
// wanted has no value for is not waited for.

// need is a value that a child waits for.
type need struct {
	expression.Need
	inPod json.RawMessage
}

func needsOf(programs ...*expression.Program) []need {
	var out []need
	for _, program := range programs {
		if program == nil {
			continue
		}
		for _, n := range program.Needs() {
			node, _ := expression.BareForPod(n.Source) // its problems are reported with the template
			out = append(out, need{n, encode(node)})
		}
	}
	return out
}

// missing returns the jq of the values that a child waits for.
func missing(p *configured, c Child) []jqfile.Value {
	var out []jqfile.Value
	for _, n := range c.needs {
		holes := jqfile.Holes{"hole::value": jqfile.Raw(n.Source), "hole::text": jqfile.String(n.Text)}
		condition := wantedJQ(p, n.Children)
		holes["option::conditional"], holes["hole::wanted"] = jqfile.Bool(condition != ""), jqfile.Raw(condition)
		list := slices.IndexFunc(p.Children, func(other Child) bool { return other.Name == n.List && other.ForEach != nil })
		holes["option::ofList"] = jqfile.Bool(list >= 0)
		if list >= 0 {
			holes["hole::listPrefix"] = jqfile.String(listPrefix(p.Children[list]))
			holes["hole::wantedCount"] = wantedCount(p, p.Children[list])
		}
		out = append(out, directPrograms().Definition("missing", holes))
	}
	return out
}

// wantedJQ returns the jq that tells whether any of the children is wanted, or still there; "" if
// one of them always is wanted.
func wantedJQ(p *configured, names []string) string {
	var terms []string
	for _, other := range p.Children {
		if slices.Contains(names, other.Name) {
			if other.When == nil {
				return ""
			}
			terms = append(terms, whenJQ(other), fmt.Sprintf("($children[%q] | . != null and . != [])", other.Name))
		}
	}
	if len(terms) == 0 {
		return ""
	}
	return "(" + strings.Join(terms, " or ") + ")"
}

// runtimeNeeds returns the needs of a child in the form that the pod reads.
func runtimeNeeds(c Child) []RuntimeNeed {
	var out []RuntimeNeed
	for _, n := range c.needs {
		out = append(out, RuntimeNeed{Expr: n.inPod, Text: n.Text, Children: n.Children, List: n.List, Damage: n.Damage})
	}
	return out
}
