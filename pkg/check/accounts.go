package check

import (
	"maps"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// role is what a service account is used for.
type role string

// The roles. Each has accounts of its own.
const (
	roleSource   role = "EventSource"
	roleSensor   role = "Sensor"
	roleWorkflow role = "Workflow"
)

// use is one use of a service account.
type use struct {
	account account
	role    role
	in      manifest.Object
	path    *field.Path
}

func usesOf(o objects) []use {
	var out []use
	at := field.NewPath("spec", "template", "serviceAccountName")
	for _, s := range all[*eventsv1.EventSource](o) {
		out = append(out, use{account{s.Namespace, eventsAccount(s.Spec.Template)}, roleSource, s, at})
	}
	for _, s := range all[*eventsv1.Sensor](o) {
		out = append(out, use{account{s.Namespace, eventsAccount(s.Spec.Template)}, roleSensor, s, at})
	}
	for _, p := range o.pods() {
		out = append(out, use{account{p.namespace, p.account()}, roleWorkflow, p.in, p.path})
		if p.executor() != p.account() {
			out = append(out, use{account{p.namespace, p.executor()}, roleWorkflow, p.in, p.path.Child("executor")})
		}
	}
	return out
}

// accounts: every service account that is used is emitted, and the reverse.
func accounts(o objects) []Problem {
	var out []Problem
	used := map[account]bool{}
	for _, u := range usesOf(o) {
		used[u.account] = true
		if _, ok := find[*corev1.ServiceAccount](o, u.account.namespace, u.account.name); !ok {
			r := about(u.in)
			r.add(u.path, CodeServiceAccount, "emit it", "no ServiceAccount %s", u.account)
			out = append(out, r.problems...)
		}
	}
	return append(out, each(o, func(r *report, sa *corev1.ServiceAccount) {
		if !used[account{sa.Namespace, sa.Name}] {
			r.add(nil, CodeServiceAccountUse, "remove it", "nothing runs as this service account")
		}
	})...)
}

// separation: what one role may do is not lent to another by sharing its account.
func separation(o objects) []Problem {
	var out []Problem
	roles := map[account]map[role]bool{}
	for _, u := range usesOf(o) {
		if roles[u.account] == nil {
			roles[u.account] = map[role]bool{}
		}
		roles[u.account][u.role] = true
		if len(roles[u.account]) > 1 {
			r := about(u.in)
			r.add(u.path, CodeSharedAccount, "one service account a role", "service account %s serves as %v at once",
				u.account, slices.Sorted(maps.Keys(roles[u.account])))
			out = append(out, r.problems...)
		}
	}
	return out
}

// bindings: the role and the subjects of each binding are emitted, and each
// role is bound, unless it is meant for the people who use the operator.
func bindings(o objects) []Problem {
	bound := map[manifest.Object]bool{}
	check := func(r *report, ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespace string) {
		if role, _, ok := roleOf(o, ref, namespace); ok && ref.APIGroup == rbacv1.GroupName {
			bound[role] = true
		} else {
			r.add(field.NewPath("roleRef"), CodeBinding, "", "no %s %q in %q", ref.Kind, ref.Name, ref.APIGroup)
		}
		if len(subjects) == 0 {
			r.add(field.NewPath("subjects"), CodeBinding, "", "binds nobody")
		}
		for i, s := range subjects {
			if _, ok := find[*corev1.ServiceAccount](o, s.Namespace, s.Name); !ok || s.Kind != rbacv1.ServiceAccountKind || s.APIGroup != "" {
				r.add(field.NewPath("subjects").Index(i), CodeBinding, "", "no %s %s/%s", s.Kind, s.Namespace, s.Name)
			}
		}
	}
	out := each(o, func(r *report, b *rbacv1.ClusterRoleBinding) { check(r, b.RoleRef, b.Subjects, "") })
	out = append(out, each(o, func(r *report, b *rbacv1.RoleBinding) { check(r, b.RoleRef, b.Subjects, b.Namespace) })...)
	return append(out, unbound(o, bound)...)
}

func unbound(o objects, bound map[manifest.Object]bool) []Problem {
	out := each(o, func(r *report, role *rbacv1.Role) {
		if !bound[role] {
			r.add(nil, CodeRoleUnbound, "bind it or remove it", "no binding gives this role to anyone")
		}
	})
	return append(out, each(o, func(r *report, role *rbacv1.ClusterRole) {
		if !bound[role] && !aggregated(role) {
			r.add(nil, CodeRoleUnbound, "bind it or remove it", "no binding gives this role to anyone")
		}
	})...)
}

// aggregated tells whether Kubernetes adds the role to its own view, edit or
// admin role.
func aggregated(role *rbacv1.ClusterRole) bool {
	for _, name := range []string{"view", "edit", "admin"} {
		if role.Labels["rbac.authorization.k8s.io/aggregate-to-"+name] == "true" {
			return true
		}
	}
	return false
}
