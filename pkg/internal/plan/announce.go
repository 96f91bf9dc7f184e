package plan

// A change of Ready is told by an Event on the custom resource, which kubectl
// describe shows below it. It is one of core/v1: kubectl sorts by its
// lastTimestamp, which events.k8s.io/v1 refuses to take.

// okEvent are the answers that settle an Event: there is nothing to be put right
// later, so none is worth a wait. 409: it was told already; 404: the namespace is
// gone; 403: the namespace is going.
var okEvent = []int32{201, 403, 404, 409}

// emitsEvents says that the operator reports changes of Ready by Events.
func emitsEvents(p *Plan) bool {
	return p.API.Conditions && p.API.Kind.Status && (p.Reconcile.Execution.RunsPods || reports(p))
}

// eventGrant is the permission to do so. Events about cluster-scoped objects
// live in the namespace default.
func eventGrant(p *Plan, a Account) Grant {
	g := Grant{
		Account: a, Resource: "events", Verbs: []string{"create"}, Watched: p.API.Kind.Namespaced,
		Why: "a change of Ready is told by an Event on the custom resource, for kubectl describe",
	}
	if !p.API.Kind.Namespaced {
		g.Namespace = eventNamespace
	}
	return g
}

const eventNamespace = "default"

// eventPart reports what the status trigger wrote, by the event of that write: so
// no Event is about a status that does not exist.
func eventPart(p *Plan, own partition) part {
	return newPart(p, "event", eventJQ(p, own), own, parentEvents(p), Call{Allow: okEvent})
}
