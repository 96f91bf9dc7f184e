package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan/monitoring"
)

// Operators of one install.group share an EventSource, Sensors, service accounts and a
// resync: those of the group's own plan. Each of them is planned as if it were the only
// one of its group, with names of events and triggers that no other one has.

// maxEntry limits the names of EventSource entries.
const maxEntry = 63

// grouped returns a name that no other operator of the group has.
func (p *Plan) grouped(name string) string {
	if p.Install.Group == "" {
		return name
	}
	name = p.Operator.Name + "-" + name
	if len(name) > maxEntry {
		name = name[:maxEntry-9] + "-" + hash(name)[:8]
	}
	return name
}

// inGroup gives the events such names. The heartbeat is of the group.
func (p *Plan) inGroup(list []Event) []Event {
	for i, e := range list {
		if e.Interval == "" {
			list[i].Name = p.grouped(e.Name)
		}
	}
	return list
}

// ungrouped reports an operator of a group on an engine that cannot share.
func ungrouped(p *Plan, d *definition.Definition) diag.List {
	var findings diag.List
	if p.Install.Group != "" && p.Reconcile.Engine != Direct {
		why := p.Reconcile.EngineReasons[0]
		findings.Add(
			d.Position("spec", "install", "group"),
			diag.Unsupported,
			fmt.Sprintf(
				"install.group applies to the direct engine, which does not support this definition: %s (%s)",
				why.Message,
				strings.Join(why.Path, "."),
			),
			"remove the key",
		)
	}
	return findings
}

// Group plans what operators of a group share. All that they say of it must be equal;
// otherwise the plan is nil, and other is the first operator that says something else,
// and key what it is about.
func Group(members []*Plan) (group *Plan, other int, key string) {
	first := members[0]
	for i, m := range members {
		if key := difference(first, m); key != "" {
			return nil, i, key
		}
	}
	name := first.Install.Group
	group = &Plan{
		Names: first.Names, Install: first.Install,
		Operator: Operator{Name: name, Labels: ownLabels(name)},
		Reconcile: Reconcile{
			Engine: Direct, Execution: first.Reconcile.Execution, Trigger: first.Reconcile.Trigger, Shards: 1,
			TimeoutSeconds: first.Reconcile.TimeoutSeconds, Schedule: first.Reconcile.Schedule, resync: first.Reconcile.resync, ScheduleList: first.Reconcile.ScheduleList, MutexList: first.Reconcile.MutexList,
		},
		Runtime: Runtime{Operator: name, Engine: Direct, Namespace: first.Install.Namespace},
	}
	var digests []any
	var parts []part
	for _, m := range members {
		group.Reconcile.Diagnoses = group.Reconcile.Diagnoses || m.Reconcile.Diagnoses
		group.Members = append(group.Members, m.Operator.Name)
		digests = append(digests, m.Operator.Digest)
		group.Events = append(group.Events, slices.DeleteFunc(slices.Clone(m.Events), func(e Event) bool { return e.Interval != "" })...)
		parts = append(parts, partsOf(m)...)
		for _, g := range ownGrants(m) {
			if !slices.ContainsFunc(group.Grants, func(had Grant) bool { return reflect.DeepEqual(had, g) }) {
				group.Grants = append(group.Grants, g)
			}
		}
	}
	group.Operator.Digest = hash(digests...)
	group.Runtime.Digest, group.Runtime.Token = group.Operator.Digest, runtimeToken(group)
	group.Events = append(group.Events, heartbeatEvent(group.Events))
	group.Sensors = addHeartbeat(group, pack(group.Names.Sensor, parts))
	sizePods(group)
	group.Grants = append(group.Grants, sharedGrants(group)...)
	group.Policies = accountPolicies(group)
	group.Install.Monitoring = first.Install.Monitoring
	if first.Install.Monitoring.Alerts != nil {
		group.Install.Monitoring.Alerts = monitoring.Alerts(watched(group))
	}
	return group, 0, ""
}

// Collision returns two operators of a group of which events or triggers have the same
// name, and that name; "" if there are none. The operator a with the child b-c has the
// names of the operator a-b with the child c.
func Collision(members []*Plan) (one, other int, name string) {
	owners := map[string]int{}
	for i, m := range members {
		for _, e := range m.Events {
			owner, taken := owners["event "+e.Name]
			if taken && owner != i && e.Interval == "" {
				return owner, i, e.Name
			}
			owners["event "+e.Name] = i
		}
		for _, part := range partsOf(m) {
			owner, taken := owners["trigger "+part.trigger.Name]
			if taken && owner != i {
				return owner, i, part.trigger.Name
			}
			owners["trigger "+part.trigger.Name] = i
		}
	}
	return 0, 0, ""
}

// In returns the plan of an operator as a part of its group: with the Sensors, and with
// the permissions, that all of them have.
func (p *Plan) In(group *Plan) *Plan {
	out := *p
	out.Sensors, out.Grants, out.Members = group.Sensors, group.Grants, group.Members
	return &out
}

// partsOf returns the triggers of an operator with their dependencies.
func partsOf(p *Plan) []part {
	var out []part
	for _, s := range p.Sensors {
		for _, t := range s.Triggers {
			if t.Name == heartbeatTrigger {
				continue
			}
			one := part{trigger: t}
			for _, d := range s.Dependencies {
				if slices.Contains(t.On, d.Name) {
					one.dependencies = append(one.dependencies, d)
				}
			}
			out = append(out, one)
		}
	}
	return out
}

// difference returns the key of the definition in which two operators of a group say
// something else about what they share.
func difference(a, b *Plan) string {
	for _, key := range []struct {
		path string
		a, b any
	}{
		{"install.watchNamespaces", a.Install.WatchNamespaces, b.Install.WatchNamespaces},
		{"install.admissionPolicies", a.Install.AdmissionPolicies, b.Install.AdmissionPolicies},
		{"install.replicas", a.Install.Replicas, b.Install.Replicas},
		{"install.eventBus", a.Install.EventBus, b.Install.EventBus},
		{"install.runtimeImage", a.Install.RuntimeImage, b.Install.RuntimeImage},
		{"install.runtimeResources", a.Install.Resources, b.Install.Resources},
		{"install.networkPolicies", a.Install.NetworkPolicies, b.Install.NetworkPolicies},
		{"install.tokenRotation", a.Install.TokenHours, b.Install.TokenHours},
		{"install.monitoring", withoutAlerts(a.Install.Monitoring), withoutAlerts(b.Install.Monitoring)},
		{"reconcile.resync", a.Reconcile.Schedule, b.Reconcile.Schedule},
		{"reconcile.timeout", a.Reconcile.TimeoutSeconds, b.Reconcile.TimeoutSeconds},
		{"targets.argoWorkflows", a.Reconcile.ScheduleList, b.Reconcile.ScheduleList},
	} {
		if !reflect.DeepEqual(key.a, key.b) {
			return key.path
		}
	}
	return ""
}

// withoutAlerts leaves out what differs by the names of the triggers.
func withoutAlerts(m monitoring.Monitoring) monitoring.Monitoring {
	if m.Alerts != nil {
		m.Alerts = []monitoring.Alert{}
	}
	return m
}
