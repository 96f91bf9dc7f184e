package childcheck

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/plan"
)

const rbac = "rbac.authorization.k8s.io"

// escalations warns of children that grant permissions. The verb create is not enough
// for them: the API server also requires that the writer has those permissions itself,
// or has the verb `escalate` on roles, or `bind` on the referenced role.
func escalations(p *plan.Plan, d *definition.Definition) diag.List {
	var findings diag.List
	for i, c := range p.Children {
		g, grants := needsToGrant(c.Kind, d.Operator.Spec.Children[i])
		if !grants || !c.Kind.Namespaced && len(p.Install.WatchNamespaces) > 0 { // the plan reports it
			continue
		}
		at := []string{"spec", "children", strconv.Itoa(i)}
		if c.Object != nil {
			at = append(at, "template", "kind")
		}
		writer := p.ServiceAccount(p.Reconcile.Execution.Writer)
		findings.Warn(d.Position(at...), diag.PrivilegeEscalation,
			fmt.Sprintf("the API server refuses this %s as a privilege escalation, unless service account %s/%s %s", c.Kind.Kind, p.Install.Namespace, writer, g.needs),
			"as an administrator of the cluster, grant it: "+strings.Join(g.commands(p, c, writer), " && "))
	}
	return findings
}

// bindingNeeds is what the API server requires of the writer of a child that grants
// permissions.
type bindingNeeds struct {
	needs    string // for the message
	verb     string
	resource string // of the roles
	name     string // of the role; empty: any
}

// needsToGrant returns what the API server requires of the writer of a child; false if
// the child grants nothing.
func needsToGrant(k plan.Kind, in v1alpha1.Child) (bindingNeeds, bool) {
	if k.Group != rbac {
		return bindingNeeds{}, false
	}
	switch k.Kind {
	case "Role", "ClusterRole":
		rules, list := in.Template["rules"].([]any)
		none := in.Template["rules"] == nil || list && len(rules) == 0
		if in.Template != nil && none && in.Template["aggregationRule"] == nil {
			return bindingNeeds{}, false
		}
		return bindingNeeds{"holds every right that it grants", "escalate", strings.ToLower(k.Kind) + "s", ""}, true
	case "RoleBinding", "ClusterRoleBinding":
		return needsToBind(in), true
	}
	return bindingNeeds{}, false
}

// needsToBind returns the requirements for a binding, whose role is known if it is
// fixed text.
func needsToBind(in v1alpha1.Child) bindingNeeds {
	plain := func(value any) string {
		text, _ := value.(string)
		if strings.Contains(text, "${") {
			return ""
		}
		return text
	}
	ref, _ := in.Template["roleRef"].(map[string]any)
	kind, name := plain(ref["kind"]), plain(ref["name"])
	g := bindingNeeds{"may bind the role", "bind", "roles,clusterroles", name}
	if kind != "" {
		g.needs, g.resource = "may bind that "+kind, strings.ToLower(kind)+"s"
	}
	if kind != "" && name != "" {
		g.needs = "may bind " + kind + " " + name
	}
	return g
}

// commands returns the kubectl commands that grant the permissions where the operator
// writes children.
func (g bindingNeeds) commands(p *plan.Plan, c plan.Child, account string) []string {
	role := strings.Join([]string{p.Install.Namespace, account, c.Name}, ":")
	create := fmt.Sprintf("kubectl create clusterrole %s --verb=%s --resource=%s", role, g.verb, g.resource)
	if g.name != "" {
		create += " --resource-name=" + g.name
	}
	to := fmt.Sprintf("--clusterrole=%s --serviceaccount=%s:%s", role, p.Install.Namespace, account)
	if len(p.Install.WatchNamespaces) == 0 {
		return []string{create, fmt.Sprintf("kubectl create clusterrolebinding %s %s", role, to)}
	}
	out := []string{create}
	for _, namespace := range p.Install.WatchNamespaces {
		out = append(out, fmt.Sprintf("kubectl create rolebinding %s -n %s %s", role, namespace, to))
	}
	return out
}
