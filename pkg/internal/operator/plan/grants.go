package plan

import (
	"reflect"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// grants returns every permission with its reason. TestOperators of
// pkg/internal/run/testsuite compares them with the requests that operators send: none may
// lack a permission, and no permission may be unused.
func grants(p *configured, sensors []Sensor) []Grant {
	if !p.Reconcile.Execution.RunsPods || p.Reconcile.Execution.Stays {
		return append(ownGrants(p), sharedGrants(p, sensors)...)
	}
	list := []Grant{watch(SourceAccount, p.API.Kind, "watch "+p.API.Kind.Plural)}
	for _, k := range p.watchedKinds() {
		list = append(list, watch(SourceAccount, k, "watch children for drift and readiness"))
	}
	list = append(list, submitGrant(p))
	list = append(list, relatedGrants(p)...)
	list = append(list, reconcilerGrants(p)...)
	list = append(list, resyncGrants(p)...)
	if p.API.Kind.StatusSubresource {
		list = append(list, Grant{
			Account: ReconcileAccount, Group: ArgoGroup, Resource: "workflows", Verbs: []string{"get"},
			Reason: "read why a reconcile failed, for the status",
		})
	}
	list = append(list, heartbeatGrants(p, sensors)...)
	list = append(list, taskResults(ReconcileAccount), taskResults(ResyncAccount))
	return append(list, elections(p)...)
}

// onceEach returns each permission once: several patches of one kind need the same.
func onceEach(list []Grant) []Grant {
	var out []Grant
	for _, g := range list {
		if !slices.ContainsFunc(out, func(had Grant) bool { return reflect.DeepEqual(had, g) }) {
			out = append(out, g)
		}
	}
	return out
}

// resyncAccount returns the account that looks at all custom resources.
func (p *decided) resyncAccount() Account {
	if p.Reconcile.Execution.Stays {
		return p.workerAccounts()[0]
	}
	return ResyncAccount
}

// elections returns the permissions of the pods of Argo Events that elect a leader.
func elections(p *configured) []Grant {
	if !p.Shared.LeaderElection {
		return nil
	}
	return []Grant{leases(SourceAccount), leases(SensorAccount)}
}

// submitGrant returns the permission to submit Workflows for events. Changes of related
// objects within one window share a Workflow, so the trigger looks whether it exists.
func submitGrant(p *configured) Grant {
	g := Grant{
		Account:  SensorAccount,
		Group:    ArgoGroup,
		Resource: "workflows",
		Verbs:    []string{"create"},
		Reason:   "create one Workflow per reconcile",
	}
	if p.EnqueuesRelated() {
		g.Verbs = append(g.Verbs, "get", "patch")
		g.Reason += " and one per window of changes of related objects"
	}
	return g
}

// ArgoGroup is the API group of Argo Events and Argo Workflows.
const ArgoGroup = schema.ArgoGroup

func watch(a Account, k Kind, why string) Grant {
	return Grant{Account: a, Group: k.Group, Resource: k.Plural, Verbs: []string{"list", "watch"}, InWatchedNamespaces: true, Reason: why}
}

func taskResults(a Account) Grant {
	return Grant{
		Account: a, Group: ArgoGroup, Resource: "workflowtaskresults", Verbs: []string{"create", "patch"},
		Reason: "report the result of a step (Argo executor)",
	}
}

func leases(a Account) Grant {
	return Grant{
		Account: a, Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"get", "create", "update"},
		Reason: "elect a leader among the replicas",
	}
}

func reconcilerGrants(p *configured) []Grant {
	k, writer := p.API.Kind, p.Reconcile.Execution.Writer
	read := Grant{
		Account:             writer,
		Group:               k.Group,
		Resource:            k.Plural,
		Verbs:               []string{"get"},
		InWatchedNamespaces: true,
		Reason:              "read the custom resource at the start of each reconcile",
	}
	if p.Reconcile.Execution.Stays {
		read.Verbs = append(read.Verbs, "list")
		read.Reason += "; find those that need one"
	}
	if p.Runtime.DeleteAfter != nil {
		read.Verbs = append(read.Verbs, "delete")
		read.Reason += "; delete it after its time"
	}
	if p.Reconcile.Finalizer != "" {
		read.Verbs = append(read.Verbs, "patch")
		read.Reason += "; add and remove the finalizer"
	}
	if p.Runtime.SensorTemplates {
		read.Reason += "; request another computation of the children by an annotation"
	}
	if p.hasRelated() {
		read.Reason += "; store a digest of the related objects in an annotation"
	}
	if p.API.Decorate {
		read.Reason += "; set labels and annotations that the logic returns"
	}
	if p.Reconcile.Finalizer == "" && (p.Runtime.SensorTemplates || p.hasRelated() || p.API.Decorate) {
		read.Verbs = append(read.Verbs, "patch")
	}
	list := []Grant{read}
	if k.StatusSubresource {
		list = append(list, Grant{
			Account: writer, Group: k.Group, Resource: k.Plural + "/status", Verbs: []string{"patch"},
			InWatchedNamespaces: true, Reason: "write the status",
		})
	}
	if p.emitsEvents() {
		list = append(list, eventGrant(p, writer))
	}
	for _, child := range p.childKinds() {
		list = append(list, childGrant(p, child))
	}
	list = append(list, patchGrants(p)...)
	if p.Logic.ResyncAfter && !p.Reconcile.Execution.Stays {
		list = append(list, Grant{
			Account: ReconcileAccount, Group: ArgoGroup, Resource: "workflows", Verbs: []string{"get", "list", "create", "delete"},
			Reason: "create and delete the Workflow that waits for the next reconcile of the custom resource",
		})
	}
	return list
}

// childGrant returns the permissions of a reconcile on the children of one kind. The
// steps engine does not prune, because it manages exactly one child.
func childGrant(p *configured, k Kind) Grant {
	g := Grant{
		Account: p.Reconcile.Execution.Writer, Group: k.Group, Resource: k.Plural, Verbs: []string{"get", "list", "create", "patch"},
		InWatchedNamespaces: true,
		Reason:              "read children, and write them by server-side apply",
	}
	if !p.Reconcile.Execution.Prunes {
		return g
	}
	for _, c := range p.Children {
		if c.Kind == k && (!c.Orphan || p.deletes(c)) {
			g.Verbs = append(g.Verbs, "delete")
			g.Reason += "; delete children that are no longer desired"
			break
		}
	}
	return g
}

func resyncGrants(p *configured) []Grant {
	look := Grant{
		Account: ResyncAccount, Group: p.API.Kind.Group, Resource: p.API.Kind.Plural, Verbs: []string{"list"}, InWatchedNamespaces: true,
		Reason: "list custom resources for the resync",
	}
	if p.Runtime.SensorTemplates {
		look.Verbs = append(look.Verbs, "patch")
		look.Reason += "; request another computation of the children by an annotation"
	}
	list := []Grant{look}
	for _, k := range p.childKinds() {
		list = append(list, Grant{
			Account: ResyncAccount, Group: k.Group, Resource: k.Plural, Verbs: []string{"list"}, InWatchedNamespaces: true,
			Reason: "list children for the resync",
		})
	}
	workflows := func(reason string, verbs ...string) {
		list = append(list, Grant{Account: ResyncAccount, Group: ArgoGroup, Resource: "workflows", Verbs: verbs, Reason: reason})
	}
	if !p.Runtime.SensorTemplates {
		workflows("create one Workflow per outdated custom resource", "create")
	}
	if p.EnqueuesRelated() {
		workflows("delete those that wait to find what changed, once it has been found", "get", "list", "delete")
	}
	return list
}

// sharedGrants returns those that operators of a group share.
func sharedGrants(p *configured, sensors []Sensor) []Grant {
	if p.Reconcile.Execution.Stays {
		list := append(heartbeatGrants(p, sensors), elections(p)...)
		for _, a := range p.workerAccounts() {
			list = append(list, leases(a))
		}
		return append(list, showGrants(p)...)
	}
	list := append(heartbeatGrants(p, sensors), taskResults(ResyncAccount))
	list = append(list, rotationGrants(p)...)
	list = append(list, diagnosisGrants(p)...)
	return append(list, elections(p)...)
}

// ownGrants returns those that an operator of a group adds.
func ownGrants(p *configured) []Grant {
	k := p.API.Kind
	list := []Grant{watch(SourceAccount, k, "watch "+k.Plural)}
	for _, child := range p.watchedKinds() {
		list = append(list, watch(SourceAccount, child, "watch children for drift and readiness"))
	}
	if p.Reconcile.Execution.Stays {
		return append(append(list, relatedGrants(p)...), reconcilerGrants(p)...)
	}
	for _, child := range p.childKinds() {
		list = append(list, writeGrant(p, child))
	}
	if p.Reconcile.StateLocation == InStatus || p.WritesStatus() {
		list = append(list, Grant{
			Account: SensorAccount, Group: k.Group, Resource: k.Plural + "/status", Verbs: []string{"patch"}, InWatchedNamespaces: true,
			Reason: "write the status and the observed state of the children",
		})
	}
	if p.emitsEvents() {
		list = append(list, eventGrant(p, SensorAccount))
	}
	if p.Reconcile.StateLocation == InAnnotations {
		list = append(list, Grant{
			Account: SensorAccount, Group: k.Group, Resource: k.Plural, Verbs: []string{"patch"}, InWatchedNamespaces: true,
			Reason: "store the observed state of the children in annotations",
		})
	}
	if p.Reconcile.Finalizer != "" {
		list = append(list, Grant{
			Account: SensorAccount, Group: k.Group, Resource: k.Plural, Verbs: []string{"patch"}, InWatchedNamespaces: true,
			Reason: "add and remove the finalizer",
		})
	}
	return list
}

// writeGrant returns the permissions of the Sensors on the children of one kind.
func writeGrant(p *configured, k Kind) Grant {
	g := Grant{
		Account: SensorAccount, Group: k.Group, Resource: k.Plural, Verbs: []string{"create", "patch"}, InWatchedNamespaces: true,
		Reason: "create and update children by server-side apply",
	}
	for _, c := range p.Children {
		if c.Kind != k || !p.deletes(c) {
			continue
		}
		g.Verbs = append(g.Verbs, "delete")
		switch {
		case p.listed(c):
			g.Reason += "; delete children that are no longer desired"
		case c.When == nil:
			g.Reason += "; replace children whose immutable fields change"
		default:
			g.Reason += "; delete children whose `when` is no longer true"
		}
		break
	}
	return g
}
