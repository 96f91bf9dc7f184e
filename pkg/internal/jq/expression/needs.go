package expression

import (
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Need is a value of other objects that a template waits for: null means that it is not
// there yet, or not at present.
type Need struct {
	Text     string   // as messages name it
	Source   string   // as a jq term
	Children []string // the children that it is computed from; none if only from related objects
	List     string   // the child of which it is a field of every object; "": it is one value
	Damage   bool     // the program would make something wrong of null
}

// Needs lists the values that the program waits for, if its scope says so. They are
// fields of other objects: those that make the whole result of an expression null, or an
// item of a list that is the whole result, and those that an operator or function of it
// does not take without a value. A value with
// a default, one marked as optional, and one that only a condition reads, is not among
// them.
func (p *Program) Needs() []Need { return p.needs }

// Waits reports whether one of the values that the program needs is missing.
func (p *Program) Waits(input any, vars Vars) bool {
	if len(p.needs) == 0 {
		return false
	}
	return slices.ContainsFunc(p.waits(), func(need *Program) bool {
		value, err := need.Run(input, vars)
		return err == nil && value == nil
	})
}

func (p *Program) compiledNeeds() []*Program {
	var out []*Program
	for _, n := range p.needs {
		if need, err := compile(n.Source, nil); err == nil {
			out = append(out, need)
		}
	}
	return out
}

// others are the roots of other objects than the custom resource.
func (r root) others() bool { return r == childrenRoot || r == relatedRoot }

// waitsFor records a field that is used where null fails or does damage. It returns
// false if nothing can wait for it.
func (a *analyser) waitsFor(v value) bool {
	if !a.scope.Waits || a.branches > 0 || len(v.from) != 1 {
		return false
	}
	from := v.from[0]
	if !from.root.others() || len(from.path) == 0 || slices.Contains(from.path, each) {
		return false
	}
	a.needs = append(a.needs, from)
	return true
}

// excludes reports whether a path leads to a child that may be left out while the
// expression is evaluated.
func (s Scope) excludes(r read) bool {
	return s.Waits && r.root == childrenRoot && len(r.path) > 0 && slices.Contains(s.Optional, r.path[0])
}

// waitsForItems records the items of a list that a function would skip if they are null.
func (a *analyser) waitsForItems(items []read) {
	if a.scope.Waits && a.branches == 0 {
		a.needs = append(a.needs, ofOthers(items)...)
	}
}

// ofOthers returns the paths that an object of a list of others may lack.
func ofOthers(paths []read) []read {
	return slices.DeleteFunc(slices.Clone(paths), func(r read) bool {
		return !r.root.others() || !slices.Contains(r.path, each) || r.isKnown()
	})
}

// isKnown reports whether a path leads to a field that each object of a list has.
func (r read) isKnown() bool {
	in := slices.Index(r.path, each)
	return in >= 0 && slices.Contains([]string{"kind", "metadata.name", "metadata.uid"}, strings.Join(r.path[in+1:], "."))
}

// need records what an analysed expression waits for.
func (c *templates) need(e *expr, a *analyser) {
	if !c.scope.Waits {
		return
	}
	for _, n := range a.waits {
		c.addNeed(n)
	}
	for _, f := range a.needs {
		c.addNeed(f.need(true))
	}
	if !optional(e.query) {
		for _, f := range ofOthers(e.items) {
			c.addNeed(f.need(false))
		}
	}
	switch of := a.reads; {
	case isVariable(e.query): // it waits for the same
	case !e.mayBeNull() || optional(e.query) || !of.others():
	case e.min > 0 && !a.untested().others(): // others decide which value of the custom resource it is
	case of.ofItem(): // the value differs between the objects of the child
		for child, paths := range of.children() {
			at := []string{child}
			if c.scope.lists(child) {
				at = append(at, each)
			}
			for _, path := range paths {
				if one := (read{childrenRoot, slices.Concat(at, path)}); !one.isKnown() {
					c.addNeed(one.need(false))
				}
			}
		}
		for _, path := range of.paths(relatedRoot) {
			c.addNeed(read{relatedRoot, path}.need(false))
		}
	default:
		c.addNeed(Need{Text: a.shown(e.query), Source: bound(e.variables, e.one()), Children: slices.Sorted(maps.Keys(of.children()))})
	}
	if e.absent != nil && e.absent.root.others() && !c.scope.excludes(e.absent.read) && !optional(e.query) {
		e.absent = nil // it is there when the result is used
	}
}

// need returns a field as a need.
func (r read) need(damage bool) Need {
	n := Need{Text: r.String(), Source: "(" + r.String() + "?)", Damage: damage}
	if slices.Contains(r.path, each) { // null stands for a list with an item that is null
		n.Source = "([" + r.String() + "] | if any(. == null) then null else . end)"
	}
	if r.root == childrenRoot {
		n.Children = []string{r.path[0]}
		if len(r.path) > 1 && r.path[1] == each {
			n.List = r.path[0]
		}
	}
	return n
}

func (c *templates) addNeed(n Need) {
	if !slices.ContainsFunc(c.needs, func(other Need) bool { return other.Source == n.Source }) {
		c.needs = append(c.needs, n)
	}
}

// isPath reports whether an expression only goes to a field, in each item of a list.
func isPath(q *gojq.Query) bool {
	switch {
	case len(q.FuncDefs) > 0 || len(q.Patterns) > 0:
		return false
	case q.Op == gojq.OpPipe:
		return isPath(q.Left) && isPath(q.Right)
	case q.Term == nil:
		return false
	}
	named := func(i *gojq.Index) bool {
		if i.Start != nil && !i.IsSlice && i.Start.Term != nil {
			return i.Start.Term.Type == gojq.TermTypeString && i.Start.Term.Str.Queries == nil
		}
		return i.Name != "" || i.Str != nil && i.Str.Queries == nil
	}
	for _, s := range q.Term.SuffixList {
		if s.Optional || s.Index != nil && !named(s.Index) || s.Index == nil && !s.Iter {
			return false
		}
	}
	switch t := q.Term; t.Type {
	case gojq.TermTypeIdentity:
		return true
	case gojq.TermTypeIndex:
		return named(t.Index)
	case gojq.TermTypeFunc:
		return strings.HasPrefix(t.Func.Name, "$") && len(t.Func.Args) == 0
	case gojq.TermTypeQuery:
		return isPath(t.Query)
	}
	return false
}

// optional reports whether an expression says that its value may be missing: it ends in
// `// null`, in `// empty`, in `?`, or in a condition with a branch that is null or empty.
func optional(q *gojq.Query) bool {
	for q.Op == gojq.OpPipe {
		q = q.Right
	}
	if q.Op == gojq.OpAlt {
		return nothing(q.Right) || optional(q.Right)
	}
	t := q.Term
	switch {
	case t == nil:
		return false
	case len(t.SuffixList) > 0:
		return t.SuffixList[len(t.SuffixList)-1].Optional
	case t.Type == gojq.TermTypeQuery:
		return optional(t.Query)
	case t.Type == gojq.TermTypeTry:
		return true
	case t.Type == gojq.TermTypeIf:
		return nothing(t.If.Then) || nothing(t.If.Else) ||
			slices.ContainsFunc(t.If.Elif, func(e *gojq.IfElif) bool { return nothing(e.Then) })
	}
	return false
}

// nothing reports whether a branch is `null` or `empty`.
func nothing(q *gojq.Query) bool {
	return q != nil && slices.Contains([]string{"null", "empty"}, q.String())
}
