package childcheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// escalations warns of children that grant rights which the operator cannot know. The
// verb create is not enough for them: the API server also requires that the writer holds
// those rights, or has the verb escalate on roles, or bind on the role.
func escalations(p *plan.Plan, d *definition.Definition) diag.List {
	var findings diag.List
	for i, c := range p.Children {
		needs, grants := plan.NeedsToGrant(c.Kind, d.Operator.Spec.Children[i])
		if !grants || needs.Met(d.Operator.Spec.Install.Permissions) ||
			!c.Kind.Namespaced && len(p.Shared.WatchNamespaces) > 0 { // the plan reports it
			continue
		}
		at := []string{"spec", "children", strconv.Itoa(i)}
		if c.Object != nil {
			at = append(at, "template", "kind")
		}
		findings.Warn(d.Position(at...), diag.PrivilegeEscalation,
			fmt.Sprintf("the API server rejects this %s as a privilege escalation, unless service account %s/%s %s", c.Kind.Kind,
				p.Shared.Namespace, p.ServiceAccount(p.Reconcile.Execution.Writer), needs.Needs),
			permissionHint(needs, roles(d, c, d.Operator.Spec.Children[i])))
	}
	return findings
}

// permissionHint returns the rule that allows a child.
func permissionHint(n plan.GrantNeeds, roles []string) string {
	resources := n.Resource
	if resources == "" {
		resources = "roles, clusterroles"
	}
	rule := "install: {permissions: [{apiGroups: [rbac.authorization.k8s.io], resources: [" + resources + "], "
	if n.Verb == "escalate" {
		return "write the rules without expressions, or allow it to grant any permission: " + rule +
			"verbs: [escalate], reason: the reason}]}"
	}
	which := "these roles"
	if len(roles) == 0 {
		which, roles = "the roles that you list in place of NAME", []string{"NAME"}
	}
	return fmt.Sprintf("write roleRef without expressions, with one child per role, or allow it to bind %s: "+
		"%sresourceNames: [%s], verbs: [bind], reason: the reason}]}", which, rule, strings.Join(roles, ", "))
}

// roles returns the names of the roles to which a binding can refer, if an enum of the
// schema lists them.
func roles(d *definition.Definition, c plan.Child, in v1alpha1.Child) []string {
	name, _ := schema.ValueAt(in.Template, "roleRef", "name").(string)
	if !strings.Contains(name, "${") && name != "" {
		return []string{source.Scalar(name, true, 0)}
	}
	var names []string
	for _, value := range enumOf(d.Schema(d.WorkingVersion()), nameField(c, name)) {
		var name string
		if json.Unmarshal(value.Raw, &name) == nil {
			names = append(names, source.Scalar(name, true, 0))
		}
	}
	return names
}

// nameField returns the path of the field that a text for the name of a role is; nil if it
// is computed.
func nameField(c plan.Child, text string) []string {
	if c.Object == nil {
		return nil
	}
	for _, part := range c.Object.Parts() {
		is := part.Is()
		if !slices.Equal(part.Path, []string{"roleRef", "name"}) || len(is) != 1 ||
			strings.Trim(strings.TrimPrefix(text, "${"), "} ") != is[0].String() {
			continue
		}
		switch {
		case is[0].Root == ".":
			return is[0].Path
		case is[0].Root == "$item" && c.ForEach != nil && len(c.ForEach.Origins()) == 1:
			return slices.Concat(c.ForEach.Origins()[0].Path, is[0].Path)
		}
	}
	return nil
}

// enumOf returns the values that the schema lists for a field, also of the items of lists.
func enumOf(s *apiextensionsv1.JSONSchemaProps, path []string) []apiextensionsv1.JSON {
	for _, key := range path {
		if s == nil {
			return nil
		}
		if key == expression.Each { // its list is the items already
			continue
		}
		field, ok := s.Properties[key]
		if !ok {
			return nil
		}
		if s = &field; s.Items != nil && s.Items.Schema != nil {
			s = s.Items.Schema
		}
	}
	if s == nil || len(path) == 0 {
		return nil
	}
	return s.Enum
}
