package argo

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Power is an entry of a rule that grants more than it shows: everything, or the way to the
// permissions of others.
type Power struct {
	Key      string // apiGroups, resources or verbs
	Index    int
	Entry    string
	Wildcard bool
}

// Powers returns the entries of a rule that grant more than they show.
func Powers(rule rbacv1.PolicyRule) []Power {
	var out []Power
	for _, list := range []struct {
		key    string
		values []string
	}{{"apiGroups", rule.APIGroups}, {"resources", rule.Resources}, {"verbs", rule.Verbs}} {
		if n := slices.IndexFunc(list.values, func(s string) bool { return strings.Contains(s, "*") }); n >= 0 {
			out = append(out, Power{list.key, n, list.values[n], true})
		}
	}
	for n, resource := range rule.Resources {
		if resource == "serviceaccounts/token" && len(rule.ResourceNames) > 0 {
			continue // restricted to named accounts
		}
		others := []string{"pods/exec", "pods/attach", "pods/ephemeralcontainers", "nodes/proxy", "serviceaccounts/token"}
		if slices.Contains(others, resource) && (Has(rule.Verbs, "create") || Has(rule.Verbs, "get")) {
			out = append(out, Power{"resources", n, resource, false})
		}
	}
	for n, verb := range rule.Verbs {
		if verb == "bind" && len(rule.ResourceNames) > 0 && !slices.Contains(rule.ResourceNames, "cluster-admin") {
			continue // restricted to named roles
		}
		if slices.Contains([]string{"impersonate", "bind", "escalate"}, verb) {
			out = append(out, Power{"verbs", n, verb, false})
		}
	}
	return out
}
