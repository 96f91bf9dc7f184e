package plan

// An Event on the custom resource reports a change of Ready, so that kubectl describe
// shows it. An object of others has no Ready: there, it tells of a failure, or of what waits.
// It is a core/v1 Event, because kubectl sorts by lastTimestamp, which the API server rejects
// in a new events.k8s.io/v1 Event.

// emitsEvents reports whether the operator creates Events.
func (p *decided) emitsEvents() bool {
	return p.Reconcile.Execution.RunsPods && (p.showsReady() || p.API.Existing) || p.showsReady() && p.WritesStatus()
}

// showsReady reports whether custom resources have the condition Ready.
func (p *decided) showsReady() bool { return p.API.HasConditions && p.API.Kind.StatusSubresource }

// eventGrant returns the permission to create Events. Events about cluster-scoped
// objects are in the namespace default.
func eventGrant(p *configured, a Account) Grant {
	g := Grant{
		Account: a, Resource: "events", Verbs: []string{"create"}, InWatchedNamespaces: p.API.Kind.Namespaced,
		Reason: "create an Event when Ready changes, for kubectl describe",
	}
	if !p.showsReady() {
		g.Reason = "create an Event of a failure, or of what waits, for kubectl describe"
	}
	if !p.API.Kind.Namespaced {
		g.Namespace = eventNamespace
	}
	return g
}

const eventNamespace = "default"
