package argoperator_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

// TestWholeObjects requires a result for each definition that has an expression over a whole object, such as the
// custom resource itself, at one of the places that take an expression.
func TestWholeObjects(t *testing.T) {
	apis := map[string]string{
		"own kind":           "{group: example.com, kind: App, versions: [{name: v1, schema: {spec: {name: string}, status: {text: string}}}]}",
		"kind of Kubernetes": "{existing: {version: v1, kind: Pod}}",
		"kind of others":     "{existing: {group: example.org, version: v1, kind: Thing, annotationSelector: {matchLabels: {a: b}}}}",
	}
	objects := []string{".", "select(true)", "select(.metadata.name != null)", "(. as $it | $it)", "$children.other", "$related.others", "$variables.all"}
	places := map[string][]string{ // what is below spec, or below the child, with the object as OBJECT
		"template":      {"child", `template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}, data: {a: "${ OBJECT | tojson }"}}`},
		"name":          {"child", `template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ OBJECT | .metadata.name }"}}`},
		"when":          {"child", `when: OBJECT != null`},
		"forEach":       {"child", `forEach: "[OBJECT]"`},
		"readyWhen":     {"child", `readyWhen: OBJECT != null`},
		"onDelete":      {"child", `onDelete: '${ if OBJECT == null then "Orphan" else "Delete" end }'`},
		"status":        {"spec", `status: {text: "${ OBJECT | tojson }"}`},
		"childMetadata": {"spec", `childMetadata: {labels: "${ OBJECT | .metadata.labels }"}`},
		"deleteAfter":   {"spec", `deleteAfter: if OBJECT == null then 60 else 30 end`},
		"related":       {"spec", `related: [{name: others, apiVersion: v1, kind: Secret, names: ["${ OBJECT | .metadata.name }"]}]`},
		"variables":     {"spec", `variables: {all: "${ OBJECT }"}`},
		"patches":       {"spec", `patches: [{name: p, when: OBJECT != null, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}}]`},
	}
	accepted := map[string]int{}
	for api, text := range apis {
		for _, object := range objects {
			for place, at := range places {
				spec := mappingOf(t, "{api: "+text+`, children: [{name: other, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-other"}}}]}`)
				if strings.HasPrefix(object, "$related") {
					spec["related"] = mappingOf(t, "{of: [{name: others, apiVersion: v1, kind: Secret, names: [a]}]}")["of"]
				}
				if strings.HasPrefix(object, "$variables") {
					spec["variables"] = map[string]any{"all": "${ . }"}
				}
				child := mappingOf(t, `{name: c, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}`)
				spec["children"] = append(spec["children"].([]any), child)
				into := spec
				if at[0] == "child" {
					into = child
				}
				maps.Copy(into, mappingOf(t, strings.ReplaceAll(at[1], "OBJECT", object)))
				definition, err := yaml.Marshal(map[string]any{
					"apiVersion": "argoperator.dev/v1alpha1", "kind": "Operator", "metadata": map[string]any{"name": "whole"}, "spec": spec,
				})
				if err != nil {
					t.Fatal(err)
				}
				result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: definition}}, argoperator.Options{})
				if err != nil {
					t.Errorf("%s, %s in %s: %v", api, object, place, err)
				}
				if !result.Findings.HasErrors() {
					accepted[place]++
				}
			}
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if accepted[place] == 0 {
			t.Errorf("no definition with such an expression in %s is without errors", place)
		}
	}
}

func mappingOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
