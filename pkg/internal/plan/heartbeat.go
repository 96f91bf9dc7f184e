package plan

import (
	"fmt"
	"slices"
)

// The heartbeat shows that events travel the whole way, from the EventSource
// over the bus into each Sensor: on a tick of the EventSource every Sensor notes
// on the EventSource that it has heard it.
//
// Beside the time it notes a digest of the definition and its programs in the
// annotations of the EventSource's pod. Where that changes, the pod is replaced,
// and the new one announces everything there is: a Sensor hears nothing that was
// said before it first listened, or before it began to listen by other programs,
// so it asks for all of it as soon as it listens. Where nothing changes the API
// server writes nothing.
//
// The time is for the resync: without it the Sensors are deaf. So they are when
// the bus has lost its store, until their pods are replaced.

// How often the EventSource ticks, and the time after which a Sensor that has
// heard nothing is deaf, in seconds. The time is noted to the minute, so that
// most ticks write nothing.
const (
	Tick      = "15s"
	DeafAfter = 180
)

// Heard is the annotation by which a Sensor tells that it listens.
func Heard(sensor string) string { return "argoperator.dev/heard-" + sensor }

// tick is the event of the heartbeat; no kind has its name.
func tick(others []Event) Event {
	name := "heartbeat"
	for slices.ContainsFunc(others, func(e Event) bool { return e.Name == name }) {
		name = "operator-" + name
	}
	return Event{Name: name, Every: Tick}
}

// withHeartbeat lets each Sensor note that it hears.
func withHeartbeat(p *Plan, sensors []Sensor) []Sensor {
	i := slices.IndexFunc(p.Events, func(e Event) bool { return e.Every != "" })
	name, asks := p.Events[i].Name, hash(p.Operator.Digest, sensors)
	for i, s := range sensors {
		sensors[i].Dependencies = append(s.Dependencies, Dependency{Name: name, Event: name, JQ: heardJQ(p, s.Name, asks)})
		sensors[i].Triggers = append(s.Triggers, Trigger{
			Name: "heartbeat", On: []string{name}, Call: &Call{Allow: okApply, K8s: !p.Reconcile.Execution.HTTPTriggers},
		})
	}
	return sensors
}

func heardJQ(p *Plan, sensor, asks string) string {
	key := quote(Heard(sensor))
	heard := fmt.Sprintf(`annotations: {%s: (now / 60 | floor * 60 | todate)}`, key)
	pod := fmt.Sprintf(`spec: {template: {metadata: {annotations: {%s: %s}}}}`, key, quote(asks))
	if !p.Reconcile.Execution.HTTPTriggers {
		return fmt.Sprintf(`{go: true, call: {operation: "patch", manifest: {apiVersion: %s, kind: "EventSource", metadata: {name: %s, namespace: %s, %s}, %s}}}`,
			quote(eventSource.APIVersion()), quote(p.Names.EventSource), quote(p.Install.Namespace), heard, pod)
	}
	path := fmt.Sprintf("%s/namespaces/%s/%s/%s?fieldManager=%s", root(eventSource), p.Install.Namespace, eventSource.Plural, p.Names.EventSource, p.Runtime.Operator)
	return fmt.Sprintf(`{go: true, call: {method: "PATCH", path: %s, type: "application/merge-patch+json", body: ({metadata: {%s}, %s} | tojson)}}`, quote(path), heard, pod)
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
