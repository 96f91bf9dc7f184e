package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/expression"
)

// The direct engine reconciles inside the Sensor: jq computes a request of each
// event, and a trigger makes it. As a Sensor remembers nothing, what it has seen
// of a child is kept on the custom resource, whose change is the next event. So
// every failure, every drift and every late delivery ends in an event that
// carries the present state, and the last word is always that of the latest one.

// Labels and annotations of a child of the direct engine.
const (
	childLabel           = "argoperator.dev/child"      // the child's name in the definition
	generationAnnotation = "argoperator.dev/generation" // of the custom resource that it was made from
	appliedAnnotation    = "argoperator.dev/applied"    // by the k8s trigger: what was written last, without which no field goes
	attemptAnnotation    = "argoperator.dev/attempt"    // differs where a write must show as a change, as after failures
	foundLabel           = "argoperator.dev/found"      // differs where a child that was not seen is to be seen
	ownerAnnotation      = "argoperator.dev/owner"      // NAMESPACE.NAME of the custom resource
)

// maxAttempts of a write that the API server refuses; then the next event or the resync tries again.
const maxAttempts = 5

// The answers that a request takes for success.
var (
	written  = []int32{200, 201}
	noted    = []int32{200, 404}                // 404: the custom resource is gone
	recorded = []int32{200, 404, 409}           // 409: a newer event is on its way
	settled  = []int32{200, 400, 404, 422}      // what another try would not change
	closed   = []int32{200, 400, 404, 409, 422} // the same of what names the version that it is about
)

// directSensors are the Sensors of the direct engine: some write children,
// others write the status, so that neither waits for the other.
func directSensors(p *Plan) []Sensor {
	var writing, reporting []part
	lanes := lanesOf(p)
	for shard := range p.Reconcile.Shards {
		for lane := range lanes {
			for _, c := range p.Children {
				writing = append(writing, writePart(p, c, portion{shard*lanes + lane, p.Reconcile.Shards * lanes, shard, lane}))
			}
		}
	}
	for shard := range p.Reconcile.Shards {
		own := portion{shard, p.Reconcile.Shards, shard, 0}
		for _, c := range p.Children {
			reporting = append(reporting, seenPart(p, c, own))
		}
		if reports(p) {
			reporting = append(reporting, statusPart(p, own))
		}
		if announces(p) {
			reporting = append(reporting, eventPart(p, own))
		}
	}
	status := pack(p.Names.StatusSensor, reporting)
	for i := range status {
		status[i].Patient = true // children first: the status tells of them
	}
	return append(pack(p.Names.Sensor, writing), status...)
}

// portion is the custom resources that a trigger is for: those whose uid leaves
// a remainder when divided. A shard is a Sensor of its own; the lanes of a Sensor
// are triggers that work side by side, as each waits for the answer of the API
// server before it takes the next event.
type portion struct {
	remainder, divisor int
	shard, lane        int
}

// maxLanes is as many as keep the API server busy and do not evaluate every
// event too often.
const maxLanes = 3

// lanesOf is how many lanes fit into one Sensor.
func lanesOf(p *Plan) int {
	one := 0
	for _, c := range p.Children {
		one += writePart(p, c, portion{divisor: p.Reconcile.Shards * maxLanes}).weight()
	}
	return max(1, min(maxLanes, MaxJQ/max(one, 1)))
}

// reports tells whether there is a status to write.
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
func newPart(p *Plan, name, jq string, own portion, events []Event, call Call) part {
	call.K8s = p.Reconcile.Trigger == "k8s"
	if own.lane > 0 {
		name = fmt.Sprintf("%s-lane%d", name, own.lane+1)
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

// eventObjects binds the new and the old object of an event.
const eventObjects = `(.body.Obj // .body) as $new | .oldBody as $old`

// writePart writes a child whenever the custom resource asks for another one,
// or the memory says that the child is not as it was written.
func writePart(p *Plan, c Child, own portion) part {
	allow := written
	if c.When != nil {
		allow = []int32{200, 201, 202, 404}
	}
	return newPart(p, label(c.Name), writeJQ(p, c, own), own, parentEvents(p), Call{Allow: allow, Fallback: settled})
}

func writeJQ(p *Plan, c Child, own portion) string {
	open, end := going(c)
	return fmt.Sprintf(`%s%sdef wanted: try (%s{child: %s}) catch {error: tostring};
%s
| if .type == "DELETE" or $new.metadata.deletionTimestamp != null%s then {go: false} else
  %s as $seen | %s as $before
  | (($seen.version | tonumber? // 0) < ($before.version | tonumber? // 0)) as $again
  | if (%s)%s | not then {go: false} elif %s then {go: false} else ($new | wanted) as $want
  | (if $seen.failed.generation == $new.metadata.generation then $seen.failed.attempts // 0 else 0 end) as $attempts
  | (if $old == null or $seen.found != $before.found then 0 else $attempts %% 4 end) as $try
  | %s{go: true,
   call: (if $want.error != null or $seen.error != null then %s%s
     else %s end),
   failed: %s}%s end end`,
		observedDef(p)+writtenDef, heldDef(p, c), exactly(c.Inexact), wantedJQ(p, c), eventObjects, elsewhere("$new.metadata.uid", own)+ownKind(p),
		observed(c, "$new"), observed(c, "$old"), strings.Join(due(p, c), "\n      or "), unlessHeld(c), underway(c), open,
		rememberError(p, c, `(if $want.error then {generation: $new.metadata.generation, message: ("template: " + $want.error)} else null end)`),
		deletion(c), application(p, c),
		rememberFailure(p, c, fmt.Sprintf(`{generation: $new.metadata.generation, attempts: ($attempts + 1), uid: $seen.uid, message: %s}`, refusal(p, c))), end)
}

// refusal is the jq of what the status says of a child that cannot be written.
func refusal(p *Plan, c Child) string {
	refused := "the API server does not take it; argoperator render and kubectl apply --server-side --dry-run=server show why"
	if c.Adopt {
		return quote(refused)
	}
	return fmt.Sprintf(`(if $seen.uid != null then %s else %s end)`, quote(refused), quote(fmt.Sprintf(
		"the API server does not take it, or a %s of this name exists that does not belong to this %s; argoperator render and kubectl apply --server-side --dry-run=server show why; to take over the existing object, write adopt: true on child %s",
		c.Kind.Kind, p.API.Kind.Kind, c.Name)))
}

// mayBeHeld tells whether there are times at which a child is not written.
func mayBeHeld(c Child) bool { return len(c.DependsOn) > 0 || len(c.needs) > 0 }

// heldDef defines what a child is held back for.
func heldDef(p *Plan, c Child) string {
	if !mayBeHeld(c) {
		return ""
	}
	return "def held: " + heldTerm(p, c) + ";\n"
}

// heldTerm is the jq of what a child waits for, or null. One that is not there
// waits for those that it depends on; one that is there is not written while
// that would take fields from it.
func heldTerm(p *Plan, c Child) string {
	term := "null"
	if lost := lostJQ(p, c); lost != "" {
		term = fmt.Sprintf(`(if %s.uid != null then %s | if . == null then . else "waits for " + . end else null end)`, observed(c, ""), lost)
	}
	if len(c.DependsOn) > 0 {
		term = fmt.Sprintf(`(if %s.uid == null and (%s | not) then %s else %s end)`,
			observed(c, ""), freeTerm(p, c), quote("waits for "+strings.Join(c.DependsOn, ", ")), term)
	}
	return term
}

// freeTerm is the jq of whether the children that a child depends on are ready,
// or are not wanted.
func freeTerm(p *Plan, c Child) string {
	var terms []string
	for _, other := range p.Children {
		if !slices.Contains(c.DependsOn, other.Name) {
			continue
		}
		term := observed(other, "") + ".ready == true"
		if other.When != nil {
			when := whenJQ(other)
			if len(other.When.ReadsChildren()) > 0 {
				when = fmt.Sprintf("(%s as $children | %s)", liveJQ(p, "."), when)
			}
			term += fmt.Sprintf(" or (%s | not)", when)
		}
		terms = append(terms, "("+term+")")
	}
	return strings.Join(terms, " and ")
}

// whenJQ is the jq of whether a child is wanted: what cannot be evaluated is
// reported by the child's own trigger.
func whenJQ(c Child) string { return fmt.Sprintf("(try (%s) catch true)", c.When.Source()) }

// unlessHeld is the condition under which a child is written.
func unlessHeld(c Child) string {
	if !mayBeHeld(c) {
		return ""
	}
	return ` and ($new | held) == null`
}

// heldJQ is the jq of the children that are held back, each with what it waits
// for; empty where none ever is.
func heldJQ(p *Plan) string {
	var fields []string
	for _, c := range p.Children {
		if mayBeHeld(c) {
			fields = append(fields, quote(c.Name)+": "+heldTerm(p, c))
		}
	}
	if fields == nil {
		return ""
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// due lists when a child is written: at the start; when something changed that
// it is computed from; when the memory says that it is gone, drifted, failed or
// was overwritten by a late delivery of an older generation; when a failure was
// forgotten over an event of the child that does not make up for it; and when
// the memory itself was overwritten, by an older event of the child: then the
// write makes a new one.
func due(p *Plan, c Child) []string {
	list := []string{
		`$old == null`,
		`$new.metadata.generation != $old.metadata.generation`,
		`$seen.uid == null and ($before.uid != null or $seen.gone != $before.gone)`,
		`$again`,
		`$seen.drift != null and $seen.drift != $before.drift`,
		fmt.Sprintf(`$seen.failed != null and $seen.failed != $before.failed and $seen.failed.attempts < %d`, maxAttempts),
		`$seen.failed != null and $seen.found != $before.found`,
		`$before.failed != null and $seen.failed == null and ($before.uid == null or $seen.generation < $new.metadata.generation)`,
		`$seen.generation != $before.generation and $seen.generation < $new.metadata.generation`,
		`$before.error != null and $seen.error == null`,
	}
	if mayBeHeld(c) {
		list = append(list, `($old // {} | held) != null`)
	}
	if inputs := inputsOf(p, c); len(inputs) > 0 {
		list = append(list, fmt.Sprintf("($new | [%[1]s]) != ($old | [%[1]s])", strings.Join(inputs, ", ")),
			`$seen.uid != null and $before.uid == null`) // they may have changed while it was underway
	}
	if c.When != nil {
		list = append(list, `$seen.uid != null and $before.uid == null and ($new | wanted).child == null`)
	}
	return list
}

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
			for _, field := range []string{"live", "uid", "gone"} { // without the child there is no field of it
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

// wantedJQ is the child as its template has it, or null where `when` is not true.
func wantedJQ(p *Plan, c Child) string {
	source := placed(p, c, c.Object.Source())
	if known := knownJQ(c); known != "" {
		source = fmt.Sprintf("(%s | .metadata.annotations[%s] = (%s | tojson))", source, quote(knownAnnotation), known)
	}
	if c.When != nil {
		source = fmt.Sprintf("if %s then %s else null end", c.When.Source(), source)
	}
	if len(c.Object.ReadsChildren()) > 0 || c.When != nil && len(c.When.ReadsChildren()) > 0 {
		source = fmt.Sprintf("%s as $children | %s", liveJQ(p, "."), source)
	}
	return "(" + source + ")"
}

// going is whether there is anything to do: without a child there is only what
// was seen of it to delete.
func going(c Child) (open, end string) {
	if c.When == nil {
		return "", ""
	}
	return "if ($want.error != null or $want.child != null or $seen.uid != null) | not then {go: false} else ", " end"
}

// deletion is the request for a child that is no longer wanted. The uid keeps it
// from an object of that name that is not ours.
func deletion(c Child) string {
	if c.When == nil {
		return ""
	}
	target := address(c.Kind, namespaceOf(c), "($new | "+c.Named.Source()+")")
	return fmt.Sprintf(`
       elif $want.child == null then {method: "DELETE", path: %s, type: "application/json", body: ({preconditions: {uid: $seen.uid}} | tojson)}`, target)
}

// namespaceOf is the jq of a child's namespace; "" for a cluster-scoped one.
func namespaceOf(c Child) string {
	switch {
	case !c.Kind.Namespaced:
		return ""
	case c.Namespace != nil && !c.Beside:
		return "($new | " + c.Namespace.Source() + ")"
	}
	return "$new.metadata.namespace"
}

// application is the request that writes the child. While one fails, the next
// attempt assumes less: that the child is not there although it was seen, then
// that it is there although it was not.
func application(p *Plan, c Child) string {
	if p.Reconcile.Trigger == "k8s" {
		create := fmt.Sprintf(`{operation: %s, manifest: ($want.child | %s)}`, quote(operation(c)), dressed(p, c))
		return fmt.Sprintf(`($seen.uid != null and $try == 0) as $update
       | if $update then {operation: "patch", manifest: (def less($a; $b): if ($a | type) == "object" and ($b | type) == "object" then reduce ($a | keys[]) as $k ($b; if has($k) then .[$k] = less($a[$k]; $b[$k]) else .[$k] = null end) else $b end;
         less($seen.applied // {}; $want.child) | %s)}
         else %s end`, dressed(p, c), create)
	}
	apply := fmt.Sprintf(`($seen.uid != null and $try == 0) as $update
       | {method: "PATCH", path: (%s + "?fieldManager=%s&force=%s), type: "application/apply-patch+yaml",
       body: ($want.child | %s | tojson | %s)}`,
		address(c.Kind, namespaceOf(c), "$want.child.metadata.name"), p.Runtime.Operator, force(p, c), dressed(p, c), asYAML)
	if c.Adopt {
		return apply
	}
	return fmt.Sprintf(`if $try >= 2 then %s
     else %s end`, reclaim(p, c), apply)
}

// operation of a k8s trigger that creates a child: a patch creates what is not
// there, and changes what is.
func operation(c Child) string {
	if c.Adopt {
		return "patch"
	}
	return "create"
}

// asYAML escapes what JSON lets stand in a string and YAML, as which the API
// server reads the body, does not: U+2028 is a line end to it.
const asYAML = `if test("[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]") then
         reduce (range(127; 160), 8232, 8233, 65279, 65534, 65535) as $c (.;
           split([$c] | implode) | join("\\u" + ([$c / 4096, $c / 256, $c / 16, $c | floor % 16 | "0123456789abcdef"[.:. + 1]] | join("")))) else . end`

// force takes fields over from others: in a child that was seen, and in an
// object that is to be adopted.
func force(p *Plan, c Child) string {
	switch {
	case !p.Reconcile.Force:
		return `false"`
	case c.Adopt:
		return `true"`
	}
	return `" + ($update == true | tostring)`
}

// dressed is the jq of a child with what makes it ours.
func dressed(p *Plan, c Child) string {
	var b strings.Builder
	if c.Kind.Namespaced && c.Namespace == nil {
		b.WriteString("namespace: $new.metadata.namespace,")
	}
	fmt.Fprintf(&b, "\n         labels: (.metadata.labels + {%s: %s, %s: $new.metadata.uid, %s: %s})",
		quote(ManagedBy), quote(p.Runtime.Operator), quote(OwnerUID), quote(childLabel), quote(c.Name))
	fmt.Fprintf(&b, ",\n         annotations: (.metadata.annotations + {%s: (($new.metadata.namespace // \"\") + \".\" + $new.metadata.name), %s: ($new.metadata.generation // 0 | tostring)} + if $seen.failed or $again then {%s: $new.metadata.resourceVersion} else {} end%s)",
		quote(ownerAnnotation), quote(generationAnnotation), quote(attemptAnnotation), applied(p))
	if !c.Orphan {
		fmt.Fprintf(&b, ",\n         ownerReferences: [{apiVersion: %s, kind: %s, name: $new.metadata.name, uid: $new.metadata.uid, controller: true}]",
			quote(p.API.Kind.APIVersion()), quote(p.API.Kind.Kind))
	}
	return ". + {metadata: (.metadata + " + boundTo(p, c) + " + {" + b.String() + "})}"
}

// applied is what the k8s trigger writes, in JSON: its patches leave a field that
// is not in them as it is, so what was there before has to be known.
func applied(p *Plan) string {
	if p.Reconcile.Trigger != "k8s" {
		return ""
	}
	return fmt.Sprintf(" + {%s: ($want.child | .metadata |= {labels, annotations} | tojson)}", quote(appliedAnnotation))
}

// appliedMemory is what is remembered of it.
func appliedMemory(p *Plan) string {
	if p.Reconcile.Trigger != "k8s" {
		return ""
	}
	return fmt.Sprintf(`, applied: (.metadata.annotations[%s] // "null" | fromjson? // null)`, quote(appliedAnnotation))
}

// seenPart remembers on the custom resource what it sees of a child.
func seenPart(p *Plan, c Child, own portion) part {
	return newPart(p, "seen-"+label(c.Name), seenJQ(p, c, own), own, childEvents(p, c.Kind), Call{Allow: noted})
}

func seenJQ(p *Plan, c Child, own portion) string {
	manager, operation := writer(p)
	return fmt.Sprintf(`def unready: %s;
def ours: [.metadata.managedFields[]? | select(.manager == %s and .operation == %s and .subresource == null)] | first;
def seen: unready as $why
  | {uid: .metadata.uid, generation: (.metadata.annotations[%s] // "0" | tonumber? // 0), ready: ($why == ""), message: (if $why == "" then null else $why end), found: .metadata.labels[%s]%s%s%s};
def lastWrite: [ours.time, (.metadata.annotations | .[%s], .[%s])];
def marks: [seen, lastWrite, .metadata.ownerReferences, (.metadata.labels | .[%s], .[%s])];
%s
| (%s) as $owner
| if $owner == null or ($new.metadata.labels[%s] // $old.metadata.labels[%s]) != %s%s%s then {go: false} else
  .type as $type
  | (if $old != null and ($new | ours.fieldsV1) != ($old | ours.fieldsV1) and ($new | ours.time // ($old | ours.time)) == ($old | ours.time)
       and $new.metadata.annotations[%s] == $old.metadata.annotations[%s] then {drift: $new.metadata.resourceVersion} else {} end) as $drift
  | ($old == null or ($new | lastWrite) != ($old | lastWrite)) as $written
  | if $type == "DELETE" or $old == null or $drift != {} or ($new | marks) != ($old | marks) then {go: true, call: (if $type == "DELETE" then %s else %s end)}
  else {go: false} end end`,
		unreadyJQ(c), quote(manager), quote(operation), quote(generationAnnotation), quote(foundLabel), appliedMemory(p), knownMemory(c), live(p, c),
		quote(attemptAnnotation), quote(generationAnnotation), quote(OwnerUID), quote(childLabel), eventObjects, ownerJQ(p, c), quote(childLabel), quote(childLabel), quote(c.Name),
		elsewhere("$new.metadata.labels["+quote(OwnerUID)+"]", own), misplaced(p, c),
		quote(generationAnnotation), quote(generationAnnotation),
		rememberGone(p, c), rememberSeen(p, c))
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
func statusPart(p *Plan, own portion) part {
	return newPart(p, "status", statusJQ(p, own), own, parentEvents(p), Call{Allow: recorded, Fallback: closed})
}

// statusJQ waits until every child that is wanted was seen at the present
// generation, or has failed at it: until then the observed generation says
// that the status is not yet about it.
func statusJQ(p *Plan, own portion) string {
	names, values := statusFields(p)
	held, isHeld, ready, message := "", "$memory[.] | ", ".ready and .failed == null and .error == null", `.error.message // .failed.message // .message // "is not ready"`
	if h := heldJQ(p); h != "" {
		held = "\n  | ($new | " + h + ") as $held"
		isHeld, ready, message = ". as $n | $memory[$n] | $held[$n] != null or ", ".ready and .failed == null and .error == null and $held[$n] == null", `.error.message // $held[$n] // .failed.message // .message // "is not ready"`
	}
	return fmt.Sprintf(`%sdef patch($a; $b): reduce (($a, $b) | keys[]) as $k ({}; if $a[$k] == $b[$k] then . elif ($a[$k] | type) == "object" and ($b[$k] | type) == "object" then .[$k] = patch($a[$k]; $b[$k]) else .[$k] = $b[$k] end);
%s
| if .type == "DELETE" or $new.metadata.deletionTimestamp != null%s then {go: false} else
  ($new | %s) as $memory | ($new | %s as $children | [%s]) as $names%s
  | $new.metadata.generation as $generation
  | if all($names[]; %s.generation == $generation or .failed.generation == $generation or .error != null) | not then {go: false} else
    ([$names[] | . as $n | $memory[$n] | select(%s | not) | "\($n): \(%s)"] | join("; ")) as $wait
    | (if any($names[]; $memory[.] | .failed != null or .error != null) then ["False", "Failed", $wait]
       elif $wait == "" then ["True", "Reconciled", "all children are ready (\($names | length))"]
       else ["False", "Progressing", "not ready: \($wait)"] end) as $ready
    | ([$new.metadata.managedFields[]?.time] | max // $new.metadata.creationTimestamp) as $time
    | ($new.status.conditions // []) as $conditions
    | ([$conditions[] | select(.type == "Ready")] | first) as $last
    | def with($ready): [$conditions[] | select(.type != "Ready")] + [{type: "Ready", status: $ready[0], reason: $ready[1], message: $ready[2], observedGeneration: $generation, lastTransitionTime: (if $last.status == $ready[0] then $last.lastTransitionTime else $time end)}];
      ($new | %s as $children | %s) as $status
    | patch($new.status // {} | %s; $status) as $patch
    | if $patch == {} then {go: false} else {go: true, call: %s, failed: %s} end end end`,
		observedDef(p), eventObjects, elsewhere("$new.metadata.uid", own)+ownKind(p),
		memories(p), liveJQ(p, "."), wantedNames(p), held, isHeld, ready, message,
		liveJQ(p, "."), "{"+strings.Join(values, ", ")+"}", "{"+strings.Join(names, ", ")+"}",
		request(p, fromParent, "/status", `{metadata: {resourceVersion: $new.metadata.resourceVersion}, status: $patch}`),
		request(p, fromParent, "/status", refusedStatus(p)))
}

// wantedNames are the names of the children whose `when` is true.
func wantedNames(p *Plan) string {
	var names []string
	for _, c := range p.Children {
		name := quote(c.Name)
		if c.When != nil {
			name = fmt.Sprintf("(if %s then %s else empty end)", whenJQ(c), name)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// statusFields are the names of the fields that we compute, with the jq of each;
// what cannot be computed is null.
func statusFields(p *Plan) (names, values []string) {
	add := func(name, value string) { names, values = append(names, name), append(values, name+": "+value) }
	for _, f := range p.Status.Fields {
		add(quote(f.Name), fmt.Sprintf("(try (%s%s) catch null)", exactly(f.Inexact), f.Value.Source()))
	}
	if p.API.Observed {
		add("observedGeneration", "$generation")
	}
	if p.API.Conditions {
		add("conditions", "with($ready)")
	}
	return names, values
}

// refusedStatus is written where the API server takes none of the computed fields.
func refusedStatus(p *Plan) string {
	if !p.API.Conditions {
		return `{metadata: {resourceVersion: $new.metadata.resourceVersion}}`
	}
	return `{metadata: {resourceVersion: $new.metadata.resourceVersion}, status: {conditions: with(["False", "StatusRefused", "the API server does not take the computed status"])}}`
}

// address is the jq of an object's path in the API server. Joined strings cost
// the Sensor, which compiles its jq for each event, a tenth of interpolated ones.
func address(k Kind, namespace, name string) string {
	base := root(k)
	if namespace != "" {
		base += `/namespaces/" + (` + namespace + ` | @uri) + "`
	}
	return `"` + base + "/" + k.Plural + `/" + (` + name + ` | @uri)`
}

// root is the path of a kind's version in the API server.
func root(k Kind) string {
	if k.Group == "" {
		return "/api/" + k.Version
	}
	return "/apis/" + k.APIVersion()
}

// fromParent is the custom resource of an event as an owner: {name, namespace}.
const fromParent = "$new.metadata"

// request is a merge patch of the custom resource of an owner.
func request(p *Plan, owner, subresource, body string) string {
	namespace := ""
	if p.API.Kind.Namespaced {
		namespace = owner + ".namespace"
	}
	return fmt.Sprintf(`{method: "PATCH", path: (%s + "%s?fieldManager=%s"), type: "application/merge-patch+json", body: (%s | tojson)}`, address(p.API.Kind, namespace, owner+".name"), subresource, p.Runtime.Operator, body)
}

// liveJQ is $children: of each child, the fields that expressions read.
func liveJQ(p *Plan, of string) string {
	return fmt.Sprintf("(%s | %s | map_values(.live[0]?))", of, memories(p))
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
	return ", live: [" + root.jq(".") + "]"
}

// knownMemory is what is remembered of the fields that a child was written with.
func knownMemory(c Child) string {
	if len(c.needs) == 0 {
		return ""
	}
	return fmt.Sprintf(`, known: (.metadata.annotations[%s] // "[]" | fromjson? // [])`, quote(knownAnnotation))
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

// elsewhere lets another trigger have an event: the first digits of the owner's
// uid decide, so that all events of a custom resource stay in one. The factors
// are odd so that the powers of two divide evenly, too.
func elsewhere(uid string, own portion) string {
	if own.divisor == 1 {
		return ""
	}
	return fmt.Sprintf(`
     or (%s // "" | . + "0000" | explode | .[0] + 3 * .[1] + 5 * .[2] + 7 * .[3]) %% %d != %d`, uid, own.divisor, own.remainder)
}

// ownKind keeps children of the watched kind from being taken for custom resources.
func ownKind(p *Plan) string {
	if !keepsOwnKind(p) {
		return ""
	}
	return fmt.Sprintf("\n     or $new.metadata.labels[%s] == %s", quote(ManagedBy), quote(p.Runtime.Operator))
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
