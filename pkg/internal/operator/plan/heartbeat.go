package plan

import (
	"fmt"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
)

// The heartbeat tests the event flow from the EventSource over the bus to each Sensor:
// on each timer event of the EventSource, every Sensor writes the time of the event to
// an annotation of the EventSource.
//
// It also writes a digest of the definition and its programs to the annotations of the
// EventSource's pod. When the digest changes, Argo Events replaces the pod, and the new
// pod replays every object as an ADD event. A Sensor does not receive events from
// before it subscribed, or from before its programs changed, so it requests this replay
// when it subscribes. When nothing changes, the API server writes nothing.
//
// The resync checks the time. If it is too old, the Sensors stopped receiving events,
// which happens when the bus lost its store. The resync then replaces the Sensors'
// pods.

// The interval of the heartbeat, and the time without a heartbeat, in seconds, after
// which the resync considers a Sensor disconnected. The annotation has the time to the
// minute, so that most heartbeats cause no write.
const (
	HeartbeatInterval       = "15s"
	HeartbeatTimeoutSeconds = 180
)

// LastReceivedAnnotation returns the annotation of the EventSource that holds the time
// of a Sensor's last heartbeat.
func LastReceivedAnnotation(sensor string) string { return "argoperator.dev/last-received-" + sensor }

// SubscribedAnnotation returns the annotation of the EventSource's pod that holds the
// digest of the programs with which a Sensor subscribed.
func SubscribedAnnotation(sensor string) string { return "argoperator.dev/subscribed-" + sensor }

// heartbeatTrigger is the name of the heartbeat's trigger.
const heartbeatTrigger = "heartbeat"

// heartbeatEvent returns the event of the heartbeat, with a name that no other event
// has.
func heartbeatEvent(others []Event) Event {
	name := heartbeatTrigger
	for slices.ContainsFunc(others, func(e Event) bool { return e.Name == name }) {
		name = "operator-" + name
	}
	return Event{Name: name, Interval: HeartbeatInterval}
}

// finished adds the heartbeat trigger, and the size of its pod, to each Sensor.
func finished(p *configured, sensors []Sensor) []Sensor {
	i := slices.IndexFunc(p.Events, func(e Event) bool { return e.Interval != "" })
	name, digest := p.Events[i].Name, hash(p.Runtime.Digest, sensors)
	for i, s := range sensors {
		sensors[i].Pod = p.Reconcile.Execution.SensorPod()
		beat := Dependency{Name: name, Event: name, JQ: heartbeatJQ(p, s.Name, digest), Made: Origin{File: "heartbeat"}}
		sensors[i].Dependencies = append(s.Dependencies, beat)
		if workers := p.Workers(); workers != nil {
			beats := toEach(workers, p.Runtime.Operator, heartbeatTrigger, name)
			for i, w := range p.Reconcile.Workers {
				beats[i].For = w.Operators[0]
			}
			sensors[i].Triggers = append(s.Triggers, beats...)
			continue
		}
		sensors[i].Triggers = append(s.Triggers, Trigger{
			Name: heartbeatTrigger, On: []string{name}, Call: &Call{Allow: okApply, K8s: p.Reconcile.Execution.RunsPods},
		})
	}
	return sensors
}

func namesOf(sensors []Sensor) []string {
	names := make([]string, len(sensors))
	for i, s := range sensors {
		names[i] = s.Name
	}
	return names
}

// heartbeatJQ returns the program of the heartbeat: direct/heartbeat.jq.
func heartbeatJQ(p *configured, sensor, digest string) string {
	path := fmt.Sprintf(
		"%s/namespaces/%s/%s/%s?fieldManager=%s",
		root(eventSourceKind),
		p.Shared.Namespace,
		eventSourceKind.Plural,
		p.Names.EventSource,
		p.Operator.Name,
	)
	return directPrograms().Program("heartbeat", jqfile.Holes{
		"annotation::lastReceived": jqfile.String(LastReceivedAnnotation(sensor)),
		"annotation::subscribed":   jqfile.String(SubscribedAnnotation(sensor)), "hole::digest": jqfile.String(digest),
		"option::http": jqfile.Bool(!p.Reconcile.Execution.RunsPods), "hole::path": jqfile.String(path),
		"option::stays": jqfile.Bool(p.Reconcile.Execution.Stays), "hole::sensor": jqfile.String(sensor),
		"hole::apiVersion": jqfile.String(eventSourceKind.APIVersion()),
		"hole::name":       jqfile.String(p.Names.EventSource), "hole::namespace": jqfile.String(p.Shared.Namespace),
	})
}

// eventSourceKind is the kind of the EventSource itself.
var eventSourceKind = Kind{Group: ArgoGroup, Version: "v1alpha1", Kind: "EventSource", Plural: "eventsources", Namespaced: true}

// heartbeatGrants returns the permissions to write the heartbeat and to react to a
// missing one.
func heartbeatGrants(p *configured, sensors []Sensor) []Grant {
	note := []string{"patch"}
	if p.Reconcile.Execution.RunsPods {
		note = []string{"get", "patch"}
	}
	restart := Grant{
		Account: p.resyncAccount(), Group: ArgoGroup, Resource: "sensors", Names: namesOf(sensors), Verbs: []string{"patch"},
		Reason: "replace the pods of Sensors that stopped receiving events, for example after the event bus lost its store",
	}
	replay := Grant{
		Account: p.resyncAccount(), Group: ArgoGroup, Resource: "eventsources", Names: []string{p.Names.EventSource},
		Verbs: []string{"get", "patch"}, Reason: "check that the Sensors receive events, and request a replay of all objects",
	}
	if p.Reconcile.Execution.Stays { // it receives the heartbeat itself
		replay.Verbs, replay.Reason = []string{"patch"}, "replace the pods of the EventSource with those of the Sensors"
		list := []Grant{replay, restart}
		for _, a := range p.workerAccounts() {
			list = append(list, Grant{
				Account: a, Group: ArgoGroup, Resource: "sensors", Names: namesOf(sensors), Verbs: []string{"get"},
				Reason: "stop when no Sensor sends events to this worker",
			})
		}
		return list
	}
	return []Grant{
		{
			Account: SensorAccount, Group: ArgoGroup, Resource: "eventsources", Names: []string{p.Names.EventSource}, Verbs: note,
			Reason: "record that a Sensor receives events, and request a replay when it subscribes",
		},
		replay,
		restart,
	}
}
