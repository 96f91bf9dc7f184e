package plan

import (
	"fmt"
	"slices"
)

// The heartbeat checks that events travel all the way, from the EventSource over the
// bus into each Sensor: on a tick of the EventSource every Sensor writes the time
// into an annotation of the EventSource.
//
// It also writes a digest of the definition and its programs into the annotations
// of the EventSource's pod. If the digest changes, the pod is replaced and the new
// pod replays all events: a Sensor does not receive events from before it subscribed,
// or from before it subscribed with these programs. If nothing changes, the API
// server writes nothing.
//
// The resync reads the time. A Sensor whose time is too old stopped receiving
// events, as after the bus lost its store, and needs another pod.

// How often the EventSource ticks, and the seconds without a heartbeat after which
// a Sensor counts as stopped. The time is written to the minute, so that most ticks
// write nothing.
const (
	Tick             = "15s"
	HeartbeatTimeout = 180
)

// LastReceived returns the annotation of the EventSource with the time at which a
// Sensor last received its heartbeat.
func LastReceived(sensor string) string { return "argoperator.dev/last-received-" + sensor }

// Subscribed returns the annotation of the EventSource's pod with the digest of the
// programs that a Sensor subscribed with.
func Subscribed(sensor string) string { return "argoperator.dev/subscribed-" + sensor }

// tick is the event of the heartbeat; no kind has its name.
func tick(others []Event) Event {
	name := "heartbeat"
	for slices.ContainsFunc(others, func(e Event) bool { return e.Name == name }) {
		name = "operator-" + name
	}
	return Event{Name: name, Every: Tick}
}

// withHeartbeat adds the dependency and the trigger of the heartbeat to each Sensor.
func withHeartbeat(p *Plan, sensors []Sensor) []Sensor {
	i := slices.IndexFunc(p.Events, func(e Event) bool { return e.Every != "" })
	name, digest := p.Events[i].Name, hash(p.Operator.Digest, sensors)
	for i, s := range sensors {
		sensors[i].Dependencies = append(s.Dependencies, Dependency{Name: name, Event: name, JQ: heartbeatJQ(p, s.Name, digest)})
		sensors[i].Triggers = append(s.Triggers, Trigger{
			Name: "heartbeat", On: []string{name}, Call: &Call{Allow: okApply, K8s: !p.Reconcile.Execution.HTTPTriggers},
		})
	}
	return sensors
}

func heartbeatJQ(p *Plan, sensor, digest string) string {
	received := fmt.Sprintf(`annotations: {%s: (now / 60 | floor * 60 | todate)}`, quote(LastReceived(sensor)))
	pod := fmt.Sprintf(`spec: {template: {metadata: {annotations: {%s: %s}}}}`, quote(Subscribed(sensor)), quote(digest))
	if !p.Reconcile.Execution.HTTPTriggers {
		return fmt.Sprintf(`{go: true, call: {operation: "patch", manifest: {apiVersion: %s, kind: "EventSource", metadata: {name: %s, namespace: %s, %s}, %s}}}`,
			quote(eventSource.APIVersion()), quote(p.Names.EventSource), quote(p.Install.Namespace), received, pod)
	}
	path := fmt.Sprintf("%s/namespaces/%s/%s/%s?fieldManager=%s", root(eventSource), p.Install.Namespace, eventSource.Plural, p.Names.EventSource, p.Runtime.Operator)
	return fmt.Sprintf(`{go: true, call: {method: "PATCH", path: %s, type: "application/merge-patch+json", body: ({metadata: {%s}, %s} | tojson)}}`, quote(path), received, pod)
}

// eventSource is the kind of the EventSource itself.
var eventSource = Kind{Group: argo, Version: "v1alpha1", Kind: "EventSource", Plural: "eventsources", Namespaced: true}

// heartbeatGrants are the permissions of the heartbeat and of who heeds it.
func heartbeatGrants(p *Plan) []Grant {
	note := []string{"patch"}
	if !p.Reconcile.Execution.HTTPTriggers {
		note = []string{"get", "patch"}
	}
	sensors := make([]string, len(p.Sensors))
	for i, s := range p.Sensors {
		sensors[i] = s.Name
	}
	return []Grant{
		{
			Account: Actor, Group: argo, Resource: "eventsources", Names: []string{p.Names.EventSource}, Verbs: note,
			Why: "a Sensor notes that it listens, and has everything announced to it when it begins to",
		},
		{
			Account: Resyncer, Group: argo, Resource: "eventsources", Names: []string{p.Names.EventSource}, Verbs: []string{"get", "patch"},
			Why: "the resync looks whether the Sensors hear the EventSource, and has it announce everything again",
		},
		{
			Account: Resyncer, Group: argo, Resource: "sensors", Names: sensors, Verbs: []string{"patch"},
			Why: "the resync replaces the pods of Sensors that hear nothing, as after the bus has lost its store",
		},
	}
}
