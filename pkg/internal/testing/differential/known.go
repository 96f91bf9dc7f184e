package differential

import (
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Known is a defect that is not fixed yet. A difference that it explains is no failure.
type Known struct {
	Name    string
	Reason  string
	Choices Choices // the simplest case that shows it
	covers  func(c *Case, d *Difference) bool
}

// Covers reports whether the defect explains the difference of a case.
func (k Known) Covers(c *Case, d *Difference) bool { return k.covers(c, d) }

// Defects returns the defects that are not fixed yet.
func Defects() []Known {
	return []Known{
		{
			"excluded children", "lint does not warn of text around a value of a child that when excludes",
			Choices{"children": 1, "c0.kind": 8, "c0.when": 4, "c1.text.source": 5, "c1.text.read.ServiceAccountfalse": 2},
			func(c *Case, d *Difference) bool { return d.Kind == Failure && c.readsConditional() },
		},
		{
			"lost changes", "a resync of the pod does not notice that a change was lost which no generation shows",
			Choices{"api.builtin": 9, "c0.forEach": 4, "cr.0.replicas": 1, "life.1": 2, "life.1.mode": 9},
			func(c *Case, d *Difference) bool {
				return d.Engine != plan.Direct && c.readsUncounted() &&
					(strings.HasSuffix(d.Step, modeNames[lost]) || strings.HasSuffix(d.Step, modeNames[shuffled]))
			},
		},
	}
}

// readsUncounted reports whether the definition reads what changes without the generation
// that the operator has noted.
func (c *Case) readsUncounted() bool {
	all := string(text(c.spec))
	unnoted := at(c.spec, "api", "existing") != nil && at(c.spec, "api", "existing", "status") == nil
	return unnoted || strings.Contains(all, ".metadata.labels") || strings.Contains(all, ".metadata.annotations")
}

// readsConditional reports whether a child reads another one that has a condition.
func (c *Case) readsConditional() bool {
	children, _ := c.spec["children"].([]any)
	for _, read := range c.children {
		if read.conditional && strings.Contains(string(text(children)), "$children."+read.name) {
			return true
		}
	}
	return false
}
