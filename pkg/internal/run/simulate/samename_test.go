package simulate

import (
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestSameName installs two operators of one name in two namespaces: each must create,
// update and delete its children, which the policies of the other leave alone.
func TestSameName(t *testing.T) {
	t.Parallel()
	for name, child := range map[string]string{
		"in a fixed namespace": `template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "GROUP.${ .metadata.name }", namespace: default}, data: {v: "${ .spec.v }"}}`,
		"cluster-scoped":       `template: {apiVersion: v1, kind: Namespace, metadata: {name: "GROUP-${ .metadata.namespace }-${ .metadata.name }", labels: {v: "${ .spec.v }"}}}`,
		"replaced": "update: Recreate\n    " +
			`template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "GROUP.${ .metadata.name }"}, immutable: true, data: {v: "${ .spec.v }"}}`,
		"one for each item": "forEach: '[\"a\", \"b\"]'\n    " +
			`template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "GROUP.${ .metadata.name }.${ $item }", namespace: default}, data: {v: "${ .spec.v }"}}`,
	} {
		for _, engine := range []string{"direct", "workflow"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				t.Parallel()
				var objects []manifest.Object
				for _, group := range []string{"alpha", "beta"} {
					objects = append(objects, widgets(t, strings.ReplaceAll(strings.ReplaceAll(strings.NewReplacer("ENGINE", engine, "CHILD", child).Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: app}
spec:
  install: {namespace: team-GROUP}
  api: {group: GROUP.io, kind: KIND, versions: [{name: v1, schema: {spec: {v: string}}}]}
  reconcile: {engine: ENGINE}
  children:
  - name: map
    CHILD
`), "GROUP", group), "KIND", kindOf(group))).Objects()...)
				}
				s, err := New(Inputs{Objects: objects, Runner: local()})
				if err != nil {
					t.Fatal(err)
				}
				of := func(group, v string) map[string]any {
					return map[string]any{
						"apiVersion": group + ".io/v1", "kind": kindOf(group), "metadata": map[string]any{"name": "a", "namespace": "shop"}, "spec": map[string]any{"v": v},
					}
				}
				for _, v := range []string{"1", "2"} {
					apply(t, s, of("alpha", v))
					apply(t, s, of("beta", v))
				}
				made, current := childrenOf(s)
				if each := strings.Count(name, "each") + 1; len(made) != 2*each || !current {
					t.Errorf("%v, current: %t", made, current)
				}
				for left, group := range []string{"beta", "alpha"} {
					if err := s.Delete(of(group, "2")); err != nil {
						t.Fatal(err)
					}
					settle(t, s)
					if now, _ := childrenOf(s); len(now) != len(made)/2*(1-left) {
						t.Errorf("%v after the end of that of %s", now, group)
					}
				}
			})
		}
	}
}

func kindOf(group string) string { return strings.ToUpper(group[:1]) + group[1:] }
