package selfcheck

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// addRBAC adds the service accounts with their roles.
func (f *fixture) addRBAC() {
	const api, memcacheds = "cache.example.com", "memcacheds"
	f.addAccount("source", []rbacv1.PolicyRule{rule(api, memcacheds, "list", "watch"), rule("apps", "deployments", "list", "watch")}, nil)
	f.addAccount("sensor", nil, []rbacv1.PolicyRule{rule("argoproj.io", "workflows", "create")})
	results := rule("argoproj.io", "workflowtaskresults", "create", "patch")
	f.addAccount("workflow", []rbacv1.PolicyRule{
		rule(api, memcacheds, "get"), rule(api, memcacheds+"/status", "patch"),
		rule("apps", "deployments", "get", "list", "create", "patch", "delete"),
	}, []rbacv1.PolicyRule{results, rule("argoproj.io", "workflows", "get")})
	patchSource := rule("argoproj.io", "eventsources", "get", "patch")
	patchSource.ResourceNames = []string{"memcached"}
	f.addAccount("resync", []rbacv1.PolicyRule{rule(api, memcacheds, "list"), rule("apps", "deployments", "list")},
		[]rbacv1.PolicyRule{rule("argoproj.io", "workflows", "create"), results, patchSource})
	f.clusterRoles["view"] = &rbacv1.ClusterRole{
		TypeMeta:   rbac("ClusterRole"),
		ObjectMeta: metav1.ObjectMeta{Name: "memcacheds:view", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		Rules:      []rbacv1.PolicyRule{rule(api, memcacheds, "get", "list", "watch")},
	}
}

func (f *fixture) addAccount(name string, cluster, namespaced []rbacv1.PolicyRule) {
	full := "memcached-" + name
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: full}}
	ref := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: full}
	}
	f.accounts[name] = &corev1.ServiceAccount{TypeMeta: core("ServiceAccount"), ObjectMeta: meta(full)}
	if cluster != nil {
		f.clusterRoles[name] = &rbacv1.ClusterRole{TypeMeta: rbac("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: full}, Rules: cluster}
		f.clusterRoleBindings[name] = &rbacv1.ClusterRoleBinding{
			TypeMeta: rbac("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: full},
			RoleRef: ref("ClusterRole"), Subjects: subjects,
		}
	}
	if namespaced != nil {
		f.roles[name] = &rbacv1.Role{TypeMeta: rbac("Role"), ObjectMeta: meta(full), Rules: namespaced}
		f.roleBindings[name] = &rbacv1.RoleBinding{TypeMeta: rbac("RoleBinding"), ObjectMeta: meta(full), RoleRef: ref("Role"), Subjects: subjects}
	}
}
