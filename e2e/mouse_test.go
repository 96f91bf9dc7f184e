//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// TestMouse runs an operator of another make: an irregular plural, cluster
// scope, two versions, logic in POSIX sh, a child in a fixed namespace, a
// finalizer. A mouse that is angry makes its logic fail, one that is stubborn its
// finalizer, one that is homeless needs no child.
func TestMouse(t *testing.T) {
	c := connectLong(t)
	c.namespace(t, "e2e-mice", "restricted")
	t.Run("workflow", func(t *testing.T) { c.playMouse(t, "workflow", "testdata/mouse", "mouse-jerry-") })
	t.Run("worker", func(t *testing.T) {
		definition := rewritten(t, "testdata/mouse", "{engine: workflow, retries: 1}", "{engine: worker}")
		c.playMouse(t, "worker", definition, "deployment "+operators+"/mouse-worker")
	})
}

// playMouse plays it with an engine. Where logic fails, the status names a place to look.
func (c *cluster) playMouse(t *testing.T, engine, definition, place string) {
	const home = "e2e-mice"
	mice := schema.GroupVersionResource{Group: "zoo.example.com", Version: "v1", Resource: "mice"}
	o := c.install(t, "mouse/"+engine, definition)

	began := time.Now()
	mouse := o.create(t, "zoo.example.com/v1beta1", "mice", "", "jerry", map[string]any{"cheese": "gouda"})
	t.Cleanup(func() {
		if t.Failed() { // an angry one does not leave
			_, _ = try(nil, "kubectl", "patch", "mice", mouse.GetName(), "--type=merge", "-p", `{"spec":{"mood":"calm"}}`)
		}
	})
	nest := c.await(t, "the nest", slow, configMaps, home, func(s seen) bool { return len(s.ownedBy(mouse)) == 1 }).ownedBy(mouse)[0]
	fmt.Printf("e2e: mouse %s: CR→ConfigMap %s\n", engine, seconds(time.Since(began)))
	if got := nested(nest, "data", "cheese"); got != "gouda" {
		t.Errorf("the nest holds %q", got)
	}
	c.await(t, "a ready mouse", slow, mice, "", func(s seen) bool {
		m := s.by(mouse.GetUID())
		return m != nil && current(m, "True") && nested(m, "status", "cheese") == "gouda"
	})

	// Logic that fails shows on the status, with the place of its log.
	temper(t, c, mice, mouse.GetName(), "angry", "brie")
	failed := c.await(t, "a mouse that is not ready", slow, mice, "", func(s seen) bool {
		m := s.by(mouse.GetUID())
		return m != nil && current(m, "False")
	}).by(mouse.GetUID())
	_, reason, message := condition(failed, "Ready")
	fmt.Printf("e2e: mouse %s: failing logic: Ready=False, %s: %s\n", engine, reason, message)
	if !strings.Contains(fmt.Sprint(failed.Object["status"]), place) {
		t.Errorf("the status does not name %s: %v", place, failed.Object["status"])
	}

	temper(t, c, mice, mouse.GetName(), "calm", "brie")
	c.await(t, "a mouse that is ready again", slow, mice, "", func(s seen) bool {
		m := s.by(mouse.GetUID())
		return m != nil && current(m, "True") && nested(m, "status", "cheese") == "brie"
	})

	// A child that is no longer wanted goes, and comes back when it is.
	temper(t, c, mice, mouse.GetName(), "homeless", "brie")
	c.await(t, "the nest to be pruned", slow, configMaps, home, func(s seen) bool { return len(s.ownedBy(mouse)) == 0 })
	temper(t, c, mice, mouse.GetName(), "calm", "brie")
	c.await(t, "the nest to be back", slow, configMaps, home, func(s seen) bool { return len(s.ownedBy(mouse)) == 1 })

	// A clean-up that fails keeps the custom resource, and says so; one that succeeds lets it go.
	measured := record(t, "cleanup-fails", engine+"/finalizer")
	temper(t, c, mice, mouse.GetName(), "stubborn", "brie")
	c.await(t, "a stubborn mouse", slow, mice, "", func(s seen) bool { return current(s.by(mouse.GetUID()), "True") })
	if err := c.objects.Resource(mice).Delete(t.Context(), mouse.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, "the failed clean-up on the status", slow, mice, "", func(s seen) bool {
		m := s.by(mouse.GetUID())
		if m == nil {
			t.Fatal("the mouse went although its finalizer failed")
		}
		_, _, message = condition(m, "Ready")
		return strings.Contains(message, "does not want to leave")
	})
	measured("the custom resource stays, and reports: %s", message)
	c.await(t, "the nest to be there still", time.Minute, configMaps, home, func(s seen) bool { return len(s.ownedBy(mouse)) == 1 })
	temper(t, c, mice, mouse.GetName(), "calm", "brie")
	c.await(t, "the nest to go", slow, configMaps, home, func(s seen) bool { return len(s.ownedBy(mouse)) == 0 })
	c.await(t, "the finalizer to be taken off", slow, mice, "", func(s seen) bool { return s.by(mouse.GetUID()) == nil })
	o.awaitIdle(t)
	fmt.Printf("e2e: mouse %s: pods per event %s\n", engine, o.counts.tally().perEvent())
}

func temper(t *testing.T, c *cluster, mice schema.GroupVersionResource, name, mood, cheese string) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"mood":%q,"cheese":%q}}`, mood, cheese)
	if _, err := c.objects.Resource(mice).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
