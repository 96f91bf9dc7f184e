//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The group of TestPlatform: how many operators begin, and the memory of their pods at rest, in MiB.
const (
	platform       = "platform"
	platformSize   = 20
	platformMemory = 250
)

// platformOf writes the definitions of n operators of one group. more is added to the install settings of the last one.
func platformOf(t *testing.T, n int, more string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		install := ""
		if i == n-1 {
			install = more
		}
		definition := fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: tile%[1]d}
spec:
  api:
    group: platform.example.com
    kind: Tile%[1]d
    plural: tile%[1]ds
    versions: [{name: v1, schema: {spec: {text: string | default=none maxLength=20}, status: {text: string}}}]
  children:
  - name: map
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "tile%[1]d-${ .metadata.name }"}
      data: {text: "${ .spec.text }"}
  status: {text: "${ $children.map.data.text }"}
  install: {group: %[2]s%[3]s}
`, i, platform, install)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("tile%d.yaml", i)), []byte(definition), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPlatform has twenty operators of one group run in three pods. Another one joins, and then gets a dedicated worker,
// while custom resources of all others change.
func TestPlatform(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	c := connect(t)
	generated := func(n int, more string) []byte {
		return run(t, nil, binary(t), "generate", "-f", platformOf(t, n, more))
	}
	joined, dedicated := generated(platformSize+1, ""), generated(platformSize+1, ", dedicatedWorker: true")
	t.Cleanup(func() { // after what install takes away
		_, _ = try(dedicated, "kubectl", "delete", "--ignore-not-found", "-f", "-")
	})
	o := c.install(t, platform, platformOf(t, platformSize, ""))
	measured := record(t, platform, "worker/platform")

	page := func(i int) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "platform.example.com", Version: "v1", Resource: fmt.Sprintf("tile%ds", i)}
	}
	var crs []*unstructured.Unstructured
	create := func() {
		i := len(crs)
		crs = append(crs, o.createKind(t, "platform.example.com/v1", fmt.Sprintf("Tile%d", i), page(i).Resource, nsA, "one", map[string]any{"text": "first"}))
	}
	change := func(text string, remainder int) { // every other one
		for i, cr := range crs {
			if i%2 == remainder {
				o.merge(t, page(i), cr, fmt.Sprintf(`{"spec":{"text":%q}}`, text))
			}
		}
	}
	children := map[types.UID]types.UID{} // by custom resource
	await := func(text string) {
		t.Helper()
		c.await(t, "the children with the text "+text, slow, configMaps, nsA, func(s seen) bool {
			for _, cr := range crs {
				of := s.ownedBy(cr)
				if len(of) != 1 || nested(of[0], "data", "text") != text {
					return false
				}
				if had := children[cr.GetUID()]; had != "" && had != of[0].GetUID() {
					t.Errorf("the child of %s is another one", cr.GetKind())
				}
				children[cr.GetUID()] = of[0].GetUID()
			}
			return true
		})
		for i, cr := range crs {
			c.await(t, cr.GetKind()+" to be ready", slow, page(i), nsA, func(s seen) bool {
				found := s.by(cr.GetUID())
				return found != nil && current(found, "True") && nested(found, "status", "text") == text
			})
		}
	}
	awaitPods := func(n int) seen {
		t.Helper()
		return c.await(t, fmt.Sprintf("%d pods", n), slow, pods, operators, func(s seen) bool {
			return len(s.withLabel("app.kubernetes.io/name", platform)) == n
		}).withLabel("app.kubernetes.io/name", platform)
	}

	for range platformSize {
		create()
	}
	await("first")
	var memory float64
	standing, used := awaitPods(3), o.usage(t)
	for _, pod := range standing {
		now, known := used[pod.GetName()]
		if !known {
			t.Errorf("the kubelet knows no figures of pod %s", pod.GetName())
		}
		memory += now.memory / (1 << 20)
	}
	measured("%d operators, %d pods, %.0f MiB", platformSize, len(standing), memory)
	if memory > platformMemory {
		t.Errorf("%.0f MiB at rest, want at most %d", memory, platformMemory)
	}

	change("second", 0)
	run(t, joined, "kubectl", "apply", "-f", "-")
	change("second", 1)
	run(t, nil, "kubectl", "wait", "--for=condition=Established", "customresourcedefinition/"+page(platformSize).GroupResource().String(), "--timeout=60s")
	create()
	o.merge(t, page(platformSize), crs[platformSize], `{"spec":{"text":"second"}}`)
	await("second")
	awaitPods(3)

	change("third", 0)
	applied := time.Now()
	run(t, dedicated, "kubectl", "apply", "-f", "-")
	change("third", 1)
	await("third")
	o.audit.pardoned = append(o.audit.pardoned, span{applied, time.Now()}) // the shared worker loses rights before its pod goes
	awaitPods(4)

	// While the operators run, or they would receive the events without their permissions.
	for i := range crs {
		run(t, nil, "kubectl", "delete", page(i).GroupResource().String(), "-n", nsA, "--all")
	}
	for _, cr := range crs {
		c.await(t, "the child of "+cr.GetKind()+" to go", slow, configMaps, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 0 })
	}
}
