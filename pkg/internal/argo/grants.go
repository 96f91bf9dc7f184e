package argo

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Where says in which namespace a call is made.
func (c Call) Where() string {
	if c.Namespace == "" {
		return "in the whole cluster"
	}
	return "in namespace " + c.Namespace
}

// Qualified is a resource with its group, such as deployments.apps.
func Qualified(group, resource string) string {
	return strings.TrimSuffix(resource+"."+group, ".")
}

// Grant is one rule of a role for one service account in one scope.
type Grant struct {
	Account   Account
	Namespace string // "" for the whole cluster
	Rule      rbacv1.PolicyRule

	In   manifest.Object // the role
	Path *field.Path
}

// GrantsOf are the rules of all roles that bindings give to service accounts.
func GrantsOf(o Objects) []Grant {
	var out []Grant
	for _, b := range All[*rbacv1.ClusterRoleBinding](o) {
		out = append(out, bound(o, b.RoleRef, b.Subjects, "")...)
	}
	for _, b := range All[*rbacv1.RoleBinding](o) {
		out = append(out, bound(o, b.RoleRef, b.Subjects, b.Namespace)...)
	}
	return out
}

func bound(o Objects, ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespace string) []Grant {
	role, rules, ok := RoleOf(o, ref, namespace)
	if !ok {
		return nil
	}
	var out []Grant
	for _, s := range subjects {
		for i, rule := range rules {
			if s.Kind == rbacv1.ServiceAccountKind {
				out = append(out, Grant{
					Account: Account{s.Namespace, s.Name}, Namespace: namespace, Rule: rule,
					In: role, Path: field.NewPath("rules").Index(i),
				})
			}
		}
	}
	return out
}

// RoleOf finds the role that a binding refers to, and its rules.
func RoleOf(o Objects, ref rbacv1.RoleRef, namespace string) (manifest.Object, []rbacv1.PolicyRule, bool) {
	if ref.Kind == "ClusterRole" {
		if role, ok := Find[*rbacv1.ClusterRole](o, "", ref.Name); ok {
			return role, role.Rules, true
		}
		return nil, nil, false
	}
	if role, ok := Find[*rbacv1.Role](o, namespace, ref.Name); ok {
		return role, role.Rules, true
	}
	return nil, nil, false
}

// Allows is the API server's rule: everything must match. A rule with resource
// names allows only what is known to act on one of them.
func (g Grant) Allows(c Call) bool {
	return g.Account == c.Account && (g.Namespace == "" || g.Namespace == c.Namespace) && (len(g.Rule.ResourceNames) == 0 || slices.Contains(g.Rule.ResourceNames, c.Name)) &&
		Has(g.Rule.Verbs, c.Verb) && Has(g.Rule.APIGroups, c.Group) && Has(g.Rule.Resources, c.Resource)
}

// Has reports whether a list of a policy rule includes a word, by itself or by a wildcard.
func Has(list []string, want string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, want)
}

// Named tells whether every call that a grant is for acts on an object whose
// name is known, where the API server can tell: it cannot for create and lists.
func (g Grant) Named(calls []Call) bool {
	if len(g.Rule.ResourceNames) > 0 || slices.Contains([]string{"create", "list", "watch", "deletecollection"}, g.Rule.Verbs[0]) {
		return false
	}
	return !slices.ContainsFunc(calls, func(c Call) bool { return g.Namespace == c.Namespace && g.Allows(c) && c.Name == "" })
}

// Urls finds grants of what is no resource.
func (g Grant) Urls() []problem.Problem {
	r := problem.About(g.In)
	if len(g.Rule.NonResourceURLs) > 0 {
		r.Add(g.Path.Child("nonResourceURLs"), problem.CodeUnusedPermission, "remove it", "an operator calls no such URL")
	}
	return r.Problems
}

// Single divides a grant into those of one group, resource, verb and name.
func (g Grant) Single() []Grant {
	names := [][]string{nil}
	if len(g.Rule.ResourceNames) > 0 {
		names = slices.Collect(slices.Chunk(g.Rule.ResourceNames, 1))
	}
	var out []Grant
	for _, group := range g.Rule.APIGroups {
		for _, resource := range g.Rule.Resources {
			for _, verb := range g.Rule.Verbs {
				for _, name := range names {
					out = append(out, Grant{Account: g.Account, Namespace: g.Namespace, Rule: rbacv1.PolicyRule{
						APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: name,
					}})
				}
			}
		}
	}
	return out
}
