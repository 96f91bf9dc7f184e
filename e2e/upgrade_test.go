//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var stores = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "stores"}

// TestUpgrade applies an operator over the one that an earlier version of argoperator
// made of another definition.
func TestUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	c := connect(t)
	const definition = "testdata/upgrade"
	var cr *unstructured.Unstructured
	var applied time.Time
	before := map[string]types.UID{}
	t.Cleanup(func() { // after what install takes away
		_, _ = try(nil, "kubectl", "delete", "--ignore-not-found", "-f", definition+"/previous.yaml")
	})
	o := c.installBy(t, "upgrade", definition, func(manifest []byte) {
		text, err := os.ReadFile(definition + "/previous.yaml")
		if err != nil {
			t.Fatal(err)
		}
		previous := &operator{cluster: c, name: "previous", manifest: text, objects: decode(t, text)}
		run(t, text, "kubectl", "apply", "--server-side", "-f", "-")
		previous.awaitListening(t)
		cr = previous.create(t, "example.com/v1", "stores", nsA, "corner", map[string]any{"text": "old"})
		previous.awaitReady(t, stores, cr)
		for _, kind := range []schema.GroupVersionResource{configMaps, secretsGVR} {
			for _, child := range c.await(t, "its "+kind.Resource, slow, kind, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 1 }).ownedBy(cr) {
				before[child.GetName()] = child.GetUID()
			}
		}
		applied = time.Now()
		run(t, manifest, "kubectl", "apply", "--server-side", "-f", "-")
	})
	// Until its pod is replaced, the Sensor runs the programs of before with the permissions of
	// now: it may no longer write the Secret, and the replay of the new pod comes after.
	o.audit.pardoned = append(o.audit.pardoned, span{applied, time.Now()})
	record(t, "upgrade", "direct/upgrade")
	for _, child := range c.await(t, "the new child", slow, configMaps, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 2 }).ownedBy(cr) {
		if uid, known := before[child.GetName()]; known && uid != child.GetUID() {
			t.Errorf("%s was made again", child.GetName())
		}
	}
	if left := c.await(t, "the child that the definition no longer has", slow, secretsGVR, nsA, func(seen) bool { return true }).ownedBy(cr); len(left) != 1 || left[0].GetUID() != before["corner-secret"] {
		t.Errorf("its Secrets are %s", describe(left))
	}

	left := run(t, nil, binary(t), "generate", "-f", definition, "--uninstall=leftovers")
	if n := strings.Count(string(left), "\nkind: "); n != 3 || !strings.Contains(string(left), "name: stores-status") || !strings.Contains(string(left), "name: corner-secret") {
		t.Errorf("left over:\n%s", left)
	}
	run(t, left, "kubectl", "delete", "-f", "-")
	if more := run(t, nil, binary(t), "generate", "-f", definition, "--uninstall=leftovers"); len(more) > 0 {
		t.Errorf("still left over:\n%s", more)
	}
	c.await(t, "the Secret to go", slow, secretsGVR, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 0 })

	o.merge(t, stores, cr, `{"spec":{"text":"new"}}`)
	c.await(t, "the new text", slow, configMaps, nsA, func(s seen) bool {
		of := s.ownedBy(cr)
		return len(of) == 2 && nested(of[0], "data", "text") == "new" && nested(of[1], "data", "text") == "new"
	})
	c.await(t, "the status", slow, stores, nsA, func(s seen) bool {
		found := s.by(cr.GetUID())
		return found != nil && current(found, "True") && nested(found, "status", "data") == "new"
	})
}
