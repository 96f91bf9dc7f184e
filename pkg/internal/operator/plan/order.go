package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
)

// waitsFor returns the children that a child waits for, each with the reason.
func (c Child) waitsFor() map[string]string {
	out := map[string]string{}
	for _, n := range c.needs {
		for _, name := range n.Children {
			out[name] = "reads " + n.Text
		}
	}
	for _, name := range c.Deciders {
		out[name] = "reads $children." + name
	}
	for _, name := range c.DependsOn {
		out[name] = "has dependsOn: " + name
	}
	return out
}

// waitForNamespaces lets each child wait for the child that is its namespace, unless that
// one waits for it, or a condition may leave out that one alone. So nothing is written to a
// namespace that exists already and belongs to someone else.
func waitForNamespaces(children []Child) {
	for i := range children {
		c := &children[i]
		for _, other := range children {
			if !c.isIn(other) || c.waitsFor()[other.Name] != "" || other.When != nil && !expression.Same(c.When, other.When) {
				continue
			}
			before := c.DependsOn
			c.DependsOn = append(slices.Clone(before), other.Name)
			if _, cycle := ordered(children); cycle != nil {
				c.DependsOn = before
			}
		}
	}
}

// waitForDeciders lets each child wait until the children exist that its template reads, and those that the conditions
// of these and of its dependencies read, also by the conditions of others: before, their values are not what they will
// be. A child that waits for it itself decides nothing before.
func waitForDeciders(children []Child) {
	for i := range children {
		c := &children[i]
		var deciders []string
		if c.Object != nil {
			deciders = slices.Sorted(maps.Keys(c.Object.ReadsChildren()))
		}
		conditional := slices.Concat(deciders, c.DependsOn)
		for at := 0; at < len(conditional); at++ {
			other := slices.IndexFunc(children, func(o Child) bool { return o.Name == conditional[at] })
			if other < 0 {
				continue // no child has the name, which is an error
			}
			for _, name := range decidedBy(children, children[other]) {
				if !slices.Contains(deciders, name) {
					deciders, conditional = append(deciders, name), append(conditional, name)
				}
			}
		}
		for _, decider := range deciders {
			before := c.Deciders
			if decider == c.Name || c.waitsFor()[decider] != "" {
				continue
			}
			c.Deciders = append(slices.Clone(before), decider)
			if _, cycle := ordered(children); cycle != nil {
				c.Deciders = before
			}
		}
	}
}

// isIn reports whether another child is the namespace of each object of this child.
func (c Child) isIn(other Child) bool {
	if other.Kind.Group != "" || other.Kind.Kind != "Namespace" || other.ObjectName == nil || c.Namespace == nil {
		return false
	}
	return (other.ForEach == nil || expression.Same(c.ForEach, other.ForEach)) && expression.Same(c.Namespace, other.ObjectName)
}

// WaitsForNamespace reports whether a child is in the namespace that another child is, and
// waits for it: the operator created that namespace.
func (p *declared) WaitsForNamespace(c Child) bool {
	waits := c.waitsFor()
	return slices.ContainsFunc(p.Children, func(other Child) bool { return waits[other.Name] != "" && c.isIn(other) })
}

// After returns the names of the children that a child waits for, sorted.
func (c Child) After() []string { return slices.Sorted(maps.Keys(c.waitsFor())) }

// ordered returns the children in an order in which each is behind those that it waits
// for, otherwise in that of the definition. The second result is a cycle: children that
// wait for each other, the first one at both ends.
func ordered(children []Child) (order []Child, cycle []Child) {
	var path []string
	byName := map[string]Child{}
	for _, c := range children {
		byName[c.Name] = c
	}
	done := map[string]bool{}
	var visit func(c Child)
	visit = func(c Child) {
		if at := slices.Index(path, c.Name); at >= 0 && cycle == nil {
			for _, name := range append(path[at:], c.Name) {
				cycle = append(cycle, byName[name])
			}
		}
		if done[c.Name] || slices.Contains(path, c.Name) {
			return
		}
		path = append(path, c.Name)
		why := c.waitsFor()
		for _, other := range children {
			if why[other.Name] != "" {
				visit(other)
			}
		}
		path = path[:len(path)-1]
		done[c.Name] = true
		order = append(order, c)
	}
	for _, c := range children {
		visit(c)
	}
	return order, cycle
}

// cycles reports children that depend on each other.
func (c *compiler) cycles(children []Child) {
	_, cycle := ordered(children)
	if cycle == nil {
		return
	}
	var why []string
	for i, child := range cycle[:len(cycle)-1] {
		why = append(why, child.Name+" "+child.waitsFor()[cycle[i+1].Name])
	}
	index := slices.IndexFunc(children, func(other Child) bool { return other.Name == cycle[0].Name })
	message := "children depend on each other: " + strings.Join(why, "; ")
	if len(why) == 1 {
		message = fmt.Sprintf("child %s depends on itself: it %s", cycle[0].Name, cycle[0].waitsFor()[cycle[0].Name])
	}
	c.findings.Add(c.d.Position("spec", "children", strconv.Itoa(index)), diag.BadValue, message,
		"remove one of the references, or read an optional field with `// null` or `// DEFAULT`, which does not wait")
}
