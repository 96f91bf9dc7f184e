package plan

import (
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
)

// Two children of a custom resource that are one object would take it from each other. Of such
// children, the engines make the first in the order of their dependencies, and refuse the other. The
// programs of direct see only their own child, so they compute where those before it are.

// mayMeet reports whether objects of two children can be one object.
func (c Child) mayMeet(other Child) bool {
	if c.ObjectName == nil || other.ObjectName == nil || !c.Kind.same(other.Kind) ||
		slices.Contains(c.Alternatives, other.Name) {
		return false
	}
	if c.Kind.Namespaced && namespaceComputed(c) && namespaceComputed(other) && !c.Namespace.MayEqual(other.Namespace) {
		return false
	}
	return c.ObjectName.MayEqual(other.ObjectName)
}

// meeting returns the children before this one of which an object can be one of its own.
func (p *declared) meeting(c Child) []Child {
	var out []Child
	children, _ := ordered(p.Children)
	for _, other := range children {
		if other.Name == c.Name {
			break
		}
		if c.mayMeet(other) {
			out = append(out, other)
		}
	}
	return out
}

// placing returns the programs that decide where the objects of a child are.
func (c Child) placing() []*expression.Program {
	all := []*expression.Program{c.When, c.ForEach, c.ObjectName, c.Namespace}
	return slices.DeleteFunc(all, func(e *expression.Program) bool { return e == nil })
}

// decidedBy returns the names of the children that decide which objects of a child are
// wanted.
func decidedBy(children []Child, c Child) []string {
	var names []string
	for _, other := range children {
		if slices.ContainsFunc(c.placing(), func(e *expression.Program) bool { _, reads := e.ReadsChildren()[other.Name]; return reads }) {
			names = append(names, other.Name)
		}
	}
	return names
}

// placedByChildren reports whether other children decide where the objects are.
func (c Child) placedByChildren() bool {
	return slices.ContainsFunc(c.placing(), func(e *expression.Program) bool { return len(e.ReadsChildren()) > 0 })
}

// taken returns the jq of the places of the children before this one that it can meet.
func taken(p *configured, c Child) jqfile.Value {
	var places []jqfile.Value
	for _, other := range p.meeting(c) {
		holes := jqfile.Holes{
			"option::conditional": jqfile.Bool(other.When != nil), "option::each": jqfile.Bool(other.ForEach != nil),
			"hole::place": placeOf(other, jqfile.Field{Name: "child", Value: jqfile.String(other.Name)}),
		}
		if other.When != nil {
			holes["hole::when"] = jqfile.Raw("(" + other.When.Source() + ")")
		}
		if other.ForEach != nil {
			holes["hole::forEach"] = jqfile.Raw("(" + other.ForEach.Source() + ")")
		}
		places = append(places, directPrograms().Definition("placesOfOther", holes))
	}
	return jqfile.List(places...)
}

// unsharedJQ returns the jq of a child that is one object, as it is sent. It fails if another child is
// that object.
func unsharedJQ(p *configured, c Child) jqfile.Value {
	if len(p.meeting(c)) == 0 {
		return templateJQ(p, c)
	}
	return directPrograms().Definition("unshared", jqfile.Holes{
		"hole::ownPlace": placeOf(c), "hole::taken": taken(p, c), "hole::soleObject": templateJQ(p, c),
	}, childHoles(p, c))
}
