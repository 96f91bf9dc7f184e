package differential

import (
	"strconv"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
)

// The namespaces of a game. Two attackers have all rights in theirs. In a third, another one may write
// custom resources of one name, and nothing else. They have no rights elsewhere.
const (
	attackers  = "team-a"
	accomplice = "team-c"
	common     = "common"
	victims    = "team-b"
	platform   = "platform"
	system     = "kube-system"
)

// targets are operators, drawn for attackers: values that users write decide names,
// namespaces, roles, labels and what is read of others.
type targets struct {
	*drawing
	specs []map[string]any
}

// drawTargets draws one operator, or two that may share service accounts.
func drawTargets(d *drawing) *targets {
	t := &targets{drawing: d}
	for i := range 1 + d.pick("operators", 2) {
		t.specs = append(t.specs, t.operator("o"+strconv.Itoa(i)+"."))
	}
	if len(t.specs) == 2 && d.rarely("group", 2) {
		shared, _ := t.specs[0]["install"].(map[string]any)
		for i, spec := range t.specs {
			install := with(spec["install"].(map[string]any), "group", "band")
			for _, key := range []string{"admissionPolicies", "watchNamespaces"} { // members of a group agree on them
				if delete(install, key); shared[key] != nil {
					install[key] = shared[key]
				}
			}
			if i == 1 && d.pick("group.dedicatedWorker", 2) == 0 {
				install["dedicatedWorker"] = true
			}
			spec["install"], spec["reconcile"] = install, with(spec["reconcile"].(map[string]any), "engine", "worker")
		}
	}
	return t
}

// sources returns the definitions.
func (t *targets) sources() []argoperator.Source {
	var out []argoperator.Source
	for i, spec := range t.specs {
		out = append(out, argoperator.Source{Name: t.name(i) + ".yaml", Data: text(map[string]any{
			"apiVersion": v1alpha1.APIVersion, "kind": v1alpha1.Kind, "metadata": map[string]any{"name": t.name(i)}, "spec": spec,
		})})
	}
	return out
}

func (t *targets) name(i int) string { return "op" + strconv.Itoa(i) }

// attackedKinds are the kinds of the custom resources.
var attackedKinds = []string{"Grab", "Seize"}

// operator draws a definition.
func (t *targets) operator(at string) map[string]any {
	o := &target{drawing: t.drawing, at: at, spec: map[string]any{}}
	i := 0
	if at == "o1." {
		i = 1
	}
	o.existing = t.rarely(at+"existing", 5)
	if o.existing {
		o.spec["api"] = map[string]any{"existing": map[string]any{
			"version": "v1", "kind": "ConfigMap", "labelSelector": map[string]any{"matchLabels": map[string]any{"for": "op" + strconv.Itoa(i)}},
		}}
	} else {
		o.spec["api"] = map[string]any{"group": group, "kind": attackedKinds[i], "versions": []any{map[string]any{
			"name": "v1", "schema": map[string]any{
				"spec": map[string]any{
					"ns":   oneOf(t.drawing, at+"ns", "string | maxLength=60", "name | maxLength=60", `string | enum="`+victims+","+attackers+","+accomplice+`"`),
					"name": "string | maxLength=60", "role": "string | maxLength=60", "user": "string | maxLength=60",
					"text": "string | maxLength=60", "items": "[]string | maxItems=3", "labels": "map[string]string | maxProperties=3",
				},
				"status": map[string]any{"shown": "string"},
			},
		}}}
	}
	o.others()
	var children []any
	for n := range 1 + t.pick(at+"children", 2) {
		children = append(children, o.child("c"+strconv.Itoa(n)))
	}
	o.spec["children"] = children
	o.patch()
	if !o.existing && t.rarely(at+"status", 3) {
		o.spec["status"] = map[string]any{"shown": "${ " + o.value("status", true, false) + " }"}
	}
	o.settings()
	return o.spec
}

// target is an operator that is being drawn.
type target struct {
	*drawing
	at       string // the prefix of its choices
	existing bool   // it serves ConfigMaps
	related  string // how $related.rel is read: one, list; empty: there is none
	readable string // a child that is one ConfigMap; empty: none
	spec     map[string]any
}

func (o *target) pickOf(name string, from ...string) string {
	return oneOf(o.drawing, o.at+name, from...)
}

// field returns the expression of a field of the custom resource.
func (o *target) field(name string) string {
	if o.existing {
		return `.data.` + name + ` // ""`
	}
	return `.spec.` + name + ` // ""`
}

func (o *target) list() string {
	if o.existing {
		return `.data.items // "" | split(",") | map(select(. != "")) | unique`
	}
	return `.spec.items // [] | unique`
}

// chosen returns an expression of a value that users choose.
func (o *target) chosen(at, name string, item bool) string {
	from := []string{"field", "field", "annotation", "label"}
	if item {
		from = append(from, "item", "item")
	}
	if o.readable != "" {
		from = append(from, "child")
	}
	if o.related != "" {
		from = append(from, "related")
	}
	switch o.pickOf(at, from...) {
	case "annotation":
		return `.metadata.annotations["` + name + `"] // ""`
	case "label":
		return `.metadata.labels["` + name + `"] // ""`
	case "item":
		return `$item`
	case "child":
		return `$children.` + o.readable + `.data["` + name + `"] // ""`
	case "related":
		if o.related == "one" {
			return `$related.rel.data["` + name + `"] // ""`
		}
		return `[$related.rel[].data["` + name + `"]] | first // ""`
	}
	return o.field(name)
}

// value returns an expression for the content of an object.
func (o *target) value(at string, children, item bool) string {
	if o.related != "" && o.rarely(o.at+at+".read", 2) {
		if o.related == "one" {
			return `$related.rel.data.value // ""`
		}
		return `[$related.rel[].data.value // ""] | join(",")`
	}
	if !children {
		return o.field("text")
	}
	return o.chosen(at, "text", item)
}

// child draws a child.
func (o *target) child(name string) map[string]any {
	kind := o.pickOf(name+".kind", "ConfigMap", "ConfigMap", "Secret", "Deployment", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding",
		"Namespace", "PriorityClass", "ServiceAccount")
	out := map[string]any{"name": name}
	item := o.rarely(o.at+name+".forEach", 4)
	if item {
		out["forEach"] = o.list()
	}
	if o.rarely(o.at+name+".when", 4) {
		out["when"] = `(` + o.field("text") + `) != "off"`
	}
	metadata := map[string]any{"name": o.objectName(name, item)}
	if !(child{kind: kind}).clusterScoped() && kind != "ClusterRoleBinding" && kind != "PriorityClass" {
		switch o.pickOf(name+".namespace", "", "", "", "", "fixed", "chosen", "chosen", "prefixed") {
		case "fixed":
			metadata["namespace"] = platform
		case "chosen":
			metadata["namespace"] = "${ " + o.chosen(name+".ns", "ns", item) + " }"
		case "prefixed":
			metadata["namespace"] = "team-${ " + o.chosen(name+".ns", "text", item) + " }"
		}
	}
	if o.rarely(o.at+name+".labels", 4) {
		metadata["labels"] = map[string]any{"team": "${ " + o.field("text") + " }"}
		if !o.existing && o.rarely(o.at+name+".labels.all", 3) {
			metadata["labels"] = "${ .spec.labels // {} }"
		}
	}
	if update := o.pickOf(name+".update", "", "", "", "Recreate", "Never"); update != "" {
		out["update"] = update
	}
	if o.rarely(o.at+name+".adopt", 2) && out["update"] != "Never" {
		out["adopt"] = true
	}
	if o.rarely(o.at+name+".orphan", 6) {
		out["onDelete"] = "Orphan"
	}
	template := o.body(name, kind, item)
	template["metadata"] = metadata
	out["template"] = template
	if kind == "ConfigMap" && !item && o.readable == "" {
		o.readable = name
	}
	return out
}

// objectName draws the name of a child.
func (o *target) objectName(name string, item bool) string {
	from := []string{"own", "own", "joined", "chosen", "prefixed", "fixed"}
	if item {
		from = []string{"item", "own item"}
	}
	switch o.pickOf(name+".name", from...) {
	case "joined":
		return "${ .metadata.namespace }.${ .metadata.name }"
	case "chosen":
		return "${ " + o.chosen(name+".named", "name", item) + " }"
	case "prefixed":
		return "x-${ " + o.chosen(name+".named", "name", item) + " }"
	case "fixed":
		return "only"
	case "item":
		return "${ $item }"
	case "own item":
		return "${ .metadata.name }-${ $item }"
	}
	return "${ .metadata.name }"
}

// body draws the content of a child.
func (o *target) body(name, kind string, item bool) map[string]any {
	value := "${ " + o.value(name+".value", true, item) + " }"
	object := func(apiVersion string, more ...any) map[string]any {
		return with(map[string]any{"apiVersion": apiVersion, "kind": kind}, more...)
	}
	role := o.pickOf(name+".role", "view", "${ "+o.field("role")+" }", "cluster-admin")
	subjects := []any{map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "${ " + o.field("user") + " }"}}
	rules := []any{map[string]any{"apiGroups": []any{""}, "verbs": []any{"get"}, "resources": []any{
		o.pickOf(name+".resource", "configmaps", "${ "+o.field("role")+" }", "secrets"),
	}}}
	const rbac = "rbac.authorization.k8s.io"
	switch kind {
	case "Secret":
		return object("v1", "stringData", map[string]any{"text": value})
	case "Deployment":
		labels := map[string]any{"app": "a"}
		return object("apps/v1", "spec", map[string]any{
			"selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "main", "image": "docker.io/library/busybox:1.37", "env": []any{map[string]any{"name": "TEXT", "value": value}},
				}}},
			},
		})
	case "Role", "ClusterRole":
		return object(rbac+"/v1", "rules", rules)
	case "RoleBinding", "ClusterRoleBinding":
		return object(rbac+"/v1", "subjects", subjects, "roleRef", map[string]any{"apiGroup": rbac, "kind": "ClusterRole", "name": role})
	case "PriorityClass":
		return object("scheduling.k8s.io/v1", "value", 10, "description", value)
	case "Namespace", "ServiceAccount":
		return object("v1")
	}
	return object("v1", "data", map[string]any{"text": value})
}

// others draws the related objects.
func (o *target) others() {
	if !o.rarely(o.at+"related", 3) {
		return
	}
	entry := map[string]any{"name": "rel", "apiVersion": "v1", "kind": o.pickOf("related.kind", "ConfigMap", "Secret", "Secret"), "watch": false}
	if entry["kind"] == "ConfigMap" || o.rarely(o.at+"related.watch", 4) {
		delete(entry, "watch")
	}
	switch o.pickOf("related.namespace", "", "", "fixed", "chosen", "prefixed") {
	case "fixed":
		entry["namespace"] = platform
	case "chosen":
		entry["namespace"] = "${ " + o.field("ns") + " }"
	case "prefixed":
		entry["namespace"] = "team-${ " + o.field("text") + " }"
	}
	switch o.pickOf("related.of", "fixed", "chosen", "labels") {
	case "fixed":
		entry["names"], o.related = []any{"victim"}, "one"
	case "chosen":
		entry["names"], o.related = []any{"${ " + o.field("name") + " }"}, "one"
	case "labels":
		entry["labelSelector"] = map[string]any{"matchLabels": map[string]any{"team": "${ " + o.field("text") + " }"}}
		o.related = "list"
	}
	o.spec["related"] = []any{entry}
}

// patch draws a patch of an object of others.
func (o *target) patch() {
	if !o.rarely(o.at+"patch", 6) {
		return
	}
	metadata := map[string]any{"name": oneOf(o.drawing, o.at+"patch.name", "victim", "${ "+o.field("name")+" }")}
	switch o.pickOf("patch.namespace", "", "", "fixed", "chosen") {
	case "fixed":
		metadata["namespace"] = platform
	case "chosen":
		metadata["namespace"] = "${ " + o.field("ns") + " }"
	}
	o.spec["patches"] = []any{map[string]any{"name": "stamp", "template": map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": map[string]any{"stamp": "${ " + o.value("patch", false, false) + " }"},
	}}}
}

// settings draws how the operator works.
func (o *target) settings() {
	install := map[string]any{}
	if o.rarely(o.at+"policies", 4) {
		install["admissionPolicies"] = false
	}
	switch o.pickOf("allowed", "", "", "", "teams", "platform") {
	case "teams":
		install["allowedNamespaces"] = []any{"team-*", platform}
	case "platform":
		install["allowedNamespaces"] = []any{platform}
	}
	if o.rarely(o.at+"finalizer", 2) {
		o.spec["finalizer"] = map[string]any{}
	}
	reconcile := map[string]any{}
	if engine := o.pickOf("engine", "", "", "", "direct", "workflow", "worker", "worker"); engine != "" {
		reconcile["engine"] = engine
	}
	if o.rarely(o.at+"conflicts", 6) {
		reconcile["forceConflicts"] = false
	}
	o.spec["install"], o.spec["reconcile"] = install, reconcile
}
