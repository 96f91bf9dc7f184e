package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/argo"
)

// rightsRules check roles and service accounts.
func rightsRules() []Rule {
	return []Rule{
		{
			Code:    "unknown-verb",
			Summary: "A role grants a verb that does not exist.",
			Why:     "Verbs are those of Kubernetes and not of HTTP: post and put grant nothing.",
			Fix:     "create for post, update for put; or remove it",
			check:   eachRule(unknownVerbs),
		},
		{
			Code:    "wildcard-permission",
			Warning: true,
			Summary: "A role grants a wildcard.",
			Why:     "It grants what nobody has looked at, kinds that do not exist yet included.",
			Fix:     "name what is needed",
			check:   eachRule(wildcardRight),
		},
		{
			Code:    "broad-permission",
			Warning: true,
			Summary: "A role grants what leads to other rights.",
			Why:     "Who may exec into pods, impersonate, bind or escalate has the rights of others as well.",
			Fix:     "remove it",
			check:   eachRule(powerful),
		},
		{
			Code:    "shared-service-account",
			Warning: true,
			Summary: "One service account serves EventSources, Sensors and Workflows.",
			Why:     "Each has the rights of all: a program in a Workflow may create Workflows and read what the EventSource watches.",
			Fix:     "one service account for each of them",
			check:   sharedAccount,
		},
		{
			Code:    "missing-task-result-permission",
			Warning: true,
			Summary: "The service account of a Workflow may not report results.",
			Why:     "The executor writes WorkflowTaskResults; without the right every Workflow fails, since Argo Workflows 3.6 without a way out.",
			Fix:     "grant create and patch on workflowtaskresults.argoproj.io",
			check:   eachFlow(noTaskResults),
		},
		{
			Code:    "missing-watch-permission",
			Warning: true,
			Summary: "The service account of an EventSource may not watch what it is to watch.",
			Why:     "Its pod tries for ever and stays Running: nothing says so but its log.",
			Fix:     "grant list and watch",
			check:   on(noWatch),
		},
		{
			Code:    "missing-trigger-permission",
			Warning: true,
			Summary: "The service account of a Sensor may not do what a trigger does.",
			Why:     "Each event is answered with 403, and lost when the tries are used up.",
			Fix:     "grant it",
			check:   eachTrigger(noTriggerRight),
		},
	}
}

// eachRule calls check for every rule of every role.
func eachRule(check func(*inspection, *field.Path, rbacv1.PolicyRule)) func(*inspection) {
	return func(i *inspection) {
		var rules []rbacv1.PolicyRule
		switch o := i.Object.(type) {
		case *rbacv1.Role:
			rules = o.Rules
		case *rbacv1.ClusterRole:
			rules = o.Rules
		}
		for n, rule := range rules {
			check(i, field.NewPath("rules").Index(n), rule)
		}
	}
}

// kubernetesVerbs are the verbs of the Kubernetes APIs.
var kubernetesVerbs = []string{
	"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*",
	"use", "bind", "escalate", "impersonate", "approve", "sign", "attest", "proxy", "head", "options",
}

func unknownVerbs(i *inspection, path *field.Path, rule rbacv1.PolicyRule) {
	kubernetes := !slices.ContainsFunc(rule.APIGroups, func(g string) bool {
		return strings.Contains(g, ".") && !strings.HasSuffix(g, "k8s.io") && g != argo.Group
	})
	for n, verb := range rule.Verbs {
		otherAPI := !kubernetes && !slices.Contains([]string{"post", "put"}, verb) // an aggregated API may define verbs of its own
		if len(rule.NonResourceURLs) == 0 && !otherAPI && !slices.Contains(kubernetesVerbs, verb) {
			i.report(path.Child("verbs").Index(n), "%q is no verb of Kubernetes", verb)
		}
	}
}

func wildcardRight(i *inspection, path *field.Path, rule rbacv1.PolicyRule) {
	for name, list := range map[string][]string{"apiGroups": rule.APIGroups, "resources": rule.Resources, "verbs": rule.Verbs} {
		if n := slices.IndexFunc(list, func(s string) bool { return strings.Contains(s, "*") }); n >= 0 {
			i.report(path.Child(name).Index(n), "grants all %s", name)
		}
	}
}

func powerful(i *inspection, path *field.Path, rule rbacv1.PolicyRule) {
	for n, resource := range rule.Resources {
		if resource == "serviceaccounts/token" && len(rule.ResourceNames) > 0 {
			continue // restricted to named accounts
		}
		if slices.Contains([]string{"pods/exec", "pods/attach", "pods/ephemeralcontainers", "nodes/proxy", "serviceaccounts/token"}, resource) &&
			(argo.Has(rule.Verbs, "create") || argo.Has(rule.Verbs, "get")) {
			i.report(path.Child("resources").Index(n), "%s leads to the rights of other accounts", resource)
		}
	}
	for n, verb := range rule.Verbs {
		if slices.Contains([]string{"impersonate", "bind", "escalate"}, verb) {
			i.report(path.Child("verbs").Index(n), "%s leads to the rights of others", verb)
		}
	}
}

func sharedAccount(i *inspection) {
	name, path := "", field.NewPath("spec", "template", "serviceAccountName")
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		name = argo.EventsAccount(o.Spec.Template)
	case *eventsv1.Sensor:
		name = argo.EventsAccount(o.Spec.Template)
	}
	if roles := slices.Sorted(maps.Keys(i.set.roles[name])); name != "" && name != "default" && len(roles) > 1 {
		i.report(path, "service account %s serves as %v at once", name, roles)
	}
}

// bound reports whether the objects grant the account anything. If not, its roles
// are probably in other files.
func (s *objectSet) bound(a argo.Account) bool {
	return slices.ContainsFunc(s.grants, func(g argo.Grant) bool { return sameAccount(g.Account, a) })
}

func sameAccount(a, b argo.Account) bool {
	return a.Name == b.Name && (a.Namespace == b.Namespace || a.Namespace == "" || b.Namespace == "")
}

// granted reports whether a call is allowed, in any namespace if the call has none.
func (s *objectSet) granted(c argo.Call) bool {
	return slices.ContainsFunc(s.grants, func(g argo.Grant) bool {
		if !sameAccount(g.Account, c.Account) {
			return false
		}
		one := c
		one.Account = g.Account
		if c.Namespace == "" {
			one.Namespace = g.Namespace
		}
		if len(g.Rule.ResourceNames) > 0 && one.Name == "" {
			one.Name = g.Rule.ResourceNames[0]
		}
		return g.Allows(one)
	})
}

// missing returns the verbs that an account lacks, if its roles are among the
// objects.
func (s *objectSet) missing(c argo.Call, verbs ...string) []string {
	if !s.bound(c.Account) || c.Account.Name == "default" {
		return nil
	}
	return slices.DeleteFunc(verbs, func(verb string) bool {
		c.Verb = verb
		return s.granted(c)
	})
}

func noTaskResults(i *inspection, f flow) {
	p := argo.Pod{Spec: f.spec}
	if !i.targets.Workflows.atLeast(3, 4) || f.spec.ServiceAccountName == "" || f.inherits() && !f.driven {
		return
	}
	c := argo.Call{Account: argo.Account{Namespace: i.Object.GetNamespace(), Name: p.Executor()}, Group: argo.Group, Resource: "workflowtaskresults"}
	if lacks := i.set.missing(c, "create", "patch"); len(lacks) > 0 {
		i.report(f.path.Child("serviceAccountName"), "service account %s may not %s workflowtaskresults", c.Account.Name, strings.Join(lacks, " and "))
	}
}

func noWatch(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e := s.Spec.Resource[name]
		c := argo.Call{Account: argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}, Group: e.Group, Resource: e.Resource, Namespace: e.Namespace}
		if lacks := i.set.missing(c, "list", "watch"); len(lacks) > 0 {
			i.report(field.NewPath("spec", "resource").Key(name), "service account %s may not %s %s",
				c.Account.Name, strings.Join(lacks, " and "), argo.Qualified(c.Group, c.Resource))
		}
	}
}

func noTriggerRight(i *inspection, s *eventsv1.Sensor, t argo.Trigger) {
	by := argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}
	var c argo.Call
	var verbs []string
	switch {
	case t.Template.ArgoWorkflow != nil && t.Template.ArgoWorkflow.Operation == eventsv1.Submit:
		c, verbs = argo.Call{Group: argo.Group, Resource: "workflows"}, []string{"create"}
	case t.Template.K8s != nil && t.Resource() != nil && t.Parts() == nil:
		c, verbs = argo.TriggerCall(s, t), argo.OperationVerbs[t.Template.K8s.Operation]
		if _, ok := resourceOf(t); !ok {
			return
		}
	default:
		return
	}
	c.Account, c.Namespace = by, ""
	if lacks := i.set.missing(c, slices.Clone(verbs)...); len(lacks) > 0 {
		i.reportHint(t.Path.Child("template"), fmt.Sprintf("grant %s on %s", strings.Join(lacks, " and "), argo.Qualified(c.Group, c.Resource)),
			"service account %s may not %s %s", by.Name, strings.Join(lacks, " and "), argo.Qualified(c.Group, c.Resource))
	}
}
