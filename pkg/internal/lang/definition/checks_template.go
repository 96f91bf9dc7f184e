package definition

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// templates checks that the keys of each child fit together, and whatever can be
// checked in a template without compiling its expressions.
func (c *checker) templates() {
	for i, child := range c.op.Spec.Children {
		p := source.PathOf("spec", "children", i)
		c.conditionsOf(child, p)
		if child.Template != nil {
			c.templateName(child, p.To("template", "metadata"))
			c.reservedKeys(p.To("template"), false)
		}
	}
}

// conditionsOf checks the bare expressions of a child, which require a template.
func (c *checker) conditionsOf(child v1alpha1.Child, p source.Path) {
	for key, text := range map[string]string{"when": child.When, "forEach": child.ForEach, "readyWhen": child.ReadyWhen} {
		switch at := p.To(key); {
		case !c.Written(at):
		case !c.hasTemplate(p):
			c.addKey(at, diag.ConflictingKeys, fmt.Sprintf("%s needs a template", key),
				"write template or file, or remove the key: logic decides which children exist")
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
		c.missing(p, key, "a template needs apiVersion, kind and metadata.name")
	case !isText:
		c.reject(at, diag.WrongType, fmt.Sprintf("%s is %s, want a string", at, source.Describe(c.node(at...))), "")
	case holdsExpression(text):
		c.reject(at, diag.BadValue, fmt.Sprintf("%s must be plain text, not an expression", at),
			"argoperator derives permissions from apiVersion and kind: write one child for each kind, with a condition in when")
		return ""
	}
	return text
}

// templateName checks that a template has a name, and that the name or the namespace
// holds an expression. Package plan checks which fields the expression reads.
func (c *checker) templateName(child v1alpha1.Child, p source.Path) {
	at, n := p.To("name"), c.node(p...)
	switch {
	case !c.Written(p):
		c.missing(p[:len(p)-1], "metadata", "write metadata: {name: \"${ .metadata.name }\"}")
		return
	case n.Kind != yaml.MappingNode:
		c.add(
			p,
			diag.WrongType,
			fmt.Sprintf("%s is %s, want a mapping", p, source.Describe(n)),
			"write a mapping: metadata: {name: \"${ .metadata.name }\"}",
		)
		return
	case !c.Written(at):
		c.missing(p, "name", "write name: ${ .metadata.name }")
		return
	}
	metadata, _ := child.Template["metadata"].(map[string]any)
	name, isText := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	switch {
	case !isText:
		c.add(
			at,
			diag.WrongType,
			fmt.Sprintf("%s is %s, want a string", at, source.Describe(c.node(at...))),
			"write name: ${ .metadata.name }",
		)
	case !holdsExpression(name) && !holdsExpression(namespace):
		message := fmt.Sprintf("every %s would use the same object", cmp.Or(c.kind(), "custom resource"))
		if strings.Contains(name, "{{") {
			message = "{{ }} is not expanded: " + message
		}
		c.add(at, diag.BadValue, message, "write "+c.Rewritten(at, 0, len(name), uniqueName(name)))
	}
}

var (
	// foreignName matches what other tools replace by a name: {{ .Release.Name }}, $NAME, $(NAME).
	foreignName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{-? *([^}]*?) *-?\}\}|\$\([^)]*\)|\$[A-Za-z_]\w*`)
	})
	ownField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.(metadata|spec)(\.\w+)+$`) })
)

// uniqueName returns a name with the name of the custom resource in it, for a name without
// an expression.
func uniqueName(name string) string {
	if strings.Contains(name, "$${") {
		return strings.ReplaceAll(name, "$${", "${")
	}
	const own = "${ .metadata.name }"
	unique := foreignName().ReplaceAllStringFunc(name, func(written string) string {
		if path := strings.Replace(foreignName().FindStringSubmatch(written)[1], ".Values.", ".spec.", 1); ownField().MatchString(path) {
			return "${ " + path + " }"
		}
		return own
	})
	if !strings.Contains(unique, own) {
		return own + "-" + unique
	}
	return unique
}

// holdsExpression reports whether a text contains an expression. $${ is a literal ${.
func holdsExpression(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, "$${", ""), "${")
}

// reservedKeys reports fields of a template that the API server or the operator sets.
// In a patch, the reasons are others.
func (c *checker) reservedKeys(p source.Path, patch bool) {
	const kubernetes = "Kubernetes sets it"
	statusHint, owners, ownersHint := "", "argoperator sets it", "remove the key; to keep the child when its owner is deleted, write "+
		"onDelete: Orphan"
	if patch {
		statusHint, owners = "write subresource: status in the patch", "a patch gives up its fields before the custom resource goes"
		ownersHint = "remove the key; only children are deleted with the custom resource"
	}
	for _, key := range []struct{ path, why, hint string }{
		{"metadata.ownerReferences", owners, ownersHint},
		{"metadata.generateName", "each reconcile would create another object", "write name: ${ .metadata.name }"},
		{"metadata.managedFields", kubernetes, ""},
		{"metadata.uid", kubernetes, ""},
		{"metadata.resourceVersion", kubernetes, ""},
		{"metadata.generation", kubernetes, ""},
		{"metadata.creationTimestamp", kubernetes, ""},
		{"metadata.deletionTimestamp", kubernetes, ""},
		{"metadata.deletionGracePeriodSeconds", kubernetes, ""},
		{"status", "the kind's own controller writes it", statusHint},
	} {
		at := append(p.To(), strings.Split(key.path, ".")...)
		if c.Written(at) {
			c.addKey(
				at,
				diag.ReservedName,
				fmt.Sprintf("%s is not allowed in a template: %s", key.path, key.why),
				cmp.Or(key.hint, "remove the key"),
			)
		}
	}
	if at := append(p.To(), "metadata", "labels", managedBy); !patch && c.Written(at) {
		c.warn(at, diag.ReservedName, fmt.Sprintf("argoperator sets %s itself: it replaces this value", managedBy), "remove the key")
	}
}
