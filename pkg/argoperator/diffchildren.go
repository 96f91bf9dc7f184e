package argoperator

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/verify/childcheck"
)

// What a change of a definition does to the objects that exist: `kubectl apply` shows none of it,
// because the operator does it later.

// changedChildren compares the children with those of the earlier operator of the name.
func (o Operator) changedChildren(earlier []Operator) diag.List {
	var findings diag.List
	for _, before := range earlier {
		if before.Name != o.Name {
			continue
		}
		for _, child := range before.plan.Children {
			now := slices.IndexFunc(o.plan.Children, func(c plan.Child) bool { return c.Name == child.Name })
			if now < 0 {
				now = o.renamed(before, child)
				findings = append(findings, o.removed(child, now))
			}
			if now >= 0 && sameKind(child, o.plan.Children[now]) && child.Object != nil && o.plan.Children[now].Object != nil {
				findings = append(findings, o.changed(before, child, o.plan.Children[now])...)
			}
		}
	}
	return findings
}

// removed reports what happens to the objects of a child that the definition no longer has, or has
// under another name. An apply deletes nothing, and the operator no longer knows what the child made.
func (o Operator) removed(child plan.Child, renamed int) diag.Finding {
	found := diag.Finding{Position: o.definition.PositionOfKey("spec", "children"), Severity: diag.Warning, Code: diag.RemovedChild}
	same := slices.IndexFunc(o.plan.Children, func(c plan.Child) bool { return sameKind(c, child) })
	switch {
	case renamed >= 0:
		found.Position = o.definition.Position("spec", "children", strconv.Itoa(renamed), "name")
		found.Message = fmt.Sprintf("child %s is now child %s: its objects are kept and belong to that child",
			child.Name, o.plan.Children[renamed].Name)
	case child.Object == nil && same >= 0:
		found.Message = fmt.Sprintf("child %s was removed from the definition, and child %s has its kind: "+
			"objects that the logic does not return are deleted", child.Name, o.plan.Children[same].Name)
	default:
		found.Message = fmt.Sprintf("child %s was removed from the definition: its objects are kept", child.Name)
		found.Hint = `to delete them, first apply the child with when: "false", or use generate --uninstall=leftovers`
	}
	return found
}

// changed reports what happens to the objects of a child that has another name, namespace or
// immutable field.
func (o Operator) changed(before Operator, was, is plan.Child) diag.List {
	var findings diag.List
	i := slices.IndexFunc(o.definition.Operator.Spec.Children, func(c v1alpha1.Child) bool { return c.Name == is.Name })
	old := slices.IndexFunc(before.definition.Operator.Spec.Children, func(c v1alpha1.Child) bool { return c.Name == was.Name })
	if i < 0 || old < 0 {
		return nil
	}
	findings = append(findings, o.changedValues(was, is, i)...)
	path := []string{"spec", "children", strconv.Itoa(i), "template"}
	for _, part := range []struct {
		name    string
		was, is *expression.Program
	}{{"name", was.ObjectName, is.ObjectName}, {"namespace", was.Namespace, is.Namespace}} {
		if expression.Same(part.was, part.is) {
			continue
		}
		stay := "the old ones are deleted"
		if !o.plan.DeletesMoved(before.plan, was, is) {
			stay = "the old ones stay, and nothing looks after them"
		}
		findings.Warn(o.definition.Position(append(path, "metadata", part.name)...), diag.MovedChild,
			fmt.Sprintf("child %s has another %s: its objects are created anew, and %s", is.Name, part.name, stay),
			"keep the expression, if what the objects hold matters")
		return findings
	}
	if is.Update != plan.InPlace {
		return findings
	}
	from, to := before.definition.Operator.Spec.Children[old].Template, o.definition.Operator.Spec.Children[i].Template
	pairs := append([][2]map[string]any{{from, to}}, o.examples(was, is)...)
	for _, f := range schema.ImmutableFields(is.Kind.Group, is.Kind.Kind) {
		n := slices.IndexFunc(pairs, func(pair [2]map[string]any) bool { return refuses(f, pair[0], pair[1]) })
		if n < 0 {
			continue
		}
		below := schema.FirstDifference(f.Fixed(pairs[n][0]), f.Fixed(pairs[n][1]))
		field := f.Path
		if len(f.Free) > 0 && len(below) > 0 { // a part of it is mutable
			field = append(slices.Clip(field), below[0])
		}
		hint := "keep the value; or replace the objects with update: Recreate"
		if slices.Equal(f.Path, []string{"spec", "volumeClaimTemplates"}) {
			hint += ", which keeps the claims, and makes empty ones for other names"
		}
		findings.Warn(o.definition.Position(slices.Concat(path, f.Path, below)...), diag.ImmutableField,
			fmt.Sprintf("%s of %s is immutable, and child %s has another one: the API server rejects the update of objects that exist",
				strings.Join(field, "."), article.With(is.Kind.Kind), is.Name),
			hint)
	}
	return findings
}

// examples returns objects of a child before and after the change, for the same custom resources: they show what variables
// and parameters change.
func (o Operator) examples(was, is plan.Child) [][2]map[string]any {
	s := childcheck.Schema(o.definition, o.plan)
	if s == nil || is.ForEach != nil || was.Object.UsesOthers() || is.Object.UsesOthers() {
		return nil
	}
	var out [][2]map[string]any
	for _, sample := range []func() (map[string]any, error){s.Start, s.Full} {
		var pair [2]map[string]any
		resource, err := sample()
		for i, of := range []plan.Child{was, is} {
			if err == nil {
				var object any
				object, err = of.Object.Run(s.Defaulted(resource), expression.Vars{})
				pair[i], _ = object.(map[string]any)
			}
		}
		if err == nil {
			out = append(out, pair)
		}
	}
	return out
}

// refuses reports whether an immutable field of two templates differs. Of what an expression decides,
// only the expression is compared.
func refuses(f schema.Immutable, from, to map[string]any) bool {
	if f.Ignored || f.Usual || f.While != nil && !f.While(from, to) {
		return false
	}
	if reflect.DeepEqual(f.Fixed(from), f.Fixed(to)) {
		return false
	}
	before, after := schema.ValueAt(from, f.Path...), schema.ValueAt(to, f.Path...)
	return f.Allows == nil || schema.IsComputed(before) || schema.IsComputed(after) || !f.Allows(before, after)
}

func hasChild(children []plan.Child, name string) bool {
	return slices.ContainsFunc(children, func(c plan.Child) bool { return c.Name == name })
}

func sameKind(a, b plan.Child) bool {
	return a.Kind.Group == b.Kind.Group && a.Kind.Kind == b.Kind.Kind
}

// renamed returns the index of the new child that makes the objects of an earlier child;
// -1 if there is none.
func (o Operator) renamed(before Operator, child plan.Child) int {
	return slices.IndexFunc(o.plan.Children, func(c plan.Child) bool {
		return !hasChild(before.plan.Children, c.Name) && sameKind(c, child) && c.ObjectName != nil &&
			expression.Same(c.ObjectName, child.ObjectName) && expression.Same(c.Namespace, child.Namespace) &&
			expression.Same(c.ForEach, child.ForEach)
	})
}
