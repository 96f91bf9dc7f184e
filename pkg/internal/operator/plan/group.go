package plan

import (
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan/monitoring"
)

// Operators of one install.group share an EventSource, Sensors, a worker and service
// accounts: those of the group's own plan. It also has the workers, with their service
// accounts, of operators that have a dedicated one. Each operator is planned as if it were
// the only one of its group, with names of events and triggers that no other one has.

// maxEntry limits the names of EventSource entries.
const maxEntry = 63

// grouped returns a name that no other operator of the group has.
func (p *declared) grouped(name string) string {
	if p.Shared.Group == "" {
		return name
	}
	return shortened(p.Operator.Name+"-"+name, maxEntry)
}

// shortened returns a name of limited length that differs if the whole names differ.
func shortened(name string, most int) string {
	if len(name) > most {
		return name[:most-9] + "-" + hash(name)[:8]
	}
	return name
}

// dedicatedWorker returns the name of the worker that an operator of a group has for itself.
func (p *declared) dedicatedWorker() string {
	prefix := p.dedicatedWorkers()
	return prefix + shortened(p.Operator.Name, maxWorker-len(prefix))
}

// maxWorker limits the names of workers, which are labels of their pods.
const maxWorker = 63

// maxPart limits what an operator of a group adds to the names of its container and volumes.
const maxPart = 40

// Part returns the operator's part of a shared object, as a suffix of names: its own
// container, volumes and ConfigMap; empty if it shares none.
func (p *declared) Part() string {
	if p.Shared.Group == "" || p.Shared.Group == p.Operator.Name {
		return ""
	}
	return "-" + shortened(p.Operator.Name, maxPart)
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
	group.Sensors = groupSensors(group, members)
	group.Runtime.Sensors = namesOf(group.Sensors)
	for _, m := range members {
		group.Members = append(group.Members, m.sharing(group))
		held := slices.DeleteFunc(slices.Clone(m.Grants), func(g Grant) bool { return !g.Held })
		for _, g := range append(ownGrants(&m.configured), held...) {
			if g.Account == WorkerAccount {
				g.Account = m.AccountOf(m.Names.Worker)
			}
			group.Grants = append(group.Grants, g)
		}
	}
	group.Grants = append(onceEach(group.Grants), sharedGrants(&group.configured, group.Sensors)...)
	group.Policies = accountPolicies(&group.decided)
	watched := watched(&group.configured, group.Sensors)
	watched.Operators = group.Operators()
	group.Monitoring = monitoring.New(shared.Monitoring, watched)
	return group, 0, ""
}

// Own returns the operators that the objects of a plan are for: of a group all of its members.
func (p *Plan) Own() []*Plan {
	if len(p.Members) == 0 {
		return []*Plan{p}
	}
	return slices.Clone(p.Members)
}

// RunBy returns the operators that a worker runs.
func (p *Plan) RunBy(worker string) []*Plan {
	return slices.DeleteFunc(p.Own(), func(o *Plan) bool { return o != p && o.Names.Worker != worker })
}

// Operators returns the names of the operators of a group.
func (p *Plan) Operators() []string {
	var out []string
	for _, m := range p.Members {
		out = append(out, m.Operator.Name)
	}
	return out
}

// GroupWorkers returns the workers of a group. The shared one, if there is one, is the first.
func GroupWorkers(group string, members []*Plan) []GroupWorker {
	var out []GroupWorker
	for _, m := range members {
		name, operator := m.Names.Worker, m.Operator.Name
		i := slices.IndexFunc(out, func(w GroupWorker) bool { return w.Name == name })
		switch {
		case i >= 0:
			out[i].Operators = append(out[i].Operators, operator)
		case name == definition.WorkerName(group):
			out = slices.Insert(out, 0, GroupWorker{name, []string{operator}})
		default:
			out = append(out, GroupWorker{name, []string{operator}})
		}
	}
	return out
}

// sharing returns the plan of an operator whose worker and Sensors are those of the group.
func (p *Plan) sharing(group *Plan) *Plan {
	out := *p
	out.Runtime.Sensors, out.Runtime.Group = group.Runtime.Sensors, group.Operator.Name
	if first := group.Reconcile.Workers[0].Name; first != p.Names.Worker {
		out.Runtime.First = first
	}
	if out.Runtime.Logic != nil {
		logic := *out.Runtime.Logic
		logic.Workspace = "workspace" + p.Part()
		out.Runtime.Logic = &logic
	}
	return &out
}

// groupSensors returns the Sensors of a group.
func groupSensors(group *Plan, members []*Plan) []Sensor {
	var parts []part
	for _, m := range members {
		parts = append(parts, workerParts(&m.configured)...)
	}
	return finished(&group.configured, pack(group.Names.Sensor, parts))
}

// sharedConfiguration returns what the operators of a group share, apart from the Sensors.
func sharedConfiguration(shared Shared, members []*Plan) configured {
	var digests []any
	var events []Event
	for _, m := range members {
		digests = append(digests, m.Runtime.Digest)
		events = append(events, slices.DeleteFunc(slices.Clone(m.Events), func(e Event) bool { return e.Interval != "" })...)
	}
	name, names := shared.Group, members[0].Names // which follow from that of the group
	names.Worker = definition.WorkerName(name)
	out := decided{
		declared: declared{
			Names: names, Shared: shared,
			Operator: Operator{Name: name, Labels: ownLabels(name)},
		},
		Reconcile: Reconcile{
			Engine: Worker, Execution: execution(Worker), Shards: 1, Workers: GroupWorkers(name, members),
		},
	}
	return configured{
		decided: out, Events: append(events, heartbeatEvent(events)),
		// the worker takes the heartbeat of the group from any of its operators
		Runtime: Runtime{Operator: members[0].Operator.Name, Engine: Worker, Namespace: shared.Namespace, Digest: hash(digests...)},
	}
}

// Collision returns two operators of a group of which events or triggers have the same
// name, and that name; "" if there are none. The operator a with the child b-c has the
// names of the operator a-b with the child c.
func Collision(members []*Plan) (one, other int, name string) {
	owners := map[string]int{}
	for i, m := range members {
		var names []string
		for _, e := range m.Events {
			if e.Interval == "" {
				names = append(names, e.Name)
			}
		}
		for _, s := range m.Sensors {
			names = append(names, triggersOf(s)...)
		}
		for _, name := range names {
			if owner, taken := owners[name]; taken && owner != i {
				return owner, i, name
			}
			owners[name] = i
		}
	}
	return 0, 0, ""
}

// In returns the plan of an operator as a part of its group: with the Sensors, and with
// the permissions, that it shares. Other workers of the group have permissions of their own.
func (p *Plan) In(group *Plan) *Plan {
	out := *p
	worker := p.AccountOf(p.Names.Worker)
	out.Sensors, out.Members = group.Sensors, group.Members
	out.Grants = slices.DeleteFunc(slices.Clone(group.Grants), func(g Grant) bool {
		return g.Account != worker && slices.Contains(group.workerAccounts(), g.Account)
	})
	return &out
}

// Triggers reports whether a Sensor of the group has a trigger of the operator.
func (p *Plan) Triggers(s Sensor) bool {
	return slices.ContainsFunc(p.Sensors, func(own Sensor) bool {
		return slices.ContainsFunc(triggersOf(own), func(name string) bool { return slices.Contains(triggersOf(s), name) })
	})
}

// triggersOf returns the names of a Sensor's triggers, without the heartbeat's.
func triggersOf(s Sensor) []string {
	var out []string
	for _, t := range s.Triggers {
		if t.Name != heartbeatTrigger {
			out = append(out, t.Name)
		}
	}
	return out
}
