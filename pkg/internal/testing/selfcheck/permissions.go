package selfcheck

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

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// permissions compares the Roles with the calls: each call needs a grant, and each
// grant needs a call, in the same scope. The program of a pod may use any grant of
// its service account.
func permissions(o objects) []problem.Problem {
	calls, grants, scripted := callsOf(o), argo.GrantsOf(o.Objects), scriptAccounts(o)
	out := underivableCalls(o)
	for _, c := range calls {
		if !slices.ContainsFunc(grants, func(g argo.Grant) bool { return g.Allows(c) }) {
			r := problem.About(c.In)
			r.Add(c.Path, codeMissingPermission, fmt.Sprintf("grant it %s", where(c.Namespace)),
				"service account %s may not %s %s: %s", c.Account, c.Verb, argo.Qualified(c.Group, c.Resource), c.Why)
			out = append(out, r.Problems...)
		}
	}
	for _, g := range grants {
		if manifest.IsHeld(g.In) {
			continue
		}
		out = append(out, checkURLs(g)...)
		if !slices.Contains(scripted, g.Account) {
			out = append(out, unusedPermissions(g, calls)...)
		}
	}
	return append(out, wildcards(o)...)
}

// underivableCalls reports triggers and scripts whose API calls cannot be derived
// from the manifests.
func underivableCalls(o objects) []problem.Problem {
	out := argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		for _, t := range o.Triggers(s) {
			switch k := t.Template.K8s; {
			case t.PostsInCluster(): // the worker calls
			case t.Parts() != nil:
				computedTriggerCalls(r, o, s, t)
			case t.Resource() != nil:
				checkPlural(r, o, s, t)
			case t.Template.Log != nil:
			case k != nil:
				r.Add(
					t.Path.Child("template", "k8s", "source"),
					codeUnknownRequest,
					"write the object under resource",
					"its API calls cannot be derived",
				)
			default:
				r.Add(t.Path.Child("template"), codeUnknownRequest, "use a k8s or log trigger", "its API calls cannot be derived")
			}
		}
	})
	for _, p := range o.pods() {
		r := problem.About(p.In)
		for _, s := range p.Scripts(o.Objects) {
			switch {
			case !slices.Contains(commands, s.Command):
				r.Add(p.Path, codeUnknownRequest, "", "%s has no command %q", argo.ScriptFile, s.Command)
			case !s.Configured:
				r.Add(
					p.Path,
					codeUnknownRequest,
					"mount the ConfigMap",
					"%s %s runs without a %s",
					argo.ScriptFile,
					s.Command,
					argo.ConfigFile,
				)
			}
		}
		out = append(out, r.Problems...)
	}
	return out
}

// checkPlural reports a trigger that would call a URL that does not exist, because
// Argo Events guesses another plural than the CustomResourceDefinition defines.
func checkPlural(r *problem.Report, o objects, s *eventsv1.Sensor, t argo.Trigger) {
	var object metav1.PartialObjectMetadata
	_ = json.Unmarshal(t.Resource(), &object) // strict decoding has already reported invalid objects
	for _, crd := range argo.All[*apiextensionsv1.CustomResourceDefinition](o.Objects) {
		plural := argo.TriggerCall(s, t).Resource
		if crd.Spec.Group == object.GroupVersionKind().Group && crd.Spec.Names.Kind == object.Kind && crd.Spec.Names.Plural != plural {
			r.Add(
				t.ResourcePath(),
				codeUnknownRequest,
				"give the kind this plural",
				"Argo Events calls the resource %s, its definition %s",
				plural,
				crd.Spec.Names.Plural,
			)
		}
	}
}

// unusedPermissions reports the grant's permissions that no call needs in its
// scope.
func unusedPermissions(g argo.Grant, calls []argo.Call) []problem.Problem {
	r := problem.About(g.In)
	for _, single := range singles(g) {
		verb, resource := single.Rule.Verbs[0], argo.Qualified(single.Rule.APIGroups[0], single.Rule.Resources[0])
		if len(single.Rule.ResourceNames) > 0 {
			resource += " " + single.Rule.ResourceNames[0]
		}
		switch {
		case !slices.ContainsFunc(calls, func(c argo.Call) bool { return single.Namespace == c.Namespace && single.Allows(c) }):
			r.Add(
				g.Path,
				codeUnusedPermission,
				"remove it",
				"service account %s never needs to %s %s %s",
				g.Account,
				verb,
				resource,
				where(g.Namespace),
			)
		case named(single, calls):
			r.Add(
				g.Path,
				codeUnusedPermission,
				"state resourceNames",
				"service account %s needs to %s %s of known names only",
				g.Account,
				verb,
				resource,
			)
		}
	}
	return r.Problems
}

// wildcards reports rules with wildcards, which also grant resources that do not
// exist yet.
func wildcards(o objects) []problem.Problem {
	check := func(r *problem.Report, rules []rbacv1.PolicyRule) {
		if manifest.IsHeld(r.Object) {
			return
		}
		for i, rule := range rules {
			for _, s := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				if strings.Contains(s, "*") {
					r.Add(
						field.NewPath("rules").Index(i),
						codeWildcard,
						"name what is needed",
						"a wildcard grants what nobody has looked at",
					)
					break
				}
			}
		}
	}
	out := argo.Each(o.Objects, func(r *problem.Report, role *rbacv1.Role) { check(r, role.Rules) })
	return append(out, argo.Each(o.Objects, func(r *problem.Report, role *rbacv1.ClusterRole) { check(r, role.Rules) })...)
}

// where describes a namespace; "" is all of them.
func where(namespace string) string {
	if namespace == "" {
		return "in the whole cluster"
	}
	return "in namespace " + namespace
}

// named reports whether every call that needs the grant has a known name, so that
// resourceNames could restrict it. RBAC cannot restrict create and list by name.
func named(g argo.Grant, calls []argo.Call) bool {
	if len(g.Rule.ResourceNames) > 0 || slices.Contains([]string{"create", "list", "watch", "deletecollection"}, g.Rule.Verbs[0]) {
		return false
	}
	return !slices.ContainsFunc(calls, func(c argo.Call) bool { return g.Namespace == c.Namespace && g.Allows(c) && c.Name == "" })
}

// checkURLs reports grants of non-resource URLs.
func checkURLs(g argo.Grant) []problem.Problem {
	r := problem.About(g.In)
	if len(g.Rule.NonResourceURLs) > 0 {
		r.Add(g.Path.Child("nonResourceURLs"), codeUnusedPermission, "remove it", "operators do not call this URL")
	}
	return r.Problems
}

// singles splits a grant into grants of one group, resource, verb and name.
func singles(g argo.Grant) []argo.Grant {
	names := [][]string{nil}
	if len(g.Rule.ResourceNames) > 0 {
		names = slices.Collect(slices.Chunk(g.Rule.ResourceNames, 1))
	}
	var out []argo.Grant
	for _, group := range g.Rule.APIGroups {
		for _, resource := range g.Rule.Resources {
			for _, verb := range g.Rule.Verbs {
				for _, name := range names {
					out = append(out, argo.Grant{Account: g.Account, Namespace: g.Namespace, Rule: rbacv1.PolicyRule{
						APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: name,
					}})
				}
			}
		}
	}
	return out
}
