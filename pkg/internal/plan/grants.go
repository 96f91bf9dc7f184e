package plan

// grants lists every permission with its reason. TestOperators of pkg/internal/testsuite
// compares them with the requests that operators make: none may lack a permission,
// and no permission may stay unused.
func grants(p *Plan) []Grant {
	if !p.Reconcile.Execution.RunsPods {
		return directGrants(p)
	}
	list := []Grant{watch(Source, p.API.Kind, "the EventSource watches "+p.API.Kind.Plural)}
	kinds := childKinds(p)
	for _, k := range kinds {
		list = append(list, watch(Source, k, "the EventSource watches children: drift and readiness"))
	}
	list = append(list,
		launching(p))
	list = append(list, relatedGrants(p)...)
	list = append(list, reconcilerGrants(p)...)
	list = append(list, resyncGrants(p, kinds)...)
	if p.API.Kind.Status {
		list = append(list, Grant{
			Account: Reconciler, Group: argo, Resource: "workflows", Verbs: []string{"get"},
			Why: "a failed reconcile says on the status what failed",
		})
	}
	list = append(list, heartbeatGrants(p)...)
	list = append(list, taskResults(Reconciler), taskResults(Resyncer))
	if p.Install.LeaderElection {
		list = append(list, leases(Source), leases(Actor))
	}
	return list
}

// launching is what makes Workflows of events. Changes of related objects of one
// moment share a Workflow: the trigger looks whether it is there.
func launching(p *Plan) Grant {
	g := Grant{Account: Actor, Group: argo, Resource: "workflows", Verbs: []string{"create"}, Why: "one Workflow a reconcile"}
	if p.Enqueues() {
		g.Verbs = append(g.Verbs, "get", "patch")
		g.Why += "; one for all changes of related objects of a moment"
	}
	return g
}

const argo = "argoproj.io"

func watch(a Account, k Kind, why string) Grant {
	return Grant{Account: a, Group: k.Group, Resource: k.Plural, Verbs: []string{"list", "watch"}, Watched: true, Why: why}
}

func taskResults(a Account) Grant {
	return Grant{
		Account: a, Group: argo, Resource: "workflowtaskresults", Verbs: []string{"create", "patch"},
		Why: "Argo's executor reports the outcome of a step",
	}
}

func leases(a Account) Grant {
	return Grant{
		Account: a, Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"get", "create", "update"},
		Why: "the replicas elect a leader",
	}
}

func reconcilerGrants(p *Plan) []Grant {
	k := p.API.Kind
	read := Grant{Account: Reconciler, Group: k.Group, Resource: k.Plural, Verbs: []string{"get"}, Watched: true, Why: "every reconcile begins with a fresh read"}
	if p.Reconcile.Finalizer != "" {
		read.Verbs = append(read.Verbs, "patch")
		read.Why += "; the finalizer is added and removed"
	}
	if p.Runtime.Templates {
		read.Why += "; an annotation asks the Sensor to compute the children again"
	}
	if len(p.Related) > 0 {
		read.Why += "; an annotation keeps a digest of the related objects"
	}
	if p.API.Decorate {
		read.Why += "; the logic labels and annotates it"
	}
	if p.Reconcile.Finalizer == "" && (p.Runtime.Templates || len(p.Related) > 0 || p.API.Decorate) {
		read.Verbs = append(read.Verbs, "patch")
	}
	list := []Grant{read}
	if k.Status {
		list = append(list, Grant{
			Account: Reconciler, Group: k.Group, Resource: k.Plural + "/status", Verbs: []string{"patch"},
			Watched: true, Why: "the outcome is written on the status",
		})
	}
	if emitsEvents(p) {
		list = append(list, eventGrant(p, Reconciler))
	}
	for _, child := range childKinds(p) {
		list = append(list, childGrant(p, child))
	}
	if p.Logic.Later {
		list = append(list, Grant{
			Account: Reconciler, Group: argo, Resource: "workflows", Verbs: []string{"create", "list", "delete"},
			Why: "a Workflow waits until the custom resource is to be reconciled again, and goes when that has changed",
		})
	}
	return list
}

// childGrant is what a reconcile does with the children of one kind. The steps
// engine does not prune: it keeps exactly one child.
func childGrant(p *Plan, k Kind) Grant {
	g := Grant{
		Account: Reconciler, Group: k.Group, Resource: k.Plural, Verbs: []string{"get", "list", "create", "patch"}, Watched: true,
		Why: "children are looked at before they are written, and written by server-side apply",
	}
	if !p.Reconcile.Execution.Prunes {
		return g
	}
	for _, c := range p.Children {
		if c.Kind == k && !c.Orphan {
			g.Verbs = append(g.Verbs, "delete")
			g.Why += "; those no longer wanted are deleted"
			break
		}
	}
	return g
}

func resyncGrants(p *Plan, kinds []Kind) []Grant {
	look := Grant{
		Account: Resyncer, Group: p.API.Kind.Group, Resource: p.API.Kind.Plural, Verbs: []string{"list"}, Watched: true,
		Why: "the resync looks at every custom resource",
	}
	if p.Runtime.Templates {
		look.Verbs = append(look.Verbs, "patch")
		look.Why += "; an annotation asks the Sensor to compute the children again"
	}
	list := []Grant{look}
	for _, k := range kinds {
		list = append(list, Grant{
			Account: Resyncer, Group: k.Group, Resource: k.Plural, Verbs: []string{"list"}, Watched: true,
			Why: "the resync looks at every child",
		})
	}
	if p.Runtime.Templates {
		return list
	}
	return append(list, Grant{
		Account: Resyncer, Group: argo, Resource: "workflows", Verbs: []string{"create"}, Why: "one Workflow for each custom resource that is due",
	})
}

// directGrants are those of the direct engine.
func directGrants(p *Plan) []Grant {
	k := p.API.Kind
	list := []Grant{watch(Source, k, "the EventSource watches "+k.Plural)}
	for _, child := range childKinds(p) {
		list = append(list, watch(Source, child, "the EventSource watches children: drift and readiness"))
	}
	for _, child := range childKinds(p) {
		list = append(list, writing(p, child))
	}
	if p.Reconcile.Memory == InStatus || reports(p) {
		list = append(list, Grant{
			Account: Actor, Group: k.Group, Resource: k.Plural + "/status", Verbs: []string{"patch"}, Watched: true,
			Why: "the outcome, and what was seen of the children, is written on the status",
		})
	}
	if emitsEvents(p) {
		list = append(list, eventGrant(p, Actor))
	}
	if p.Reconcile.Memory == InAnnotations {
		list = append(list, Grant{
			Account: Actor, Group: k.Group, Resource: k.Plural, Verbs: verbs(p, "patch"), Watched: true,
			Why: "what was seen of the children is kept in annotations",
		})
	}
	list = append(list, heartbeatGrants(p)...)
	list = append(list, taskResults(Resyncer))
	list = append(list, rotationGrants(p)...)
	if p.Install.LeaderElection {
		list = append(list, leases(Source), leases(Actor))
	}
	return list
}

// writing is what the Sensors do with the children of one kind.
func writing(p *Plan, k Kind) Grant {
	g := Grant{
		Account: Actor, Group: k.Group, Resource: k.Plural, Verbs: verbs(p, "create", "patch"), Watched: true,
		Why: "children are written by server-side apply, which creates what is not there",
	}
	if p.Reconcile.Trigger == "k8s" {
		g.Why = "children are patched, or created where there is none"
	}
	for _, c := range p.Children {
		if c.Kind == k && c.When != nil {
			g.Verbs = append(g.Verbs, "delete")
			g.Why += "; those whose `when` is no longer true are deleted"
			break
		}
	}
	return g
}

// verbs of a write: the k8s trigger looks at the object first.
func verbs(p *Plan, list ...string) []string {
	if p.Reconcile.Trigger == "k8s" {
		return append([]string{"get"}, list...)
	}
	return list
}
