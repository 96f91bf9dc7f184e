package childcheck

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// flips warns of two children that are one object under different conditions, of which only one has
// onDelete: Orphan. The operator deletes the object when the conditions change, if they can.
func (f *family) flips() diag.List {
	var findings diag.List
	for i, c := range f.p.Children {
		for _, other := range f.p.Children[i+1:] {
			if c.Orphan == other.Orphan || !slices.Contains(c.Alternatives, other.Name) || f.lasts(c.When) && f.lasts(other.When) {
				continue
			}
			kept := i
			if other.Orphan {
				kept = slices.IndexFunc(f.p.Children, func(one plan.Child) bool { return one.Name == other.Name })
			}
			findings.Warn(f.d.Position("spec", "children", strconv.Itoa(kept), "onDelete"), diag.DeletedOnFlip,
				fmt.Sprintf("a change of when deletes this %s: children %s and %s are the same object, "+
					"and onDelete: Orphan keeps it only when its %s is deleted", c.Kind.Kind, c.Name, other.Name, f.p.API.Kind.Kind),
				"write one child without the condition that differs, and an expression in onDelete that yields Delete or Orphan; or add "+
					"a default and immutable=true to the fields of the conditions")
		}
	}
	return findings
}

// lasts reports whether a condition has the same value during the whole life of a custom
// resource.
func (f *family) lasts(condition *expression.Program) bool {
	s := f.d.Schema(f.d.WorkingVersion())
	return condition != nil && s != nil && !condition.UsesOthers() && !slices.ContainsFunc(condition.Reads(), func(path []string) bool {
		return schema.ChangeOf(s, path) != schema.NoChange
	})
}
