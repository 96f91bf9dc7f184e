//go:build e2e

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestShards changes the number of workers that share the custom resources, up and down,
// while these change.
func TestShards(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	c := connect(t)
	with := func(n int) string {
		return rewritten(t, "../testdata/behaviour/shards", "shards: 2", "shards: "+strconv.Itoa(n))
	}
	most := run(t, nil, binary(t), "generate", "-f", with(3))
	t.Cleanup(func() { _, _ = try(most, "kubectl", "delete", "--ignore-not-found", "-f", "-") }) // after what install takes away
	o := c.install(t, "shards", with(2))
	record(t, "shards", "worker/shards")
	pages := schema.GroupVersionResource{Group: "shards.example.com", Version: "v1", Resource: "pages"}
	var all []*unstructured.Unstructured
	for i := range 12 {
		all = append(all, o.createKind(t, "shards.example.com/v1", "Page", "pages", nsA, fmt.Sprintf("page-%d", i), map[string]any{"text": "first"}))
	}
	awaitText := func(text string) {
		t.Helper()
		c.await(t, "the text "+text, slow, configMaps, nsA, func(s seen) bool {
			for _, cr := range all {
				if of := s.ownedBy(cr); len(of) != 1 || nested(of[0], "data", "text") != text {
					return false
				}
			}
			return true
		})
	}
	awaitText("first")
	for _, n := range []int{3, 1} {
		text := fmt.Sprintf("of-%d", n)
		run(t, run(t, nil, binary(t), "generate", "-f", with(n)), "kubectl", "apply", "-f", "-")
		for _, cr := range all {
			o.merge(t, pages, cr, fmt.Sprintf(`{"spec":{"text":%q}}`, text))
		}
		awaitText(text)
		told := string(run(t, nil, "kubectl", "get", "lease", "shards-worker", "-n", o.only("Sensor").GetNamespace(),
			"-o", `jsonpath={.metadata.annotations.argoperator\.dev/workers}`))
		if strings.TrimSpace(told) != strconv.Itoa(n) {
			t.Errorf("the Lease tells %q workers, want %d", told, n)
		}
	}
}
