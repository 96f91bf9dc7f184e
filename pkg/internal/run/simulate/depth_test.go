package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// TestDepth runs two operators that make each other's custom resources: there must be a last
// one, which says why, whatever somebody writes into the annotation that counts them.
func TestDepth(t *testing.T) {
	t.Parallel()
	for name, child := range map[string]string{
		"one": `template: {apiVersion: d.io/v1, kind: OTHER, metadata: {name: "${ .metadata.name }x"}, spec: {v: "${ .spec.v }"}}`,
		"one for each item": "forEach: '[\"x\"]'\n    " +
			`template: {apiVersion: d.io/v1, kind: OTHER, metadata: {name: "${ .metadata.name }${ $item }"}, spec: {v: "${ .spec.v }"}}`,
		"with annotations": "adopt: true\n    " +
			`template: {apiVersion: d.io/v1, kind: OTHER, metadata: {name: "${ .metadata.name }x", annotations: "${ .metadata.annotations // {} }"}}`,
		"with a Secret": `template: {apiVersion: d.io/v1, kind: OTHER, metadata: {name: "${ .metadata.name }x"}, spec: {v: "${ $related.s.metadata.uid // \"\" }"}}` +
			"\n  related: [{name: s, apiVersion: v1, kind: Secret, names: [s], watch: false}]",
	} {
		for _, engine := range []string{"direct", "workflow"} {
			if engine == "direct" && strings.Contains(child, "related") {
				continue
			}
			t.Run(name+" "+engine, func(t *testing.T) {
				t.Parallel()
				var definitions []string
				for _, kinds := range [][2]string{{"Ping", "Pong"}, {"Pong", "Ping"}} {
					definitions = append(definitions, strings.NewReplacer(
						"ENGINE", engine, "CHILD", strings.ReplaceAll(child, "OTHER", kinds[1]), "KIND", kinds[0], "NAME", strings.ToLower(kinds[0]),
					).Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: NAME}
spec:
  api: {group: d.io, kind: KIND, versions: [{name: v1, schema: {spec: {v: string}}}]}
  reconcile: {engine: ENGINE}
  children:
  - name: next
    CHILD
`))
				}
				s, err := New(Inputs{Objects: widgets(t, strings.Join(definitions, "---")).Objects(), Runner: local()})
				if err != nil {
					t.Fatal(err)
				}
				apply(t, s, map[string]any{"apiVersion": "d.io/v1", "kind": "Ping", "metadata": map[string]any{"name": "a", "namespace": "shop"}, "spec": map[string]any{"v": "1"}})
				chain := func() (names []string, last map[string]any) {
					for _, o := range s.Objects() {
						if o["apiVersion"] == "d.io/v1" {
							names, last = append(names, fmt.Sprint(o["metadata"].(map[string]any)["name"])), o
						}
					}
					return names, last
				}
				names, last := chain()
				if len(names) != plan.MaxDepth+1 {
					t.Errorf("%d custom resources: %v", len(names), names)
				}
				if reason, message := NotReady(last); !strings.Contains(message, "argoperator.dev/depth") {
					t.Errorf("Ready of the last one is not False with the reason: %s %s", reason, message)
				}
				texts := []string{"7", "-1000000", "nan", "0.5", " 1", "01", "1e-9", "text", "", "9"}
				if engine == "workflow" { // pods are slow
					texts = texts[:2]
				}
				for i, text := range texts {
					name := fmt.Sprintf("b%d", i)
					apply(t, s, map[string]any{
						"apiVersion": "d.io/v1", "kind": "Ping", "spec": map[string]any{"v": "1"},
						"metadata": map[string]any{"name": name, "namespace": "shop", "annotations": map[string]any{"argoperator.dev/depth": text}},
					})
					made := 0
					all, _ := chain()
					for _, one := range all {
						if strings.HasPrefix(one, name) {
							made++
						}
					}
					if want := map[bool]int{true: 2, false: 1}[text == "7"]; made != want {
						t.Errorf("%d custom resources with %q, want %d", made, text, want)
					}
				}
			})
		}
	}
}
