package rights

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

const (
	rbacGroup      = rbacv1.GroupName
	admissionGroup = "admissionregistration.k8s.io"
	givesRole      = "can give itself and others this role"
	workloads      = "can run programs as every service account there, as far as admission policies allow"
)

// reach is what a permission leads to, in addition to what it says.
type reach int

const (
	itself      reach = iota // nothing else
	credentials              // to the credentials in Secrets
	accounts                 // to the permissions of other accounts
)

// danger is a kind of permissions. A permission belongs to the first danger that it meets.
type danger struct {
	effect    string // what the account can do with it; "" if the permission says it
	verbs     []string
	groups    []string
	resources []string
	names     names
	reach     reach
	by        string // the list of a rule whose entry shows the danger: verbs or resources
}

// names says which permissions on named objects belong to a danger.
type names int

const (
	anyNames     names = iota // whatever the names
	noNames                   // permissions without names only
	clusterAdmin              // permissions without names, or with the name cluster-admin
)

// all allows everything in a list.
func all() []string { return []string{"*"} }

// dangers lists the kinds of permissions, the most dangerous first. Each entry of a list
// meets those of a permission that name it or everything; "*" meets nothing but a
// wildcard, and a list that is missing meets every permission.
var dangers = []danger{
	{effect: "can do everything", verbs: all(), groups: all(), resources: all(), names: noNames},
	{
		effect: "can give itself every permission", reach: accounts, by: "verbs", verbs: []string{"escalate"},
		groups: []string{rbacGroup}, resources: []string{"roles", "clusterroles"},
	},
	{
		effect: "can give itself every permission", reach: accounts, by: "verbs", verbs: []string{"bind"},
		groups: []string{rbacGroup}, resources: []string{"roles", "clusterroles"}, names: clusterAdmin,
	},
	{
		effect: "can act as others", reach: accounts, by: "verbs", verbs: []string{"impersonate"},
		groups: []string{"", "authentication.k8s.io"}, resources: []string{"users", "groups", "serviceaccounts", "uids", "userextras"},
	},
	{
		effect: "can act as every service account there", reach: accounts, by: "resources", verbs: []string{"create"},
		groups: []string{""}, resources: []string{"serviceaccounts/token"}, names: noNames,
	},
	{
		effect: "can run commands in every pod", reach: accounts, by: "resources", verbs: []string{"create", "get"},
		groups: []string{""}, resources: []string{"nodes/proxy"},
	},
	{
		effect: "can change or stop what others write", verbs: []string{"create", "update", "patch", "delete", "deletecollection"},
		groups: []string{admissionGroup, "apiregistration.k8s.io"},
		resources: []string{
			"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "apiservices", "mutatingadmissionpolicies",
			"mutatingadmissionpolicybindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
		},
	},
	{
		effect: "can run commands in pods, with their permissions", reach: accounts, by: "resources", verbs: []string{"create", "get"},
		groups: []string{""}, resources: []string{"pods/exec", "pods/attach"},
	},
	{
		effect: "can run commands in pods, with their permissions", reach: accounts, by: "resources",
		verbs: []string{"update", "patch"}, groups: []string{""}, resources: []string{"pods/ephemeralcontainers"},
	},
	{
		effect: "can issue certificates for others", verbs: []string{"approve", "sign"}, groups: []string{"certificates.k8s.io"},
		resources: []string{"signers"},
	},
	{
		effect: workloads, verbs: []string{"create", "update", "patch"}, groups: []string{"", "apps", "batch"},
		resources: []string{
			"pods", "replicationcontrollers", "deployments", "statefulsets", "daemonsets", "replicasets", "jobs", "cronjobs",
		},
	},
	{
		effect: workloads, verbs: []string{"create", "update", "patch"}, groups: []string{"argoproj.io"},
		resources: []string{
			"workflows", "cronworkflows", "workflowtemplates", "clusterworkflowtemplates", "eventsources", "sensors", "eventbus",
		},
	},
	{
		effect: "can act as this service account", verbs: []string{"create"}, groups: []string{""},
		resources: []string{"serviceaccounts/token"},
	},
	{
		effect: "can read the credentials in every Secret there", reach: credentials, by: "resources",
		verbs: []string{"get", "list", "watch"}, groups: []string{""}, resources: []string{"secrets"}, names: noNames,
	},
	{
		effect: "can give others the permissions that it has", verbs: []string{"create", "update", "patch"}, groups: []string{rbacGroup},
		resources: []string{"roles", "clusterroles", "rolebindings", "clusterrolebindings"},
	},
	{effect: givesRole, verbs: []string{"bind"}, groups: []string{rbacGroup}, resources: []string{"roles", "clusterroles"}},
	{
		effect: "can read the credentials in this Secret", verbs: []string{"get", "list", "watch"}, groups: []string{""},
		resources: []string{"secrets"},
	},
	{
		effect: "can change or delete credentials of others", verbs: []string{"create", "update", "patch", "delete", "deletecollection"},
		groups: []string{""}, resources: []string{"secrets"}, names: noNames,
	},
	{
		effect: "can delete everything in a namespace, or every object of a kind", verbs: []string{"delete", "deletecollection"},
		groups: []string{"", "apiextensions.k8s.io"}, resources: []string{"namespaces", "customresourcedefinitions"},
	},
	{verbs: []string{"delete", "deletecollection"}},
	{verbs: []string{"create", "update", "patch"}},
	{},
}

// meets reports whether a permission belongs to a danger.
func (d danger) meets(rule rbacv1.PolicyRule) bool {
	switch {
	case d.names == noNames && len(rule.ResourceNames) > 0,
		d.names == clusterAdmin && len(rule.ResourceNames) > 0 && !slices.Contains(rule.ResourceNames, "cluster-admin"):
		return false
	}
	return meet(d.verbs, rule.Verbs) && meet(d.groups, rule.APIGroups) && meet(d.resources, rule.Resources)
}

// meet reports whether a list of a rule has one of some words.
func meet(words, list []string) bool {
	return words == nil || slices.ContainsFunc(words, func(word string) bool { return has(list, word) })
}

// has reports whether a list of a rule includes a word, by itself or by a wildcard.
func has(list []string, word string) bool {
	_, sub, found := strings.Cut(word, "/")
	return slices.Contains(list, "*") || slices.Contains(list, word) || found && slices.Contains(list, "*/"+sub)
}

// Danger returns the place of a rule in the order of dangers, 0 for the most dangerous, and
// what an account can do with it in addition to what the rule says; "" if that is nothing.
func Danger(rule rbacv1.PolicyRule) (int, string) {
	i := slices.IndexFunc(dangers, func(d danger) bool { return d.meets(rule) })
	return i, dangers[i].effect
}

// Power is an entry of a rule that grants more than it shows: everything, the way to the
// permissions of others, or all credentials.
type Power struct {
	Key         string // apiGroups, resources or verbs
	Index       int
	Entry       string
	Wildcard    bool
	Credentials bool
}

// Powers returns the entries of a rule that grant more than they show: wildcards, then
// those that lead to the permissions of others, then those that read all Secrets.
func Powers(rule rbacv1.PolicyRule) []Power {
	var out []Power
	for _, list := range []struct {
		key    string
		values []string
	}{{"apiGroups", rule.APIGroups}, {"resources", rule.Resources}, {"verbs", rule.Verbs}} {
		if n := slices.IndexFunc(list.values, func(s string) bool { return strings.Contains(s, "*") }); n >= 0 {
			out = append(out, Power{Key: list.key, Index: n, Entry: list.values[n], Wildcard: true})
		}
	}
	for _, d := range []reach{accounts, credentials} {
		out = append(out, entries(rule, d)...)
	}
	return out
}

// entries returns the entries of a rule that lead further, without wildcards.
func entries(rule rbacv1.PolicyRule, to reach) []Power {
	var out []Power
	for _, key := range []string{"resources", "verbs"} {
		list := rule.Resources
		if key == "verbs" {
			list = rule.Verbs
		}
		for n, entry := range list {
			if slices.ContainsFunc(dangers, func(d danger) bool {
				words := d.resources
				if key == "verbs" {
					words = d.verbs
				}
				return d.reach == to && d.by == key && slices.Contains(words, entry) && d.meets(rule)
			}) {
				out = append(out, Power{Key: key, Index: n, Entry: entry, Credentials: to == credentials})
			}
		}
	}
	return out
}

// powerfulRoles are the ClusterRoles of Kubernetes that give access to the permissions of
// others, with what they allow.
var powerfulRoles = map[string]string{
	"cluster-admin": "every permission",
	"admin":         "the Secrets, pods and roles of the namespace",
	"edit":          "the Secrets and pods of the namespace",
}

// PowerfulRole says what a ClusterRole of Kubernetes allows, if it gives access to the
// permissions of others.
func PowerfulRole(name string) (string, bool) {
	allows, ok := powerfulRoles[name]
	return allows, ok
}
