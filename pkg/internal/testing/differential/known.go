package differential

import (
	"slices"
	"strings"
)

// Known is a defect that is not fixed yet. A difference that it explains is no failure.
type Known struct {
	Name    string
	Reason  string
	Seed    uint64
	Choices Choices // with Seed: the simplest case that shows it; nil: the one of the seed
	covers  func(c *Case, d *Difference) bool
}

// Covers reports whether the defect explains the difference of a case.
func (k Known) Covers(c *Case, d *Difference) bool { return k.covers(c, d) }

// Defects returns the defects that are not fixed yet.
func Defects() []Known {
	return []Known{
		{
			"lost deletion after failures",
			"direct does not create an object again whose change the API server rejected five times, and whose deletion caused no event",
			326, nil,
			func(c *Case, d *Difference) bool {
				return d.Kind == Engines && strings.HasSuffix(d.Step, modeNames[lost]) && slices.ContainsFunc(c.children, child.immutable)
			},
		},
	}
}

// immutable reports whether the API server rejects changes of a child.
func (c child) immutable() bool { return c.kind == "Job" || c.kind == "StatefulSet" }
