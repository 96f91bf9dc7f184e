package childcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// checkNamespaces warns of custom resources that choose where the operator writes and
// reads, and reports fixed namespaces that are not allowed.
func checkNamespaces(p *plan.Plan, d *definition.Definition) diag.List {
	var findings diag.List
	const limit = `start the namespace with fixed text, such as team-${ … }, or list what is allowed, as in install: ` +
		`{allowedNamespaces: ["team-*"]}`
	author := "every user who can create a " + p.API.Kind.Kind
	told := map[string]bool{}
	for _, w := range written(p, d) {
		c, at := w.child, w.at
		if c.Object == nil || c.Kind.Namespaced && c.SameNamespace {
			continue
		}
		metadata, _ := w.template["metadata"].(map[string]any)
		if c.Kind.Namespaced {
			text, _ := metadata["namespace"].(string)
			if field := chosenField(p, d, text, c.Namespace, c.ForEach); field != "" && p.Install.AllowedNamespaces == "" && !told[field] &&
				!p.WaitsForNamespace(c) {
				told[field] = true // once for all children
				findings.Warn(
					d.Position(append(at, "namespace")...),
					diag.UnrestrictedTarget,
					fmt.Sprintf(
						"metadata.namespace depends on %s: %s can write to any namespace with the permissions of the operator",
						field,
						author,
					),
					limit,
				)
			}
			findings = append(findings, disallowed(p, c.Namespace, d, append(at, "namespace"))...)
			continue
		}
		text, _ := metadata["name"].(string)
		if field := chosenField(p, d, text, c.ObjectName, c.ForEach); field != "" && field != ".metadata.name" && p.API.Kind.Namespaced {
			findings.Warn(
				d.Position(append(at, "name")...),
				diag.UnrestrictedTarget,
				fmt.Sprintf(
					"metadata.name depends on %s: %s can %s a %s of any name with the permissions of the operator",
					field,
					author,
					w.verb,
					c.Kind.Kind,
				),
				"start the name with fixed text, or list the names in an enum of the schema",
			)
		}
	}
	for i, r := range p.Related {
		at := []string{"spec", "related", strconv.Itoa(i), "namespace"}
		if field := chosenField(p, d, d.Operator.Spec.Related[i].Namespace, r.Namespace, nil); field != "" &&
			p.Install.AllowedNamespaces == "" {
			findings.Warn(
				d.Position(at...),
				diag.UnrestrictedTarget,
				fmt.Sprintf(
					"metadata.namespace depends on %s: %s can read a %s of any namespace with the permissions of the operator",
					field,
					author,
					r.Kind.Kind,
				),
				limit,
			)
		}
		if r.FixedNamespace != "" {
			findings = append(findings, disallowed(p, r.Namespace, d, at)...)
		}
	}
	return findings
}

// target is what a template of the definition is written to.
type target struct {
	child    plan.Child
	template map[string]any
	at       []string // of its metadata
	verb     string
}

// written returns the children and the patches.
func written(p *plan.Plan, d *definition.Definition) []target {
	var out []target
	for i, c := range p.Children {
		out = append(
			out,
			target{
				c,
				d.Operator.Spec.Children[i].Template,
				[]string{"spec", "children", strconv.Itoa(i), "template", "metadata"},
				"create",
			},
		)
	}
	for i, c := range p.Patches {
		out = append(
			out,
			target{c, d.Operator.Spec.Patches[i].Template, []string{"spec", "patches", strconv.Itoa(i), "template", "metadata"}, "change"},
		)
	}
	return out
}

// disallowed reports a fixed namespace of the definition that is not allowed.
func disallowed(p *plan.Plan, namespace *expression.Program, d *definition.Definition, at []string) diag.List {
	var findings diag.List
	if namespace == nil || p.Install.AllowedNamespaces == "" {
		return nil
	}
	if fixed, _ := namespace.Const(); fixed != nil && !regexp.MustCompile(p.Install.AllowedNamespaces).MatchString(fmt.Sprint(fixed)) {
		findings.Add(
			d.Position(at...),
			diag.BadValue,
			fmt.Sprintf("namespace %v is not one of install.allowedNamespaces", fixed),
			"add it there, or use another namespace",
		)
	}
	return findings
}

// chosenField returns the field with which the author of a custom resource chooses a
// name or a namespace; "" if fixed text or an enum limits it.
func chosenField(p *plan.Plan, d *definition.Definition, text string, program, each *expression.Program) string {
	if program == nil || !strings.HasPrefix(strings.TrimSpace(text), "${") {
		return ""
	}
	reads := program.Flows()
	if each != nil && program.UsesItem() {
		reads = slices.Concat(reads, each.Flows())
	}
	for _, path := range reads {
		if len(path) > 0 && !userControls(p, path) || isEnum(d.Schema(d.WorkingVersion()), path) {
			continue
		}
		return "." + strings.Join(path, ".")
	}
	return ""
}

// userControls reports whether the author of a custom resource controls the value of a
// field. The name of a Namespace is not among these fields.
func userControls(p *plan.Plan, path []string) bool {
	switch path[0] {
	case "apiVersion", "kind", "status":
		return false
	case "metadata":
		byServer := []string{"namespace", "uid", "creationTimestamp", "generation"}
		if p.API.Kind.Group == "" && p.API.Kind.Kind == "Namespace" {
			byServer = append(byServer, "name")
		}
		return len(path) == 1 || !slices.Contains(byServer, path[1])
	}
	return true
}

// isEnum reports whether the schema lists the values of a field.
func isEnum(s *apiextensionsv1.JSONSchemaProps, path []string) bool {
	for _, key := range path {
		if s == nil {
			return false
		}
		field, ok := s.Properties[key]
		if !ok {
			return false
		}
		if s = &field; s.Items != nil && s.Items.Schema != nil {
			s = s.Items.Schema
		}
	}
	return s != nil && len(s.Enum) > 0
}
