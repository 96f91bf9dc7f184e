package selfcheck

import (
	"maps"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// serviceAccounts reports service accounts that are used but not emitted, or
// emitted but not used.
func serviceAccounts(o objects) []problem.Problem {
	var out []problem.Problem
	used := map[argo.Account]bool{}
	for _, u := range usesOf(o) {
		used[u.Account] = true
		if _, ok := argo.Find[*corev1.ServiceAccount](o.Objects, u.Account.Namespace, u.Account.Name); !ok {
			r := problem.About(u.In)
			r.Add(u.Path, codeServiceAccount, "emit it", "no ServiceAccount %s", u.Account)
			out = append(out, r.Problems...)
		}
	}
	return append(out, argo.Each(o.Objects, func(r *problem.Report, sa *corev1.ServiceAccount) {
		if !used[argo.Account{Namespace: sa.Namespace, Name: sa.Name}] {
			r.Add(nil, codeUnusedServiceAccount, "remove it", "nothing runs as this service account")
		}
	})...)
}

// sharedAccounts reports service accounts that serve several roles, because each
// role would have the permissions of the others.
func sharedAccounts(o objects) []problem.Problem {
	var out []problem.Problem
	roles := map[argo.Account]map[argo.Role]bool{}
	for _, u := range usesOf(o) {
		if roles[u.Account] == nil {
			roles[u.Account] = map[argo.Role]bool{}
		}
		roles[u.Account][u.Role] = true
		if len(roles[u.Account]) > 1 {
			r := problem.About(u.In)
			r.Add(u.Path, codeSharedServiceAccount, "one service account a role", "service account %s serves as %v at once",
				u.Account, slices.Sorted(maps.Keys(roles[u.Account])))
			out = append(out, r.Problems...)
		}
	}
	return out
}

// roleBindings reports bindings whose role or subjects are not emitted, and roles
// without a binding, except those meant for the operator's users.
func roleBindings(o objects) []problem.Problem {
	bound := map[manifest.Object]bool{}
	check := func(r *problem.Report, ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespace string) {
		if role, _, ok := argo.RoleOf(o.Objects, ref, namespace); ok && ref.APIGroup == rbacv1.GroupName {
			bound[role] = true
		} else {
			r.Add(field.NewPath("roleRef"), codeRoleBinding, "", "no %s %q in %q", ref.Kind, ref.Name, ref.APIGroup)
		}
		if len(subjects) == 0 {
			r.Add(field.NewPath("subjects"), codeRoleBinding, "", "binds nobody")
		}
		for i, s := range subjects {
			if _, ok := argo.Find[*corev1.ServiceAccount](o.Objects, s.Namespace, s.Name); !ok || s.Kind != rbacv1.ServiceAccountKind ||
				s.APIGroup != "" {
				r.Add(field.NewPath("subjects").Index(i), codeRoleBinding, "", "no %s %s/%s", s.Kind, s.Namespace, s.Name)
			}
		}
	}
	out := argo.Each(o.Objects, func(r *problem.Report, b *rbacv1.ClusterRoleBinding) { check(r, b.RoleRef, b.Subjects, "") })
	out = append(out, argo.Each(o.Objects, func(r *problem.Report, b *rbacv1.RoleBinding) { check(r, b.RoleRef, b.Subjects, b.Namespace) })...)
	return append(out, unboundRoles(o, bound)...)
}

func unboundRoles(o objects, bound map[manifest.Object]bool) []problem.Problem {
	out := argo.Each(o.Objects, func(r *problem.Report, role *rbacv1.Role) {
		if !bound[role] {
			r.Add(nil, codeUnboundRole, "bind it or remove it", "no binding gives this role to anyone")
		}
	})
	return append(out, argo.Each(o.Objects, func(r *problem.Report, role *rbacv1.ClusterRole) {
		if !bound[role] && !isAggregated(role) {
			r.Add(nil, codeUnboundRole, "bind it or remove it", "no binding gives this role to anyone")
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

// use is one use of a service account.
type use struct {
	Account argo.Account
	Role    argo.Role
	In      manifest.Object
	Path    *field.Path
}

// usesOf returns all uses of service accounts in the objects.
func usesOf(o objects) []use {
	var out []use
	at := field.NewPath("spec", "template", "serviceAccountName")
	for _, s := range argo.All[*eventsv1.EventSource](o.Objects) {
		out = append(out, use{argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}, argo.RoleSource, s, at})
	}
	for _, s := range argo.All[*eventsv1.Sensor](o.Objects) {
		out = append(out, use{argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}, argo.RoleSensor, s, at})
	}
	for _, p := range o.Pods() {
		role := argo.RoleIn(p.Spec)
		if _, shown := p.In.(*appsv1.Deployment); shown { // it shows what the worker does
			role = roleWorker
		}
		out = append(out, use{argo.Account{Namespace: p.Namespace, Name: p.Account()}, role, p.In, p.Path})
		if p.Executor() != p.Account() {
			out = append(out, use{argo.Account{Namespace: p.Namespace, Name: p.Executor()}, role, p.In, p.Path.Child("executor")})
		}
	}
	for _, w := range o.Workers() {
		out = append(out, use{argo.Account{Namespace: w.Namespace, Name: w.Pod.Account()}, roleWorker, w.Deployment, w.Pod.Path.Child("serviceAccountName")})
	}
	return out
}
