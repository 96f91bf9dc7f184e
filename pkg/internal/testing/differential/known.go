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
	Choices Choices // the simplest case that shows it
	covers  func(c *Case, d *Difference) bool
}

// Covers reports whether the defect explains the difference of a case.
func (k Known) Covers(c *Case, d *Difference) bool { return k.covers(c, d) }

// Defects returns the defects that are not fixed yet.
func Defects() []Known {
	return []Known{
		{
			"orphans", "the pod keeps children with onDelete: Orphan that are not wanted any more, and refuses cluster-scoped ones",
			Choices{"c0.forEach": 3, "c0.kind": 11, "c0.onDelete": 5},
			func(c *Case, d *Difference) bool { return d.Engine != plan.Direct && c.hasChild("onDelete", "Orphan") },
		},
		{
			"untyped", "lint reports an error for a template whose untyped values a custom resource may fill in",
			Choices{"c0.kind": 4, "c0.pod": 2, "field.0": 14, "cr.0.sample": 1, "cr.0.f0": 2},
			func(_ *Case, d *Difference) bool { return d.Kind == FalseError },
		},
		{
			"namespace of a cluster-scoped child", "the API server rejects it, and lint is silent",
			Choices{"c0.kind": 11, "c0.namespace": 5},
			func(c *Case, _ *Difference) bool { return c.clusterScopedWithNamespace() },
		},
		{
			"excluded children", "lint does not warn of text around a value of a child that when excludes",
			Choices{"children": 1, "c0.kind": 8, "c0.when": 4, "c1.text.source": 5, "c1.text.read.ServiceAccountfalse": 2},
			func(c *Case, d *Difference) bool { return d.Kind == Failure && c.readsConditional() },
		},
		{
			"never updated lists", "the pod does not make again an object of a list with update: Never",
			Choices{"c0.forEach": 5, "c0.update": 4, "life.1": 10, "others": 3},
			func(c *Case, d *Difference) bool { return d.Engine != plan.Direct && c.hasChild("update", "Never") },
		},
		{
			"lost changes", "a resync of the pod does not notice that a change was lost which no generation shows",
			Choices{"api.builtin": 9, "c0.forEach": 4, "cr.0.replicas": 1, "life.1": 2, "life.1.mode": 9},
			func(_ *Case, d *Difference) bool {
				return d.Engine != plan.Direct && (strings.HasSuffix(d.Step, modeNames[lost]) || strings.HasSuffix(d.Step, modeNames[shuffled]))
			},
		},
	}
}

// hasChild reports whether a child has a value at a key.
func (c *Case) hasChild(key, value string) bool {
	children, _ := c.spec["children"].([]any)
	return slices.ContainsFunc(children, func(one any) bool { return at(one, key) == value })
}

func (c *Case) clusterScopedWithNamespace() bool {
	return slices.ContainsFunc(c.children, func(c child) bool { return (c.kind == "ClusterRole" || c.kind == "Namespace") && c.placed })
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
