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
func (p *declared) grouped(name string) string {
	if p.Shared.Group == "" {
		return name
	}
	name = p.Operator.Name + "-" + name
	if len(name) > maxEntry {
		name = name[:maxEntry-9] + "-" + hash(name)[:8]
	}
	return name
}

// inGroup gives the events such names. The heartbeat is of the group.
func (p *declared) inGroup(list []Event) []Event {
	for i, e := range list {
		if e.Interval == "" {
			list[i].Name = p.grouped(e.Name)
		}
	}
	return list
}

// ungrouped reports an operator of a group on an engine that cannot share.
func ungrouped(p *decided, d *definition.Definition) diag.List {
	var findings diag.List
	if against := p.Reconcile.Against[Direct]; p.Shared.Group != "" && p.Reconcile.Engine != Direct && len(against) > 0 {
		why := against[0]
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

// Group plans what operators of a group share. If their settings differ, the plan is nil,
// and other is the first operator that differs, and key the key of the definition.
func Group(members []*Plan) (group *Plan, other int, key string) {
	shared := members[0].Shared
	for i, m := range members {
		if key := differingKey(shared, m.Shared); key != "" {
			return nil, i, key
		}
	}
	group = &Plan{configured: sharedConfiguration(shared, members)}
	var parts []part
	for _, m := range members {
		group.Members = append(group.Members, m.Operator.Name)
		parts = append(parts, partsOf(m)...)
		held := slices.DeleteFunc(slices.Clone(m.Grants), func(g Grant) bool { return !g.Held })
		for _, g := range append(ownGrants(&m.configured), held...) {
			if !slices.ContainsFunc(group.Grants, func(had Grant) bool { return reflect.DeepEqual(had, g) }) {
				group.Grants = append(group.Grants, g)
			}
		}
	}
	group.Sensors = finished(&group.configured, pack(group.Names.Sensor, parts))
	group.Grants = append(group.Grants, sharedGrants(&group.configured, group.Sensors)...)
	group.Policies = accountPolicies(&group.decided)
	group.Monitoring = monitoring.New(shared.Monitoring, watched(&group.configured, group.Sensors))
	return group, 0, ""
}

// sharedConfiguration returns what the operators of a group share, apart from the Sensors.
func sharedConfiguration(shared Shared, members []*Plan) configured {
	var digests []any
	var events []Event
	diagnoses := false
	for _, m := range members {
		diagnoses = diagnoses || m.Reconcile.Diagnoses
		digests = append(digests, m.Runtime.Digest)
		events = append(events, slices.DeleteFunc(slices.Clone(m.Events), func(e Event) bool { return e.Interval != "" })...)
	}
	name := shared.Group
	out := decided{
		declared: declared{
			Names: members[0].Names, Shared: shared, // the names follow from that of the group
			Operator: Operator{Name: name, Labels: ownLabels(name)},
		},
		Reconcile: Reconcile{Engine: Direct, Execution: execution(Direct), Shards: 1, Diagnoses: diagnoses},
	}
	return configured{
		decided: out, Events: append(events, heartbeatEvent(events)),
		Runtime: Runtime{
			Operator: name, Engine: Direct, Namespace: shared.Namespace, Digest: hash(digests...), Token: runtimeToken(&out),
		},
	}
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
			owner, taken := owners["trigger "+part.triggers[0].Name]
			if taken && owner != i {
				return owner, i, part.triggers[0].Name
			}
			owners["trigger "+part.triggers[0].Name] = i
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

// Triggers reports whether a Sensor of the group has a trigger of the operator.
func (p *Plan) Triggers(s Sensor) bool {
	return slices.ContainsFunc(partsOf(p), func(own part) bool {
		return slices.ContainsFunc(s.Triggers, func(t Trigger) bool { return t.Name == own.triggers[0].Name })
	})
}

// partsOf returns the triggers of an operator with their dependencies.
func partsOf(p *Plan) []part {
	var out []part
	for _, s := range p.Sensors {
		for _, t := range s.Triggers {
			if t.Name == heartbeatTrigger {
				continue
			}
			one := part{triggers: []Trigger{t}}
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
