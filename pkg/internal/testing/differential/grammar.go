package differential

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// The names that the grammar uses.
const (
	group     = "d.example.com"
	kindName  = "Thing"
	namespace = "default"
	elsewhere = "other"
	first     = "alpha"
	second    = "beta"
	shared    = "shared" // the ConfigMap that patches change
)

// definition is a drawn definition.
type definition struct {
	*drawing
	fields       []field
	builtin      string // the existing kind that Kubernetes has; empty: a kind of its own
	plural       string // of a kind of its own
	cluster      bool   // the custom resources are cluster-scoped
	children     []child
	waits        string         // the child whose status the child that is being drawn needs
	related      string         // how $related.rel is read: one, list; empty: there is none
	unwatched    bool           // no event comes of related objects
	trusting     bool           // a custom resource can fail of which lint is silent
	form         string         // how a kind of its own is described
	known        bool           // the definition has the schema of an existing kind
	selected     map[string]any // the selectors of an existing kind of its own
	spec         map[string]any
	inChild      map[string]any // the child whose template is being drawn; nil: none
	variables    int
	installation []source.Parameter // the values of parameters
	files        fstest.MapFS
}

// child is what later children and the status know of a child.
type child struct {
	name, kind  string
	each        bool
	conditional bool   // it has a condition
	moves       bool   // its objects can be replaced by others, and none is there in between
	waitsFor    string // the child whose status its template needs
}

func (c child) clusterScoped() bool { return c.kind == "ClusterRole" || c.kind == "Namespace" }

func newDefinition(d *drawing) *definition {
	out := &definition{drawing: d, spec: map[string]any{}, files: fstest.MapFS{}}
	out.api()
	out.others()
	var children []any
	for i := range 1 + d.pick("children", 3) {
		children = append(children, out.child("c"+strconv.Itoa(i)))
	}
	out.spec["children"] = children
	out.patches()
	out.childMetadata()
	out.status()
	out.settings()
	return out
}

// api draws the kind that the operator serves. A kind of its own has a schema in the
// short form here, from which the case derives the other forms.
func (d *definition) api() {
	d.builtin = oneOf(d.drawing, "api.builtin", "", "", "", "", "", "", "", "", "", "StatefulSet", "ConfigMap", "Namespace",
		"", "", "", "", "", "", "", "Deployment")
	selected := map[string]any{}
	switch oneOf(d.drawing, "api.selector", "", "", "labels", "expressions", "annotations") {
	case "labels":
		selected["labelSelector"] = map[string]any{"matchLabels": map[string]any{"chosen": "yes"}}
	case "expressions":
		selected["labelSelector"] = map[string]any{"matchExpressions": []any{map[string]any{
			"key": "chosen", "operator": "In",
			"values": []any{"yes", "true"},
		}}}
	case "annotations":
		selected["annotationSelector"] = map[string]any{
			"matchLabels": map[string]any{"chosen": "yes"},
			"matchExpressions": []any{
				map[string]any{"key": "hidden", "operator": "DoesNotExist"}, map[string]any{
					"key": "chosen", "operator": "In",
					"values": []any{"yes"},
				},
			},
		}
	}
	text := kinds[1]
	switch d.builtin {
	case "StatefulSet", "Deployment":
		d.spec["api"] = map[string]any{"existing": with(selected, "group", "apps", "version", "v1", "kind", d.builtin)}
		d.fields = []field{{integer(), ".spec.replicas"}, {text, ".metadata.annotations.text"}}
	case "ConfigMap":
		d.spec["api"] = map[string]any{"existing": with(selected, "version", "v1", "kind", "ConfigMap")}
		d.fields = []field{{text, ".data.text"}, {text, ".metadata.labels.text"}}
	case "Namespace":
		d.cluster = true
		d.spec["api"] = map[string]any{"existing": with(selected, "version", "v1", "kind", "Namespace")}
		d.fields = []field{{text, ".metadata.labels.text"}, {text, ".metadata.annotations.text"}}
	default:
		d.ownAPI(selected)
	}
}

func integer() kind {
	for _, k := range kinds {
		if k.name == "integer" {
			return k
		}
	}
	return kind{}
}

// ownAPI draws a kind that is not built into Kubernetes.
func (d *definition) ownAPI(selected map[string]any) {
	spec, types := map[string]any{}, map[string]any{}
	for i := range 1 + d.pick("fields", 4) {
		name := "f" + strconv.Itoa(i)
		k := oneOf(d.drawing, "field."+strconv.Itoa(i), kinds...)
		d.fields = append(d.fields, field{k, ".spec." + name})
		spec[name] = k.short
		if text, ok := k.short.(string); ok && d.rarely("field."+strconv.Itoa(i)+".type", 6) && !strings.Contains(text, "required=") {
			types["own"+strconv.Itoa(i)] = text
			spec[name] = "own" + strconv.Itoa(i)
		}
	}
	version := map[string]any{"name": "v1", "schema": map[string]any{"spec": spec}}
	if d.rarely("api.validation", 5) {
		version["validations"] = []any{map[string]any{"rule": "self.metadata.name != 'forbidden'", "message": "another name, please"}}
	}
	if d.rarely("api.columns", 5) {
		version["columns"] = []any{map[string]any{"name": "First", "path": ".spec.f0", "priority": 1}}
	}
	d.plural = "things"
	api := map[string]any{"group": group, "kind": kindName, "versions": []any{version}}
	if len(types) > 0 {
		api["types"] = types
	}
	if d.cluster = d.pick("api.scope", 4) == 3; d.cluster {
		api["scope"] = "Cluster"
	}
	switch oneOf(d.drawing, "api.versions", "one", "one", "two", "three") {
	case "two":
		version["storage"] = true
		api["versions"] = append(api["versions"].([]any), map[string]any{
			"name": "v1alpha1", "deprecated": true, "deprecationWarning": "old", "schema": map[string]any{"spec": spec},
		})
	case "three":
		version["storage"] = true
		api["versions"] = append(api["versions"].([]any), map[string]any{
			"name": "v1alpha1", "served": false,
			"schema": map[string]any{"spec": spec},
		})
	}
	if d.rarely("api.plural", 6) {
		d.plural = "thingies"
		api["plural"], api["shortNames"], api["categories"] = d.plural, []any{"th"}, []any{"all"}
	}
	d.spec["api"] = api
	d.selected = selected
	d.form = oneOf(d.drawing, "api.form", "short", "short", "short", "short", "short", "openapi", "crd", "existing",
		"existing-status", "short", "openapi", "crd", "short", "openapi", "crd")
	existing := strings.HasPrefix(d.form, "existing")
	d.known = existing && d.rarely("api.known", 2)
	d.trusting = existing && !d.known // lint does not know their fields
}

// with returns a copy of a mapping with more entries, given as keys and values.
func with(in map[string]any, more ...any) map[string]any {
	out := map[string]any{}
	for key, value := range in {
		out[key] = value
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

// of returns an expression about one of the fields; empty if no field has such ones.
func (d *definition) of(at string, expressions func(kind) []string) string {
	start := d.pick(at+".field", len(d.fields))
	for i := range d.fields {
		f := d.fields[(start+i)%len(d.fields)]
		if all := expressions(f.kind); len(all) > 0 {
			return f.on(all[d.pick(at+"."+f.name, len(all))])
		}
	}
	return ""
}

// condition returns a condition over the custom resource.
func (d *definition) condition(at string) string {
	return d.bareVariable(at, d.parameterCondition(at, d.of(at, func(k kind) []string { return k.truth })))
}

// whole returns the value of one of the fields of some kinds, as an expression; empty if
// there is none.
func (d *definition) whole(at string, names ...string) string {
	if !d.rarely(at, 3) {
		return ""
	}
	for _, f := range d.fields {
		if slices.Contains(names, f.name) {
			d.trusting = d.trusting || f.name == "open" // lint does not know what is in it
			d.waits = ""                                // it takes the place of what would wait
			return "${ " + f.path + " }"
		}
	}
	return ""
}

// list returns an expression that yields a list of distinct names.
func (d *definition) list(at string) string {
	if text := d.of(at, func(k kind) []string { return k.lists }); text != "" {
		return d.bareVariable(at, text)
	}
	return fixedItems
}

// text returns a text for a child or the status: often with an expression.
func (d *definition) text(at string, readable []child, item string) string {
	sources := []string{"fixed", "field", "field", "field", "metadata"}
	if item != "" {
		sources = append(sources, "item")
	}
	if len(readable) > 0 {
		sources = append(sources, "child", "child")
	}
	if d.related != "" {
		sources = append(sources, "related")
	}
	place := `.metadata.namespace`
	if d.cluster {
		place = `.metadata.generation // "none" | tostring`
	}
	expression := ""
	switch oneOf(d.drawing, at+".source", sources...) {
	case "fixed":
		return d.parameter(at, "fixed")
	case "field":
		expression = d.of(at, func(k kind) []string { return k.texts })
	case "metadata":
		expression = oneOf(d.drawing, at+".metadata", `.metadata.name`, `.metadata.uid`, `.metadata.labels.tier // "none"`,
			`.metadata.annotations.note`,
			`.metadata.labels // {} | has("tier") | tostring`, place, `.kind`)
	case "item":
		expression = oneOf(d.drawing, at+".item", `$item | tojson`, `$index | tostring`, `"\($index)-\($item)"`)
	case "child":
		expression = d.read(at, readable)
		if len(readable) > 1 && d.rarely(at+".two", 4) {
			expression = d.both(at, expression, d.read(at+".second", readable))
		}
	case "related":
		expression = d.readRelated(at)
	}
	if expression == "" {
		return "fixed"
	}
	return d.variable(at, "${ "+expression+" }")
}

// The expressions whose child waits for the status of another one.
const (
	waitsForOne = `$children.c.status.value`
	waitsForAll = `[$children.c[] | .status.value] | join(",")`
)

// read returns an expression that reads an earlier child.
func (d *definition) read(at string, readable []child) string {
	c := readable[d.pick(at+".child", len(readable))]
	var reads []string
	if c.each {
		reads = []string{
			`[$children.c[].metadata.name] | join(",")`, `$children.c | length | tostring`, `$children.c | map(.metadata.name) | join(",")`,
			`[$children.c[] | .metadata.name] | add // "none"`, `[$children.c[].metadata.name] | any(. == "x") | tostring`,
			`$children.c // [] | map(.metadata.name) | join(",")`, `$children.c | to_entries | map("\(.key):\(.value.metadata.name)") | join(",")`,
			`[$children.c[] | .metadata.uid] | length | tostring`, `$children.c | first | .metadata.name // "none"`,
		}
	} else {
		reads = []string{
			`$children.c.metadata.name`, `$children.c.metadata.name // "none"`, `"\($children.c.metadata.name)-x"`,
			`$children.c.metadata.uid | length | tostring`,
			`if $children.c.metadata.name == null then "no" else "yes" end`, `$children.c.metadata.labels // {} | has("app") | tostring`,
			`$children.c.metadata.name?`,
		}
	}
	switch c.kind {
	case "ConfigMap":
		reads = append(reads, each(c, `$children.c.data.text`, `[$children.c[] | .data.text] | map(. // "-") | join(",")`))
	case "Deployment":
		reads = append(reads, each(c, `$children.c.status.readyReplicas // 0 | tostring`,
			`[$children.c[].status.readyReplicas // 0] | add // 0 | tostring`))
	case "Widget":
		reads = append(reads, each(c, waitsForOne, waitsForAll),
			each(c, `$children.c.status.value // "none"`, `[$children.c[].status.value] | tojson`))
	}
	if c.each {
		reads = append(reads, `$children.c["\(.metadata.name)-a"].metadata.name // "none"`,
			`$children.c | map(.metadata.name) | map($children.c[.].metadata.uid | length) | tojson`)
		if c.kind == "Widget" {
			reads = append(reads, `($children.c | first | .metadata.name) as $name | $children.c[$name].status.value // "none"`)
		}
	}
	read := oneOf(d.drawing, at+".read."+c.kind+fmt.Sprint(c.each), reads...)
	if strings.HasSuffix(at, ".text") && (read == waitsForOne || read == waitsForAll) {
		d.waits = c.name
	}
	return strings.ReplaceAll(read, "$children.c", "$children."+c.name)
}

// both returns an expression of two others. It waits for neither of their values alone.
func (d *definition) both(at, one, other string) string {
	d.waits = ""
	return oneOf(d.drawing, at+".both", "("+one+") // ("+other+")", "("+one+") + ("+other+")",
		"if .metadata.labels.tier == \"x\" then "+one+" else "+other+" end", "if .metadata.labels.tier == \"x\" then null else "+one+" end // ("+other+")")
}

func each(c child, one, all string) string {
	if c.each {
		return all
	}
	return one
}

// readRelated returns an expression that reads the related objects.
func (d *definition) readRelated(at string) string {
	if d.related == "one" {
		return oneOf(d.drawing, at+".related", `$related.rel.data.value // "none"`, `$related.rel.data.value`,
			`if $related.rel == null then "no" else "yes" end`,
			`$related.rel.metadata.name?`)
	}
	return oneOf(d.drawing, at+".related", `$related.rel | length | tostring`, `[$related.rel[] | .metadata.name] | sort | join(",")`,
		`$related.rel | map(.data.value // "-") | sort | join(",")`, `[$related.rel[].metadata.name] | length | tostring`)
}

// others draws the related objects.
func (d *definition) others() {
	entry := map[string]any{"name": "rel", "apiVersion": "v1", "kind": "ConfigMap"}
	d.related = "one"
	if !d.rarely("others", 6) {
		d.related = ""
		return
	}
	switch oneOf(d.drawing, "related", "name", "names", "computed", "labels", "expressions", "own") {
	case "name":
		entry["names"] = []any{"settings"}
	case "names":
		entry["names"], d.related = []any{"settings", "extra"}, "list"
	case "computed":
		entry["names"] = []any{d.variable("related.computed", `${ .metadata.labels.tier // "settings" }`)}
	case "labels":
		entry["labelSelector"], d.related = map[string]any{"matchLabels": map[string]any{"team": `${ .metadata.labels.tier // "x" }`}}, "list"
	case "expressions":
		entry["labelSelector"], d.related = map[string]any{"matchExpressions": []any{map[string]any{
			"key":      "team",
			"operator": "Exists",
		}}}, "list"
	case "own":
		if d.builtin != "" {
			d.related = ""
			return
		}
		entry["apiVersion"], entry["kind"], entry["labelSelector"], d.related = group+"/v1", kindName, map[string]any{}, "list"
		entry["plural"], entry["scope"] = d.plural, "Namespaced"
		if d.cluster {
			entry["scope"] = "Cluster"
		}
	}
	if d.cluster && entry["kind"] == "ConfigMap" {
		entry["namespace"] = namespace
	}
	if d.unwatched = d.rarely("related.watch", 4); d.unwatched {
		entry["watch"] = false
	}
	d.spec["related"] = []any{entry}
}

// patches draws a patch of an object of others.
func (d *definition) patches() {
	if !d.rarely("patch", 12) {
		return
	}
	metadata := map[string]any{"name": shared}
	if d.cluster {
		metadata["namespace"] = namespace
	}
	template := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
		"data": map[string]any{"stamp": d.text("patch.text", nil, "")},
	}
	patch := map[string]any{"name": "stamp", "template": template}
	switch oneOf(d.drawing, "patch.kind", "ConfigMap", "ConfigMap", "crd", "names") {
	case "crd":
		template["apiVersion"], template["kind"], patch["crd"] = "w.example.com/v1", "Shelf", map[string]any{"file": "shelf.yaml"}
		d.files["shelf.yaml"] = &fstest.MapFile{Data: []byte(shelves)}
	case "names":
		template["apiVersion"], template["kind"], patch["plural"], patch["scope"] = "w.example.com/v1", "Shelf", "shelves", "Namespaced"
	}
	if d.rarely("patch.when", 3) {
		patch["when"] = d.condition("patch.when")
	}
	if d.rarely("patch.forEach", 3) {
		patch["forEach"] = `["one", "two"]`
		template["data"] = map[string]any{"stamp": "fixed"}
		metadata["name"] = shared + "-${ $item }"
	}
	d.spec["patches"] = []any{patch}
}

// shelves is the CustomResourceDefinition of objects of others that patches change.
var shelves = kindOfOthers("Shelf", "shelves", "", `
          data: {type: object, additionalProperties: {type: string}}
          made: {type: string, default: "with a schema"}
`)

func (d *definition) childMetadata() {
	out := map[string]any{}
	if d.rarely("childMetadata.labels", 5) {
		out["labels"] = map[string]any{"cost-center": "${ .metadata.name }"}
		if d.rarely("childMetadata.one", 2) { // an expression for all
			out["labels"] = `${ {"cost-center": .metadata.name} }`
		}
	}
	if d.rarely("childMetadata.annotations", 5) {
		out["annotations"] = map[string]any{"example.com/about": "${ " + d.of("childMetadata", func(k kind) []string { return k.texts }) + " }"}
	}
	if len(out) > 0 {
		d.spec["childMetadata"] = out
	}
}

// status draws the computed fields of the status.
func (d *definition) status() {
	out := map[string]any{}
	if d.builtin != "" || d.form == "existing" {
		return // the operator does not write the status
	}
	for i := range d.pick("status", 3) {
		name := "s" + strconv.Itoa(i)
		out[name] = d.text("status."+name, d.children, "")
	}
	if _, read := out["s0"]; read && d.rarely("status.copy", 6) {
		out["copy"] = "${ .status.s0 }"
	}
	if d.rarely("status.conditions", 8) {
		of := `[{type: "Custom", status: "True", reason: "Known", message: .metadata.name}]`
		switch d.pick("status.conditions.of", 3) {
		case 1:
			of = `if ` + d.condition("status.conditions.when") + ` then ` + of + ` else [] end`
		case 2:
			of = d.list("status.conditions.items") + ` | map({type: "Has\(length)", status: "True", reason: "Known", message: ""}) | unique`
		}
		out["conditions"] = "${ " + of + " }"
	}
	if d.rarely("status.number", 4) && d.children[0].each {
		out["number"] = "${ $children.c0 | length }"
	}
	if len(out) > 0 {
		d.spec["status"] = out
	}
}

// settings draws how the operator works, apart from its engine.
func (d *definition) settings() {
	reconcile, install := map[string]any{}, map[string]any{}
	switch oneOf(d.drawing, "finalizer", "", "", "", "default", "named", "", "reverse") {
	case "reverse":
		d.spec["finalizer"] = map[string]any{"deletionOrder": "Reverse"}
	case "default":
		d.spec["finalizer"] = map[string]any{}
	case "named":
		d.spec["finalizer"] = map[string]any{"name": "example.com/mine"}
	}
	if d.rarely("reconcile.shards", 6) {
		reconcile["shards"] = 2
	}
	if d.rarely("reconcile.always", 6) {
		reconcile["resyncPolicy"] = "Always"
	}
	if d.rarely("reconcile.diagnose", 6) {
		reconcile["diagnose"] = false
	}
	if d.rarely("reconcile.retries", 6) {
		reconcile["retries"], reconcile["timeout"], reconcile["resync"] = 0, "1m", "10m"
	}
	if d.rarely("reconcile.conflicts", 6) {
		reconcile["forceConflicts"] = false
	}
	if d.rarely("install.watchNamespaces", 6) && !d.cluster && !slices.ContainsFunc(d.children, child.clusterScoped) {
		install["watchNamespaces"] = []any{namespace, elsewhere}
	}
	if d.rarely("install.allowedNamespaces", 6) {
		allowed := []any{elsewhere, namespace}
		if places := slices.ContainsFunc(d.children, func(c child) bool { return c.kind == "Namespace" }); places && d.pick("install.refused", 2) == 0 {
			allowed = append(allowed, first+"-*", second+"-*")
		} else {
			d.trusting = d.trusting || places
		}
		install["allowedNamespaces"] = allowed
	}
	if d.rarely("install.group", 6) && reconcile["shards"] == nil {
		install["group"] = "crew"
		if d.pick("install.dedicatedWorker", 2) == 0 {
			install["dedicatedWorker"] = true
		}
	}
	if d.rarely("install.policies", 6) {
		install["admissionPolicies"] = false
	}
	if len(install) > 0 {
		d.spec["install"] = install
	}
	d.spec["reconcile"] = reconcile
}
