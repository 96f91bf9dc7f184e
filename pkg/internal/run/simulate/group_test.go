package simulate

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// groupOf generates two operators, of which widgets has the install settings.
func groupOf(t *testing.T, install string) argoperator.Result {
	t.Helper()
	const definition = `
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: NAME}
spec:
  api: {group: acme.io, kind: KIND, versions: [{name: v1, schema: {spec: {v: string, names: "[]string"}}}]}
  children: [{name: child, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-NAME"}, data: {v: "${ .spec.v }"}}}]
  reconcile: {engine: worker}
  install: INSTALL
`
	return widgets(t, strings.NewReplacer("NAME", "widgets", "KIND", "Widget", "INSTALL", install).Replace(definition)+"---"+
		strings.NewReplacer("NAME", "gadgets", "KIND", "Gadget", "INSTALL", "{group: all}").Replace(definition))
}

// TestDedicatedWorker requires that the worker of an operator is a process of its own, and that it and the shared worker
// reconcile with their own service accounts only what is theirs.
func TestDedicatedWorker(t *testing.T) {
	t.Parallel()
	result := groupOf(t, "{group: all, dedicatedWorker: true}")
	var mu sync.Mutex
	plurals := map[string][]string{}
	s, err := New(Inputs{Objects: result.Objects(), Kinds: result.Kinds(), Runner: local(), Requests: func(c cluster.Call) {
		mu.Lock()
		defer mu.Unlock()
		for _, plural := range []string{"widgets", "gadgets"} {
			if strings.Contains(c.Path, "/"+plural) && !slices.Contains(plurals[c.Account], plural) {
				plurals[c.Account] = append(plurals[c.Account], plural)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, s.Close()) }()
	for _, kind := range []string{"Widget", "Gadget"} {
		apply(t, s, map[string]any{
			"apiVersion": "acme.io/v1", "kind": kind, "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"v": "1"},
		})
	}
	if made, _ := childrenOf(s); len(made) != 2 {
		t.Errorf("the children are %v", made)
	}
	mu.Lock()
	defer mu.Unlock()
	delete(plurals, "") // users and controllers
	const want = "map[argo-events/all-worker:[gadgets] argo-events/all-worker-widgets:[widgets]]"
	if got := fmt.Sprint(plurals); got != want {
		t.Errorf("the accounts use %s, want %s", got, want)
	}
	for _, f := range s.Trace().Failures() {
		t.Error(f.Text)
	}
}

// TestGroupMigration moves an operator out of a group, and from one worker of the group to another. The worker that it had
// stays, and has no events any more. That of an operator that joins a group has, so docs/how-to/scale.md deletes it first.
func TestGroupMigration(t *testing.T) {
	t.Parallel()
	installs := map[string]string{"alone": "{}", "shared": "{group: all}", "dedicated": "{group: all, dedicatedWorker: true}"}
	for _, from := range []string{"shared", "dedicated"} {
		for to, after := range installs {
			if from == to {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				old := groupOf(t, installs[from])
				migrate(t, old, old, groupOf(t, after))
			})
		}
	}
}
