package plan

import "fmt"

// A change of Ready is told by an Event on the custom resource, which kubectl
// describe shows below it. It is one of core/v1: kubectl sorts by its
// lastTimestamp, which events.k8s.io/v1 refuses to take.

// told are the answers that settle an Event: there is nothing to be put right
// later, so none is worth a wait. 409: it was told already; 404: the namespace is
// gone; 403: the namespace is going.
var told = []int32{201, 403, 404, 409}

// announces tells whether there is a Ready of which Events can tell.
func announces(p *Plan) bool {
	return p.API.Conditions && p.API.Kind.Status && (p.Reconcile.Execution.RunsPods || reports(p))
}

// announcing is the permission to do so. Events about cluster-scoped objects
// live in the namespace default.
func announcing(p *Plan, a Account) Grant {
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

// eventPart tells of what the status trigger has written. That is the event
// after, so whatever writes a status, no Event speaks of one that is not there.
func eventPart(p *Plan, own portion) part {
	return newPart(p, "event", eventJQ(p, own), own, parentEvents(p), Call{Allow: told})
}

// eventJQ compares Ready before and after. Of a failure the message does not
// count, which may count replicas up. The version of the custom resource makes
// the name: a second delivery of an event asks for an Event that is there.
func eventJQ(p *Plan, own portion) string {
	namespace, segment, place := quote(eventNamespace), quote(eventNamespace), ""
	if p.API.Kind.Namespaced {
		namespace, segment, place = "$new.metadata.namespace", "($new.metadata.namespace | @uri)", "namespace: $new.metadata.namespace, "
	}
	return fmt.Sprintf(`def ready: [.status.conditions[]? | select(.type? == "Ready")] | first;
def failure: {Failed: "ReconcileFailed", StatusRefused: "StatusRefused"}[.reason | tostring];
%s
| if .type != "UPDATE" or $new.metadata.deletionTimestamp != null%s then {go: false} else
  ($new | ready) as $now | ($old | ready) as $was
  | (if $now.status == "True" then (if $was.status == "True" then null else ["Normal", "Ready"] end)
     elif $now.status == "False" and ($now | failure) != null and ([$now, $was | [.status, .reason, .observedGeneration]] | .[0] != .[1]) then ["Warning", ($now | failure)]
     else null end) as $news
  | if $news == null then {go: false} else
    ([$new.metadata.managedFields[]?.time] | max // $new.metadata.creationTimestamp) as $time
    | {go: true, call: {method: "POST", path: ("/api/v1/namespaces/" + %s + "/events?fieldManager=%s"), type: "application/json", body: ({
        apiVersion: "v1", kind: "Event",
        metadata: {namespace: %s, name: ($new.metadata | (.name[:200] | until(endswith(".") or endswith("-") | not; .[:-1])) + "." + (.uid[:8] | rtrimstr("-")) + "." + .resourceVersion)},
        involvedObject: {apiVersion: %s, kind: %s, %sname: $new.metadata.name, uid: $new.metadata.uid, resourceVersion: $new.metadata.resourceVersion},
        type: $news[0], reason: $news[1], action: "Reconcile",
        message: ($now.message // "" | tostring | .[:1024] | until(utf8bytelength <= 1024; .[:-16])),
        source: {component: %s}, reportingComponent: %s, reportingInstance: %s,
        firstTimestamp: $time, lastTimestamp: $time, eventTime: ($time | rtrimstr("Z") + ".000000Z"), count: 1} | tojson)}} end end`,
		eventObjects, elsewhere("$new.metadata.uid", own)+ownKind(p), segment, p.Runtime.Operator, namespace,
		quote(p.API.Kind.APIVersion()), quote(p.API.Kind.Kind), place,
		quote(p.Runtime.Operator), quote(p.Runtime.Operator), quote(p.Names.StatusSensor))
}
