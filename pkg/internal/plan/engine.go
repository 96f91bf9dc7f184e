package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/expression"
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// Reason says what in a definition an engine cannot carry.
type Reason struct {
	Path    []string // in the definition
	Message string
	Hint    string // what to do about it; empty: take the other engine
}

// choose takes the engine that the definition names or, with auto, the cheapest
// that carries it. A finding says what the named engine cannot carry.
func choose(p *Plan, d *definition.Definition) (Engine, []Reason, diag.List) {
	engine := Engine(d.Operator.Spec.Reconcile.Engine)
	against := map[Engine][]Reason{Direct: againstDirect(p, d), Workflow: againstWorkflow(p)}
	if engine != auto {
		return engine, nil, refused(d, against[engine], engine, otherThan(engine, against))
	}
	if len(against[Direct]) == 0 {
		return Direct, nil, nil
	}
	findings := refused(d, against[Workflow], Workflow, against[Direct])
	return Workflow, against[Direct], append(findings, withoutEffect(d, against[Direct][0])...)
}

// withoutEffect warns of keys for the direct engine where engine: auto cannot choose it.
func withoutEffect(d *definition.Definition, why Reason) diag.List {
	var findings diag.List
	spec := d.Operator.Spec
	for _, key := range []struct {
		set  bool
		path []string
	}{
		{spec.Reconcile.Trigger == "k8s", []string{"spec", "reconcile", "trigger"}},
		{spec.Reconcile.Shards != nil && *spec.Reconcile.Shards > 1, []string{"spec", "reconcile", "shards"}},
		{spec.Install.TokenRotation != "", []string{"spec", "install", "tokenRotation"}},
	} {
		if key.set {
			findings.Warn(d.Position(key.path...), diag.Unsupported,
				fmt.Sprintf("%s has no effect: it is for the direct engine, which does not support this definition: %s (%s)", key.path[2], why.Message, strings.Join(why.Path, ".")),
				"remove the key")
		}
	}
	return findings
}

// auto leaves the choice to us.
const auto Engine = "auto"

// otherThan is what keeps the definition from the other engine that has templates.
func otherThan(e Engine, against map[Engine][]Reason) []Reason {
	if e == Direct {
		return against[Workflow]
	}
	return against[Direct]
}

// refused makes findings of what an engine cannot carry. others is what the
// other engine cannot; empty if it would do.
func refused(d *definition.Definition, reasons []Reason, e Engine, others []Reason) diag.List {
	var findings diag.List
	hint := map[Engine]string{
		Direct:   "the workflow engine carries it, with one pod an event: reconcile: {engine: workflow}",
		Workflow: "the direct engine carries it: reconcile: {engine: direct}",
	}[e]
	if len(others) > 0 {
		hint = fmt.Sprintf("the other engine is out of the question: %s (%s)", others[0].Message, strings.Join(others[0].Path, "."))
	}
	for _, r := range reasons {
		findings.Add(d.Position(r.Path...), diag.Unsupported, fmt.Sprintf("the %s engine cannot carry this: %s", e, r.Message), join(hint, r.Hint))
	}
	return findings
}

func join(hints ...string) string {
	return strings.Join(slices.DeleteFunc(hints, func(h string) bool { return h == "" }), "; ")
}

// againstDirect lists what jq in the Sensor cannot do.
func againstDirect(p *Plan, d *definition.Definition) []Reason {
	var list []Reason
	add := func(message string, path ...string) {
		list = append(list, Reason{Path: append([]string{"spec"}, path...), Message: message})
	}
	s := d.Operator.Spec
	if s.Logic != nil {
		add("logic runs in a pod", "logic")
	}
	if len(s.Related) > 0 {
		add("related objects are read in a pod", "related")
	}
	if s.Finalizer != nil {
		add("a clean-up needs a pod that does it and removes the finalizer", "finalizer")
	}
	for i, c := range p.Children {
		againstDirectChild(p, c, func(message string, path ...string) {
			add(message, append([]string{"children", strconv.Itoa(i)}, path...)...)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Status.Shown)) {
		if whole(p.Status.Shown[name]) {
			add(wholeChild(name), "status")
		}
	}
	return append(list, againstTrigger(p)...)
}

func againstDirectChild(p *Plan, c Child, add func(message string, path ...string)) {
	if c.Object == nil {
		return // without a template there is logic, which says enough
	}
	if c.Each != nil {
		add("the number of children differs from custom resource to custom resource", "forEach")
		return
	}
	copied := func(program *expression.Program, key string) {
		reads := readsOf(program)
		for _, name := range slices.Sorted(maps.Keys(reads)) {
			if whole(reads[name]) {
				add(wholeChild(name), key)
			}
		}
	}
	copied(c.Object, "template")
	copied(c.When, "when")
	if field, unseen := unseenByChild(c); unseen {
		add(fmt.Sprintf("the child's place follows %s, which an event of the child does not show", field), "template", "metadata", "name")
	}
	if field, changes := mayChange(c.Named.Reads()); changes {
		add(fmt.Sprintf("the child's name follows %s, which can change: the child of the old name has to be found and deleted", field), "template", "metadata", "name")
	}
	switch {
	case c.Kind.Namespaced && p.API.Kind.Namespaced && !c.Beside:
		add("the child is in another namespace than its custom resource, which therefore cannot own it", "template", "metadata", "namespace")
	case c.Kind.Namespaced && c.Namespace != nil:
		if field, changes := mayChange(c.Namespace.Reads()); changes {
			add(fmt.Sprintf("the child's namespace follows %s, which can change", field), "template", "metadata", "namespace")
		}
	case !c.Kind.Namespaced && p.API.Kind.Namespaced && !c.Orphan:
		add("the child is cluster-scoped, and its custom resource cannot own it", "template", "kind")
	}
}

// whole says that all of a child is read, and not some of its fields.
func whole(paths [][]string) bool {
	return slices.ContainsFunc(paths, func(path []string) bool { return len(path) == 0 })
}

func wholeChild(name string) string {
	return fmt.Sprintf("$children.%s as a whole would be copied into the status; name its fields", name)
}

func readsOf(program *expression.Program) map[string][][]string {
	if program == nil {
		return nil
	}
	return program.ReadsChildren()
}

// mayChange names a field among those read that can change while an object lives.
func mayChange(reads [][]string) (string, bool) {
	fixed := []string{".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".metadata.uid", ".metadata.creationTimestamp"}
	for _, path := range reads {
		field := "." + strings.Join(path, ".")
		if !slices.Contains(fixed, field) {
			return field, true
		}
	}
	return "", false
}

// unseenByChild names a field that a child's name or namespace is computed from
// and that cannot be computed from an owner reference.
func unseenByChild(c Child) (string, bool) {
	const created = "metadata.creationTimestamp"
	for _, program := range []*expression.Program{c.Named, c.Namespace} {
		for name, paths := range readsOf(program) {
			return strings.Join(append([]string{"$children", name}, paths[0]...), "."), true
		}
		if program != nil && slices.ContainsFunc(program.Reads(), func(path []string) bool { return strings.Join(path, ".") == created }) {
			return "." + created, true
		}
	}
	return "", false
}

// httpTrigger is what carries what the k8s trigger cannot.
const httpTrigger = "the http trigger, which is the default, can: reconcile: {trigger: http}"

// againstTrigger lists what the k8s trigger of Argo Events cannot do.
func againstTrigger(p *Plan) []Reason {
	if p.Reconcile.Trigger != "k8s" {
		return nil
	}
	at := []string{"spec", "reconcile", "trigger"}
	var list []Reason
	if len(p.Status.Fields) > 0 {
		list = append(list, Reason{Path: []string{"spec", "status"}, Message: "the k8s trigger cannot write status", Hint: httpTrigger})
	}
	for i, c := range p.Children {
		if c.When != nil {
			list = append(list, Reason{
				Path:    []string{"spec", "children", strconv.Itoa(i), "when"},
				Message: "the k8s trigger deletes whatever object has the child's name, without looking at its uid", Hint: httpTrigger,
			})
		}
	}
	for _, k := range append([]Kind{p.API.Kind}, childKinds(p)...) {
		if guess := schema.GuessedPlural(k.Kind); guess != k.Plural {
			hint := httpTrigger
			if k == p.API.Kind && !p.API.Existing && p.API.CRD == nil {
				hint = join("give the kind that plural, before it is installed: api: {plural: "+guess+"}", hint)
			}
			list = append(list, Reason{Path: at, Message: fmt.Sprintf("the k8s trigger calls the resource of %s %s, not %s", k.Kind, guess, k.Plural), Hint: hint})
		}
		if !k.Namespaced {
			list = append(list, Reason{Path: at, Message: fmt.Sprintf("the k8s trigger cannot address the cluster-scoped %s", k.Kind), Hint: httpTrigger})
		}
	}
	return list
}

// againstWorkflow lists what the pod cannot evaluate, which has no jq of its own.
func againstWorkflow(p *Plan) []Reason {
	list := slices.Clone(p.Status.NotInPod)
	inPod := slices.ContainsFunc(p.Children, looksAround)
	for i, c := range p.Children {
		at := []string{"spec", "children", strconv.Itoa(i)}
		list = append(list, c.unready...)
		if inPod {
			list = append(list, c.notInPod...)
		}
		if readsStatus(c.Object) || readsStatus(c.When) || readsStatus(c.Each) {
			list = append(list, Reason{Path: at, Message: "it is computed from the status, whose changes start no Workflow"})
		}
	}
	return list
}

func readsStatus(program *expression.Program) bool {
	return program != nil && slices.ContainsFunc(program.Reads(), func(path []string) bool { return len(path) > 0 && path[0] == "status" })
}
