package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// OwnerUID is the label by which the children of a custom resource are found.
const OwnerUID = "argoperator.dev/owner-uid"

// ManagedBy is the label by which the children of an operator are found.
const ManagedBy = "app.kubernetes.io/managed-by"

// events lists what is announced: the custom resources themselves, the
// children, so that drift is repaired and readiness reaches the status, and the
// heartbeat.
func events(p *Plan) []Event {
	parent := Event{
		Name: dnsLabel(p.API.Singular), Kind: p.API.Kind,
		Types: []string{"ADD", "UPDATE"},
	}
	list := inNamespaces(parent, p.Install.WatchNamespaces)
	for _, kind := range childKinds(p) {
		child := Event{
			Name: "child-" + dnsLabel(kind.Plural), Kind: kind,
			Types:    p.Reconcile.Execution.ChildEvents,
			Selector: map[string]string{ManagedBy: p.Runtime.Operator},
		}
		if slices.ContainsFunc(list, func(e Event) bool { return strings.HasPrefix(e.Name, child.Name) }) {
			child.Name += "-" + dnsLabel(strings.Split(kind.Group, ".")[0])
		}
		list = append(list, inNamespaces(child, p.Install.WatchNamespaces)...)
	}
	list = append(list, relatedEvents(p)...)
	return append(list, tick(list))
}

// sensors listen to the events.
func sensors(p *Plan) []Sensor {
	if !p.Reconcile.Execution.RunsPods {
		return withHeartbeat(p, directSensors(p))
	}
	sensor := Sensor{Name: p.Names.Sensor}
	trigger := Trigger{Name: "reconcile"}
	for _, e := range p.Events {
		if e.Every != "" || e.Related {
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
	if p.Enqueues() {
		enqueue := Trigger{Name: "enqueue", Enqueue: true}
		for _, e := range p.Events {
			if e.Related {
				sensor.Dependencies = append(sensor.Dependencies, Dependency{Name: e.Name, Event: e.Name, JQ: enqueueJQ(p)})
				enqueue.On = append(enqueue.On, e.Name)
			}
		}
		sensor.Triggers = append(sensor.Triggers, enqueue)
	}
	return withHeartbeat(p, []Sensor{sensor})
}

// inNamespaces makes one event a namespace: an entry of an EventSource watches
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

// childKinds are the kinds of the children, each once.
func childKinds(p *Plan) []Kind {
	var kinds []Kind
	for _, c := range p.Children {
		if !slices.Contains(kinds, c.Kind) {
			kinds = append(kinds, c.Kind)
		}
	}
	return kinds
}

// readOfChildren are the paths below each child that the status shows, and those
// that other children are computed from in a pod.
func readOfChildren(p *Plan) map[string][][]string {
	paths := maps.Clone(p.Status.Shown)
	if templatesInPod(p) {
		for _, c := range p.Children {
			if read := remembered(p, c); len(read) > 0 {
				paths[c.Name] = append(slices.Clip(paths[c.Name]), read...)
			}
		}
	}
	return paths
}

func pathsOf(p *Plan, kind Kind, paths map[string][][]string) [][]string {
	var all [][]string
	for _, c := range p.Children {
		if c.Kind == kind {
			all = append(all, paths[c.Name]...)
		}
	}
	return all
}

// dnsLabel makes a name fit for an event: lower case, no dots, at most 40
// characters, so that a suffix still fits.
func dnsLabel(name string) string {
	label := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(label[:min(len(label), 40)], "-")
}

// parentJQ lets an event of a custom resource pass when something changed that
// its user controls. Status writes change none of it, so they never loop. An
// ADD has no old object and always passes: it is also the replay after a
// restart.
func parentJQ(p *Plan) string {
	alive := "$new.metadata.deletionTimestamp == null"
	if f := p.Reconcile.Finalizer; f != "" {
		alive = fmt.Sprintf("(%s or ($new.metadata.finalizers // [] | index(%s)) != null)", alive, quote(f))
	}
	if keepsOwnKind(p) {
		alive += fmt.Sprintf(" and $new.metadata.labels[%s] != %s", quote(ManagedBy), quote(p.Runtime.Operator))
	}
	def, picked := "", ""
	if p.API.Selected != "" {
		def = "\ndef selected: " + p.API.Selected + ";"
		picked = " and any($new, $old // {}; selected)" // what was made for one that was picked has to go
	}
	namespace, named := `$new.metadata.namespace // ""`, ""
	if p.API.Existing { // names of some kinds are free text
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
  }`, uncounted(p), def, alive, picked, named, namespace, workflowNameJQ(p.Runtime.Operator, "$new.metadata.name"), desired(p)+generationJQ(p, "($new.metadata.generation // 0 | tostring)"))
}

// uncounted are the annotations whose changes are nobody's wish.
func uncounted(p *Plan) string {
	list := `.["kubectl.kubernetes.io/last-applied-configuration"]`
	if len(p.Related) > 0 {
		list += fmt.Sprintf(", .[%s]", quote(RelatedDigest))
	}
	return list
}

// generationJQ is the generation that an event is about, where a step asks for
// it: of those of one custom resource that wait for each other, only the newest
// has anything to do.
func generationJQ(p *Plan, value string) string {
	if !p.Reconcile.Execution.PodPerStep {
		return ""
	}
	return ",\n    generation: " + value
}

// keepsOwnKind says that some children are of the kind that is watched.
func keepsOwnKind(p *Plan) bool {
	return slices.ContainsFunc(p.Children, func(c Child) bool { return c.Kind.Kind == p.API.Kind.Kind && c.Kind.Group == p.API.Kind.Group })
}

// desired computes the children of the templates for the pod. They travel in
// base64: Argo would take braces in them for templates of its own. Of the
// Workflows that wait for the same custom resource the one of the newest
// generation is the first; the others then find nothing to do.
func desired(p *Plan) string {
	if !p.Runtime.Templates {
		return ""
	}
	var lists []string
	var large [][]string
	for _, c := range p.Children {
		if c.Object != nil {
			lists = append(lists, desiredChild(c))
			large = append(large, c.Inexact...)
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
		quote(p.Operator.Digest), content, exactly(large), strings.Join(lists, ",\n        "), MaxDesired)
}

// MaxDesired is how long the children may be in base64, in bytes: the pod gets
// them in an environment variable, of which Linux takes 128 KiB.
const MaxDesired = 120_000

func desiredChild(c Child) string {
	one := fmt.Sprintf("{child: %s, object: %s}", quote(c.Name), c.Object.Source())
	if c.Each != nil {
		one = fmt.Sprintf("(. as $cr | %s | to_entries[] | .key as $index | .value as $item | $cr | %s)", c.Each.Source(), one)
	}
	if c.When != nil {
		one = fmt.Sprintf("(if %s then %s else empty end)", c.When.Source(), one)
	}
	return one
}

// childJQ lets an event of a child pass when someone else changed or deleted
// it, when it became ready or stopped being so, or when a field changed that
// the status shows. The operator's own write shows as a newer time of its field
// manager and does not pass. While a child is rolling out, what it counts up to
// is left to the event that ends the roll-out: each event that passes is a pod.
func childJQ(p *Plan, kind Kind, paths [][]string) string {
	readiness, met := readinessOf(p, kind)
	shown := append(readiness, "rolling")
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
      .type == "DELETE"
      or ($old != null and (
        if ($new | wanted) != ($old | wanted) then ($new | applied) == ($old | applied)
        else ($new | shown) != ($old | shown) and ($new | rolling | not)%s end))
    )),
    key: ($key // ""),
    name: (%s)%s
  }`, quote(p.Runtime.Operator), rolling(kind), strings.Join(shown, ", "), def, oursJQ(p), ownerKeyJQ(p, kind), changed, workflowNameJQ(p.Runtime.Operator, `($key // "." | .[index(".") + 1:])`), nothingDesired(p)+generationJQ(p, `""`))
}

// ownerKeyJQ is the key of the custom resource that an object of a kind belongs
// to, or null. Whoever may create such objects chooses what is in them, and the
// key becomes a parameter of a Workflow: what is not made of names is none.
func ownerKeyJQ(p *Plan, kind Kind) string {
	namespace := `($new.metadata.namespace // "")`
	if !p.API.Kind.Namespaced {
		namespace = `""`
	}
	key := fmt.Sprintf(`first($new.metadata.ownerReferences[]? | select(.controller == true and .kind == %s and .uid == $new.metadata.labels[%s] and (.apiVersion | startswith(%s))) | %s + "." + .name)`,
		quote(p.API.Kind.Kind), quote(OwnerUID), quote(groupPrefix(p.API.Kind)), namespace)
	if slices.Contains(unownedKinds(p), kind) {
		key += fmt.Sprintf(`, $new.metadata.annotations[%s]`, quote(ownerAnnotation))
	}
	return fmt.Sprintf(`first(%s, null) | select(%s) // null`, key, safeKeyJQ(p))
}

// safeKeyJQ is the jq of whether a key is made of names: the namespace, a dot and
// the name, which is a DNS name or, of a kind of others, may hold more letters.
func safeKeyJQ(p *Plan) string {
	namespace, name := "[a-z0-9]([-a-z0-9]*[a-z0-9])?", "[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
	if !p.API.Kind.Namespaced {
		namespace = ""
	}
	if p.API.Existing {
		name = "[A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?"
	}
	return fmt.Sprintf(`. != null and test(%s)`, quote("^"+namespace+"[.]"+name+"$"))
}

// nothingDesired fills the argument where the event is not the custom resource's
// own. Of a field that somebody took from the child only the event can tell:
// what is left in managedFields does not show it.
func nothingDesired(p *Plan) string {
	if !p.Runtime.Templates {
		return ""
	}
	return `,
    priority: 0,
    desired: (if .type != "DELETE" and $old != null and ($new | wanted) != ($old | wanted) and ($new | ours) != ($old | ours) then "drift" else "" end)`
}

// oursJQ is the fields of a child that the operator set last, where that is asked for.
func oursJQ(p *Plan) string {
	if !p.Runtime.Templates {
		return ""
	}
	return fmt.Sprintf(`
def ours: [.metadata.managedFields[]? | select(.manager == %s and .operation == "Apply" and .subresource == null) | .fieldsV1] | first;`, quote(p.Runtime.Operator))
}

// jqPath is the jq of a path that yields null wherever it does not exist.
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

// readinessOf is the jq of what decides whether the children of a kind are ready:
// the rule of their kind, and the rules with a readyWhen. For kinds that are not
// workloads the status says more than that, which conditions tell people.
func readinessOf(p *Plan, kind Kind) (byKind, met []string) {
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
		byKind = append(byKind, ".status.phase?, .status.succeeded?, .status.failed?, .status.loadBalancer?, [.status.conditions[]? | {type, status}]")
	}
	return byKind, met
}

// workflowNameJQ is the jq of the generateName of a Workflow: the operator and
// the custom resource, so that people find it. A Workflow's name is a label
// value: 63 characters with the five that the API server adds.
func workflowNameJQ(operator, name string) string {
	return fmt.Sprintf(`(%s + (%s | ascii_downcase | gsub("[^a-z0-9]"; "-")))[0:57] + "-"`, quote(operator+"-"), name)
}

// rolling is the jq of whether an object is in the middle of a roll-out that
// its controller watches over and will declare finished or failed.
func rolling(kind Kind) string {
	if kind.Group == "apps" && kind.Kind == "Deployment" {
		return `any(.status.conditions[]?; .type == "Progressing" and .status == "True" and .reason != "NewReplicaSetAvailable")`
	}
	return "false"
}

// quote is a text as jq has it.
func quote(s string) string { return jq.Quote(s) }
