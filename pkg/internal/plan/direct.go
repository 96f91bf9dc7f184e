package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/expression"
)

// The direct engine reconciles inside the Sensor: a jq program computes a request
// from each event, and a trigger sends it. The programs are the files of the
// directory direct. A Sensor has no memory, so what it observed of a child is kept
// on the custom resource, whose change is the next event. So every failure, every
// drift and every late delivery ends in an event that holds the present state, and
// the latest event decides.

// Labels and annotations of a child of the direct engine.
const (
	childLabel           = "argoperator.dev/child"      // the child's name in the definition
	generationAnnotation = "argoperator.dev/generation" // of the custom resource that it was made from
	appliedAnnotation    = "argoperator.dev/applied"    // by the k8s trigger: what was written last, without which no field goes
	attemptAnnotation    = "argoperator.dev/attempt"    // differs where a write must show as a change, as after failures
	reclaimedLabel       = "argoperator.dev/reclaimed"  // differs each time the operator reclaims a child that it did not observe
	ownerAnnotation      = "argoperator.dev/owner"      // NAMESPACE.NAME of the custom resource
)

// maxAttempts of a write that the API server refuses; then the next event or the resync tries again.
const maxAttempts = 5

// The answers of the API server that count as success. What another try would not
// change is not tried again.
var (
	okApply         = []int32{200, 201}
	okRecord        = []int32{200, 404}      // 404: the custom resource is gone
	okStatus        = []int32{200, 404, 409} // 409: a newer event is on its way
	okRecordFailure = []int32{200, 400, 404, 422}
	okRefusedStatus = []int32{200, 400, 404, 409, 422} // it names the version of the custom resource
)

// directSensors are the Sensors of the direct engine: some write children,
// others write the status, so that neither waits for the other.
func directSensors(p *Plan) []Sensor {
	var writing, reporting []part
	workers, programs := workersOf(p)
	for shard := range p.Reconcile.Shards {
		for worker := range workers {
			own := partition{shard*workers + worker, p.Reconcile.Shards * workers, shard, worker}
			for i, c := range p.Children {
				writing = append(writing, writePart(p, c, programs[i], own))
			}
		}
	}
	for shard := range p.Reconcile.Shards {
		own := partition{shard, p.Reconcile.Shards, shard, 0}
		for _, c := range p.Children {
			reporting = append(reporting, observePart(p, c, own))
		}
		if reports(p) {
			reporting = append(reporting, statusPart(p, own))
		}
		if emitsEvents(p) {
			reporting = append(reporting, eventPart(p, own))
		}
	}
	status := pack(p.Names.StatusSensor, reporting)
	for i := range status {
		status[i].Patient = true // children first: the status reports them
	}
	return append(pack(p.Names.Sensor, writing), status...)
}

// partition is the custom resources that a trigger handles: those whose uid leaves
// a remainder when divided. A shard is a Sensor of its own; the workers of a child
// are triggers that work side by side, as each waits for the answer of the API
// server before it takes the next event.
type partition struct {
	remainder, divisor int
	shard, worker      int
}

// maxWorkers is as many as keep the API server busy and do not evaluate every
// event too often.
const maxWorkers = 3

// workersOf is how many workers of every child fit into one Sensor, with the
// programs that write the children.
func workersOf(p *Plan) (int, []string) {
	size := 0
	programs := writePrograms(p, p.Reconcile.Shards*maxWorkers)
	for i, c := range p.Children {
		size += writePart(p, c, programs[i], partition{divisor: p.Reconcile.Shards * maxWorkers}).weight()
	}
	workers := max(1, min(maxWorkers, MaxJQ/max(size, 1)))
	if workers < maxWorkers {
		programs = writePrograms(p, p.Reconcile.Shards*workers)
	}
	return workers, programs
}

// writePrograms are the programs that write the children, for inPartition.
func writePrograms(p *Plan, partitions int) []string {
	var out []string
	for _, c := range p.Children {
		out = append(out, writeJQ(p, c, partitions))
	}
	return out
}

// reports says that there is a status to write.
func reports(p *Plan) bool {
	return p.API.Kind.Status && p.Reconcile.Trigger != "k8s" && (p.API.Conditions || p.API.Observed || len(p.Status.Fields) > 0)
}

// part is a trigger with its dependencies.
type part struct {
	shard        int
	dependencies []Dependency
	trigger      Trigger
}

// MaxJQ is how much jq a Sensor may hold, in bytes: the whole object has to
// fit into an environment variable of 128 KiB in base64.
const MaxJQ = 72 * 1024

// overhead is what a trigger takes beside its jq, in bytes.
const overhead = 3 * 1024

// pack divides parts between as few Sensors as can hold them.
func pack(name string, parts []part) []Sensor {
	var out []Sensor
	size, shard := 0, -1
	for _, p := range parts {
		weight := p.weight()
		if len(out) == 0 || p.shard != shard || size+weight > MaxJQ {
			next := Sensor{Name: name}
			if len(out) > 0 {
				next.Name = fmt.Sprintf("%s-%d", name, len(out)+1)
			}
			out, size, shard = append(out, next), 0, p.shard
		}
		last := &out[len(out)-1]
		last.Dependencies = append(last.Dependencies, p.dependencies...)
		last.Triggers = append(last.Triggers, p.trigger)
		size += weight
	}
	return out
}

// weight is about how many bytes of its Sensor a part takes.
func (p part) weight() int {
	weight := overhead
	for _, d := range p.dependencies {
		weight += len(quote(d.JQ)) + overhead/3
	}
	return weight
}

// newPart makes a dependency of each of the events, all of the same jq.
func newPart(p *Plan, name, jq string, own partition, events []Event, call Call) part {
	call.K8s = p.Reconcile.Trigger == "k8s"
	if own.worker > 0 {
		name = fmt.Sprintf("%s-worker%d", name, own.worker+1)
	}
	out := part{shard: own.shard, trigger: Trigger{Name: name, Call: &call}}
	for _, e := range events {
		dependency := Dependency{Name: name, Event: e.Name, JQ: jq}
		if e.Namespace != "" {
			dependency.Name = fmt.Sprintf("%s-%d", name, len(out.dependencies))
		}
		out.dependencies = append(out.dependencies, dependency)
		out.trigger.On = append(out.trigger.On, dependency.Name)
	}
	return out
}

// parentEvents are those of the custom resources, childEvents those of a kind of child.
func parentEvents(p *Plan) []Event { return eventsOf(p, p.API.Kind, false) }

func childEvents(p *Plan, k Kind) []Event { return eventsOf(p, k, true) }

func eventsOf(p *Plan, k Kind, selected bool) []Event {
	var out []Event
	for _, e := range p.Events {
		if (e.Kind.Group == k.Group && e.Kind.Kind == k.Kind) && (e.Selector != nil) == selected && !e.Related {
			out = append(out, e)
		}
	}
	return out
}

// writePart writes a child whenever the custom resource asks for another one,
// or the observed state says that the child is not as it was written.
func writePart(p *Plan, c Child, program string, own partition) part {
	allow := okApply
	if c.When != nil {
		allow = []int32{200, 201, 202, 404}
	}
	return newPart(p, label(c.Name), inPartition(program, own), own, parentEvents(p), Call{Allow: allow, Fallback: okRecordFailure})
}

// mayBeHeld says that there are times at which a child is not written.
func mayBeHeld(c Child) bool { return len(c.DependsOn) > 0 || len(c.needs) > 0 }

// whenJQ is the jq of whether a child is wanted: what cannot be evaluated is
// reported by the child's own trigger.
func whenJQ(c Child) string { return fmt.Sprintf("(try (%s) catch true)", c.When.Source()) }

// inputsOf is the jq of what a child is computed from, without what can never
// change and without what shows in the generation.
func inputsOf(p *Plan, c Child) []string {
	root, all := branch{}, false
	for _, program := range []*expression.Program{c.Object, c.When} {
		if program == nil {
			continue
		}
		for _, path := range program.Reads() {
			_, changes := mayChange([][]string{path})
			if counted := p.API.Generation && len(path) > 0 && path[0] != "metadata" && path[0] != "status"; changes && !counted {
				all = all || len(path) == 0
				root.add(path)
			}
		}
		for name := range program.ReadsChildren() {
			for _, field := range []string{"fields", "uid", "deletedUID"} { // without the child there is no field of it
				root.add([]string{"status", "children", name, field})
			}
		}
	}
	switch {
	case all:
		return []string{"del(.metadata.managedFields, .metadata.resourceVersion, .status.conditions, .status.observedGeneration)"}
	case p.Reconcile.Memory == InAnnotations && root["status"] != nil:
		return []string{"."}
	}
	return root.paths(".")
}

// Rewritten tells whether a child is written once more when it is first seen: what
// it is computed from may have changed meanwhile.
func (p *Plan) Rewritten(c Child) bool { return len(inputsOf(p, c)) > 0 }

// operation of a k8s trigger that creates a child: a patch creates what is not
// there, and changes what is.
func operation(c Child) string {
	if c.Adopt {
		return "patch"
	}
	return "create"
}

// observePart records on the custom resource what it observes of a child.
func observePart(p *Plan, c Child, own partition) part {
	return newPart(p, "observe-"+label(c.Name), observeJQ(p, c, own), own, childEvents(p, c.Kind), Call{Allow: okRecord})
}

// writer is how managedFields names the trigger and what it does. A k8s trigger
// names no field manager: the API server takes the Sensor's program for it.
func writer(p *Plan) (manager, operation string) {
	if p.Reconcile.Trigger == "k8s" {
		return "argo-events", "Update"
	}
	return p.Runtime.Operator, "Apply"
}

// statusPart makes the status of what is remembered.
func statusPart(p *Plan, own partition) part {
	return newPart(p, "status", statusJQ(p, own), own, parentEvents(p), Call{Allow: okStatus, Fallback: okRefusedStatus})
}

// root is the path of a kind's version in the API server.
func root(k Kind) string {
	if k.Group == "" {
		return "/api/" + k.Version
	}
	return "/apis/" + k.APIVersion()
}

// live is what else is remembered of a child: the fields that expressions read.
// They stand in a list, because a merge patch replaces a list as a whole.
func live(p *Plan, c Child) string {
	paths := slices.Concat(p.Status.Shown[c.Name], remembered(p, c))
	if len(paths) == 0 {
		return ""
	}
	root := branch{}
	for _, path := range paths {
		root.add(path)
	}
	return root.jq(".")
}

// remembered are the paths of a child that templates and `when` of others read.
func remembered(p *Plan, c Child) [][]string {
	var paths [][]string
	for _, other := range p.Children {
		for _, program := range []*expression.Program{other.Object, other.When, other.Each} {
			paths = append(paths, readsOf(program)[c.Name]...)
		}
	}
	return paths
}

// branch is a tree of fields; an empty one is everything below it.
type branch map[string]branch

func (b branch) add(path []string) {
	if len(path) == 0 {
		clear(b)
		return
	}
	next, ok := b[path[0]]
	if ok && len(next) == 0 {
		return // all of it is there already
	}
	if !ok {
		next = branch{}
		b[path[0]] = next
		if len(path) == 1 {
			return
		}
	}
	next.add(path[1:])
}

// paths are the leaves as jq that yields nothing where there is no such field.
func (b branch) paths(of string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(b)) {
		field := fmt.Sprintf("%s[%s]?", of, quote(key))
		if inner := b[key]; len(inner) > 0 {
			out = append(out, inner.paths(field)...)
		} else {
			out = append(out, field)
		}
	}
	return out
}

func (b branch) jq(of string) string {
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(b)) {
		field := fmt.Sprintf("%s[%s]", of, quote(key))
		if inner := b[key]; len(inner) > 0 {
			field = inner.jq(field)
		}
		fields = append(fields, fmt.Sprintf("%s: %s", quote(key), field))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// label is the name of a child as Argo Events takes it: no '_', no capitals.
func label(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r >= 'A' && r <= 'Z' && i > 0:
			b.WriteByte('-')
			b.WriteRune(r - 'A' + 'a')
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r - 'A' + 'a')
		case r == '_':
			b.WriteByte('-')
		default:
			b.WriteRune(r)
		}
	}
	return "child-" + strings.Trim(b.String(), "-")
}
