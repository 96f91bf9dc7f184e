package manifest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

func serviceAccounts(p *plan.Plan) []Object {
	var out []Object
	for _, a := range p.Accounts() {
		out = append(out, &corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: meta(p, p.ServiceAccount(a)),
		})
	}
	return out
}

// In the watched namespaces, an account's role is a ClusterRole or, with
// watchNamespaces, a Role in each of them. Permissions in the operator's own namespace,
// or in one other namespace, are always a Role there.

func clusterRoles(p *plan.Plan) []Object {
	var out []Object
	eachClusterRole(p, func(_ plan.Account, m metav1.ObjectMeta, rules []rbacv1.PolicyRule) {
		out = append(out, &rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
			ObjectMeta: m,
			Rules:      rules,
		})
	})
	return out
}

func clusterRoleBindings(p *plan.Plan) []Object {
	var out []Object
	eachClusterRole(p, func(a plan.Account, m metav1.ObjectMeta, _ []rbacv1.PolicyRule) {
		out = append(out, &rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: m,
			RoleRef:    roleRef("ClusterRole", m.Name),
			Subjects:   subjects(p, a),
		})
	})
	return out
}

// eachClusterRole visits the cluster-wide roles; with watchNamespaces there are none.
func eachClusterRole(p *plan.Plan, visit func(plan.Account, metav1.ObjectMeta, []rbacv1.PolicyRule)) {
	if len(p.Shared.WatchNamespaces) > 0 {
		return
	}
	for _, a := range p.Accounts() {
		if rules := rules(p, a, inWatchedNamespaces); len(rules) > 0 {
			visit(a, clusterMeta(p, clusterName(p, a)), rules)
		}
		if held := rules(p, a, isHeld); len(held) > 0 {
			visit(a, ofHeld(clusterMeta(p, clusterName(p, a))), held)
		}
	}
}

// clusterName includes the namespace, because operators in several namespaces may have
// the same name.
func clusterName(p *plan.Plan, a plan.Account) string {
	return p.Shared.Namespace + ":" + roleName(p, a)
}

func roleName(p *plan.Plan, a plan.Account) string {
	return p.Operator.Name + "-" + string(a)
}

func roles(p *plan.Plan) []Object {
	var out []Object
	eachRole(p, func(_ plan.Account, m metav1.ObjectMeta, rules []rbacv1.PolicyRule) {
		out = append(out, &rbacv1.Role{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
			ObjectMeta: m,
			Rules:      rules,
		})
	})
	return out
}

func roleBindings(p *plan.Plan) []Object {
	var out []Object
	eachRole(p, func(a plan.Account, m metav1.ObjectMeta, _ []rbacv1.PolicyRule) {
		out = append(out, &rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: m,
			RoleRef:    roleRef("Role", m.Name),
			Subjects:   subjects(p, a),
		})
	})
	return out
}

// eachRole visits the namespaced roles: of the operator's own namespace, of each
// watched one, then of those in grants.
func eachRole(p *plan.Plan, visit func(plan.Account, metav1.ObjectMeta, []rbacv1.PolicyRule)) {
	for _, a := range p.Accounts() {
		if own := rules(p, a, inOwnNamespace); len(own) > 0 {
			visit(a, meta(p, roleName(p, a)), own)
		}
		visitIn := func(namespace, suffix string, rules []rbacv1.PolicyRule) {
			m := meta(p, clusterName(p, a)+":"+suffix)
			m.Namespace = namespace
			visit(a, m, rules)
		}
		if watched := rules(p, a, inWatchedNamespaces); len(watched) > 0 {
			for _, namespace := range p.Shared.WatchNamespaces {
				visitIn(namespace, "watched", watched)
			}
		}
		in := func(held bool, namespace string) func(plan.Grant) bool {
			return func(g plan.Grant) bool { return g.Held == held && g.Namespace == namespace }
		}
		for _, namespace := range named(p, a) {
			if own := rules(p, a, in(false, namespace)); len(own) > 0 {
				visitIn(namespace, namespace, own)
			}
		}
		for _, namespace := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Shared.WatchNamespaces, named(p, a))))) {
			watched := slices.Contains(p.Shared.WatchNamespaces, namespace)
			held := rules(p, a, func(g plan.Grant) bool { return in(true, namespace)(g) || watched && isHeld(g) })
			if len(held) > 0 {
				m := ofHeld(meta(p, clusterName(p, a)))
				m.Namespace = namespace
				visit(a, m, held)
			}
		}
	}
}

func inWatchedNamespaces(g plan.Grant) bool { return g.InWatchedNamespaces && !g.Held }

func isHeld(g plan.Grant) bool { return g.Held && g.Namespace == "" }

// heldAnnotation marks a role whose rights no request needs: the account holds them to
// grant them, or because the definition says so.
const heldAnnotation = "argoperator.dev/held"

// ofHeld returns the metadata of such a role from that of the account's other role.
func ofHeld(m metav1.ObjectMeta) metav1.ObjectMeta {
	m.Name += ":held"
	metav1.SetMetaDataAnnotation(&m, heldAnnotation, "true")
	return m
}

// IsHeld reports whether an object is such a role.
func IsHeld(o Object) bool { return o.GetAnnotations()[heldAnnotation] != "" }

func inOwnNamespace(g plan.Grant) bool { return !g.InWatchedNamespaces && g.Namespace == "" }

// named returns the namespaces that an account's grants name.
func named(p *plan.Plan, a plan.Account) []string {
	var out []string
	for _, g := range p.Grants {
		if g.Account == a && g.Namespace != "" && !slices.Contains(out, g.Namespace) {
			out = append(out, g.Namespace)
		}
	}
	return out
}

// rules merges an account's grants for one scope: one rule for each resource.
func rules(p *plan.Plan, a plan.Account, which func(plan.Grant) bool) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for _, g := range p.Grants {
		if g.Account != a || !which(g) {
			continue
		}
		i := slices.IndexFunc(out, func(r rbacv1.PolicyRule) bool {
			return r.APIGroups[0] == g.Group && r.Resources[0] == g.Resource && slices.Equal(r.ResourceNames, g.Names)
		})
		if i < 0 {
			out = append(out, rbacv1.PolicyRule{APIGroups: []string{g.Group}, Resources: []string{g.Resource}, ResourceNames: g.Names})
			i = len(out) - 1
		}
		for _, verb := range g.Verbs {
			if !slices.Contains(out[i].Verbs, verb) {
				out[i].Verbs = append(out[i].Verbs, verb)
			}
		}
	}
	return out
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

func subjects(p *plan.Plan, a plan.Account) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: p.ServiceAccount(a), Namespace: p.Shared.Namespace}}
}

// userRoles aggregate the kind into the cluster's view, edit and admin roles, for users
// of the operator. They grant nothing to the operator.
func userRoles(p *plan.Plan) []Object {
	if !p.Install.UserRoles {
		return nil
	}
	k := p.API.Kind
	read := []string{"get", "list", "watch"}
	write := []string{"create", "update", "patch", "delete", "deletecollection"}
	view := rbacv1.PolicyRule{APIGroups: []string{k.Group}, Resources: []string{k.Plural, k.Plural + "/status"}, Verbs: read}
	edit := []rbacv1.PolicyRule{{APIGroups: []string{k.Group}, Resources: []string{k.Plural}, Verbs: write}}
	if slices.ContainsFunc(p.API.Versions, func(v plan.Version) bool { return v.Scale != nil }) {
		edit = append(edit, rbacv1.PolicyRule{
			APIGroups: []string{k.Group}, Resources: []string{k.Plural + "/scale"}, Verbs: []string{"get", "update", "patch"},
		})
	}
	return []Object{
		userRole(p, "view", []rbacv1.PolicyRule{view}, "view", "edit", "admin"),
		userRole(p, "edit", edit, "edit", "admin"),
	}
}

func userRole(p *plan.Plan, name string, rules []rbacv1.PolicyRule, into ...string) Object {
	m := clusterMeta(p, p.API.Kind.Plural+"."+p.API.Kind.Group+":"+name)
	for _, role := range into {
		m.Labels["rbac.authorization.k8s.io/aggregate-to-"+role] = "true"
	}
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: m,
		Rules:      rules,
	}
}
