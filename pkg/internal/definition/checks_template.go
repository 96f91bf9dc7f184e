package definition

import (
	"cmp"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/source"
)

// templates checks that the keys of each child fit together, and whatever can be
// checked in a template without compiling its expressions.
func (c *checker) templates() {
	for i, child := range c.op.Spec.Children {
		p := source.PathOf("spec", "children", i)
		c.conditionsOf(child, p)
		if child.Template != nil {
			c.templateName(child, p.To("template", "metadata"))
			c.reservedKeys(p.To("template"))
		}
	}
}

// conditionsOf checks the bare expressions of a child, which require a template.
func (c *checker) conditionsOf(child v1alpha1.Child, p source.Path) {
	for key, text := range map[string]string{"when": child.When, "forEach": child.ForEach, "readyWhen": child.ReadyWhen} {
		switch at := p.To(key); {
		case !c.Written(at):
		case !c.hasTemplate(p):
			c.addKey(at, diag.ConflictingKeys, fmt.Sprintf("%s is for a child with a template", key),
				"logic decides itself which children there are: remove the key, or write template or file")
		case strings.TrimSpace(text) == "":
			c.add(at, diag.BadValue, fmt.Sprintf("%s is empty", at), "")
		}
	}
}

// templateHead copies apiVersion and kind from a template. They must be fixed text,
// because the watches and permissions of the operator are decided before any expression
// runs.
func (c *checker) templateHead(child *v1alpha1.Child, p source.Path) {
	child.APIVersion, child.Kind = "", ""
	if child.Template == nil {
		return
	}
	child.APIVersion = c.plainText(child, p, "apiVersion")
	child.Kind = c.plainText(child, p, "kind")
}

func (c *checker) plainText(child *v1alpha1.Child, p source.Path, key string) string {
	at := p.To(key)
	text, isText := child.Template[key].(string)
	switch {
	case !c.Written(at):
		c.missing(p, key, "a template is a whole object, with apiVersion, kind and metadata.name")
	case !isText:
		c.reject(at, diag.WrongType, fmt.Sprintf("%s is %s, want a string", at, source.Describe(c.node(at...))), "")
	case holdsExpression(text):
		c.reject(at, diag.BadValue, fmt.Sprintf("%s is an expression, want plain text", at),
			"permissions are made from apiVersion and kind; write a child for each kind, with when")
		return ""
	}
	return text
}

// templateName checks that a template has a name, and that the name or the namespace
// holds an expression. Package plan checks which fields the expression reads.
func (c *checker) templateName(child v1alpha1.Child, p source.Path) {
	const hint = "put ${ .metadata.name } into its name"
	at, n := p.To("name"), c.node(p...)
	switch {
	case !c.Written(p):
		c.missing(p[:len(p)-1], "metadata", "metadata: {name: \"${ .metadata.name }\"}")
		return
	case n.Kind != yaml.MappingNode:
		c.add(p, diag.WrongType, fmt.Sprintf("%s is %s, want a mapping", p, source.Describe(n)), "write name: and what else it holds under it, each with its own expression")
		return
	case !c.Written(at):
		c.missing(p, "name", "name: ${ .metadata.name }")
		return
	}
	metadata, _ := child.Template["metadata"].(map[string]any)
	name, isText := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	switch {
	case !isText:
		c.add(at, diag.WrongType, fmt.Sprintf("%s is %s, want a string", at, source.Describe(c.node(at...))), hint)
	case !holdsExpression(name) && !holdsExpression(namespace):
		c.add(at, diag.BadValue, fmt.Sprintf("every %s would share this child", cmp.Or(c.kind(), "custom resource")), hint)
	}
}

// holdsExpression reports whether a text contains an expression. $${ is a literal ${.
func holdsExpression(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, "$${", ""), "${")
}

// reservedKeys reports fields of a template that the API server or the operator sets.
func (c *checker) reservedKeys(p source.Path) {
	const kubernetes = "Kubernetes writes it"
	for _, key := range []struct{ path, why, hint string }{
		{"metadata.ownerReferences", "argoperator writes it", "remove the key; onDelete: Orphan keeps a child that outlives its owner"},
		{"metadata.generateName", "each reconcile would make another object", "write name: ${ .metadata.name }"},
		{"metadata.managedFields", kubernetes, ""},
		{"metadata.uid", kubernetes, ""},
		{"metadata.resourceVersion", kubernetes, ""},
		{"metadata.generation", kubernetes, ""},
		{"metadata.creationTimestamp", kubernetes, ""},
		{"metadata.deletionTimestamp", kubernetes, ""},
		{"metadata.deletionGracePeriodSeconds", kubernetes, ""},
		{"status", "the kind's own controller writes it", ""},
	} {
		at := append(p.To(), strings.Split(key.path, ".")...)
		if c.Written(at) {
			c.addKey(at, diag.ReservedName, fmt.Sprintf("%s does not belong in a template: %s", key.path, key.why), cmp.Or(key.hint, "remove the key"))
		}
	}
}
