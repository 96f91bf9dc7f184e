package differential

import (
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Known is a defect that is not fixed yet. A difference that it explains is no failure.
type Known struct {
	Name    string
	Reason  string
	Seed    uint64
	Choices Choices // with Seed: the simplest case that shows it
	covers  func(c *Case, d *Difference) bool
}

// Covers reports whether the defect explains the difference of a case.
func (k Known) Covers(c *Case, d *Difference) bool { return k.covers(c, d) }

// Defects returns the defects that are not fixed yet.
func Defects() []Known {
	return []Known{
		{
			"late events", "direct does not stop if earlier events arrive late and a list is never updated", 229,
			Choices{
				"c0.forEach": 5, "c0.update": 4, "c1.forEach": 5, "children": 1, "life.1": 2, "life.1.cr.sample": 2, "life.1.mode": 8,
			},
			func(c *Case, d *Difference) bool {
				return d.Kind == NotConverged && d.Engine == plan.Direct && strings.HasSuffix(d.Step, modeNames[late]) && c.hasNever()
			},
		},
	}
}

// hasNever reports whether a child is never updated.
func (c *Case) hasNever() bool {
	children, _ := c.spec["children"].([]any)
	return slices.ContainsFunc(children, func(one any) bool { return at(one, "update") == "Never" })
}
