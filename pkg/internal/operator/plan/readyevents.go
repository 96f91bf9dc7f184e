package plan

// An Event on the custom resource reports a change of Ready, so that kubectl describe
// shows it. It is a core/v1 Event, because kubectl sorts by lastTimestamp, which the
// API server rejects in a new events.k8s.io/v1 Event.

// emitsEvents reports whether the operator creates Events for changes of Ready.
func (p *decided) emitsEvents() bool {
	shows := p.API.HasConditions && p.API.Kind.StatusSubresource
	return p.Reconcile.Execution.RunsPods && (shows || p.API.Existing) || shows && p.WritesStatus()
}

// eventGrant returns the permission to create Events. Events about cluster-scoped
// objects are in the namespace default.
func eventGrant(p *configured, a Account) Grant {
	g := Grant{
		Account: a, Resource: "events", Verbs: []string{"create"}, InWatchedNamespaces: p.API.Kind.Namespaced,
		Reason: "create an Event when Ready changes, for kubectl describe",
	}
	if !p.API.Kind.Namespaced {
		g.Namespace = eventNamespace
	}
	return g
}

const eventNamespace = "default"
