package plan

// grants lists every permission with its reason. A verb that no step uses is a
// defect, as is a call without its verb: pkg/check holds the two together.
func grants(p *Plan) []Grant {
	list := []Grant{watch(Source, p.API.Kind, "the EventSource watches "+p.API.Kind.Plural)}
	kinds := childKinds(p)
	for _, k := range kinds {
		list = append(list, watch(Source, k, "the EventSource watches children: drift and readiness"))
	}
	list = append(list,
		Grant{Account: Sensor, Group: argo, Resource: "workflows", Verbs: []string{"create"}, Why: "one Workflow a reconcile"})
	list = append(list, reconcilerGrants(p)...)
	list = append(list, resyncGrants(p, kinds)...)
	if p.API.Kind.Status {
		list = append(list, Grant{
			Account: Reconciler, Group: argo, Resource: "workflows", Verbs: []string{"get"},
			Why: "a failed reconcile says on the status what failed",
		})
	}
	list = append(list, taskResults(Reconciler), taskResults(Resyncer))
	if p.Install.LeaderElection {
		list = append(list, leases(Source), leases(Sensor))
	}
	return list
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
	list := []Grant{read}
	if k.Status {
		list = append(list, Grant{
			Account: Reconciler, Group: k.Group, Resource: k.Plural + "/status", Verbs: []string{"patch"},
			Watched: true, Why: "the outcome is written on the status",
		})
	}
	for _, child := range childKinds(p) {
		list = append(list, childGrant(p, child))
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
	if p.Reconcile.Engine == Steps {
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
	list := []Grant{{
		Account: Resyncer, Group: p.API.Kind.Group, Resource: p.API.Kind.Plural, Verbs: []string{"list"}, Watched: true,
		Why: "the resync looks at every custom resource",
	}}
	for _, k := range kinds {
		list = append(list, Grant{
			Account: Resyncer, Group: k.Group, Resource: k.Plural, Verbs: []string{"list"}, Watched: true,
			Why: "the resync looks at every child",
		})
	}
	return append(list, Grant{
		Account: Resyncer, Group: argo, Resource: "workflows", Verbs: []string{"create"}, Why: "one Workflow for each custom resource that is due",
	})
}
