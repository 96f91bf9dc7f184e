package definition

import (
	"fmt"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// variables checks the names of the variables.
func (c *checker) variables() {
	c.variableNames(c.op.Spec.Variables, source.PathOf("spec", "variables"))
	for i, child := range c.op.Spec.Children {
		p := source.PathOf("spec", "children", i)
		at := p.To("variables")
		c.variableNames(child.Variables, at)
		if len(child.Variables) > 0 && !c.hasTemplate(p) {
			c.addKey(at, diag.ConflictingKeys, "variables are for the template, and the child has none", "write them under spec.variables")
		}
		for _, name := range source.SortedKeys(child.Variables) {
			if _, hidden := c.op.Spec.Variables[name]; hidden {
				c.addKey(at.To(name), diag.DuplicateValue, fmt.Sprintf("spec.variables has a variable %s, too", name), "rename one of them")
			}
		}
	}
}

func (c *checker) variableNames(declared map[string]any, p source.Path) {
	for _, name := range source.SortedKeys(declared) {
		if problem, hint := badVariable(name, "$variables"); problem != "" {
			c.addKey(p.To(name), diag.BadName, problem, hint)
		}
	}
}
