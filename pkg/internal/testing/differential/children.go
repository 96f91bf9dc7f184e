package differential

import (
	"fmt"
	"strings"
	"testing/fstest"
)

// child draws a child and adds it to those that later parts can read.
func (d *definition) child(name string) map[string]any {
	out := map[string]any{"name": name}
	d.inChild = out
	defer func() { d.inChild = nil }()
	kind := oneOf(d.drawing, name+".kind", "ConfigMap", "Secret", "Secret-data", "Widget", "Deployment", "Service", "Job",
		"StatefulSet", "ServiceAccount",
		"Role", "RoleBinding", "ClusterRole", "Namespace")
	known := child{name: name, kind: kind}
	d.waits = ""
	item := ""
	metadata := map[string]any{"name": "${ .metadata.name }-" + name}
	if source := d.forEach(name); source != "" {
		out["forEach"], known.each, item = source, true, "$item"
		known.moves = source != fixedItems
		metadata["name"] = "${ .metadata.name }-" + name + "-${ $item }"
	} else if d.rarely(name+".name", 8) {
		metadata["name"], known.moves = `${ .metadata.name }-`+name+`-${ .metadata.labels.tier // "none" }`, true
	}
	if when := d.when(name); when != "" {
		out["when"], known.conditional = when, true
	}
	known.moves = d.namespace(name, kind, metadata) || known.moves
	metadata["name"] = d.variable(name+".metadata", metadata["name"].(string))
	if d.rarely(name+".labels", 4) {
		metadata["labels"] = map[string]any{"app": "${ .metadata.name }", "tier": `${ .metadata.labels.tier }`}
	}
	if d.rarely(name+".annotations", 4) {
		metadata["annotations"] = map[string]any{"example.com/note": d.text(name+".note", d.readable(name), item)}
	}
	d.rules(name, kind, out)
	template := d.body(name, kind, item)
	template["metadata"] = metadata
	out["template"] = template
	if kind == "Widget" {
		out["crd"] = map[string]any{"file": "widget.yaml"}
		d.files["widget.yaml"] = &fstest.MapFile{Data: []byte(widgets)}
	}
	if d.rarely(name+".file", 8) {
		out["file"] = name + ".yaml"
		d.files[name+".yaml"] = &fstest.MapFile{Data: text(template)}
		delete(out, "template")
	}
	known.waitsFor = d.waits
	d.children = append(d.children, known)
	return out
}

const fixedItems = `["a", "b"]`

// forEach draws the expression that makes a child a list; empty: it is one object.
func (d *definition) forEach(name string) string {
	switch oneOf(d.drawing, name+".forEach", "", "", "", "field", "field", "fixed", "child") {
	case "field":
		return d.list(name + ".items")
	case "fixed":
		return fixedItems
	case "child":
		if len(d.children) > 0 && d.children[0].each {
			return `[$children.c0[].metadata.name]`
		}
	}
	return ""
}

// when draws the condition of a child; empty: none.
func (d *definition) when(name string) string {
	switch oneOf(d.drawing, name+".when", "", "", "", "", "field", "field", "label", "child") {
	case "field":
		return d.condition(name + ".when")
	case "label":
		return `.metadata.labels.tier == "x"`
	case "child":
		if len(d.children) > 0 && !d.children[0].moves {
			c := d.children[0]
			return each(c, `$children.c0.metadata.name != null`, `$children.c0 | length > 1`)
		}
	}
	return ""
}

// namespace draws the namespace of a child, and reports whether that can change.
func (d *definition) namespace(name, kind string, metadata map[string]any) bool {
	clusterScoped := child{kind: kind}.clusterScoped()
	place := oneOf(d.drawing, name+".namespace", "", "", "", "", "own", "fixed", "label")
	switch {
	case clusterScoped, !d.cluster && place == "":
	case d.cluster && (place == "" || place == "own"):
		metadata["namespace"] = namespace
	case place == "own":
		metadata["namespace"] = "${ .metadata.namespace }"
	case place == "fixed":
		metadata["namespace"] = elsewhere
	case place == "label":
		metadata["namespace"] = `${ if .metadata.labels.tier == "x" then "other" else "default" end }`
		return true
	}
	return false
}

func (d *drawing) update(name string) string {
	return oneOf(d, name+".update", "", "", "", "Recreate", "Never")
}

// readable returns the children that the template of another can read. Of one that is never
// updated, its content would depend on which of them are there when it is created.
func (d *definition) readable(name string) []child {
	if d.update(name) == "Never" {
		return nil
	}
	return d.children
}

// rules draws what happens to a child.
func (d *definition) rules(name, kind string, out map[string]any) {
	if len(d.children) > 0 && d.rarely(name+".dependsOn", 5) {
		out["dependsOn"] = []any{d.children[len(d.children)-1].name}
	}
	if update := d.update(name); update != "" && (update != "Recreate" || kind == "Job" || kind == "StatefulSet") {
		out["update"] = update
	}
	if d.rarely(name+".onDelete", 6) {
		out["onDelete"] = oneOf(d.drawing, name+".policy", "Orphan", `${ if .metadata.labels.tier == "x" then "Orphan" else "Delete" end }`)
		d.trusting = d.trusting || d.builtin == "ConfigMap" // the objects of others can be deleted and made again
	}
	if kind == "Secret" && d.rarely(name+".generate", 4) {
		out["generate"] = map[string]any{
			"random": oneOf(d.drawing, name+".random", map[string]any{"length": int64(8)}, map[string]any{"characters": "xyz"}, map[string]any{"bytes": int64(9)}),
		}
	}
	if d.rarely(name+".adopt", 8) && out["update"] != "Never" {
		out["adopt"] = true
	}
	if d.rarely(name+".readyWhen", 6) {
		out["readyWhen"] = map[string]string{"Widget": `.status.value != null`, "Deployment": `(.status.readyReplicas // 0) == .spec.replicas`}[kind]
		if out["readyWhen"] == "" {
			out["readyWhen"] = `.metadata.name != null`
		}
	}
}

// body draws the content of a child, with one or more expressions.
func (d *definition) body(name, kind, item string) map[string]any {
	text := func(at string) string { return d.text(name+"."+at, d.readable(name), item) }
	pod := func(policy string) any {
		if whole := d.whole(name+".pod", "open", "any"); whole != "" && policy == "" {
			return whole
		}
		container := map[string]any{
			"name": "main", "image": "docker.io/library/busybox:1.37", "env": []any{map[string]any{"name": "TEXT", "value": text("text")}},
		}
		if whole := d.whole(name+".env", "env"); whole != "" {
			container["env"] = whole
		}
		out := map[string]any{"containers": []any{container}}
		if policy != "" {
			out["restartPolicy"] = policy
		}
		return out
	}
	labels := map[string]any{"app": "${ .metadata.name }-" + name}
	workload := func() map[string]any {
		return map[string]any{
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": pod("")},
		}
	}
	switch kind {
	case "Secret":
		data := map[string]any{"text": text("text")}
		if d.rarely(name+".more", 2) {
			data["more"] = "${ if " + d.condition(name+".more") + ` then "m" else null end }`
		}
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": data}
	case "Secret-data":
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"text": "${ .metadata.name | @base64 }"}}
	case "Widget":
		return map[string]any{"apiVersion": "w.example.com/v1", "kind": "Widget", "spec": map[string]any{"text": text("text")}}
	case "Deployment":
		out := workload()
		out["replicas"] = int64(1)
		if len(d.fields) > 0 && d.fields[0].name == "integer" {
			out["replicas"] = "${ " + d.fields[0].path + " }"
		}
		return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "spec": out}
	case "StatefulSet":
		out := workload()
		out["serviceName"] = "headless"
		return map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": out}
	case "Service":
		out := map[string]any{"selector": labels, "ports": []any{map[string]any{"name": "http", "port": int64(80)}}}
		if kind := oneOf(d.drawing, name+".type", "", "ClusterIP", "LoadBalancer"); kind != "" {
			out["type"] = kind
		}
		return map[string]any{"apiVersion": "v1", "kind": "Service", "spec": out}
	case "Job":
		return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": map[string]any{"template": map[string]any{"spec": pod("Never")}}}
	case "ServiceAccount":
		return map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": false}
	case "Role", "ClusterRole":
		return map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "rules": []any{
			map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"get"}, "resourceNames": []any{text("text")}},
		}}
	case "RoleBinding":
		return map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "${ .metadata.name }", "namespace": namespace}},
		}
	case "Namespace":
		return map[string]any{"apiVersion": "v1", "kind": kind}
	}
	if whole := d.whole(name+".data", "open", "any", "map"); whole != "" {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": whole}
	}
	data := map[string]any{"text": text("text")}
	if d.rarely(name+".more", 2) {
		data["more"] = text("moreText")
	}
	if d.rarely(name+".hostile", 6) {
		data["hostile"] = d.parameter(name+".hostile", hostileText)
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data}
}

// widgets is the CustomResourceDefinition of children that another operator serves.
var widgets = kindOfOthers("Widget", "widgets", "status: {}", `
          spec:
            type: object
            properties:
              text: {type: string}
          status:
            type: object
            properties:
              value: {type: string}
              observedGeneration: {type: integer}
`)

// kindOfOthers returns a CustomResourceDefinition, with subresources and with properties that are
// indented by ten.
func kindOfOthers(kind, plural, subresources, properties string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.w.example.com}
spec:
  group: w.example.com
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]s, singular: %[3]s, listKind: %[1]sList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {%[4]s}
    schema:
      openAPIV3Schema:
        type: object
        properties:%[5]s`, kind, plural, strings.ToLower(kind), subresources, properties)
}
