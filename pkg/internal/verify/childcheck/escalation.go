package childcheck

import (
	"fmt"
	"strconv"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
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
			permissionHint(needs))
	}
	return findings
}

// permissionHint returns the rule that allows a child.
func permissionHint(n plan.GrantNeeds) string {
	resources := n.Resource
	if resources == "" {
		resources = "roles, clusterroles"
	}
	rule := fmt.Sprintf(
		"install: {permissions: [{apiGroups: [rbac.authorization.k8s.io], resources: [%s], verbs: [%s], reason: the reason}]}",
		resources,
		n.Verb,
	)
	if n.Verb == "escalate" {
		return "write the rules without expressions, or allow it to grant any permission: " + rule
	}
	return "write roleRef without expressions, with one child per role, or allow it to bind any role: " + rule + "; resourceNames " +
		"restricts it"
}
