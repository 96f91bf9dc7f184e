package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Nobody may grant rights that they do not hold: the API server accepts a Role from those
// who hold its rules or may escalate, and a binding from those who hold the rules of its
// role or may bind it. So the account that writes such children gets what it needs, where
// the template says it in plain text. The rest is for install.permissions.

const rbacGroup = "rbac.authorization.k8s.io"

// heldGrants returns the rights that the writer of the children holds in order to grant
// them, and those of install.permissions.
func heldGrants(p *decided, d *definition.Definition) []Grant {
	var list []Grant
	add := func(rule v1alpha1.Permission, namespace, reason string) {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				list = append(list, Grant{
					Account: p.Reconcile.Execution.Writer, Group: group, Resource: resource, Names: rule.ResourceNames, Verbs: rule.Verbs,
					InWatchedNamespaces: namespace == "", Namespace: namespace, Held: true, Reason: reason,
				})
			}
		}
	}
	for i, c := range p.Children {
		needs, _ := NeedsToGrant(c.Kind, d.Operator.Spec.Children[i])
		reason := "granted by child %s; RBAC requires that the operator has it too"
		if needs.Verb == "bind" {
			reason = "bound by child %s; RBAC requires that the operator has these permissions too"
		}
		for _, rule := range needs.Rules {
			add(rule, c.FixedNamespace(), fmt.Sprintf(reason, c.Name))
		}
	}
	for _, given := range d.Operator.Spec.Install.Permissions {
		add(given, "", cmp.Or(given.Reason, "set in install.permissions"))
	}
	return list
}

// FixedNamespace returns the namespace of all objects of a child; "" if they are in several, or in
// none. The writer of a Role or a RoleBinding needs what it grants in its namespace only.
func (c Child) FixedNamespace() string {
	if !c.Kind.Namespaced || c.Namespace == nil {
		return ""
	}
	fixed, _ := c.Namespace.Const()
	name, _ := fixed.(string)
	return name
}

// GrantNeeds is what the API server requires of the writer of a child that grants rights.
type GrantNeeds struct {
	Needs    string                // for the message
	Verb     string                // escalate or bind
	Resource string                // roles or clusterroles; empty: the template does not say which
	Rules    []v1alpha1.Permission // that allow it, if the template says in plain text what it grants
}

// Missing returns the roles of some for which the writer does not hold what it needs: the
// operator gives it what is plain text, and the definition the rest. "" is a role of an
// unknown name.
func (n GrantNeeds) Missing(permissions []v1alpha1.Permission, roles []string) []string {
	if n.Rules != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(roles), func(role string) bool {
		return slices.ContainsFunc(permissions, func(given v1alpha1.Permission) bool { return n.met(given, role) })
	})
}

func (n GrantNeeds) met(given v1alpha1.Permission, role string) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, want) || slices.Contains(list, "*")
	}
	resources := []string{n.Resource}
	if n.Resource == "" {
		resources = []string{"roles", "clusterroles"}
	}
	return has(given.APIGroups, rbacGroup) && has(given.Verbs, n.Verb) &&
		!slices.ContainsFunc(resources, func(resource string) bool { return !has(given.Resources, resource) }) &&
		(role == "" || len(given.ResourceNames) == 0 || slices.Contains(given.ResourceNames, role))
}

// NeedsToGrant returns what the API server requires of the writer of a child; false if
// the child grants nothing.
func NeedsToGrant(k Kind, in v1alpha1.Child) (GrantNeeds, bool) {
	if k.Group != rbacGroup {
		return GrantNeeds{}, false
	}
	switch k.Kind {
	case "Role", "ClusterRole":
		rules, list := in.Template["rules"].([]any)
		none := in.Template["rules"] == nil || list && len(rules) == 0
		if in.Template != nil && none && in.Template["aggregationRule"] == nil {
			return GrantNeeds{}, false
		}
		n := GrantNeeds{Needs: "holds every right that it grants", Verb: "escalate", Resource: strings.ToLower(k.Kind) + "s"}
		if in.Template["aggregationRule"] == nil {
			n.Rules = PlainRules(rules)
		}
		return n, true
	case "RoleBinding", "ClusterRoleBinding":
		return needsToBind(in), true
	}
	return GrantNeeds{}, false
}

// PlainRules returns the rules of a template; nil if one of them is computed, or for
// URLs.
func PlainRules(rules []any) []v1alpha1.Permission {
	var out []v1alpha1.Permission
	for _, rule := range rules {
		fields, isMap := rule.(map[string]any)
		if !isMap || fields["nonResourceURLs"] != nil || schema.IsComputed(rule) {
			return nil
		}
		texts := func(key string) []string {
			var list []string
			entries, _ := fields[key].([]any)
			for _, entry := range entries {
				list = append(list, fmt.Sprint(entry))
			}
			return list
		}
		out = append(out, v1alpha1.Permission{
			APIGroups: texts("apiGroups"), Resources: texts("resources"), ResourceNames: texts("resourceNames"), Verbs: texts("verbs"),
		})
	}
	return out
}

// needsToBind returns the requirements for a binding, whose role is known if it is plain
// text.
func needsToBind(in v1alpha1.Child) GrantNeeds {
	plain := func(value any) string {
		text, _ := value.(string)
		if schema.IsComputed(text) {
			return ""
		}
		return text
	}
	ref, _ := in.Template["roleRef"].(map[string]any)
	kind, name := plain(ref["kind"]), plain(ref["name"])
	n := GrantNeeds{Needs: "may bind the role", Verb: "bind"}
	if kind != "" {
		n.Needs, n.Resource = "may bind that "+kind, strings.ToLower(kind)+"s"
	}
	if kind != "" && name != "" {
		n.Needs = "may bind " + kind + " " + name
		n.Rules = []v1alpha1.Permission{
			{APIGroups: []string{rbacGroup}, Resources: []string{n.Resource}, ResourceNames: []string{name}, Verbs: []string{n.Verb}},
		}
	}
	return n
}
