package source

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// examples has values for hints, by their keys, or by type and key.
var examples = map[string]string{
	"Operator.apiVersion":     "argoperator.dev/v1alpha1",
	"Operator.kind":           "Operator",
	"OperatorTest.apiVersion": "argoperator.dev/v1alpha1",
	"OperatorTest.kind":       "OperatorTest",
	"OperatorTest.metadata":   "{name: app}",
	"Operator.metadata":       "{name: app}",
	"Operator.spec":           "{api: {group: example.com, kind: App, versions: [{name: v1alpha1, schema: {spec: {size: integer}}}]}}",
	"OperatorTest.spec":       "{resource: {file: ../samples/app.yaml}, steps: [{name: created, create: {}}]}",
	"Metadata.name":           "app",
	"TestMetadata.name":       "app",
	"TestSpec.resource":       "{file: ../samples/app.yaml}",
	"TestSpec.steps":          "[{name: created, create: {}}]",
	"TestStep.name":           "created",
	"Refuse.kind":             "Deployment",
	"Reference.kind":          "Deployment",
	"ToldEvent.reason":        "Reconciled",
	"ChildEdit.patch":         "{spec: {replicas: 5}}",
	"ChildStatus.status":      "{readyReplicas: 1}",
	"ObjectStatus.status":     "{phase: Ready}",
	"api":                     "{group: example.com, kind: App, versions: [{name: v1alpha1, schema: {spec: {size: integer}}}]}",
	"API.group":               "example.com",
	"API.kind":                "App",
	"versions":                "[{name: v1alpha1, schema: {spec: {size: integer}}}]",
	"Version.name":            "v1alpha1",
	"schema":                  "{spec: {size: integer}}",
	"Schema.spec":             "{size: integer}",
	"Schema.status":           "{phase: string}",
	"columns":                 "[{name: Size, path: .spec.size}]",
	"Column.name":             "Size",
	"Column.path":             ".spec.size",
	"specReplicasPath":        ".spec.size",
	"statusReplicasPath":      ".status.replicas",
	"validations":             "[{rule: self.spec.size > 0}]",
	"Validation.rule":         "self.spec.size > 0",
	"crd":                     "{file: crd.yaml}",
	"CRDFile.file":            "crd.yaml",
	"ChildCRD.file":           "crd.yaml",
	"DefinitionFile.file":     "../next/operator.yaml",
	"existing":                "{group: apps, version: v1, kind: Deployment}",
	"Existing.version":        "v1",
	"Existing.kind":           "Deployment",
	"children":                "[{name: config, file: children/config.yaml}]",
	"Child.name":              "config",
	"variables":               `{host: "${ .metadata.name }.example.com"}`,
	"template":                `{apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}`,
	"Spec.status":             "{phase: Ready}",
	"Spec.parameters":         "{region: string | default=eu-west-1}",
	"related":                 `[{name: config, apiVersion: v1, kind: ConfigMap, names: ["${ .spec.config }"]}]`,
	"Related.name":            "config",
	"Related.apiVersion":      "v1",
	"Related.kind":            "ConfigMap",
	"labelSelector":           "{matchLabels: {app: web}}",
	"Requirement.key":         "app",
	"Requirement.operator":    "Exists",
	"Patch.name":              "config",
	"logic":                   "{image: python:3.13-slim, command: [python3, main.py], files: [logic/main.py]}",
	"image":                   "python:3.13-slim",
	"command":                 "[python3, main.py]",
	"files":                   "[logic/main.py]",
	"hook":                    "{port: 9000}",
	"Hook.port":               "9000",
	"env":                     "[{name: MODE, value: fast}]",
	"EnvVar.name":             "MODE",
	"Parameter.name":          "config",
	"Parameter.file":          "/tmp/config.json",
	"finalizer":               "{}",
	"reconcile":               "{resync: 30m}",
	"install":                 "{namespace: argo-events}",
	"permissions":             `[{apiGroups: [""], resources: [configmaps], verbs: [get]}]`,
	"Permission.apiGroups":    `[""]`,
	"Permission.resources":    "[configmaps]",
	"Permission.verbs":        "[get]",
	"SecretReference.name":    "registry",
	"childMetadata":           "{labels: {team: a}}",
	"labels":                  "{team: a}",
	"annotations":             "{team: a}",
}

// example returns KEY: VALUE for a key of a type, or "".
func example(in, key string) string {
	if value := cmp.Or(examples[in+"."+key], examples[key]); value != "" {
		return key + ": " + value
	}
	return ""
}

// Example returns what to write for a key of a type, or "".
func Example(in, key string) string {
	if text := example(in, key); text != "" {
		return "write " + text
	}
	return ""
}

// formHint returns what to write for a scalar, a list or a mapping that should be another
// of them.
func (d *Decoder) formHint(n *yaml.Node, t reflect.Type, p Path) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(p) == 0 {
		return ""
	}
	key, isEntry := p[len(p)-1], false
	if len(p) > 1 && strings.Trim(key, "0123456789") == "" {
		key, isEntry = p[len(p)-2], true
	}
	isText := n.Kind == yaml.ScalarNode
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		switch {
		case isText && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			return "remove the |: it makes a string of the lines below"
		case isText && isFile(n.Value) && key == "template":
			return "write file: " + Scalar(n.Value, true, 0) + " in place of template"
		case isText && isFile(n.Value) && key == "crd":
			return "write crd: {file: " + Scalar(n.Value, true, 0) + "}"
		case isText && isFile(n.Value) && key == "children":
			return "write {name: config, file: " + Scalar(n.Value, true, 0) + "}"
		case isEntry && example(d.in[n], key) != "":
			return "write a mapping, such as " + strings.Trim(strings.TrimPrefix(example(d.in[n], key), key+": "), "[]")
		}
	case reflect.Slice:
		switch element := t.Elem().Kind(); {
		case isText && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			return "remove the |: it makes a string of the lines below"
		case isText && element != reflect.Struct:
			return "write a list: " + asList(n.Value)
		case n.Kind == yaml.MappingNode && element == reflect.Struct && len(n.Content) > 0:
			return entries(n, key)
		}
	default:
		if n.Kind == yaml.SequenceNode {
			return single(n, key)
		}
	}
	return Example(d.in[n], key)
}

// entries returns what to write for a mapping of names that should be a list.
func entries(n *yaml.Node, key string) string {
	value := map[string]string{"env": "value", "columns": "path"}[key]
	var list []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := Scalar(n.Content[i].Value, true, 0), n.Content[i+1]
		if v.Kind != yaml.ScalarNode || value == "" {
			return "write - name: " + name + " in place of " + name + ":"
		}
		list = append(list, "{name: "+name+", "+value+": "+Scalar(v.Value, true, 0)+"}")
	}
	return "write a list: [" + strings.Join(list, ", ") + "]"
}

// single returns what to write for a list that should be a string.
func single(n *yaml.Node, key string) string {
	var list []any
	switch {
	case n.Decode(&list) != nil:
	case key == "forEach" && len(n.Content) == 1 && expressionOf(n.Content[0]) != "":
		return "write the expression alone, without a list: " + Scalar(expressionOf(n.Content[0]), false, 0)
	case key == "forEach":
		if len(n.Content) == 1 && strings.ContainsAny(n.Content[0].Value, "(|") {
			return "quote the list of jq: " + Scalar("["+n.Content[0].Value+"]", true, yaml.DoubleQuotedStyle)
		}
		if literal, err := json.Marshal(list); err == nil && !strings.Contains(string(literal), "${") {
			return "write the list as a string of jq: " + Scalar(string(literal), true, yaml.SingleQuotedStyle)
		}
	case len(n.Content) == 1 && n.Content[0].Kind == yaml.ScalarNode:
		return "write " + Scalar(n.Content[0].Value, true, n.Content[0].Style)
	}
	return ""
}

// expressionOf returns the expression that an entry of forEach has, also as the only value of
// a mapping, as kro writes it; "" if there is none.
func expressionOf(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 {
		n = n.Content[1]
	}
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, "${") {
		return n.Value
	}
	return ""
}

func isFile(text string) bool {
	return !strings.ContainsAny(text, " \n${}") && (strings.HasSuffix(text, ".yaml") || strings.HasSuffix(text, ".yml"))
}

// asList returns a text as a list of YAML: its words, or the list that it is without its
// quotes.
func asList(text string) string {
	var list []any
	if yaml.Unmarshal([]byte(text), &list) == nil && strings.HasPrefix(text, "[") {
		return text
	}
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = Scalar(word, true, 0)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
