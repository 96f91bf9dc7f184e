package argo

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Qualified returns a resource with its group, such as deployments.apps.
func Qualified(group, resource string) string {
	return strings.TrimSuffix(resource+"."+group, ".")
}

// Grant is one rule of a role, bound to one service account in one scope.
type Grant struct {
	Account   Account
	Namespace string // "" for all namespaces
	Rule      rbacv1.PolicyRule

	In   manifest.Object // the role
	Path *field.Path
}

// GrantsOf returns the rules that bindings grant to service accounts.
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

// RoleOf returns the role that a binding refers to, and its rules.
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

// Allows implements RBAC: group, resource, verb and scope must match. A rule with
// resource names allows only calls with a known name.
func (g Grant) Allows(c Call) bool {
	return g.Account == c.Account && (g.Namespace == "" || g.Namespace == c.Namespace) &&
		(len(g.Rule.ResourceNames) == 0 || slices.Contains(g.Rule.ResourceNames, c.Name)) &&
		Has(g.Rule.Verbs, c.Verb) && Has(g.Rule.APIGroups, c.Group) &&
		Has(g.Rule.Resources, c.Resource)
}

// Has reports whether a list of a policy rule includes a word or the wildcard.
func Has(list []string, want string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, want)
}

// paths parses the paths of requests as the API server does.
var paths = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// Requested returns the calls that RBAC must allow for a request of an account: none if it is
// not for a resource, two if it applies an object that there is not yet.
func Requested(a Account, method string, at *url.URL, creates bool) []Call {
	info, err := paths.NewRequestInfo(&http.Request{Method: method, URL: at})
	if err != nil || !info.IsResourceRequest {
		return nil
	}
	call := Call{
		Account: a, Verb: info.Verb, Group: info.APIGroup, Resource: strings.TrimSuffix(info.Resource+"/"+info.Subresource, "/"),
		Namespace: info.Namespace, Name: info.Name,
	}
	out := []Call{call}
	if creates && method == http.MethodPatch {
		call.Verb = "create"
		out = append(out, call)
	}
	return out
}
