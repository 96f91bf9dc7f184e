package childcheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
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
		names := []string{""}
		if known := roles(p, d, c, d.Operator.Spec.Children[i]); len(known) > 0 && needs.Verb == "bind" {
			names = known
		}
		missing := needs.Missing(d.Operator.Spec.Install.Permissions, names)
		if !grants || len(missing) == 0 ||
			!c.Kind.Namespaced && len(p.Shared.WatchNamespaces) > 0 { // the plan reports it
			continue
		}
		if len(missing) < len(names) {
			needs.Needs = "may bind " + strings.Join(missing, ", ")
		}
		at := []string{"spec", "children", strconv.Itoa(i)}
		if c.Object != nil {
			at = append(at, "template", "kind")
		}
		findings.Warn(d.Position(at...), diag.PrivilegeEscalation,
			fmt.Sprintf("the API server rejects this %s as a privilege escalation, unless service account %s/%s %s", c.Kind.Kind,
				p.Shared.Namespace, p.ServiceAccount(p.Reconcile.Execution.Writer), needs.Needs),
			permissionHint(needs, names))
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
	var names []string
	for _, role := range roles {
		names = append(names, source.Scalar(role, true, 0))
	}
	if roles[0] == "" {
		which, names = "the roles that you list in place of NAME", []string{"NAME"}
	}
	return fmt.Sprintf("write roleRef without expressions, with one child per role, or allow it to bind %s: "+
		"%sresourceNames: [%s], verbs: [bind], reason: the reason}]}", which, rule, strings.Join(names, ", "))
}

// roles returns the names of the roles to which a binding can refer, if an enum of the
// schema lists them.
func roles(p *plan.Plan, d *definition.Definition, c plan.Child, in v1alpha1.Child) []string {
	name, _ := schema.ValueAt(in.Template, "roleRef", "name").(string)
	if !schema.IsComputed(name) && name != "" {
		return []string{name}
	}
	if c.Object == nil {
		return nil
	}
	var names []string
	for _, part := range c.Object.Parts() {
		is := part.Is()
		if !slices.Equal(part.Path, []string{"roleRef", "name"}) || len(is) != 1 ||
			strings.Trim(strings.TrimPrefix(name, "${"), "} ") != is[0].String() {
			continue // it is computed, or may have another value
		}
		for _, s := range p.Flow(d).Part(c, part) {
			names = append(names, s.Values...)
		}
	}
	return names
}
