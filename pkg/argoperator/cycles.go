package argoperator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
)

// making is a child by which an operator makes custom resources of a kind.
type making struct {
	operator string
	from, to string // group/kind
	kind     string // of to
	at       diag.Position
}

// cycles collects which operators make custom resources of others without a condition.
type cycles []making

func (c *cycles) add(o Operator) {
	api := o.plan.API.Kind
	for i, child := range o.plan.Children {
		if child.When == nil {
			*c = append(*c, making{
				o.Name, api.Group + "/" + api.Kind, child.Kind.Group + "/" + child.Kind.Kind, child.Kind.Kind,
				o.definition.Position("spec", "children", strconv.Itoa(i)),
			})
		}
	}
}

// findings reports operators of which each makes custom resources of the next, and the last of
// the first. An operator does not act on resources of its own kind that it has made.
func (c cycles) findings() diag.List {
	var findings diag.List
	for i, first := range c {
		path := c.back(first, first.from, []making{first})
		reported := func(m making) bool { return slices.Index(c, m) < i }
		if len(path) > 1 && !slices.ContainsFunc(path, reported) {
			var steps []string
			for _, m := range path {
				steps = append(steps, "operator "+m.operator+" makes a "+m.kind)
			}
			findings.Warn(
				first.at,
				diag.EndlessChildren,
				strings.Join(steps, ", and for it ")+", and so on: one custom resource makes others without an end",
				"give one of these children a condition that becomes false, such as when: .spec.depth < 3",
			)
		}
	}
	return findings
}

// back returns the shortest way from the end of a path to a kind; nil if there is none.
func (c cycles) back(from making, to string, path []making) []making {
	if from.to == to {
		return path
	}
	var best []making
	for _, next := range c {
		if next.from != from.to || slices.ContainsFunc(path, func(m making) bool { return m.from == next.from }) {
			continue
		}
		if found := c.back(next, to, append(slices.Clone(path), next)); found != nil && (best == nil || len(found) < len(best)) {
			best = found
		}
	}
	return best
}
