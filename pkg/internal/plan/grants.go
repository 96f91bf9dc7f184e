package plan

import "github.com/argoperator/argoperator/pkg/internal/schema"

// grants returns every permission with its reason. TestOperators of
// pkg/internal/testsuite compares them with the requests that operators send: none may
// lack a permission, and no permission may be unused.
func grants(p *Plan) []Grant {
	if !p.Reconcile.Execution.RunsPods {
		return directGrants(p)
	}
	list := []Grant{watch(SourceAccount, p.API.Kind, "the EventSource watches "+p.API.Kind.Plural)}
	kinds := childKinds(p)
	for _, k := range kinds {
		list = append(list, watch(SourceAccount, k, "the EventSource watches children: drift and readiness"))
	}
	list = append(list,
		submitGrant(p))
	list = append(list, relatedGrants(p)...)
	list = append(list, reconcilerGrants(p)...)
	list = append(list, resyncGrants(p, kinds)...)
	if p.API.Kind.StatusSubresource {
		list = append(list, Grant{
			Account: ReconcileAccount, Group: ArgoGroup, Resource: "workflows", Verbs: []string{"get"},
			Reason: "a failed reconcile says on the status what failed",
		})
	}
	list = append(list, heartbeatGrants(p)...)
	list = append(list, taskResults(ReconcileAccount), taskResults(ResyncAccount))
	if p.Install.LeaderElection {
		list = append(list, leases(SourceAccount), leases(SensorAccount))
	}
	return list
}

// submitGrant returns the permission to submit Workflows for events. Changes of related
// objects within one window share a Workflow, so the trigger looks whether it exists.
func submitGrant(p *Plan) Grant {
	g := Grant{Account: SensorAccount, Group: ArgoGroup, Resource: "workflows", Verbs: []string{"create"}, Reason: "one Workflow a reconcile"}
	if p.EnqueuesRelated() {
		g.Verbs = append(g.Verbs, "get", "patch")
		g.Reason += "; one for all changes of related objects of a moment"
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
		Reason: "Argo's executor reports the outcome of a step",
	}
}

func leases(a Account) Grant {
	return Grant{
		Account: a, Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"get", "create", "update"},
		Reason: "the replicas elect a leader",
	}
}

func reconcilerGrants(p *Plan) []Grant {
	k := p.API.Kind
	read := Grant{Account: ReconcileAccount, Group: k.Group, Resource: k.Plural, Verbs: []string{"get"}, InWatchedNamespaces: true, Reason: "every reconcile begins with a fresh read"}
	if p.Reconcile.Finalizer != "" {
		read.Verbs = append(read.Verbs, "patch")
		read.Reason += "; the finalizer is added and removed"
	}
	if p.Runtime.SensorTemplates {
		read.Reason += "; an annotation asks the Sensor to compute the children again"
	}
	if len(p.Related) > 0 {
		read.Reason += "; an annotation keeps a digest of the related objects"
	}
	if p.API.Decorate {
		read.Reason += "; the logic labels and annotates it"
	}
	if p.Reconcile.Finalizer == "" && (p.Runtime.SensorTemplates || len(p.Related) > 0 || p.API.Decorate) {
		read.Verbs = append(read.Verbs, "patch")
	}
	list := []Grant{read}
	if k.StatusSubresource {
		list = append(list, Grant{
			Account: ReconcileAccount, Group: k.Group, Resource: k.Plural + "/status", Verbs: []string{"patch"},
			InWatchedNamespaces: true, Reason: "the outcome is written on the status",
		})
	}
	if emitsEvents(p) {
		list = append(list, eventGrant(p, ReconcileAccount))
	}
	for _, child := range childKinds(p) {
		list = append(list, childGrant(p, child))
	}
	list = append(list, patchGrants(p)...)
	if p.Logic.ResyncAfter {
		list = append(list, Grant{
			Account: ReconcileAccount, Group: ArgoGroup, Resource: "workflows", Verbs: []string{"create", "list", "delete"},
			Reason: "a Workflow waits until the custom resource is to be reconciled again, and goes when that has changed",
		})
	}
	return list
}

// childGrant returns the permissions of a reconcile on the children of one kind. The
// steps engine does not prune, because it manages exactly one child.
func childGrant(p *Plan, k Kind) Grant {
	g := Grant{
		Account: ReconcileAccount, Group: k.Group, Resource: k.Plural, Verbs: []string{"get", "list", "create", "patch"}, InWatchedNamespaces: true,
		Reason: "children are looked at before they are written, and written by server-side apply",
	}
	if !p.Reconcile.Execution.Prunes {
		return g
	}
	for _, c := range p.Children {
		if c.Kind == k && !c.Orphan {
			g.Verbs = append(g.Verbs, "delete")
			g.Reason += "; those no longer wanted are deleted"
			break
		}
	}
	return g
}

func resyncGrants(p *Plan, kinds []Kind) []Grant {
	look := Grant{
		Account: ResyncAccount, Group: p.API.Kind.Group, Resource: p.API.Kind.Plural, Verbs: []string{"list"}, InWatchedNamespaces: true,
		Reason: "the resync looks at every custom resource",
	}
	if p.Runtime.SensorTemplates {
		look.Verbs = append(look.Verbs, "patch")
		look.Reason += "; an annotation asks the Sensor to compute the children again"
	}
	list := []Grant{look}
	for _, k := range kinds {
		list = append(list, Grant{
			Account: ResyncAccount, Group: k.Group, Resource: k.Plural, Verbs: []string{"list"}, InWatchedNamespaces: true,
			Reason: "the resync looks at every child",
		})
	}
	if p.Runtime.SensorTemplates {
		return list
	}
	return append(list, Grant{
		Account: ResyncAccount, Group: ArgoGroup, Resource: "workflows", Verbs: []string{"create"}, Reason: "one Workflow for each custom resource that is due",
	})
}

// directGrants returns the permissions of the direct engine.
func directGrants(p *Plan) []Grant { return append(ownGrants(p), sharedGrants(p)...) }

// sharedGrants returns those that operators of a group share.
func sharedGrants(p *Plan) []Grant {
	list := append(heartbeatGrants(p), taskResults(ResyncAccount))
	list = append(list, rotationGrants(p)...)
	list = append(list, diagnosisGrants(p)...)
	if p.Install.LeaderElection {
		list = append(list, leases(SourceAccount), leases(SensorAccount))
	}
	return list
}

// ownGrants returns those that an operator of a group adds.
func ownGrants(p *Plan) []Grant {
	k := p.API.Kind
	list := []Grant{watch(SourceAccount, k, "the EventSource watches "+k.Plural)}
	for _, child := range childKinds(p) {
		list = append(list, watch(SourceAccount, child, "the EventSource watches children: drift and readiness"))
	}
	for _, child := range childKinds(p) {
		list = append(list, writeGrant(p, child))
	}
	if p.Reconcile.StateLocation == InStatus || p.WritesStatus() {
		list = append(list, Grant{
			Account: SensorAccount, Group: k.Group, Resource: k.Plural + "/status", Verbs: []string{"patch"}, InWatchedNamespaces: true,
			Reason: "the outcome, and what was seen of the children, is written on the status",
		})
	}
	if emitsEvents(p) {
		list = append(list, eventGrant(p, SensorAccount))
	}
	if p.Reconcile.StateLocation == InAnnotations {
		list = append(list, Grant{
			Account: SensorAccount, Group: k.Group, Resource: k.Plural, Verbs: verbs(p, "patch"), InWatchedNamespaces: true,
			Reason: "what was seen of the children is kept in annotations",
		})
	}
	if p.Reconcile.Finalizer != "" {
		list = append(list, Grant{
			Account: SensorAccount, Group: k.Group, Resource: k.Plural, Verbs: []string{"patch"}, InWatchedNamespaces: true,
			Reason: "the finalizer is added and removed",
		})
	}
	return list
}

// writeGrant returns the permissions of the Sensors on the children of one kind.
func writeGrant(p *Plan, k Kind) Grant {
	g := Grant{
		Account: SensorAccount, Group: k.Group, Resource: k.Plural, Verbs: verbs(p, "create", "patch"), InWatchedNamespaces: true,
		Reason: "children are written by server-side apply, which creates what is not there",
	}
	if p.Reconcile.Trigger == "k8s" {
		g.Reason = "children are patched, or created where there is none"
	}
	for _, c := range p.Children {
		if c.Kind != k || !p.listed(c) && c.When == nil && c.Replaced == nil {
			continue
		}
		g.Verbs = append(g.Verbs, "delete")
		switch {
		case p.listed(c):
			g.Reason += "; those no longer wanted are deleted"
		case c.When == nil:
			g.Reason += "; those with a change that the API server refuses are replaced"
		default:
			g.Reason += "; those whose `when` is no longer true are deleted"
		}
		break
	}
	return g
}

// verbs returns the verbs of a write. The k8s trigger gets the object first.
func verbs(p *Plan, list ...string) []string {
	if p.Reconcile.Trigger == "k8s" {
		return append([]string{"get"}, list...)
	}
	return list
}
