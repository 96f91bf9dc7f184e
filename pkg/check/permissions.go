package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// permissions holds the Roles to the calls: no call without its grant, no grant
// without its call, in the same scope. The pod's program may use any grant of its
// service account.
func permissions(o objects) []Problem {
	calls, grants, scripted := callsOf(o), grantsOf(o), runScripts(o)
	out := unvouched(o)
	for _, c := range calls {
		if !slices.ContainsFunc(grants, func(g grant) bool { return g.allows(c) }) {
			r := about(c.in)
			r.add(c.path, CodePermission, fmt.Sprintf("grant it %s", c.where()),
				"service account %s may not %s %s: %s", c.account, c.verb, qualified(c.group, c.resource), c.why)
			out = append(out, r.problems...)
		}
	}
	for _, g := range grants {
		out = append(out, g.urls()...)
		if !slices.Contains(scripted, g.account) {
			out = append(out, g.unused(calls)...)
		}
	}
	return append(out, wildcards(o)...)
}

func (c call) where() string {
	if c.namespace == "" {
		return "in the whole cluster"
	}
	return "in namespace " + c.namespace
}

func qualified(group, resource string) string {
	return strings.TrimSuffix(resource+"."+group, ".")
}

// unvouched finds what makes calls that nothing here can derive.
func unvouched(o objects) []Problem {
	out := each(o, func(r *report, s *eventsv1.Sensor) {
		for _, t := range o.triggers(s) {
			switch k := t.Template.K8s; {
			case t.parts() != nil:
				callsOfComputed(r, o, s, t)
			case t.resource() != nil:
				spelling(r, o, s, t)
			case t.Template.Log != nil:
			case k != nil:
				r.add(t.path.Child("template", "k8s", "source"), CodeCall, "state the object under resource", "its API calls cannot be told from here")
			default:
				r.add(t.path.Child("template"), CodeCall, "use a k8s or log trigger", "its API calls cannot be told from here")
			}
		}
	})
	for _, p := range o.pods() {
		r := about(p.in)
		for _, s := range p.scripts(o) {
			switch {
			case !slices.Contains(commands, s.command):
				r.add(p.path, CodeCall, "", "%s has no command %q", scriptFile, s.command)
			case !s.configured:
				r.add(p.path, CodeCall, "mount the ConfigMap", "%s %s runs without a %s", scriptFile, s.command, configFile)
			}
		}
		out = append(out, r.problems...)
	}
	return out
}

// spelling: a trigger on a kind whose resource Argo Events spells otherwise than
// its CustomResourceDefinition calls a URL that is not there.
func spelling(r *report, o objects, s *eventsv1.Sensor, t trigger) {
	var object metav1.PartialObjectMetadata
	_ = json.Unmarshal(t.resource(), &object) // strict decoding has reported what is no object
	for _, crd := range all[*apiextensionsv1.CustomResourceDefinition](o) {
		called := triggerCall(s, t).resource
		if crd.Spec.Group == object.GroupVersionKind().Group && crd.Spec.Names.Kind == object.Kind && crd.Spec.Names.Plural != called {
			r.add(t.resourcePath(), CodeCall, "give the kind this plural", "Argo Events calls the resource %s, its definition %s", called, crd.Spec.Names.Plural)
		}
	}
}

// grant is one rule of a role for one service account in one scope.
type grant struct {
	account   account
	namespace string // "" for the whole cluster
	rule      rbacv1.PolicyRule

	in   manifest.Object // the role
	path *field.Path
}

// grantsOf are the rules of all roles that bindings give to service accounts.
func grantsOf(o objects) []grant {
	var out []grant
	for _, b := range all[*rbacv1.ClusterRoleBinding](o) {
		out = append(out, bound(o, b.RoleRef, b.Subjects, "")...)
	}
	for _, b := range all[*rbacv1.RoleBinding](o) {
		out = append(out, bound(o, b.RoleRef, b.Subjects, b.Namespace)...)
	}
	return out
}

func bound(o objects, ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespace string) []grant {
	role, rules, ok := roleOf(o, ref, namespace)
	if !ok {
		return nil
	}
	var out []grant
	for _, s := range subjects {
		for i, rule := range rules {
			if s.Kind == rbacv1.ServiceAccountKind {
				out = append(out, grant{
					account: account{s.Namespace, s.Name}, namespace: namespace, rule: rule,
					in: role, path: field.NewPath("rules").Index(i),
				})
			}
		}
	}
	return out
}

func roleOf(o objects, ref rbacv1.RoleRef, namespace string) (manifest.Object, []rbacv1.PolicyRule, bool) {
	if ref.Kind == "ClusterRole" {
		if role, ok := find[*rbacv1.ClusterRole](o, "", ref.Name); ok {
			return role, role.Rules, true
		}
		return nil, nil, false
	}
	if role, ok := find[*rbacv1.Role](o, namespace, ref.Name); ok {
		return role, role.Rules, true
	}
	return nil, nil, false
}

// allows is the API server's rule: everything must match. A rule with resource
// names allows only what is known to act on one of them.
func (g grant) allows(c call) bool {
	return g.account == c.account && (g.namespace == "" || g.namespace == c.namespace) && (len(g.rule.ResourceNames) == 0 || slices.Contains(g.rule.ResourceNames, c.name)) &&
		has(g.rule.Verbs, c.verb) && has(g.rule.APIGroups, c.group) && has(g.rule.Resources, c.resource)
}

func has(list []string, want string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, want)
}

// named tells whether every call that a grant is for acts on an object whose
// name is known, where the API server can tell: it cannot for create and lists.
func (g grant) named(calls []call) bool {
	if len(g.rule.ResourceNames) > 0 || slices.Contains([]string{"create", "list", "watch", "deletecollection"}, g.rule.Verbs[0]) {
		return false
	}
	return !slices.ContainsFunc(calls, func(c call) bool { return g.namespace == c.namespace && g.allows(c) && c.name == "" })
}

// urls finds grants of what is no resource.
func (g grant) urls() []Problem {
	r := about(g.in)
	if len(g.rule.NonResourceURLs) > 0 {
		r.add(g.path.Child("nonResourceURLs"), CodeExcess, "remove it", "an operator calls no such URL")
	}
	return r.problems
}

// unused are the grant's single permissions that no call needs in its scope.
func (g grant) unused(calls []call) []Problem {
	r := about(g.in)
	for _, one := range g.single() {
		verb, on := one.rule.Verbs[0], qualified(one.rule.APIGroups[0], one.rule.Resources[0])
		if len(one.rule.ResourceNames) > 0 {
			on += " " + one.rule.ResourceNames[0]
		}
		switch {
		case !slices.ContainsFunc(calls, func(c call) bool { return one.namespace == c.namespace && one.allows(c) }):
			r.add(g.path, CodeExcess, "remove it", "service account %s never needs to %s %s %s", g.account, verb, on, call{namespace: g.namespace}.where())
		case one.named(calls):
			r.add(g.path, CodeExcess, "state resourceNames", "service account %s needs to %s %s of known names only", g.account, verb, on)
		}
	}
	return r.problems
}

// single divides a grant into those of one group, resource, verb and name.
func (g grant) single() []grant {
	names := [][]string{nil}
	if len(g.rule.ResourceNames) > 0 {
		names = slices.Collect(slices.Chunk(g.rule.ResourceNames, 1))
	}
	var out []grant
	for _, group := range g.rule.APIGroups {
		for _, resource := range g.rule.Resources {
			for _, verb := range g.rule.Verbs {
				for _, name := range names {
					out = append(out, grant{account: g.account, namespace: g.namespace, rule: rbacv1.PolicyRule{
						APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: name,
					}})
				}
			}
		}
	}
	return out
}

// wildcards finds rules that grant what does not exist yet.
func wildcards(o objects) []Problem {
	check := func(r *report, rules []rbacv1.PolicyRule) {
		for i, rule := range rules {
			for _, s := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				if strings.Contains(s, "*") {
					r.add(field.NewPath("rules").Index(i), CodeWildcard, "name what is needed", "a wildcard grants what nobody has looked at")
					break
				}
			}
		}
	}
	out := each(o, func(r *report, role *rbacv1.Role) { check(r, role.Rules) })
	return append(out, each(o, func(r *report, role *rbacv1.ClusterRole) { check(r, role.Rules) })...)
}
