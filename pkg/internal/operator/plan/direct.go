package plan

import (
	"fmt"
	"slices"
	"strings"

	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// The direct engine reconciles inside the Sensor: a jq program computes a request from
// each event, and a trigger sends it. The programs are the files of the directory
// direct. A Sensor is stateless, so the observed state of a child is stored on the
// custom resource, and that change is the next event. Every failure, drift and late
// delivery therefore ends in an event with the current state, and the last event wins.

// Labels and annotations of the direct engine's children.
const (
	ChildLabel           = "argoperator.dev/child"      // the child's name in the definition
	generationAnnotation = "argoperator.dev/generation" // metadata.generation of the custom resource that the child was made from
	attemptAnnotation    = "argoperator.dev/attempt"    // differs between writes that must each cause an event, such as after failures
	reclaimedLabel       = "argoperator.dev/reclaimed"  // changes when the operator reclaims an unobserved child, to cause an event
	OwnerAnnotation      = "argoperator.dev/owner"      // NAMESPACE.NAME of the custom resource
	fixedAnnotation      = "argoperator.dev/fixed"      // a fingerprint of the fields whose change replaces the child
	PausedAnnotation     = "argoperator.dev/paused"     // of a custom resource: "true" stops all writes to it and its children
	inputsAnnotation     = "argoperator.dev/inputs"     // a digest of the inputs of the child that the generation does not count
)

// MaxAttempts limits the attempts of a write that the API server rejects. After them,
// only another event or the resync tries again.
const MaxAttempts = 5

// CallTries is the number of times that an attempt sends a request, in quick succession.
const CallTries = 3

// maxMissing is the number of times in a row that an object is not found until it counts
// as gone.
const maxMissing = 3

// maxNamed limits the children that the condition Ready names.
const maxNamed = 10

// listedWorkers returns the number of triggers that write the objects of a listed child.
// Two keep the API server busy; more would only evaluate every event more often.
func listedWorkers(c Child) int {
	if c.ForEach != nil {
		return 2
	}
	return 1
}

// Status codes that count as success. A code that a retry would not change is among
// them, so that the trigger does not retry.
var (
	okApply         = []int32{200, 201}
	okRecord        = []int32{200, 404}           // 404: the custom resource was deleted
	okStatus        = []int32{200, 201, 404, 409} // 409: a newer event will follow, or the Event exists already
	okRecordFailure = []int32{200, 400, 404, 422}
	okRefusedStatus = []int32{200, 400, 404, 409, 422} // the request includes the resourceVersion
	okObserved      = []int32{200, 404, 422}           // 422: the object is not listed, or its owner is another one of the same name
	okDeletion      = []int32{200, 202}
	okNotMissing    = []int32{200, 202, 400, 401, 403, 405, 408, 413, 415, 429, 500, 501} // what an object that exists may cause, too
)

// directParts returns the triggers of the direct engine, which are in one Sensor.
func directParts(p *configured) []part {
	var parts []part
	for _, c := range p.Children {
		if !p.listed(c) {
			parts = append(parts, writePart(p, c))
			continue
		}
		for worker := range listedWorkers(c) {
			parts = append(parts, objectsPart(p, c, worker))
		}
	}
	if slices.ContainsFunc(p.Children, p.listed) {
		parts = append(parts, deletePart(p, false), deletePart(p, true))
	}
	for _, c := range p.Children {
		parts = append(parts, observePart(p, c))
	}
	if p.WritesStatus() {
		parts = append(parts, statusPart(p))
	}
	return parts
}

// tooLarge returns why the direct engine does not support a definition whose triggers exceed
// one Sensor.
func tooLarge(p *configured) []Reason {
	size := p.DirectSize()
	if size <= MaxSensor {
		return nil
	}
	return []Reason{{
		Path:    []string{"spec", "children"},
		Message: fmt.Sprintf("its programs take %d bytes of a Sensor, which has room for %d", size, MaxSensor),
	}}
}

// WritesStatus reports whether a trigger writes the status.
func (p *declared) WritesStatus() bool {
	return p.API.Kind.StatusSubresource && (p.API.HasConditions || p.API.HasObservedGeneration || len(p.Status.Fields) > 0)
}

// part is what one Sensor must have: triggers with their dependencies.
type part struct {
	dependencies []Dependency
	triggers     []Trigger
}

// MaxSensor limits the size of a Sensor in JSON, in bytes, with some room for what its
// parts are estimated to take: Argo Events passes the Sensor to its pod in an environment
// variable of at most 128 KiB, in base64.
const MaxSensor = 97_500

// The sizes in JSON of what is not jq, in bytes: of a Sensor, of a trigger and of the one
// after its failure; and, for each dependency, of its own entry, of a request, and of the
// Workflow that asks why it failed.
const (
	sensorSize     = 2400
	triggerSize    = 360
	dependencySize = 150
	requestSize    = 600
	postSize       = 200
	diagnosisSize  = 820
)

// DirectSize estimates the size of the Sensor of the direct engine in JSON, in bytes.
func (p *configured) DirectSize() int {
	size := sensorSize
	for _, part := range p.direct {
		size += part.weight()
	}
	return size
}

// pack distributes the parts of a worker's triggers over as few Sensors as possible.
func pack(name string, parts []part) []Sensor {
	var out []Sensor
	size := 0
	for _, p := range parts {
		weight := p.weight()
		if len(out) == 0 || size+weight > MaxSensor {
			next := Sensor{Name: name}
			if len(out) > 0 {
				next.Name = fmt.Sprintf("%s-%d", name, len(out)+1)
			}
			out, size = append(out, next), sensorSize
		}
		out[len(out)-1].add(p)
		size += weight
	}
	return out
}

func (s *Sensor) add(p part) {
	s.Dependencies = append(s.Dependencies, p.dependencies...)
	s.Triggers = append(s.Triggers, p.triggers...)
}

// weight estimates the size of a part in JSON, in bytes.
func (p part) weight() int {
	weight := 0
	for _, d := range p.dependencies {
		weight += dependencySize + 4*len(d.Name) + len(encode(d.JQ))
	}
	for _, t := range p.triggers {
		requests, of := 1, postSize
		if t.Call != nil {
			of = requestSize
		}
		if t.Call != nil && t.Call.Fallback != nil {
			requests = 2
		}
		for _, d := range t.On {
			weight += requests * (of + 6*len(d))
			if t.Call != nil && t.Call.Asks {
				weight += diagnosisSize
			}
		}
		weight += requests * (triggerSize + len(t.Name))
	}
	return weight
}

// newPart adds a dependency for each event. They share one jq program.
func newPart(made Origin, name, jq string, events []Event, call Call) part {
	out := part{triggers: []Trigger{{Name: name, Call: &call}}}
	for _, e := range events {
		dependency := Dependency{Name: name, Event: e.Name, JQ: jq, Made: made}
		if e.Namespace != "" {
			dependency.Name = fmt.Sprintf("%s-%d", name, len(out.dependencies))
		}
		out.dependencies = append(out.dependencies, dependency)
		out.triggers[0].On = append(out.triggers[0].On, dependency.Name)
	}
	return out
}

// asking returns a call whose failure may create a Workflow.
func asking(asks bool, allow, fallback []int32) Call {
	if asks {
		fallback = slices.Insert(slices.Clone(fallback), 1, 201)
	}
	return Call{Allow: allow, Fallback: fallback, Asks: asks}
}

// parentEvents returns the events of the custom resources, childEvents those of a kind
// of child.
func parentEvents(p *configured) []Event { return eventsOf(p, p.API.Kind, false) }

func childEvents(p *configured, k Kind) []Event { return eventsOf(p, k, true) }

func eventsOf(p *configured, k Kind, selected bool) []Event {
	var out []Event
	for _, e := range p.Events {
		if (e.Kind.Group == k.Group && e.Kind.Kind == k.Kind) && (e.Selector != nil) == selected && !e.Related {
			out = append(out, e)
		}
	}
	return out
}

// writePart applies or deletes a child when the custom resource changes, or when the
// observed state shows that the child is not as it was written.
func writePart(p *configured, c Child) part {
	allow := okWrite(c)
	if absenceAllowed(p, c) {
		allow = []int32{200, 201, 202, 404}
	}
	return newPart(
		Origin{"write", c.Name},
		label(c.Name),
		writeJQ(p, c),
		parentEvents(p),
		asking(p.diagnoses(c), allow, okRecordFailure),
	)
}

// absenceAllowed reports whether it counts as a success that a child to write does not
// exist: it is deleted when it is not wanted.
func absenceAllowed(p *configured, c Child) bool {
	return !p.listed(c) && c.When != nil && c.Replaced == nil
}

// lastAttempt is the number of failed attempts to write a child before the one whose
// failure makes a Workflow ask why.
func lastAttempt(p *configured, c Child) int {
	if absenceAllowed(p, c) {
		return 2
	}
	return MaxAttempts - 1
}

// objectsPart writes the objects of a listed child. The workers of a child with forEach are
// triggers of one Sensor that share its objects and run in parallel, because a trigger waits
// for the API server's response before it takes the next event.
func objectsPart(p *configured, c Child, worker int) part {
	name := label(c.Name)
	if worker > 0 {
		name = fmt.Sprintf("%s-worker%d", name, worker+1)
	}
	return newPart(
		Origin{"objects", c.Name},
		name,
		objectsJQ(p, c, worker, listedWorkers(c)),
		parentEvents(p),
		asking(p.diagnoses(c), okWrite(c), okRecordFailure),
	)
}

// okWrite returns the status codes of a write that succeeds. An object to replace that
// is gone was deleted without the operator's knowledge, which counts as a failure.
func okWrite(c Child) []int32 {
	if c.Replaced != nil {
		return []int32{200, 201, 202}
	}
	return okApply
}

// deletePart deletes the listed objects that are not wanted, or those that may be
// missing.
func deletePart(p *configured, missing bool) part {
	name, allow := "delete", okDeletion
	if missing {
		name, allow = "delete-missing", okNotMissing
	}
	return newPart(
		Origin{"delete", ""},
		name,
		deleteJQ(p, missing),
		parentEvents(p),
		asking(p.Reconcile.Diagnoses && !missing, allow, okRecordFailure),
	)
}

// canWait reports whether there are conditions under which a child is not written.
func canWait(c Child) bool {
	return canBeLate(c) || len(c.needs) > 0 || c.When != nil && len(c.When.ReadsChildren()) > 0
}

// canBeLate reports whether there are conditions under which a child is not created.
func canBeLate(c Child) bool { return len(c.DependsOn)+len(c.Deciders)+len(c.Alternatives) > 0 }

// whenJQ returns the jq that tells whether a child is wanted. The child's own trigger
// reports errors of the expression.
func whenJQ(c Child) string { return fmt.Sprintf("(try (%s) catch true)", c.When.Source()) }

// inputs are what a child is computed from beside the spec: the jq of fields of the custom
// resource, and other children: of a listed one every object.
type inputs struct {
	fields   []string
	whole    bool // the fields are the whole custom resource
	children []Child
}

func (in inputs) none() bool { return len(in.fields)+len(in.children) == 0 }

// jq returns the expression that yields the inputs.
func (in inputs) jq(p *configured) jqfile.Value {
	var values []jqfile.Value
	if len(in.fields) > 0 {
		values = append(values, jqfile.RawList(strings.Join(in.fields, ", ")))
	}
	for _, c := range in.children {
		if p.listed(c) {
			values = append(values, liveValue(p, c))
		} else {
			values = append(values, directPrograms().Definition("liveSource", jqfile.Holes{"hole::child": jqfile.String(c.Name)}))
		}
	}
	return jqfile.List(values...)
}

// inputsOf returns the inputs of a child, without immutable fields and those whose
// changes increase metadata.generation.
func (p *decided) inputsOf(c Child) inputs {
	root := jq.PathTree{}
	var in inputs
	programs := c.programs()
	for _, other := range p.meeting(c) {
		programs = append(programs, other.placing()...)
	}
	recorded := false
	for _, program := range programs {
		for _, path := range program.Reads() {
			_, changes := mutableField([][]string{path})
			if counted := p.API.HasGeneration && len(path) > 0 && path[0] != "metadata" && path[0] != "status"; changes && !counted {
				in.whole = in.whole || len(path) == 0
				recorded = recorded || slices.Contains([]string{"metadata", "status", "metadata.annotations"}, strings.Join(path, "."))
				root.Add(path)
			}
		}
		for _, other := range p.Children {
			_, read := program.ReadsChildren()[other.Name]
			if read && !slices.ContainsFunc(in.children, func(child Child) bool { return child.Name == other.Name }) {
				in.children = append(in.children, other)
			}
		}
	}
	switch {
	case in.whole:
		in.fields = []string{p.withoutRecords()}
	case recorded:
		in.fields = []string{fmt.Sprintf("(%s | %s)", p.withoutRecords(), strings.Join(root.JQ("."), ", "))}
	default:
		in.fields = root.JQ(".")
	}
	return in
}

// withoutRecords returns the jq of a custom resource without what the operator itself records on
// it: a failed write is no reason for the next.
func (p *decided) withoutRecords() string {
	records := []string{".metadata.managedFields", ".metadata.resourceVersion"}
	switch p.Reconcile.StateLocation {
	case InStatus:
		records = append(records, ".status.children")
	case InAnnotations:
		records = append(records, fmt.Sprintf(
			".metadata.annotations[.metadata.annotations // {} | keys[] | select(startswith(%s))]", quote(p.annotationPrefix()),
		))
	}
	if p.API.HasConditions {
		records = append(records, ".status.conditions", ".status.observedGeneration")
	}
	return "del(" + strings.Join(records, ", ") + ")"
}

// ReappliedWhenCreated reports whether a child is applied again when it is first
// observed, because its inputs may have changed since the first write.
func (p *decided) ReappliedWhenCreated(c Child) bool { return !p.inputsOf(c).none() }

// observePart stores the observed state of a child on the custom resource.
func observePart(p *configured, c Child) part {
	allow := okRecord
	if p.listed(c) {
		allow = okObserved
	}
	return newPart(Origin{"observe", c.Name}, "observe-"+label(c.Name), observeJQ(p, c), childEvents(p, c.Kind), Call{Allow: allow})
}

// statusPart computes the status from the observed state.
func statusPart(p *configured) part {
	return newPart(
		Origin{"status", ""},
		"status",
		statusJQ(p),
		parentEvents(p),
		asking(p.Reconcile.Diagnoses && p.API.HasConditions, okStatus, okRefusedStatus),
	)
}

// root returns the API path of a kind's group and version.
func root(k Kind) string {
	return schema.APIPath(k8sschema.GroupVersion{Group: k.Group, Version: k.Version})
}

// observedFieldsJQ returns the jq of the fields of a child that expressions read. The
// observed state has them in a list, because a merge patch replaces a list as a whole.
func observedFieldsJQ(p *configured, c Child) string {
	paths := slices.Concat(p.Status.ChildPaths[c.Name], pathsReadByChildren(p, c))
	if len(paths) == 0 {
		return ""
	}
	root := jq.PathTree{}
	for _, path := range paths {
		root.Add(path)
	}
	return root.Object(".")
}

// pathsReadByChildren returns the paths of a child that templates and `when` of other
// children read.
func pathsReadByChildren(p *configured, c Child) [][]string {
	var paths [][]string
	for _, other := range p.Children {
		for _, program := range []*expression.Program{other.Object, other.When, other.ForEach} {
			paths = append(paths, readsOf(program)[c.Name]...)
		}
	}
	return paths
}

// label converts the name of a child to one that Argo Events accepts: without '_' and
// capitals.
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
