package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
)

// unique reports a child that custom resources, or items of forEach, may share: its name and
// namespace do not contain what distinguishes them. It is an error if all custom resources of a
// namespace share it. Otherwise it depends on their values: the operator leaves an object to its first owner.
func (c *compiler) unique(child Child, children []Child, at ...string) {
	if child.ObjectName == nil {
		return
	}
	name := c.d.Position(at...)
	if child.ForEach != nil && !child.ObjectName.UsesItem() && (child.Namespace == nil || !child.Namespace.UsesItem()) {
		c.findings.Warn(name, diag.Uniqueness, "metadata.name is the same for all items of forEach: they would share one object",
			"add what distinguishes the items: ${ $item } or a field of $item")
	}
	c.sameName(child, children, name)
	if slices.ContainsFunc(children, child.isIn) {
		return // its namespace has the finding
	}
	identity := child.identity()
	own, all := slices.ContainsFunc(identity, distinct("name", "uid")), "all of them"
	if c.api.Kind.Namespaced && child.SameNamespace || slices.ContainsFunc(identity, distinct("namespace")) {
		all = "all in a namespace"
	}
	its := strings.TrimPrefix(c.scope.Name, "the ")
	switch others := othersOf(identity); {
	case !own && others == "":
		c.findings.Add(name, diag.Uniqueness,
			fmt.Sprintf("metadata.name does not contain the name of its %s: %s would share one child", its, all),
			"add ${ .metadata.name } to it")
	case !own:
		c.findings.Warn(name, diag.Uniqueness,
			fmt.Sprintf("metadata.name does not contain the name of its %s: two of them with the same value in %s would share one child",
				its, others),
			"add ${ .metadata.name } to it; if each value is used once, accept this: the operator leaves an object to its first owner")
	case c.api.Kind.Namespaced && !(child.Kind.Namespaced && child.SameNamespace) &&
		!slices.ContainsFunc(identity, distinct("namespace", "uid")):
		c.findings.Warn(name, diag.Uniqueness,
			fmt.Sprintf("metadata.name does not contain the namespace of its %s: two of them with the same name, in two namespaces, "+
				"would share one child", its),
			JoinHint)
	}
}

// sameName warns of a child before this one with the same name, if one of them is beside its custom
// resource, and the namespace of the other has to be another one. Otherwise they are one object, and
// the operator refuses this child.
func (c *compiler) sameName(child Child, children []Child, name diag.Position) {
	for _, other := range children {
		if other.Name == child.Name {
			return
		}
		if !child.mayMeet(other) || other.ForEach != nil || child.ForEach != nil ||
			other.ObjectName.Source() != child.ObjectName.Source() || other.When != nil && child.When != nil {
			continue
		}
		if !(child.movable() && c.beside(other) || other.movable() && c.beside(child)) {
			continue
		}
		c.findings.Warn(name, diag.Uniqueness,
			fmt.Sprintf("this is the same %s as that of child %q where both are in one namespace", child.Kind.Kind, other.Name),
			fmt.Sprintf("add what distinguishes them, such as -%s", child.Name))
	}
}

// beside reports whether a child is always in the namespace of its custom resource.
func (c *compiler) beside(child Child) bool {
	return c.api.Kind.Namespaced && child.Kind.Namespaced && (child.Namespace == nil || child.SameNamespace)
}

// movable reports whether users or other objects decide the namespace of a child.
func (c Child) movable() bool {
	if !c.Kind.Namespaced || c.Namespace == nil || c.SameNamespace {
		return false
	}
	_, changes := mutableField(c.Namespace.Reads())
	return changes || c.Namespace.UsesRelated() || len(c.Namespace.ReadsChildren()) > 0
}

// JoinHint says how to tell custom resources of several namespaces apart in a name. Names of
// namespaces have no dots; with another character, two pairs can have one name.
const JoinHint = "write ${ .metadata.namespace }.${ .metadata.name }; where a name cannot have dots, add " +
	"${ [.metadata.namespace, .metadata.name] | fingerprint }"

// identity returns the paths that decide about the name of a child, and about its namespace if it is
// another one than that of the custom resource. The root of a path comes first.
func (c Child) identity() [][]string {
	var out [][]string
	add := func(p *expression.Program) {
		for _, path := range p.Reads() {
			out = append(out, append([]string{""}, path...))
		}
		if p.UsesRelated() {
			out = append(out, []string{"$related"})
		}
		for name := range p.ReadsChildren() {
			out = append(out, []string{"$children", name})
		}
	}
	for _, p := range []*expression.Program{c.ObjectName, c.Namespace} {
		if p == nil || p == c.Namespace && c.SameNamespace {
			continue
		}
		add(p)
		if p.UsesItem() && c.ForEach != nil {
			add(c.ForEach)
		}
	}
	return out
}

// distinct returns whether a path is one of the fields of the metadata, or may contain it.
func distinct(fields ...string) func(path []string) bool {
	return func(path []string) bool {
		return path[0] == "" && (len(path) < 3 || path[1] == "metadata" && slices.Contains(fields, path[2]))
	}
}

// othersOf lists the paths whose values users or other objects decide; "" if there are none.
func othersOf(identity [][]string) string {
	var out []string
	for _, path := range identity {
		text := strings.Join(path, ".")
		if _, mutable := mutableField([][]string{path[1:]}); (mutable || path[0] != "") && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, " and ")
}
