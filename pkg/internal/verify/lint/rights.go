package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/operator/rights"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// permissionRules check roles and service accounts.
func permissionRules() []Rule {
	return []Rule{
		{
			Code:    "unknown-verb",
			Summary: "A role grants a verb that does not exist.",
			Why:     "Verbs are those of Kubernetes, not of HTTP: post and put grant nothing.",
			Fix:     "use create for post and update for put, or remove the verb",
			check:   eachRule(unknownVerbs),
		},
		{
			Code:    "wildcard-permission",
			Warning: true,
			Summary: "A role grants permissions with a wildcard.",
			Why:     "It grants more than anyone has reviewed, including kinds that will be installed later.",
			Fix:     "list the API groups, resources and verbs that are needed",
			check:   eachRule(wildcardRight),
		},
		{
			Code:    "broad-permission",
			Warning: true,
			Summary: "A role grants a permission that leads to the permissions of others.",
			Why: "An account that can exec into pods, create tokens, impersonate, bind or escalate can use the permissions of other " +
				"accounts. Restrict bind and the creation of tokens with resourceNames.",
			Fix:   "remove the permission, unless the program needs it, as Argo's workflow controller needs exec",
			check: eachRule(powerful),
		},
		{
			Code:    "shared-service-account",
			Warning: true,
			Strict:  true,
			Summary: "EventSources, Sensors or Workflows share a service account.",
			Why: "Each has the permissions of all: a program in a Workflow could start Workflows and read everything that the " +
				"EventSource watches.",
			Fix:   "use a service account for each of them",
			check: sharedAccount,
		},
		{
			Code:    "missing-task-result-permission",
			Warning: true,
			Argo:    Version{3, 4},
			Summary: "The service account of a Workflow cannot report results.",
			Why: "Argo's executor in every pod writes a WorkflowTaskResult. Without the permission every Workflow fails since Argo " +
				"Workflows 3.6. The agent of templates of type http and plugin reads and writes a WorkflowTaskSet.",
			Fix:   "grant create and patch on workflowtaskresults.argoproj.io",
			check: eachFlow(noTaskResults),
		},
		{
			Code:    "missing-watch-permission",
			Warning: true,
			Summary: "The service account of an EventSource cannot watch the configured resource.",
			Why:     "The pod retries forever and its state is Running. Only its log shows the error.",
			Fix:     "grant list and watch on the resource",
			check:   on(noWatch),
		},
		{
			Code:    "missing-persistence-permission",
			Warning: true,
			Summary: "The service account of an EventSource cannot store when its calendar fired last.",
			Why:     "The EventSource does not make up for the times at which it was away. Only its log shows the error.",
			Fix:     "grant get, create and update on configmaps",
			check:   on(noPersistence),
		},
		{
			Code:    "missing-trigger-permission",
			Warning: true,
			Summary: "The service account of a Sensor does not have the permissions of a trigger.",
			Why:     "Every call fails with 403, and the event is lost after the last retry.",
			Fix:     "grant the permission",
			check:   eachTrigger(noTriggerRight),
		},
		{
			Code:    "missing-resource-permission",
			Warning: true,
			Summary: "The service account of a Workflow does not have the permissions of a resource template.",
			Why:     "The pod calls the API server with its service account, and the step fails with 403.",
			Fix:     "grant the permission",
			check:   eachFlow(noResourceRights),
		},
		{
			Code:    "missing-lease-permission",
			Warning: true,
			Summary: "The service account of an EventSource or Sensor cannot hold the Lease of its leader.",
			Why:     "With the annotation events.argoproj.io/leader-election: k8s no replica becomes the leader, and no event is handled.",
			Fix:     "grant get, create and update on leases.coordination.k8s.io",
			check:   noLease,
		},
		{
			Code:    "binding-without-subjects",
			Warning: true,
			Summary: "A RoleBinding or ClusterRoleBinding has no subjects.",
			Why:     "It grants its role to nobody.",
			Fix:     "add subjects, or remove the binding",
			check:   eachBinding(bindsNobody),
		},
		{
			Code:    "unknown-role",
			Warning: true,
			Summary: "A binding refers to a role that the files do not have, and no binding refers to one that they have.",
			Why:     "Kubernetes accepts the binding, and it grants nothing.",
			Fix:     "correct roleRef",
			check:   eachBinding(bindsNothing),
		},
		{
			Code:    "missing-service-account",
			Warning: true,
			Summary: "A service account is not in the files, although others are.",
			Why: "Pods of a service account that does not exist are not created. The files bind a role to it and create others, or they " +
				"create another one with permissions on Argo's kinds that nothing uses.",
			Fix:   "add the ServiceAccount, or correct the name",
			check: missingAccount,
		},
		{
			Code:    "binding-for-everyone",
			Warning: true,
			Summary: "A binding grants a role to everyone.",
			Why: "The groups system:authenticated and system:serviceaccounts contain every service account of the cluster, and " +
				"system:unauthenticated everyone who can reach the API server.",
			Fix:   "name the service accounts that need the role",
			check: eachBinding(bindsEveryone),
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
		near := diag.Nearest(verb, kubernetesVerbs[:8], strings.ToLower)
		otherAPI := !kubernetes && !slices.Contains([]string{"post", "put"}, verb) // an aggregated API may define other verbs
		switch {
		case len(rule.NonResourceURLs) > 0 || slices.Contains(kubernetesVerbs, verb):
		case near != "":
			i.reportHint(path.Child("verbs").Index(n), "did you mean "+near+"?", "unknown verb %q", verb)
		case !otherAPI:
			i.report(path.Child("verbs").Index(n), "unknown verb %q", verb)
		}
	}
}

func wildcardRight(i *inspection, path *field.Path, rule rbacv1.PolicyRule) {
	for _, p := range rights.Powers(rule) {
		if p.Wildcard {
			i.report(path.Child(p.Key).Index(p.Index), "the rule grants %s in %s", p.Entry, p.Key)
		}
	}
}

func powerful(i *inspection, path *field.Path, rule rbacv1.PolicyRule) {
	for _, p := range rights.Powers(rule) {
		if !p.Wildcard && !p.Credentials {
			i.report(path.Child(p.Key).Index(p.Index), "%s gives access to the permissions of other accounts", p.Entry)
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
	if roles := i.set.rolesOf(i.Object.GetNamespace(), name); name != "" && name != "default" && len(roles) > 1 {
		i.report(path, "service account %s is used by %s", name, strings.Join(roles, " and "))
	}
}

// rolesOf returns what a service account is used for: EventSources, Sensors, Workflows.
func (s *objectSet) rolesOf(namespace, name string) []string {
	var out []string
	for _, use := range s.accounts[name] {
		role := string(use.role) + "s"
		if sameAccount(argo.Account{Namespace: use.namespace}, argo.Account{Namespace: namespace}) && !slices.Contains(out, role) {
			out = append(out, role)
		}
	}
	slices.Sort(out)
	return out
}

// bound reports whether the objects grant the account anything. If not, its roles
// are probably in other files.
func (s *objectSet) bound(a argo.Account) bool {
	return slices.ContainsFunc(s.all.List, func(o manifest.Object) bool {
		b, ok := bindingIn(o)
		if !ok {
			return false
		}
		_, _, known := argo.RoleOf(s.all, b.role, o.GetNamespace())
		return known && slices.ContainsFunc(b.subjects, func(subject rbacv1.Subject) bool {
			of := argo.Account{Namespace: subject.Namespace, Name: subject.Name}
			return subject.Kind == rbacv1.ServiceAccountKind && sameAccount(of, a)
		})
	})
}

func sameAccount(a, b argo.Account) bool {
	return a.Name == b.Name && sameNamespace(a.Namespace, b.Namespace)
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
		byName := !slices.Contains([]string{"create", "list", "watch"}, c.Verb) // RBAC does not know the name in these
		if len(g.Rule.ResourceNames) > 0 && one.Name == "" && byName {
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
	if f.spec.ServiceAccountName == "" || f.inherits() && !f.driven {
		return
	}
	c := argo.Call{
		Account:  argo.Account{Namespace: i.Object.GetNamespace(), Name: p.Executor()},
		Group:    argo.Group,
		Resource: "workflowtaskresults",
	}
	if lacks := i.set.missing(c, "create", "patch"); len(lacks) > 0 {
		i.report(
			f.path.Child("serviceAccountName"),
			"service account %s cannot %s workflowtaskresults",
			c.Account.Name,
			strings.Join(lacks, " and "),
		)
	}
	at := slices.IndexFunc(f.templates(), func(t template) bool { return t.HTTP != nil || t.Plugin != nil })
	if at < 0 {
		return
	}
	c.Account.Name = f.spec.ServiceAccountName // of the agent
	for resource, verbs := range map[string][]string{"workflowtasksets": {"list", "watch"}, "workflowtasksets/status": {"patch"}} {
		c.Resource = resource
		if lacks := i.set.missing(c, verbs...); len(lacks) > 0 {
			i.reportHint(f.path.Child("serviceAccountName"),
				"grant list and watch on workflowtasksets.argoproj.io, and patch on workflowtasksets/status",
				"service account %s cannot %s %s, so template %s has no result", c.Account.Name, strings.Join(lacks, " and "), resource,
				f.templates()[at].Name)
		}
	}
}

func noWatch(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Resource)) {
		e := s.Spec.Resource[name]
		c := argo.Call{
			Account:   argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)},
			Group:     e.Group,
			Resource:  e.Resource,
			Namespace: e.Namespace,
			Name:      selectedName(e),
		}
		if lacks := i.set.missing(c, "list", "watch"); len(lacks) > 0 {
			i.reportHint(
				field.NewPath("spec", "resource").Key(name),
				"grant "+strings.Join(lacks, " and ")+" on "+argo.Qualified(c.Group, c.Resource),
				"service account %s cannot %s %s",
				c.Account.Name,
				strings.Join(lacks, " and "),
				argo.Qualified(c.Group, c.Resource),
			)
		} else if e.Namespace == "" && i.set.onlyInNamespaces(c) {
			i.reportHint(field.NewPath("spec", "resource").Key(name), "grant it by a ClusterRoleBinding, or set namespace",
				"service account %s can watch %s in single namespaces, but the EventSource watches all of them",
				c.Account.Name, argo.Qualified(c.Group, c.Resource))
		}
	}
}

func noPersistence(i *inspection, s *eventsv1.EventSource) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Calendar)) {
		p := s.Spec.Calendar[name].Persistence
		if p == nil || p.ConfigMap == nil {
			continue
		}
		verbs := []string{"get", "update"}
		if p.ConfigMap.CreateIfNotExist {
			verbs = append(verbs, "create")
		}
		c := argo.Call{
			Account: argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}, Resource: "configmaps",
			Name: p.ConfigMap.Name,
		}
		if lacks := i.set.missing(c, verbs...); len(lacks) > 0 {
			what := strings.Join(lacks, " and ")
			i.reportHint(field.NewPath("spec", "calendar").Key(name).Child("persistence"), "grant "+what+" on configmaps",
				"service account %s cannot %s configmaps", c.Account.Name, what)
		}
	}
}

// selectedName returns the name of the only object that an entry watches; "" if it is not
// limited to one.
func selectedName(e eventsv1.ResourceEventSource) string {
	if e.Filter == nil {
		return ""
	}
	for _, f := range e.Filter.Fields {
		if f.Key == "metadata.name" && f.Operation != "!=" {
			return f.Value
		}
	}
	return ""
}

// onlyInNamespaces reports whether an account may list or watch objects in some namespaces
// only.
func (s *objectSet) onlyInNamespaces(c argo.Call) bool {
	return s.bound(c.Account) && c.Account.Name != "default" && slices.ContainsFunc([]string{"list", "watch"}, func(verb string) bool {
		return !slices.ContainsFunc(s.grants, func(g argo.Grant) bool {
			one := c
			one.Account, one.Verb = g.Account, verb
			return sameAccount(g.Account, c.Account) && g.Namespace == "" && g.Allows(one)
		})
	})
}

func noLease(i *inspection) {
	account := ""
	switch o := i.Object.(type) {
	case *eventsv1.EventSource:
		if len(o.Spec.Resource)+len(o.Spec.Calendar) == 0 {
			return // other types do not elect a leader
		}
		account = argo.EventsAccount(o.Spec.Template)
	case *eventsv1.Sensor:
		account = argo.EventsAccount(o.Spec.Template)
	default:
		return
	}
	c := argo.Call{
		Account: argo.Account{Namespace: i.Object.GetNamespace(), Name: account}, Group: "coordination.k8s.io", Resource: "leases",
		Namespace: i.Object.GetNamespace(),
	}
	if i.Object.GetAnnotations()[argo.LeaderElection] != "k8s" {
		return
	}
	if lacks := i.set.missing(c, "get", "create", "update"); len(lacks) > 0 {
		i.reportHint(field.NewPath("metadata", "annotations").Key(argo.LeaderElection),
			"grant "+strings.Join(lacks, " and ")+" on leases.coordination.k8s.io",
			"service account %s cannot %s leases", account, strings.Join(lacks, " and "))
	}
}

func noTriggerRight(i *inspection, s *eventsv1.Sensor, t argo.Trigger) {
	by := argo.Account{Namespace: s.Namespace, Name: argo.EventsAccount(s.Spec.Template)}
	var c argo.Call
	var verbs []string
	switch {
	case t.Template.ArgoWorkflow != nil && t.Template.ArgoWorkflow.Operation == eventsv1.Submit:
		c, verbs = argo.Call{Group: argo.Group, Resource: "workflows"}, []string{"create", "list"} // it looks for what it submitted
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
		i.reportHint(
			t.Path.Child("template"),
			fmt.Sprintf("grant %s on %s", strings.Join(lacks, " and "), argo.Qualified(c.Group, c.Resource)),
			"service account %s cannot %s %s",
			by.Name,
			strings.Join(lacks, " and "),
			argo.Qualified(c.Group, c.Resource),
		)
	}
}
