package definition

import (
	"fmt"
	"slices"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// children checks the kinds of the children.
func (c *checker) children() {
	p := source.PathOf("spec", "children")
	var names, kinds []string
	for i, child := range c.op.Spec.Children {
		c.child(child, p.To(i))
		names = append(names, child.Name)
		kind := ""
		if child.APIVersion != "" && child.Kind != "" && !c.hasTemplate(p.To(i)) {
			kind = child.APIVersion + " " + child.Kind
		}
		kinds = append(kinds, kind)
	}
	c.unique(names, func(i int) source.Path { return p.To(i, "name") })
	c.unique(kinds, func(i int) source.Path { return p.To(i, "kind") })
}

func (c *checker) child(child v1alpha1.Child, p source.Path) {
	c.variableName(child.Name, "$children", p.To("name"))
	if !c.hasTemplate(p) {
		c.withoutTemplate(child, p)
	}
	c.childKind(child, p)
	switch policies, at := []string{"Delete", "Orphan"}, p.To("onDelete"); {
	case !c.Written(at) || slices.Contains(policies, child.OnDelete):
	case !holdsExpression(child.OnDelete):
		c.reject(at, diag.BadValue, fmt.Sprintf("%s is %q, want %s, or an expression that yields one of them", at, child.OnDelete,
			source.Either(policies)), source.Spelling(child.OnDelete, policies))
	case !c.hasTemplate(p):
		c.add(at, diag.ConflictingKeys, "an expression in onDelete needs a template", "write Delete or Orphan")
	}
}

// withoutTemplate reports what a child lacks that has no template.
func (c *checker) withoutTemplate(child v1alpha1.Child, p source.Path) {
	hint := "write template or file; a child without them is made by logic, and needs apiVersion and kind"
	byLogic := c.Written(source.PathOf("spec", "logic"))
	builtin, known := schema.FindBuiltinSpelled(child.Kind)
	switch {
	case !c.Written(p.To("apiVersion")) && !c.Written(p.To("kind")):
		c.missing(p, "template", hint)
		return
	case byLogic && known:
		hint = "write apiVersion: " + builtin.APIVersion()
	case byLogic && child.Kind != "":
		hint = "write apiVersion: GROUP/VERSION of the " + child.Kind + " that logic makes"
	case byLogic:
		hint = "write kind: KIND of the object that logic makes"
	}
	c.missing(p, "apiVersion", hint)
	c.missing(p, "kind", hint)
}

// childKind checks the kind of a child, which its template names if it has one.
func (c *checker) childKind(child v1alpha1.Child, p source.Path) {
	at := c.head(p)
	group, version := source.SplitAPIVersion(child.APIVersion)
	if c.has(child.APIVersion, at.To("apiVersion")) {
		c.apiVersion(group, version, at.To("apiVersion"))
	}
	if !c.has(child.Kind, at.To("kind")) || !c.kindName(child.Kind, maxLabel, at.To("kind")) || child.APIVersion == "" {
		return
	}
	if c.Written(p.To("plural")) {
		c.resourceName(child.Plural, p.To("plural"))
	}
	_, known := c.knownKind(kindRef{group, version, child.Kind, child.Plural, child.Scope}, p, at.To("kind"))
	if known || isBuiltinGroup(group) || c.Written(p.To("crd")) || child.Plural != "" && child.Scope != "" {
		return
	}
	if builtin, moved := schema.FindBuiltinSpelled(child.Kind); moved && !c.Written(p.To("plural")) && !c.Written(p.To("scope")) {
		fix := "apiVersion: " + builtin.APIVersion()
		if child.Kind != builtin.Kind {
			fix += " and kind: " + builtin.Kind
		}
		c.add(
			at.To("apiVersion"),
			diag.UnknownKind,
			fmt.Sprintf("%s has no built-in kind %s", child.APIVersion, child.Kind),
			fmt.Sprintf("write %s; for another %s, add plural and scope, or crd: {file: crd.yaml}", fix, child.Kind),
		)
		return
	}
	hint := fmt.Sprintf(
		"%s %s is not built into Kubernetes: write crd: {file: crd.yaml}, or plural and scope as kubectl api-resources shows them; "+
			"or pass the definition of the kind with another -f",
		child.APIVersion,
		child.Kind,
	)
	c.missing(p, "plural", hint)
	c.missing(p, "scope", hint)
}

// apiVersion checks both halves of GROUP/VERSION.
func (c *checker) apiVersion(group, version string, p source.Path) {
	if group != "" && !c.subdomain(group, p) {
		return
	}
	c.versionName(version, p, "write GROUP/VERSION, such as apps/v1, or v1 for the core group")
}
