package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/expression"
)

// A namespace that custom resources choose is one in which their authors write, or
// read, with the operator's rights. install.allowedNamespaces says which it may be.

// allowedPattern is the regular expression of the namespaces that may be chosen;
// empty: any.
func allowedPattern(patterns []string) string {
	if len(patterns) == 0 {
		return ""
	}
	var names []string
	for _, pattern := range patterns {
		names = append(names, strings.ReplaceAll(pattern, "*", "[-a-z0-9]*"))
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// placed is the jq of a child, which is an error in a namespace that is not
// allowed. The custom resource's own always is.
func placed(p *Plan, c Child, source string) string {
	if p.Install.AllowedNamespaces == "" || !c.Kind.Namespaced || c.Namespace == nil || c.Beside {
		return source
	}
	return fmt.Sprintf(`(%s | .metadata.namespace as $namespace | if $namespace | test(%s) then . else error("namespace \($namespace) is not one of install.allowedNamespaces") end)`,
		source, quote(p.Install.AllowedNamespaces))
}

// reach warns of custom resources that choose where their operator writes and
// reads, and refuses namespaces of the definition's own that are not allowed.
func reach(p *Plan, d *definition.Definition) diag.List {
	var findings diag.List
	const limit = "write install: {allowedNamespaces: [...]}, names in which * stands for any letters"
	author := "whoever may create a " + p.API.Kind.Kind
	told := map[string]bool{}
	for i, c := range p.Children {
		if c.Object == nil || c.Kind.Namespaced && c.Beside {
			continue
		}
		at := []string{"spec", "children", strconv.Itoa(i), "template", "metadata"}
		metadata, _ := d.Operator.Spec.Children[i].Template["metadata"].(map[string]any)
		if c.Kind.Namespaced {
			text, _ := metadata["namespace"].(string)
			if field := p.chosen(d, text, c.Namespace, c.Each); field != "" && p.Install.AllowedNamespaces == "" && !told[field] {
				told[field] = true // once for all children
				findings.Warn(d.Position(append(at, "namespace")...), diag.UnrestrictedTarget,
					fmt.Sprintf("the namespace follows %s: %s writes to any namespace, with the rights of the operator", field, author), limit)
			}
			findings = append(findings, p.forbidden(c.Namespace, d, append(at, "namespace"))...)
			continue
		}
		text, _ := metadata["name"].(string)
		if field := p.chosen(d, text, c.Named, c.Each); field != "" && field != ".metadata.name" && p.API.Kind.Namespaced {
			findings.Warn(d.Position(append(at, "name")...), diag.UnrestrictedTarget,
				fmt.Sprintf("the name follows %s: %s makes a %s of any name, with the rights of the operator", field, author, c.Kind.Kind),
				"begin the name with fixed text, or list the names in an enum of the schema")
		}
	}
	for i, r := range p.Related {
		at := []string{"spec", "related", strconv.Itoa(i), "namespace"}
		if field := p.chosen(d, d.Operator.Spec.Related[i].Namespace, r.Namespace, nil); field != "" && p.Install.AllowedNamespaces == "" {
			findings.Warn(d.Position(at...), diag.UnrestrictedTarget,
				fmt.Sprintf("the namespace follows %s: %s reads a %s of any namespace, with the rights of the operator", field, author, r.Kind.Kind), limit)
		}
		if r.In != "" {
			findings = append(findings, p.forbidden(r.Namespace, d, at)...)
		}
	}
	return findings
}

// forbidden refuses a namespace that is written in the definition and not allowed.
func (p *Plan) forbidden(namespace *expression.Program, d *definition.Definition, at []string) diag.List {
	var findings diag.List
	if namespace == nil || p.Install.AllowedNamespaces == "" {
		return nil
	}
	if fixed, _ := namespace.Const(); fixed != nil && !regexp.MustCompile(p.Install.AllowedNamespaces).MatchString(fmt.Sprint(fixed)) {
		findings.Add(d.Position(at...), diag.BadValue, fmt.Sprintf("namespace %v is not one of install.allowedNamespaces", fixed), "add it there, or choose another")
	}
	return findings
}

// chosen names the field with which whoever writes a custom resource chooses a
// name or a namespace; "" where fixed text or an enum limits it.
func (p *Plan) chosen(d *definition.Definition, text string, program, each *expression.Program) string {
	if program == nil || !strings.HasPrefix(strings.TrimSpace(text), "${") {
		return ""
	}
	reads := program.Reads()
	if each != nil && program.UsesItem() {
		reads = slices.Concat(reads, each.Reads())
	}
	for _, path := range reads {
		if len(path) > 0 && !p.mayWrite(path) || listed(d.Schema(d.WorkingVersion()), path) {
			continue
		}
		return "." + strings.Join(path, ".")
	}
	return ""
}

// mayWrite tells whether the author of a custom resource writes a field of it.
// That of a Namespace has chosen its name in any case.
func (p *Plan) mayWrite(path []string) bool {
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

// listed tells whether the values of a field are listed in the schema.
func listed(s *apiextensionsv1.JSONSchemaProps, path []string) bool {
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
