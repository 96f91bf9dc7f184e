package simulate

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

// TestRenamedChild gives a child another name in the definition: each engine must keep its
// objects, update them for the custom resource, and delete them with it.
func TestRenamedChild(t *testing.T) {
	t.Parallel()
	const (
		metadata  = `metadata: {name: "${ .metadata.name }"}`
		configMap = "template: {apiVersion: v1, kind: ConfigMap, " + metadata + `, data: {v: "${ .spec.v }"}}`
		namespace = `template: {apiVersion: v1, kind: Namespace, metadata: {name: "NAME", labels: {v: "${ .spec.v }"}}}`
	)
	for name, tt := range map[string]struct {
		scope, child              string
		replaced, stale, orphaned bool // after a change of the custom resource, or its deletion
	}{
		"one object":                             {child: configMap},
		"one for each item":                      {child: "forEach: .spec.names // []\n    " + strings.Replace(configMap, ".metadata.name", ".metadata.name }-${ $item", 1)},
		"with a condition":                       {child: "when: .spec.v != null\n    " + configMap},
		"in another namespace":                   {child: strings.Replace(configMap, metadata, `metadata: {name: "${ .metadata.namespace }-${ .metadata.name }", namespace: other}`, 1)},
		"cluster-scoped":                         {child: strings.Replace(namespace, "NAME", "${ .metadata.namespace }-${ .metadata.name }", 1)},
		"cluster-scoped, of a resource like it":  {scope: "scope: Cluster, ", child: strings.Replace(namespace, "NAME", "${ .metadata.name }", 1)},
		"replaced if an immutable field changes": {child: "update: Recreate\n    " + strings.Replace(configMap, " data:", " immutable: true, data:", 1), replaced: true},
		"never updated":                          {child: "update: Never\n    " + configMap, stale: true},
		"orphaned":                               {child: "onDelete: Orphan\n    " + configMap, orphaned: true},
	} {
		for _, engine := range []string{"direct", "workflow"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				t.Parallel()
				version := func(child string) argoperator.Result {
					return widgets(t, strings.NewReplacer("SCOPE", tt.scope, "ENGINE", engine, "CHILD", child, "REST", tt.child).Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: widgets}
spec:
  api: {group: acme.io, kind: Widget, SCOPEversions: [{name: v1, schema: {spec: {v: string, names: "[]string"}}}]}
  reconcile: {engine: ENGINE}
  children:
  - name: CHILD
    REST
`))
				}
				before := version("before")
				s, err := New(Inputs{Objects: before.Objects(), Kinds: before.Kinds(), Runner: local()})
				if err != nil {
					t.Fatal(err)
				}
				cr := map[string]any{
					"apiVersion": "acme.io/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"},
					"spec": map[string]any{"v": "1", "names": []any{"x", "y"}},
				}
				apply(t, s, cr)
				made, _ := childrenOf(s)
				s.upgrade(t, version("after"))
				if now, _ := childrenOf(s); len(made) == 0 || !maps.Equal(now, made) {
					t.Errorf("%v after the upgrade, want %v", now, made)
				}
				cr["spec"].(map[string]any)["v"] = "2"
				apply(t, s, cr)
				now, current := childrenOf(s)
				if maps.Equal(now, made) == tt.replaced || current == tt.stale {
					t.Errorf("%v after a change, before %v; current: %t", now, made, current)
				}
				if err := s.Delete(cr); err != nil {
					t.Fatal(err)
				}
				settle(t, s)
				if now, _ := childrenOf(s); (len(now) > 0) != tt.orphaned {
					t.Errorf("%v after the deletion", now)
				}
				if left, err := s.Get(cr); left != nil || err != nil {
					t.Errorf("the custom resource stays: %v, %v", left, err)
				}
			})
		}
	}
}

// widgets generates the operator of a definition.
func widgets(t *testing.T, definition string) argoperator.Result {
	t.Helper()
	result, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Dir: os.DirFS("."), Data: []byte(definition)}}, argoperator.Options{})
	if err != nil || result.Findings.HasErrors() {
		t.Fatal(err, result.Findings)
	}
	return result
}

// upgrade applies other manifests of the operator.
func (s *Simulation) upgrade(t *testing.T, to argoperator.Result) {
	t.Helper()
	must(t, s.Upgrade(t.Context(), to.Objects(), to.Kinds()))
	settle(t, s)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// childrenOf returns the uids of the children on a cluster, and whether all of them have the
// last value.
func childrenOf(s *Simulation) (uids map[string]string, current bool) {
	uids, current = map[string]string{}, true
	for k, o := range s.cluster.Objects {
		labels := o.GetLabels()
		if labels["argoperator.dev/child"] == "" {
			continue
		}
		uids[k.Resource+" "+k.Namespace+"/"+k.Name] = string(o.GetUID())
		current = current && (at(o.Object, "data.v") == "2" || labels["v"] == "2")
	}
	return uids, current
}
