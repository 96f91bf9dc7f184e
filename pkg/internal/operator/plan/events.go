package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// OwnerUID is the label that selects the children of a custom resource.
const OwnerUID = "argoperator.dev/owner-uid"

// ManagedBy is the label that selects the children of an operator.
const ManagedBy = "app.kubernetes.io/managed-by"

// events returns the entries of the EventSource: watches of the custom resources, of
// the children, so that the operator repairs drift and reports readiness, and the
// heartbeat.
func events(p *decided) []Event {
	parent := Event{
		Name: dnsLabel(p.API.Singular), Kind: p.API.Kind,
		Types: []string{"ADD", "UPDATE"},
	}
	list := inNamespaces(parent, p.Shared.WatchNamespaces)
	for _, kind := range p.childKinds() {
		child := Event{
			Name: "child-" + dnsLabel(kind.Plural), Kind: kind,
			Types:    childEventTypes(p),
			Selector: map[string]string{ManagedBy: p.Operator.Name},
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
		return finished(p, directSensors(p))
	}
	sensor := Sensor{Name: p.Names.Sensor}
	trigger := Trigger{Name: "reconcile"}
	for _, e := range p.Events {
		if e.Interval != "" || e.Related {
			continue
		}
		jq := parentJQ(p)
		if e.Selector != nil {
			jq = childJQ(p, e.Kind, pathsOf(p, e.Kind, readOfChildren(p)))
		}
		sensor.Dependencies = append(sensor.Dependencies, Dependency{Name: e.Name, Event: e.Name, JQ: jq})
		trigger.On = append(trigger.On, e.Name)
	}
	sensor.Triggers = []Trigger{trigger}
	if p.EnqueuesRelated() {
		enqueue := Trigger{Name: "enqueue", Enqueue: true}
		for _, e := range p.Events {
			if e.Related {
				sensor.Dependencies = append(sensor.Dependencies, Dependency{Name: e.Name, Event: e.Name, JQ: enqueueJQ(p)})
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

// parentJQ returns the jq that passes an event of a custom resource when something
// changed that its user controls. A status write is no such change, so reconciles do
// not loop. An ADD event has no old object and always passes: a restarted EventSource
// replays all objects as ADD.
func parentJQ(p *configured) string {
	alive := "$new.metadata.deletionTimestamp == null"
	if f := p.Reconcile.Finalizer; f != "" {
		alive = fmt.Sprintf("(%s or ($new.metadata.finalizers // [] | index(%s)) != null)", alive, quote(f))
	}
	if hasChildOfOwnKind(p) {
		alive += fmt.Sprintf(" and $new.metadata.labels[%s] != %s", quote(ManagedBy), quote(p.Operator.Name))
	}
	def, picked := "", ""
	if p.API.SelectorJQ != "" {
		def = "\ndef selected: " + p.API.SelectorJQ + ";"
		picked = " and any($new, $old // {}; selected)" // an object that the selector no longer matches is cleaned up
	}
	namespace, named := `$new.metadata.namespace // ""`, ""
	if p.API.Existing { // some kinds allow names that are not DNS names
		named = fmt.Sprintf(` and (%s + "." + $new.metadata.name | %s)`, "("+namespace+")", safeKeyJQ(p))
	}
	return fmt.Sprintf(`def wanted:
  {
    spec: (if .metadata.generation == null then del(.metadata, .status) else .metadata.generation end),
    deleted: .metadata.deletionTimestamp,
    labels: .metadata.labels,
    annotations: ((.metadata.annotations // {}) | del(%s))
  };%s
(.body.Obj // .body) as $new | .oldBody as $old
| {
    go: (%s and ($old == null or ($new | wanted) != ($old | wanted))%s%s),
    key: ((%s) + "." + $new.metadata.name),
    name: (%s)%s
  }`, ignoredAnnotations(p), def, alive, picked, named, namespace, workflowNameJQ(p.Operator.Name, "$new.metadata.name"), desired(p)+generationJQ(p, "($new.metadata.generation // 0 | tostring)"))
}

// ignoredAnnotations returns the jq of annotations whose changes do not start a
// reconcile.
func ignoredAnnotations(p *configured) string {
	list := `.["kubectl.kubernetes.io/last-applied-configuration"]`
	if len(p.Related) > 0 {
		list += fmt.Sprintf(", .[%s]", quote(RelatedDigest))
	}
	return list
}

// generationJQ returns the generation of an event, for the engine whose steps compare
// it: among the queued Workflows of a custom resource, only that of the newest
// generation does something.
func generationJQ(p *configured, value string) string {
	if !p.Reconcile.Execution.PodPerStep {
		return ""
	}
	return ",\n    generation: " + value
}

// hasChildOfOwnKind reports whether a child has the kind of the custom resource.
func hasChildOfOwnKind(p *configured) bool {
	return slices.ContainsFunc(p.Children, func(c Child) bool { return c.Kind.Kind == p.API.Kind.Kind && c.Kind.Group == p.API.Kind.Group })
}

// desired returns the jq that computes the children of the templates for the pod. They
// are passed in base64, because Argo would interpret braces in them as its own
// templates. Among the queued Workflows of a custom resource, that of the newest
// generation runs first; the others then find nothing to do.
func desired(p *configured) string {
	if !p.Runtime.SensorTemplates {
		return ""
	}
	var lists []string
	var large [][]string
	for _, c := range p.Children {
		if c.Object != nil {
			lists = append(lists, desiredChild(c))
			large = append(large, c.InexactPaths...)
		}
	}
	content := ""
	if p.API.Versions == nil {
		content = `, content: (if .metadata.generation == null then del(.apiVersion, .kind, .metadata, .status) else null end)`
	}
	return fmt.Sprintf(`,
    priority: ($new.metadata.generation // 0),
    desired: ($new | {digest: %s, uid: .metadata.uid, inputs: {generation: .metadata.generation, labels: .metadata.labels, annotations: .metadata.annotations%s}}
      | . + try {children: ($new | %s[%s])} catch {error: tostring}
      | (tojson | @base64) as $packed
      | if ($packed | length) < %d then $packed else del(.children) + {error: "the children are larger together than a pod takes"} | tojson | @base64 end)`,
		quote(p.Runtime.Digest), content, exactly(large), strings.Join(lists, ",\n        "), MaxDesired)
}

// MaxDesired limits the size of the children in base64, in bytes. The pod receives them
// in an environment variable, which Linux limits to 128 KiB.
const MaxDesired = 120_000

func desiredChild(c Child) string {
	one := fmt.Sprintf("{child: %s, object: %s}", quote(c.Name), c.Object.Source())
	if c.ForEach != nil {
		one = fmt.Sprintf("(. as $cr | %s | to_entries[] | .key as $index | .value as $item | $cr | %s)", c.ForEach.Source(), one)
	}
	if c.When != nil {
		one = fmt.Sprintf("(if %s then %s else empty end)", c.When.Source(), one)
	}
	return one
}

// childJQ returns the jq that passes an event of a child when another client changed or
// deleted it, when its readiness changed, or when a field changed that the status
// reads; if logic wants every change, also when it was created or its status changed. A
// write of the operator itself has a newer time in managedFields and does not pass.
// During a rollout, counters do not pass either, because each passed event starts a pod;
// the event that ends the rollout does.
func childJQ(p *configured, kind Kind, paths [][]string) string {
	readiness, met := readinessOf(p, kind)
	shown, created := append(readiness, "rolling"), ""
	if p.Logic.EveryChange {
		shown, created = append(shown, ".status"), "\n      or .type == \"ADD\""
	}
	for _, path := range paths {
		field := jqPath(path)
		if !slices.Contains(shown, field) {
			shown = append(shown, field)
		}
	}
	def, changed := "", ""
	if len(met) > 0 {
		def = "\ndef met: [" + strings.Join(met, ", ") + "];"
		changed = "\n          or ($new | met) != ($old | met)"
	}
	return fmt.Sprintf(`def wanted: if .metadata.generation == null then del(.metadata, .status) else .metadata.generation end;
def applied: [.metadata.managedFields[]? | select(.manager == %s and .operation == "Apply" and .subresource == null) | .time];
def rolling: %s;
def shown: [%s];%s%s
(.body.Obj // .body) as $new | .oldBody as $old
| (%s) as $key
| {
    go: ($key != null and (
      .type == "DELETE"%s
      or ($old != null and (
        if ($new | wanted) != ($old | wanted) then ($new | applied) == ($old | applied)
        else ($new | shown) != ($old | shown) and ($new | rolling | not)%s end))
    )),
    key: ($key // ""),
    name: (%s)%s
  }`, quote(p.Operator.Name), rolling(kind), strings.Join(shown, ", "), def, managedFieldsJQ(p), ownerKeyJQ(p, kind), created, changed, workflowNameJQ(p.Operator.Name, `($key // "." | .[index(".") + 1:])`), noDesired(p)+generationJQ(p, `""`))
}

// ownerKeyJQ returns the jq of the key of the custom resource that owns an object, or
// null. The key becomes a parameter of a Workflow and users can create such objects, so
// a key that is not made of valid names is ignored.
func ownerKeyJQ(p *configured, kind Kind) string {
	namespace := `($new.metadata.namespace // "")`
	if !p.API.Kind.Namespaced {
		namespace = `""`
	}
	key := fmt.Sprintf(
		`first($new.metadata.ownerReferences[]? | select(.controller == true and .kind == %s and .uid == $new.metadata.labels[%s] and (.apiVersion | startswith(%s))) | %s + "." + .name)`,
		quote(p.API.Kind.Kind),
		quote(OwnerUID),
		quote(groupPrefix(p.API.Kind)),
		namespace,
	)
	if slices.Contains(p.unownedKinds(), kind) {
		key += fmt.Sprintf(`, $new.metadata.annotations[%s]`, quote(ownerAnnotation))
	}
	return fmt.Sprintf(`first(%s, null) | select(%s) // null`, key, safeKeyJQ(p))
}

// safeKeyJQ returns the jq that tells whether a key is a namespace, a dot and a name.
// The name is a DNS name, except for existing kinds, which may allow more characters.
func safeKeyJQ(p *configured) string {
	namespace, name := "[a-z0-9]([-a-z0-9]*[a-z0-9])?", "[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
	if !p.API.Kind.Namespaced {
		namespace = ""
	}
	if p.API.Existing {
		name = "[A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?"
	}
	return fmt.Sprintf(`. != null and test(%s)`, quote("^"+namespace+"[.]"+name+"$"))
}

// noDesired returns the jq of the argument desired for an event of a child. Only the
// event shows that another client took over a field; the managedFields of the current
// object do not.
func noDesired(p *configured) string {
	if !p.Runtime.SensorTemplates {
		return ""
	}
	return `,
    priority: 0,
    desired: (if .type != "DELETE" and $old != null and ($new | wanted) != ($old | wanted) and ($new | ours) != ($old | ours) then "drift" else "" end)`
}

// managedFieldsJQ returns the jq of the fields of a child that the operator applied
// last, if the pod needs it.
func managedFieldsJQ(p *configured) string {
	if !p.Runtime.SensorTemplates {
		return ""
	}
	return fmt.Sprintf(`
def ours: [.metadata.managedFields[]? | select(.manager == %s and .operation == "Apply" and .subresource == null) | .fieldsV1] | first;`, quote(p.Operator.Name))
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

// workflowNameJQ returns the jq of the generateName of a Workflow: the operator and the
// custom resource, so that users find it. The name is used as a label value, so it has
// at most 63 characters including the five that the API server appends.
func workflowNameJQ(operator, name string) string {
	return fmt.Sprintf(`(%s + (%s | ascii_downcase | gsub("[^a-z0-9]"; "-")))[0:57] + "-"`, quote(operator+"-"), name)
}

// rolling returns the jq that tells whether an object is in the middle of a rollout
// whose end its controller reports.
func rolling(kind Kind) string {
	if kind.Group == "apps" && kind.Kind == "Deployment" {
		return `any(.status.conditions[]?; .type == "Progressing" and .status == "True" and .reason != "NewReplicaSetAvailable")`
	}
	return "false"
}

// quote returns a string literal of jq.
func quote(s string) string { return jq.Quote(s) }
