//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestUninstall takes an operator away as the README says, while a custom
// resource with a finalizer is there and has a child.
func TestUninstall(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	t.Parallel()
	const home, definition = "e2e-mice", "testdata/mouse"
	mice := schema.GroupVersionResource{Group: "zoo.example.com", Version: "v1", Resource: "mice"}
	c := connect(t)
	c.namespace(t, home, "restricted")
	o := c.install(t, "uninstall", definition)
	mouse := o.create(t, "zoo.example.com/v1", "mice", "", "tom", map[string]any{"cheese": "gouda"})
	c.await(t, "a mouse with a finalizer", slow, mice, "", func(s seen) bool {
		m := s.by(mouse.GetUID())
		return m != nil && len(m.GetFinalizers()) == 1 && current(m, "True")
	})

	record(t, "uninstall", "workflow/finalizer")
	for _, stage := range []string{"api", "operator"} {
		began := time.Now()
		manifest := run(t, nil, binary(t), "generate", "-f", definition, "--uninstall="+stage)
		run(t, manifest, "kubectl", "delete", "--ignore-not-found", "--timeout="+slow.String(), "-f", "-")
		fmt.Printf("e2e: uninstall: stage %s %s\n", stage, seconds(time.Since(began)))
		o.audit.close()
		c.await(t, "the nest to go with the API", time.Minute, configMaps, home, func(s seen) bool { return len(s.ownedBy(mouse)) == 0 })
	}
	if left := run(t, o.manifest, "kubectl", "get", "--ignore-not-found", "-o", "name", "-f", "-"); len(left) > 0 {
		t.Errorf("left behind:\n%s", left)
	}
}
