package check

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// serviceAccounts reports service accounts that are used but not emitted, or
// emitted but not used.
func serviceAccounts(o argo.Objects) []problem.Problem {
	var out []problem.Problem
	used := map[argo.Account]bool{}
	for _, u := range argo.UsesOf(o) {
		used[u.Account] = true
		if _, ok := argo.Find[*corev1.ServiceAccount](o, u.Account.Namespace, u.Account.Name); !ok {
			r := problem.About(u.In)
			r.Add(u.Path, problem.CodeServiceAccount, "emit it", "no ServiceAccount %s", u.Account)
			out = append(out, r.Problems...)
		}
	}
	return append(out, argo.Each(o, func(r *problem.Report, sa *corev1.ServiceAccount) {
		if !used[argo.Account{Namespace: sa.Namespace, Name: sa.Name}] {
			r.Add(nil, problem.CodeUnusedServiceAccount, "remove it", "nothing runs as this service account")
		}
	})...)
}

// sharedAccounts reports service accounts that serve several roles, because each
// role would have the permissions of the others.
func sharedAccounts(o argo.Objects) []problem.Problem {
	var out []problem.Problem
	roles := map[argo.Account]map[argo.Role]bool{}
	for _, u := range argo.UsesOf(o) {
		if roles[u.Account] == nil {
			roles[u.Account] = map[argo.Role]bool{}
		}
		roles[u.Account][u.Role] = true
		if len(roles[u.Account]) > 1 {
			r := problem.About(u.In)
			r.Add(u.Path, problem.CodeSharedServiceAccount, "one service account a role", "service account %s serves as %v at once",
				u.Account, slices.Sorted(maps.Keys(roles[u.Account])))
			out = append(out, r.Problems...)
		}
	}
	return out
}

// roleBindings reports bindings whose role or subjects are not emitted, and roles
// without a binding, except those meant for the operator's users.
func roleBindings(o argo.Objects) []problem.Problem {
	bound := map[manifest.Object]bool{}
	check := func(r *problem.Report, ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespace string) {
		if role, _, ok := argo.RoleOf(o, ref, namespace); ok && ref.APIGroup == rbacv1.GroupName {
			bound[role] = true
		} else {
			r.Add(field.NewPath("roleRef"), problem.CodeRoleBinding, "", "no %s %q in %q", ref.Kind, ref.Name, ref.APIGroup)
		}
		if len(subjects) == 0 {
			r.Add(field.NewPath("subjects"), problem.CodeRoleBinding, "", "binds nobody")
		}
		for i, s := range subjects {
			if _, ok := argo.Find[*corev1.ServiceAccount](o, s.Namespace, s.Name); !ok || s.Kind != rbacv1.ServiceAccountKind ||
				s.APIGroup != "" {
				r.Add(field.NewPath("subjects").Index(i), problem.CodeRoleBinding, "", "no %s %s/%s", s.Kind, s.Namespace, s.Name)
			}
		}
	}
	out := argo.Each(o, func(r *problem.Report, b *rbacv1.ClusterRoleBinding) { check(r, b.RoleRef, b.Subjects, "") })
	out = append(out, argo.Each(o, func(r *problem.Report, b *rbacv1.RoleBinding) { check(r, b.RoleRef, b.Subjects, b.Namespace) })...)
	return append(out, unboundRoles(o, bound)...)
}

func unboundRoles(o argo.Objects, bound map[manifest.Object]bool) []problem.Problem {
	out := argo.Each(o, func(r *problem.Report, role *rbacv1.Role) {
		if !bound[role] {
			r.Add(nil, problem.CodeUnboundRole, "bind it or remove it", "no binding gives this role to anyone")
		}
	})
	return append(out, argo.Each(o, func(r *problem.Report, role *rbacv1.ClusterRole) {
		if !bound[role] && !isAggregated(role) {
			r.Add(nil, problem.CodeUnboundRole, "bind it or remove it", "no binding gives this role to anyone")
		}
	})...)
}

// isAggregated reports whether Kubernetes adds the role to its own view, edit or
// admin role.
func isAggregated(role *rbacv1.ClusterRole) bool {
	for _, name := range []string{"view", "edit", "admin"} {
		if role.Labels["rbac.authorization.k8s.io/aggregate-to-"+name] == "true" {
			return true
		}
	}
	return false
}
