package childcheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/operator/rights"
)

// What a child grants, users of the custom resource can get, and the operator holds: the
// API server lets nobody grant what they do not have.

func (r *reach) escalates(at []string, hint, format string, values ...any) {
	r.findings.Warn(r.d.Position(at...), diag.PrivilegeEscalation, fmt.Sprintf(format, values...), hint)
}

// permissions warns of powerful permissions of the definition that have no reason.
func (r *reach) permissions() {
	for i, given := range r.d.Operator.Spec.Install.Permissions {
		if power, has := powerOf(given); has && given.Reason == "" {
			r.escalates([]string{"spec", "install", "permissions", strconv.Itoa(i), power.Key, strconv.Itoa(power.Index)},
				"list what is needed, with resourceNames where possible; or write the reason, for those who review the permissions",
				"%s gets %s in %s, without a reason", r.account(), power.Entry, power.Key)
		}
	}
}

// rights warns of a child, or a patch, with which users get permissions of others.
func (r *reach) rights(w target) {
	c, at := w.child, w.at[:len(w.at)-1] // of the template
	if c.Object == nil {
		return
	}
	switch c.Kind.Group + "/" + c.Kind.Kind {
	case rbacv1.GroupName + "/ClusterRole":
		const prefix = "rbac.authorization.k8s.io/aggregate-to-"
		r.labels(w, prefix, "add this ClusterRole to the role admin, by the label "+prefix+"admin")
		r.rules(w, at)
	case rbacv1.GroupName + "/Role":
		r.rules(w, at)
	case rbacv1.GroupName + "/ClusterRoleBinding", rbacv1.GroupName + "/RoleBinding":
		r.binding(w, at)
	case "/Namespace":
		const prefix = "pod-security.kubernetes.io/"
		r.labels(w, prefix, "allow privileged pods in this Namespace, by the label "+prefix+"enforce")
	}
}

// labels warns of labels of a child that users choose, and that grant something. Keys of such
// labels begin with a prefix.
func (r *reach) labels(w target, prefix, effect string) {
	for _, part := range w.child.Object.Parts() {
		at := part.Path
		if len(at) == 0 || at[0] != "metadata" || len(at) > 1 && at[1] != "labels" ||
			len(at) > 2 && !strings.HasPrefix(at[2], prefix) || len(at) < 3 && !mayHaveKey(part, prefix) {
			continue
		}
		if source, free := firstFree(r.flow.Part(w.child, part)); free {
			r.escalates(append(w.at[:len(w.at)-1:len(w.at)-1], at...),
				`write the keys in plain text, such as labels: {team: "${ .spec.team }"}`,
				"the labels depend on %s: %s can %s", source, source.By, effect)
		}
	}
}

// mayHaveKey reports whether a computed mapping may have a key with a prefix.
func mayHaveKey(part expression.Part, prefix string) bool {
	if len(part.Types) != 1 || part.Types[0].Kind() != schema.Object || part.Types[0].Open() {
		return true
	}
	return slices.ContainsFunc(part.Types[0].Fields(), func(key string) bool { return strings.HasPrefix(key, prefix) })
}

// rules warns of powerful rules, which the operator holds, and of rules that users choose.
func (r *reach) rules(w target, at []string) {
	rules, _ := w.template["rules"].([]any)
	for i, rule := range plan.PlainRules(rules) {
		if power, has := powerOf(rule); has {
			r.escalates(append(at[:len(at):len(at)], "rules", strconv.Itoa(i), power.Key, strconv.Itoa(power.Index)),
				"list the API groups, resources and verbs that are needed; resourceNames restricts them to objects",
				"the rule grants %s in %s, and %s holds it too, %s", power.Entry, power.Key, r.account(), r.where(w.child))
		}
	}
	if source, free := firstFree(r.flow.At(w.child, "rules")); free && r.holds(w.child.Kind, "escalate") {
		r.escalates(append(at[:len(at):len(at)], "rules"), "write the rules without expressions",
			"the rules depend on %s: %s can have every permission", source, source.By)
	}
}

// powerOf returns the first entry of a rule that grants more than it shows, or that reads
// all Secrets.
func powerOf(rule v1alpha1.Permission) (rights.Power, bool) {
	powers := rights.Powers(rbacv1.PolicyRule{
		APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames, Verbs: rule.Verbs,
	})
	if len(powers) == 0 {
		return rights.Power{}, false
	}
	return powers[0], true
}

// binding warns of a powerful role whose subjects users choose, and of a role that they choose.
func (r *reach) binding(w target, at []string) {
	ref, _ := w.template["roleRef"].(map[string]any)
	name, _ := ref["name"].(string)
	what, powerful := rights.PowerfulRole(name)
	if ref["kind"] != "ClusterRole" || name != "cluster-admin" && r.ownNamespace(w.child) {
		powerful = false
	}
	if own := r.powerfulChild(ref); own != "" {
		what, powerful = "its permissions", true
	}
	to := func(key ...string) []string { return append(at[:len(at):len(at)], key...) }
	subject, chosen := firstFree(r.flow.At(w.child, "subjects"))
	role, free := firstFree(r.flow.At(w.child, "roleRef"))
	switch {
	case powerful && chosen:
		r.escalates(to("subjects"), "bind a role with the permissions that are needed, or write the subjects without expressions",
			"the subjects depend on %s: %s decides who gets %v %s, and with it %s", subject, subject.By, ref["kind"], name, what)
	case name == "cluster-admin":
		r.escalates(to("roleRef", "name"), "bind a role with the permissions that are needed",
			"%s may bind cluster-admin, so whoever uses its token can have every permission", r.account())
	case free && r.holds(w.child.Kind, "bind"):
		r.escalates(to("roleRef"), "restrict the permission bind with resourceNames, or write one child for each role",
			"the role depends on %s: %s can bind every role", role, role.By)
	}
}

// ownNamespace reports whether a binding is in a namespace of the custom resource alone: the
// operator created it, or administrators create the custom resource.
func (r *reach) ownNamespace(c plan.Child) bool {
	return c.Kind.Namespaced && (r.p.WaitsForNamespace(c) || !r.p.API.Kind.Namespaced)
}

// powerfulChild returns the child that a roleRef names, if its rules are powerful.
func (r *reach) powerfulChild(ref map[string]any) string {
	for _, in := range r.d.Operator.Spec.Children {
		name := schema.ValueAt(in.Template, "metadata", "name")
		if in.Kind != ref["kind"] || name == nil || name != ref["name"] {
			continue
		}
		rules, _ := in.Template["rules"].([]any)
		if slices.ContainsFunc(plan.PlainRules(rules), func(rule v1alpha1.Permission) bool { _, has := powerOf(rule); return has }) {
			return in.Name
		}
	}
	return ""
}

// holds reports whether the definition gives the operator a verb on all roles of any name.
func (r *reach) holds(kind plan.Kind, verb string) bool {
	return slices.ContainsFunc(r.d.Operator.Spec.Install.Permissions, func(given v1alpha1.Permission) bool {
		has := func(list []string, want string) bool {
			return slices.Contains(list, want) || slices.Contains(list, "*")
		}
		return len(given.ResourceNames) == 0 && has(given.APIGroups, kind.Group) && has(given.Verbs, verb) &&
			(has(given.Resources, "roles") || has(given.Resources, "clusterroles"))
	})
}

// account names the service account that writes the children.
func (r *reach) account() string {
	return fmt.Sprintf("service account %s/%s", r.p.Shared.Namespace, r.p.ServiceAccount(r.p.Reconcile.Execution.Writer))
}

// where says in which namespaces the account holds what a child grants.
func (r *reach) where(c plan.Child) string {
	switch {
	case c.FixedNamespace() != "":
		return "in namespace " + c.FixedNamespace()
	case len(r.p.Shared.WatchNamespaces) > 0:
		return "in every watched namespace"
	case c.Kind.Namespaced:
		return "in every namespace; install.watchNamespaces limits that"
	}
	return "in the whole cluster"
}
