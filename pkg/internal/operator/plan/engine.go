package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Reason is a part of a definition that an engine does not support.
type Reason struct {
	Path    source.Path // in the definition
	Message string
	Hint    string // how to fix it; empty: use the other engine
}

func (r Reason) equal(other Reason) bool {
	return r.Message == other.Message && slices.Equal(r.Path, other.Path)
}

// choice is that of an engine.
type choice struct {
	engine  Engine
	against map[Engine][]Reason // what each does not support
	direct  *configured         // the definition on the direct engine, to know its size; nil if jq does not support it
}

// chooseEngine returns the engine that the definition names or, for auto, the first of direct,
// worker and workflow that supports the definition. The findings list what the engine does not
// support.
func chooseEngine(p *declared, d *definition.Definition) (choice, diag.List) {
	against := map[Engine][]Reason{Direct: directReasons(p, d), Workflow: workflowReasons(p, d), Worker: workerReasons(p)}
	out := choice{engine: Engine(d.Operator.Spec.Reconcile.Engine), against: against}
	if len(against[Direct]) == 0 {
		out.direct = &configured{decided: decide(*p, d, Direct)}
		configure(out.direct, d.Operator.Spec)
		against[Direct] = tooLarge(out.direct)
	}
	var findings diag.List
	if out.engine == auto {
		if out.engine = AutoEngine(against); out.engine != Direct {
			findings = onlyDirect(d, against[Direct][0])
		}
	}
	if out.engine == Worker {
		findings = append(findings, notOnWorker(d)...)
	}
	return out, append(engineErrors(d, out.engine, against), findings...)
}

// AutoEngine returns the engine that auto selects, by what each does not support: of a definition
// that none supports, the findings say what keeps it from a worker.
func AutoEngine(against map[Engine][]Reason) Engine {
	switch {
	case len(against[Direct]) == 0:
		return Direct
	case len(against[Worker]) > 0 && len(against[Workflow]) == 0:
		return Workflow
	}
	return Worker
}

// onlyDirect warns of a key for the direct engine where engine: auto cannot choose it.
func onlyDirect(d *definition.Definition, why Reason) diag.List {
	var findings diag.List
	if d.Operator.Spec.Install.TokenRotation != "" {
		findings.Warn(
			d.Position("spec", "install", "tokenRotation"),
			diag.Unsupported,
			fmt.Sprintf(
				"tokenRotation has no effect: it applies to the direct engine, which does not support this definition: %s (%s)",
				why.Message,
				why.Path,
			),
			"remove the key",
		)
	}
	return findings
}

// onlyWorker lists what only pods that stay can do.
func onlyWorker(d *definition.Definition) []Reason {
	var list []Reason
	if d.Operator.Spec.Install.Group != "" {
		list = append(list, Reason{Path: []string{"spec", "install", "group"}, Message: "the operators of a group share a worker"})
	}
	if d.Operator.Spec.DeleteAfter != "" {
		list = append(list, Reason{Path: []string{"spec", "deleteAfter"}, Message: "only a worker keeps the times"})
	}
	for i, r := range d.Operator.Spec.Related {
		if r.Schedule != "" {
			at := []string{"spec", "related", strconv.Itoa(i), "schedule"}
			list = append(list, Reason{Path: at, Message: "only a worker keeps the times"})
		}
	}
	if *d.Operator.Spec.Reconcile.Shards > 1 {
		list = append(list, Reason{Path: []string{"spec", "reconcile", "shards"}, Message: "only workers can share the custom resources"})
	}
	return list
}

// notOnWorker warns of keys that are about Workflows.
func notOnWorker(d *definition.Definition) diag.List {
	var findings diag.List
	spec := d.Operator.Spec
	for _, key := range []struct {
		path []string
		why  string
		used bool
	}{
		{[]string{"spec", "reconcile", "retries"}, "a worker tries again, with growing pauses, until a reconcile succeeds", false},
		{[]string{"spec", "reconcile", "diagnose"}, "it is for Workflows, and this worker cannot start any", mayShow(spec)},
		{[]string{"spec", "install", "argoServerURL"}, "it is for links to Workflows, and this worker starts none", showsIn(spec)},
	} {
		if d.Written(key.path...) && !key.used {
			findings.Warn(d.Position(key.path...), diag.Unsupported, key.path[2]+" has no effect: "+key.why, "remove "+key.path[2])
		}
	}
	return findings
}

// auto leaves the choice to argoperator.
const auto Engine = "auto"

// engineErrors converts what an engine does not support to findings, which name the first
// other engine that supports the definition.
func engineErrors(d *definition.Definition, e Engine, against map[Engine][]Reason) diag.List {
	var findings diag.List
	var refused []string // by the other engines
	hint := ""
	for _, other := range []Engine{Direct, Worker, Workflow} {
		switch why := against[other]; {
		case other == e || hint != "":
		case len(why) == 0:
			hint = fmt.Sprintf("use the %s engine: reconcile: {engine: %s}", other, other)
		case !slices.ContainsFunc(against[e], why[0].equal):
			refused = append(refused, fmt.Sprintf("the %s engine does not support this definition: %s (%s)",
				other, why[0].Message, why[0].Path))
		}
	}
	for _, r := range against[e] {
		hints := []string{hint, r.Hint}
		if hint == "" {
			hints = append([]string{r.Hint}, refused...)
		}
		findings.Add(
			d.Position(r.Path...),
			diag.Unsupported,
			fmt.Sprintf("the %s engine does not support this: %s", e, r.Message),
			join(hints...),
		)
	}
	return findings
}

func join(hints ...string) string {
	return strings.Join(slices.DeleteFunc(hints, func(h string) bool { return h == "" }), "; ")
}

// directReasons lists what jq in the Sensor does not support.
func directReasons(p *declared, d *definition.Definition) []Reason {
	list := onlyWorker(d)
	add := func(message string, path ...string) {
		list = append(list, Reason{Path: append([]string{"spec"}, path...), Message: message})
	}
	s := d.Operator.Spec
	if s.Logic != nil {
		add("logic needs a pod", "logic")
	}
	if len(p.Related) > 0 {
		list = append(list, Reason{
			Path: []string{"spec", "related"}, Message: "reading related objects needs a pod",
			Hint: "to avoid pods, refer to the object in the child: envFrom, valueFrom, volumes or imagePullSecrets",
		})
	}
	if len(p.Patches) > 0 {
		add("patches need a pod", "patches")
	}
	inStatus := p.hasStateField(d)
	if !inStatus && countsAnnotations(p.API.Kind) {
		add("it keeps what it observes in annotations, which the API server counts as another generation of "+article.With(p.API.Kind.Kind)+
			": it would react to itself without end", "api", "existing")
	}
	for i, c := range p.Children {
		if c.Policy != nil {
			add("a computed onDelete needs a pod", "children", strconv.Itoa(i), "onDelete")
		}
	}
	if p.deletesInReverse {
		add("deleting one child after the other needs a pod", "finalizer", "deletionOrder")
	}
	if s.Finalizer != nil && !inStatus {
		add("the status of this kind cannot store the list of children to delete", "finalizer")
	}
	for i, c := range p.Children {
		directChildReasons(p, c, inStatus, func(message string, path ...string) {
			add(message, append([]string{"children", strconv.Itoa(i)}, path...)...)
		})
	}
	for _, f := range p.Status.Fields {
		if f.Value.NeedsPod() {
			add(needsPod, "status")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Status.ChildPaths)) {
		if readsAll(p.Status.ChildPaths[name]) {
			add(readsAllMessage(name), "status")
		}
	}
	return append(list, storedSecrets(p)...)
}

// needsPod is why a Sensor cannot run a program for which expression.Program.NeedsPod is true.
const needsPod = jq.Hash + " needs a pod: jq has no such function"

// countsAnnotations reports whether the API server counts a change of the annotations of
// objects of a kind as another generation.
func countsAnnotations(k Kind) bool {
	builtin, ok := schema.FindBuiltin(k.APIVersion(), k.Kind)
	return ok && builtin.CountsAnnotations()
}

func directChildReasons(p *declared, c Child, inStatus bool, add func(message string, path ...string)) {
	if c.Object == nil {
		return // a child without a template needs logic, which is reported already
	}
	fits := func(program *expression.Program, key string) {
		if program != nil && program.NeedsPod() {
			add(needsPod, key)
		}
		reads := readsOf(program)
		for _, name := range slices.Sorted(maps.Keys(reads)) {
			if readsAll(reads[name]) {
				add(readsAllMessage(name), key)
			}
		}
	}
	if len(c.Generate) > 0 {
		add("only a pod can make random values", "generate")
	}
	fits(c.Object, "template")
	fits(c.When, "when")
	fits(c.ForEach, "forEach")
	if c.Ready != nil && c.Ready.NeedsPod() {
		add(needsPod, "readyWhen")
	}
	if c.Adopt && (p.hasUnowned(c.Kind) || p.mayAdoptChild(c)) {
		add(fmt.Sprintf("only a pod can read whether another custom resource owns %s to adopt", article.With(c.Kind.Kind)), "adopt")
	}
	if why, key, listed := listedReason(p, c); listed && !inStatus {
		add(why+", and the status of this kind cannot store a list of them", key...)
	}
}

// hasStateField reports whether the observed state can be in the status.
func (p *declared) hasStateField(d *definition.Definition) bool {
	return len(p.API.Versions) > 0 && !takesStateField(d)
}

// listedReason returns why the observed state lists the objects of a child one by one,
// and the key of the definition that makes it so; false if the child is a single object
// whose name and namespace follow from the metadata of the custom resource that the
// object shows itself, and that the garbage collector deletes.
func listedReason(p *declared, c Child) (why string, key []string, listed bool) {
	name, namespace := []string{"template", "metadata", "name"}, []string{"template", "metadata", "namespace"}
	if c.ForEach != nil {
		return "the number of children differs between custom resources", []string{"forEach"}, true
	}
	if len(c.Alternatives) > 0 {
		return fmt.Sprintf(
				"it is the same object as %s, which must be deleted first",
				strings.Join(c.Alternatives, " and "),
			), []string{
				"when",
			}, true
	}
	if field, unseen := fieldWithoutOwner(c); unseen {
		return fmt.Sprintf("metadata of the child depends on %s, which is not part of the events of the child", field), name, true
	}
	if field, changes := mutableField(c.ObjectName.Reads()); changes {
		return fmt.Sprintf("metadata.name of the child depends on %s, which is not part of the events of the child", field), name, true
	}
	switch {
	case c.Kind.Namespaced && p.API.Kind.Namespaced && !c.SameNamespace:
		return "the custom resource cannot own a child in another namespace", namespace, true
	case c.Kind.Namespaced && c.Namespace != nil:
		if field, changes := mutableField(c.Namespace.Reads()); changes {
			return fmt.Sprintf(
				"metadata.namespace of the child depends on %s, which is not part of the events of the child",
				field,
			), namespace, true
		}
	case !c.Kind.Namespaced && p.API.Kind.Namespaced && !c.Orphan:
		return "a namespaced custom resource cannot own a cluster-scoped child", []string{"template", "kind"}, true
	}
	return "", nil, false
}

// listed reports whether the observed state lists the objects of a child one by one.
func (p *declared) listed(c Child) bool {
	if c.Object == nil {
		return false
	}
	_, _, listed := listedReason(p, c)
	return listed
}

// DeletesMoved reports whether the operator deletes what an earlier one made for a child under another
// name. Pods find it by its labels; direct only if the earlier operator has listed it.
func (p *Plan) DeletesMoved(before *Plan, was, is Child) bool {
	if p.Reconcile.Execution.RunsPods {
		return p.Reconcile.Execution.Prunes
	}
	return p.listed(is) && before.listed(was) && !before.Reconcile.Execution.RunsPods
}

// readsAll reports whether the whole child is read instead of some of its fields.
func readsAll(paths [][]string) bool {
	return slices.ContainsFunc(paths, func(path []string) bool { return len(path) == 0 })
}

func readsAllMessage(name string) string {
	return fmt.Sprintf("$children.%s would copy the whole object into the status; read single fields", name)
}

func readsOf(program *expression.Program) map[string][][]string {
	if program == nil {
		return nil
	}
	return program.ReadsChildren()
}

// mutableField returns one of the fields that can change during the life of an object.
func mutableField(reads [][]string) (string, bool) {
	fixed := []string{".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".metadata.uid", ".metadata.creationTimestamp"}
	for _, path := range reads {
		field := "." + strings.Join(path, ".")
		if !slices.Contains(fixed, field) {
			return field, true
		}
	}
	return "", false
}

// fieldWithoutOwner returns a field that the name or namespace of a child is computed
// from and that cannot be computed from an owner reference.
func fieldWithoutOwner(c Child) (string, bool) {
	const created = "metadata.creationTimestamp"
	for _, program := range []*expression.Program{c.ObjectName, c.Namespace} {
		for name, paths := range readsOf(program) {
			return strings.Join(append([]string{"$children", name}, paths[0]...), "."), true
		}
		if program != nil && slices.ContainsFunc(program.Reads(), func(path []string) bool { return strings.Join(path, ".") == created }) {
			return "." + created, true
		}
	}
	return "", false
}

// workerReasons lists what the pod cannot evaluate, because it does not run jq.
func workerReasons(p *declared) []Reason {
	list := slices.Clone(p.Status.NotInPod)
	for _, c := range slices.Concat(p.Patches, p.Children) {
		list = append(append(list, c.readyNotInPod...), c.notInPod...)
	}
	return list
}

// workflowReasons lists what the pod of a Workflow cannot do: evaluate all of jq, or stay.
func workflowReasons(p *declared, d *definition.Definition) []Reason {
	list := append(onlyWorker(d), p.Status.NotInPod...)
	if logic := d.Operator.Spec.Logic; logic != nil && logic.Hook != nil {
		list = append(list, Reason{Path: []string{"spec", "logic", "hook"}, Message: "a server needs a pod that stays"})
	}
	onlyPods := len(p.Patches) > 0 || slices.ContainsFunc(p.Children, onlyInPod)
	for _, c := range p.Patches {
		list = append(list, c.notInPod...)
	}
	for i, c := range p.Children {
		list = append(list, c.readyNotInPod...)
		for _, unfit := range c.notInPod {
			switch {
			case onlyPods:
				list = append(list, unfit)
			case secretsInPod(p):
				unfit.Message += ", and what the Sensor computes would be stored in the Workflow, with the Secret"
				list = append(list, unfit)
			}
		}
		if at := statusReader(c); at != nil {
			list = append(list, Reason{
				Path: append([]string{"spec", "children", strconv.Itoa(i)}, at...), Hint: p.statusHint(),
				Message: "it reads .status, and changes of the status start no Workflow",
			})
		}
	}
	return list
}

// statusReader returns the path, in a child, of an expression that reads the status of the
// custom resource; nil if there is none.
func statusReader(c Child) []string {
	reads := func(paths [][]string) bool { return slices.ContainsFunc(paths, ofStatus) }
	if c.Object != nil && reads(c.Object.Reads()) {
		for _, part := range c.Object.Parts() {
			if reads(part.Reads()) {
				return append([]string{"template"}, part.Path...)
			}
		}
		return []string{"template"}
	}
	switch {
	case c.When != nil && reads(c.When.Reads()):
		return []string{"when"}
	case c.ForEach != nil && reads(c.ForEach.Reads()):
		return []string{"forEach"}
	}
	return nil
}

// ofStatus reports whether a path is that of the status, or below it.
func ofStatus(path []string) bool { return len(path) > 0 && path[0] == "status" }

// statusHint returns how templates of workflow can read the status of an existing kind: as
// that of a related object, whose changes start Workflows.
func (p *declared) statusHint() string {
	k := p.API.Kind
	if !p.API.Existing {
		return ""
	}
	kind := "kind: " + k.Kind
	if _, ok := schema.FindBuiltin(k.APIVersion(), k.Kind); !ok {
		scope := map[bool]string{true: "Namespaced", false: "Cluster"}[k.Namespaced]
		kind += fmt.Sprintf(", plural: %s, scope: %s", k.Plural, scope)
	}
	return fmt.Sprintf("write $related.self.status in place of .status, with related: "+
		`[{name: self, apiVersion: %s, %s, names: ["${ .metadata.name }"]}]`, k.APIVersion(), kind)
}
