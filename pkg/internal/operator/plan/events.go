package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
)

// OwnerUID is the label that selects the children of a custom resource.
const OwnerUID = "argoperator.dev/owner-uid"

// OperatorNamespace is the label of labelled children that tells operators of one name in
// two namespaces apart.
const OperatorNamespace = "argoperator.dev/operator-namespace"

// ManagedBy is the label that selects the children of an operator.
const ManagedBy = "app.kubernetes.io/managed-by"

// Generator is the value of the label ManagedBy of the operators' own objects.
const Generator = "argoperator"

// events returns the entries of the EventSource: watches of the custom resources, of
// the children, so that the operator repairs drift and reports readiness, and the
// heartbeat.
func events(p *decided) []Event {
	parent := Event{
		Name: dnsLabel(p.API.Singular), Kind: p.API.Kind,
		Types: []string{"ADD", "UPDATE"},
	}
	list := inNamespaces(parent, p.Shared.WatchNamespaces)
	for _, kind := range p.watchedKinds() {
		child := Event{
			Name: "child-" + dnsLabel(kind.Plural), Kind: kind,
			Types:    childEventTypes(p),
			Selector: map[string]string{ManagedBy: p.Operator.Name}, Without: p.unseen(kind),
		}
		if slices.ContainsFunc(list, func(e Event) bool { return strings.HasPrefix(e.Name, child.Name) }) {
			child.Name += "-" + dnsLabel(strings.Split(kind.Group, ".")[0])
		}
		list = append(list, inNamespaces(child, p.Shared.WatchNamespaces)...)
	}
	list = append(list, relatedEvents(p)...)
	return append(list, heartbeatEvent(list))
}

// childEventTypes returns the changes of children for which the EventSource publishes an
// event.
func childEventTypes(p *decided) []string {
	types := p.Reconcile.Execution.ChildEvents
	if p.Logic.EveryChange && !slices.Contains(types, "ADD") {
		types = append([]string{"ADD"}, types...)
	}
	return types
}

// sensors returns the Sensors that subscribe to the events.
func sensors(p *configured) []Sensor {
	if !p.Reconcile.Execution.RunsPods {
		direct := Sensor{Name: p.Names.Sensor}
		for _, part := range p.direct {
			direct.add(part)
		}
		return finished(p, []Sensor{direct})
	}
	if p.Reconcile.Execution.Stays {
		return finished(p, pack(p.Names.Sensor, workerParts(p)))
	}
	sensor := Sensor{Name: p.Names.Sensor}
	trigger := Trigger{Name: "reconcile"}
	for _, e := range p.Events {
		if e.Interval != "" || e.Related {
			continue
		}
		jq, made := parentJQ(p, 0), Origin{File: "parent"}
		if e.Selector != nil {
			jq, made = childJQ(p, e.Kind, pathsOf(p, e.Kind, readOfChildren(p))), Origin{File: "child"}
		}
		sensor.Dependencies = append(sensor.Dependencies, Dependency{Name: e.Name, Event: e.Name, JQ: jq, Made: made})
		trigger.On = append(trigger.On, e.Name)
	}
	sensor.Triggers = []Trigger{trigger}
	if p.EnqueuesRelated() {
		enqueue := Trigger{Name: "enqueue", Enqueue: true}
		for _, e := range p.Events {
			if e.Related {
				changed := Dependency{Name: e.Name, Event: e.Name, JQ: enqueueJQ(p, e.Kind), Made: Origin{File: "enqueue"}}
				sensor.Dependencies = append(sensor.Dependencies, changed)
				enqueue.On = append(enqueue.On, e.Name)
			}
		}
		sensor.Triggers = append(sensor.Triggers, enqueue)
	}
	return finished(p, []Sensor{sensor})
}

// inNamespaces returns an event for each namespace: an entry of an EventSource watches
// one namespace or all.
func inNamespaces(e Event, namespaces []string) []Event {
	if len(namespaces) == 0 {
		return []Event{e}
	}
	var list []Event
	for i, namespace := range namespaces {
		in := e
		in.Namespace = namespace
		in.Name = e.Name + "-" + namespace
		if len(in.Name) > 63 {
			in.Name = fmt.Sprintf("%s-%d", e.Name, i)
		}
		list = append(list, in)
	}
	return list
}

// childKinds returns the kinds of the children without duplicates.
func (p *decided) childKinds() []Kind {
	var kinds []Kind
	for _, c := range p.Children {
		if !slices.Contains(kinds, c.Kind) {
			kinds = append(kinds, c.Kind)
		}
	}
	return kinds
}

// watchedKinds returns those of which a child is on the event bus.
func (p *decided) watchedKinds() []Kind {
	return slices.DeleteFunc(p.childKinds(), func(kind Kind) bool {
		return !slices.ContainsFunc(p.Children, func(c Child) bool { return c.Kind == kind && len(c.Generate) == 0 })
	})
}

// unseen returns the children of a kind that are not on the event bus, because of their random
// values.
func (p *decided) unseen(kind Kind) []string {
	var names []string
	for _, c := range p.Children {
		if c.Kind == kind && len(c.Generate) > 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

// readOfChildren returns, by child, the paths that the status reads, and those that the
// pod computes other children from.
func readOfChildren(p *configured) map[string][][]string {
	paths := maps.Clone(p.Status.ChildPaths)
	if p.templatesInPod() {
		for _, c := range p.Children {
			if read := pathsReadByChildren(p, c); len(read) > 0 {
				paths[c.Name] = append(slices.Clip(paths[c.Name]), read...)
			}
		}
	}
	return paths
}

func pathsOf(p *configured, kind Kind, paths map[string][][]string) [][]string {
	var all [][]string
	for _, c := range p.Children {
		if c.Kind == kind {
			all = append(all, paths[c.Name]...)
		}
	}
	return all
}

// dnsLabel converts a name to one that is valid for an event: lower case, no dots, at
// most 40 characters, so that there is room for a suffix.
func dnsLabel(name string) string {
	label := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(label[:min(len(label), 40)], "-")
}

// workerParts returns the triggers that send each event to the worker that handles its
// custom resource. Any custom resource may refer to a related object, so every worker gets
// those events.
func workerParts(p *configured) []part {
	var parts []part
	workers, operator := p.Workers(), p.Operator.Name
	add := func(e Event, file, jq string, triggers ...Trigger) {
		dependency := Dependency{Name: triggers[0].On[0], Event: e.Name, JQ: jq, Made: Origin{File: file}}
		parts = append(parts, part{dependencies: []Dependency{dependency}, triggers: triggers})
	}
	for _, e := range p.Events {
		switch {
		case e.Interval != "":
		case e.Related:
			add(e, "enqueue", enqueueJQ(p, e.Kind), toEach(workers, operator, e.Name, e.Name)...)
		case e.Selector != nil:
			jq := childJQ(p, e.Kind, pathsOf(p, e.Kind, readOfChildren(p)))
			add(e, "child", jq, toEach(workers, operator, e.Name, e.Name)...)
		default:
			for i, worker := range workers {
				name := e.Name
				if len(workers) > 1 {
					name = fmt.Sprintf("%s-%d", e.Name, i+1)
				}
				add(e, "parent", parentJQ(p, i), Trigger{Name: name, On: []string{name}, Worker: worker, For: operator})
			}
		}
	}
	return parts
}

// toEach returns a trigger for each worker, which gets the events of a dependency.
func toEach(workers []string, operator, name, dependency string) []Trigger {
	var out []Trigger
	for i, worker := range workers {
		t := Trigger{Name: name, On: []string{dependency}, Worker: worker, For: operator}
		if i > 0 {
			t.Name = fmt.Sprintf("%s-%d", name, i+1)
		}
		out = append(out, t)
	}
	return out
}

// statusReads returns the fields of the custom resource's status that templates and other
// fields of the status read.
func statusReads(p *configured) [][]string {
	var paths [][]string
	read := func(program *expression.Program) {
		paths = append(paths, slices.DeleteFunc(slices.Clone(program.Reads()), func(path []string) bool { return !ofStatus(path) })...)
	}
	for _, c := range slices.Concat(p.Children, p.Patches) {
		for _, program := range c.programs() {
			read(program)
		}
	}
	for _, f := range p.Status.Fields {
		read(f.Value)
	}
	return paths
}

// parentJQ returns the program for events of the custom resources of a worker:
// direct/parent.jq.
func parentJQ(p *configured, worker int) string {
	var reads []string
	if p.Reconcile.Execution.Stays {
		for _, path := range statusReads(p) {
			reads = append(reads, jqPath(path))
		}
	}
	var children []jqfile.Value
	for _, c := range p.Children {
		if c.Object != nil {
			children = append(children, exactChild(c))
		}
	}
	return directPrograms().Program("parent", jqfile.Holes{
		"option::related":   jqfile.Bool(p.hasRelated()),
		"option::finalized": jqfile.Bool(p.Reconcile.Finalizer != ""), "hole::finalizer": jqfile.String(p.Reconcile.Finalizer),
		"option::selected": jqfile.Bool(p.API.SelectorJQ != ""), "hole::isSelected": jqfile.Raw("(" + p.API.SelectorJQ + ")"),
		"option::setsMetadata": jqfile.Bool(p.API.Decorate ||
			slices.ContainsFunc(p.Patches, func(c Child) bool { return p.isParent(c.Kind) })),
		"option::existing":   jqfile.Bool(p.API.Existing),
		"option::noVersions": jqfile.Bool(p.API.Versions == nil),
		"hole::digest":       jqfile.String(p.Runtime.Digest), "hole::maxDesired": jqfile.Number(MaxDesired),
		"hole::children":      jqfile.List(children...),
		"annotation::related": jqfile.String(RelatedDigest),
		"option::readsStatus": jqfile.Bool(len(reads) > 0), "hole::fields": jqfile.RawList(strings.Join(reads, ", ")),
		"option::shared": jqfile.Bool(len(p.Workers()) > 1),
		"hole::workers":  jqfile.Number(len(p.Workers())), "hole::worker": jqfile.Number(worker),
	}, workflowHoles(p), labelHoles())
}

// workflowHoles returns the holes of the programs that start a Workflow for a custom
// resource. The name of a custom resource is a DNS name, except for existing kinds, which
// may allow more characters.
func workflowHoles(p *configured) jqfile.Holes {
	namespace, name := "[a-z0-9]([-a-z0-9]*[a-z0-9])?", "[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
	if !p.API.Kind.Namespaced {
		namespace = ""
	}
	if p.API.Existing {
		name = "[A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?"
	}
	return jqfile.Holes{
		"option::childOfOwnKind": jqfile.Bool(hasChildOfOwnKind(p)),
		"option::namespaced":     jqfile.Bool(p.API.Kind.Namespaced),
		"option::templates":      jqfile.Bool(p.Runtime.SensorTemplates),
		"option::podPerStep":     jqfile.Bool(p.Reconcile.Execution.PodPerStep),
		"option::stays":          jqfile.Bool(p.Reconcile.Execution.Stays),
		"hole::operator":         jqfile.String(p.Operator.Name), "hole::workflowPrefix": jqfile.String(p.Operator.Name + "-"),
		"hole::validKey": jqfile.String("^" + namespace + "[.]" + name + "$"),
	}
}

// hasChildOfOwnKind reports whether a child has the kind of the custom resource.
func hasChildOfOwnKind(p *configured) bool {
	return slices.ContainsFunc(p.Children, func(c Child) bool { return p.isParent(c.Kind) })
}

// isParent reports whether a kind is that of the custom resources.
func (p *declared) isParent(k Kind) bool {
	return k.Group == p.API.Kind.Group && k.Kind == p.API.Kind.Kind
}

// MaxDesired limits the size of the children in base64, in bytes. The pod receives them
// in an environment variable, which Linux limits to 128 KiB.
const MaxDesired = 120_000

// exactChild returns the objects of a child, or an error if the Sensor has rounded a number
// that it is computed from.
func exactChild(c Child) jqfile.Value {
	objects := jqfile.Raw(desiredChild(c))
	if len(c.InexactPaths) == 0 {
		return objects
	}
	return directPrograms().Definition("exactChild", jqfile.Holes{
		"hole::exactNumbers": exactNumbers(c.InexactPaths), "hole::objects": objects, "hole::child": jqfile.String(c.Name),
	})
}

// desiredChild returns the jq of the objects of a child. Of one that fails it yields the
// error, because the others do not wait for it, and its place, because it stays.
func desiredChild(c Child) string {
	caught := func(jq, place string) string {
		return fmt.Sprintf("(try %s catch {child: %s, error: tostring%s})", jq, quote(c.Name), place)
	}
	place := "name: " + c.ObjectName.Source()
	if c.Namespace != nil {
		place += ", namespace: " + c.Namespace.Source()
	}
	out := fmt.Sprintf("{child: %s, object: %s}", quote(c.Name), c.Object.Source())
	out = "(. as $cr | " + caught(out, fmt.Sprintf(", place: ($cr | try {metadata: {%s}} catch null)", place)) + ")"
	if c.ForEach != nil {
		out = fmt.Sprintf("(. as $cr | %s | to_entries[] | .key as $index | .value as $item | $cr | %s)", c.ForEach.Source(), out)
	}
	if c.When != nil {
		out = fmt.Sprintf("(if %s then %s else empty end)", c.When.Source(), out)
	}
	if c.ForEach != nil || c.When != nil {
		out = caught(out, "")
	}
	return out
}

// childJQ returns the program for events of children: direct/child.jq. paths are the
// fields that the status reads.
func childJQ(p *configured, kind Kind, paths [][]string) string {
	readiness, met := readinessOf(p, kind)
	var fields []string
	if p.Logic.EveryChange {
		fields = append(fields, ".status")
	}
	for _, path := range paths {
		if field := jqPath(path); !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	list := func(terms []string) jqfile.Value {
		if len(terms) == 0 {
			return jqfile.List()
		}
		return jqfile.RawList(strings.Join(terms, ", "))
	}
	return directPrograms().Program("child", jqfile.Holes{
		"hole::readiness": list(readiness), "hole::fields": list(fields), "hole::met": list(met),
		"hole::kind": jqfile.String(p.API.Kind.Kind), "hole::groupPrefix": jqfile.String(groupPrefix(p.API.Kind)),
		"option::rollouts":    jqfile.Bool(kind.Group == "apps" && kind.Kind == "Deployment"),
		"option::readyWhen":   jqfile.Bool(len(met) > 0),
		"option::everyChange": jqfile.Bool(p.Logic.EveryChange),
		"option::unowned":     jqfile.Bool(slices.Contains(p.unownedKinds(), kind)),
		"hole::namespace":     jqfile.String(p.Shared.Namespace),
	}, workflowHoles(p), labelHoles())
}

// jqPath returns the jq of a path that yields null if the path does not exist.
func jqPath(path []string) string {
	if len(path) == 0 {
		return "del(.metadata)"
	}
	var b strings.Builder
	b.WriteString("(")
	for _, key := range path {
		fmt.Fprintf(&b, ".[%s]?", quote(key))
	}
	b.WriteString(" // null)")
	return b.String()
}

// readinessOf returns the jq of everything that the readiness of the children of a kind
// depends on: the rule of the kind, and each readyWhen. For kinds other than workloads,
// it includes further status fields that the conditions report.
func readinessOf(p *configured, kind Kind) (byKind, met []string) {
	for _, c := range p.Children {
		if c.Kind != kind {
			continue
		}
		rule := fmt.Sprintf(`((%s) == "")`, unreadyJQ(c))
		switch {
		case c.Ready != nil:
			met = append(met, rule)
		case !slices.Contains(byKind, rule):
			byKind = append(byKind, rule)
		}
	}
	if kind.Group != "apps" {
		byKind = append(
			byKind,
			".status.phase?, .status.succeeded?, .status.failed?, .status.loadBalancer?, [.status.conditions[]? | {type, status}]",
		)
	}
	return byKind, met
}

// quote returns a string literal of jq.
func quote(s string) string { return jq.Quote(s) }
