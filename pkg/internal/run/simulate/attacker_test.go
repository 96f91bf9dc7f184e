package simulate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// TestChanceAttacked is TestChance with an attacker who has full access to one
// namespace, and may create objects in others and label existing objects there. The
// custom resources must reach the same state as without the attacker, and labelled
// objects must stay unchanged.
func TestChanceAttacked(t *testing.T) {
	for _, tt := range []struct {
		file, more string
		seeds      int
	}{
		{"examples/memcached/operator.yaml", "", 60},
		{"examples/webapp/operator.yaml", "", 20},
		{"examples/memcached/operator.yaml", byWorkflow + unprotected, 1},
		{"examples/memcached-logic/operator.yaml", byWorkflow + unprotected, 1},
		{"examples/memcached/operator.yaml", byWorker + unprotected, 1},
		{"examples/memcached-logic/operator.yaml", byWorker + unprotected, 1},
	} {
		o, err := openWith(filepath.Join(root, tt.file), tt.more)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("%s/%s", o.plan.Operator.Name, o.plan.Reconcile.Engine), func(t *testing.T) {
			if testing.Short() && o.plan.Reconcile.Engine != plan.Direct {
				t.Skip("slow")
			}
			chances(t, o, tt.seeds, true)
		})
	}
}

// unprotected leaves out the policies, which would reject the labels of the attacker.
const unprotected = "  install: {admissionPolicies: false}\n"

// hostileNames are owner names that contain templates or path elements.
var hostileNames = []string{"{{=1+1}}", "{{workflow.name}}", "default/configmaps/alpha", "..", "%2e%2e%2fx", "alpha?x=y"}

// attack executes one action of the attacker.
func (w *table) attack(r *rand.Rand) error {
	switch r.IntN(8) {
	case 0, 1:
		return w.labelOthers(r)
	case 2:
		return w.withdraw(r)
	}
	return w.forge(r)
}

// forge creates an object that claims to be a child, as a copy of a real one.
func (w *table) forge(r *rand.Rand) error {
	child := w.child(r)
	if child == nil {
		return nil
	}
	forged := plain(child).(map[string]any)
	delete(forged, "status")
	metadata := forged["metadata"].(map[string]any)
	for _, key := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp", "generation"} {
		delete(metadata, key)
	}
	if r.IntN(2) == 0 {
		metadata["namespace"] = "attacker"
	} else {
		metadata["name"] = fmt.Sprintf("mine-%d", r.IntN(3))
	}
	owners, _ := metadata["ownerReferences"].([]any)
	for _, owner := range owners {
		switch owner := owner.(map[string]any); r.IntN(4) {
		case 0:
			owner["uid"] = "00000000-0000-0000-0000-000000000000"
		case 1:
			owner["name"] = hostileNames[r.IntN(len(hostileNames))]
		case 2:
			owner["name"] = w.randomName(r)["name"]
		}
	}
	metadata["annotations"] = map[string]any{
		"argoperator.dev/owner": "default." + hostileNames[r.IntN(len(hostileNames))], "argoperator.dev/generation": fmt.Sprint(r.IntN(5)),
	}
	if data, ok := forged["data"].(map[string]any); ok {
		data["key"] = "evil"
	}
	w.log("the attacker writes %s", text(forged))
	existing, err := w.Get(forged)
	if err != nil {
		return err
	}
	if existing != nil { // immutable fields
		if err := w.Delete(existing); err != nil {
			return err
		}
	}
	return w.Apply(forged)
}

// isAttackers reports whether the attacker created or labelled an object.
func isAttackers(o map[string]any) bool {
	metadata := o["metadata"].(map[string]any)
	name := fmt.Sprint(metadata["name"])
	return metadata["namespace"] == "attacker" || strings.HasPrefix(name, "mine-") || name == victim
}

// victim is the name of an object that belongs to no operator.
const victim = "victim"

// withdraw deletes an object of the attacker.
func (w *table) withdraw(r *rand.Rand) error {
	var objects []map[string]any
	for _, o := range w.Everything() {
		if isAttackers(o) && o["metadata"].(map[string]any)["name"] != victim {
			objects = append(objects, o)
		}
	}
	if len(objects) == 0 {
		return nil
	}
	o := objects[r.IntN(len(objects))]
	w.log("the attacker deletes %s", keyOf(o))
	return w.Delete(o)
}

// labelOthers sets a child's labels on an unrelated object.
func (w *table) labelOthers(r *rand.Rand) error {
	child := w.child(r)
	if child == nil {
		return nil
	}
	o := simulate.Smallest(child["apiVersion"], child["kind"], map[string]any{"name": victim, "namespace": w.randomName(r)["namespace"]})
	existing, err := w.Get(o)
	if err != nil {
		return err
	}
	if existing == nil {
		if err := w.Apply(o); err != nil {
			return err
		}
	}
	w.log("the attacker labels %s", keyOf(o))
	if err := w.send(http.MethodPatch, w.Path(o, "?fieldManager=attacker"), "application/merge-patch+json",
		fmt.Sprintf(`{"metadata":{"labels":%s}}`, text(labelsOf(child)))); err != nil {
		return err
	}
	existing, err = w.Get(o)
	if err != nil {
		return err
	}
	w.victims[keyOf(o)] = existing
	return nil
}

// untouched returns an error for a changed victim.
func (w *table) untouched() error {
	for key, before := range w.victims {
		now, err := w.Get(before)
		if err != nil {
			return err
		}
		if text(now) != text(before) {
			return fmt.Errorf("%s was\n%s\nand is\n%s", key, text(before), text(now))
		}
	}
	return nil
}

// plainKey matches names without special characters: a pod with another key finds
// no such custom resource.
var plainKey = regexp.MustCompile(`^[a-z0-9]+\.[a-z0-9]+$`)

// keyFor returns the key that a delivery passes to a Workflow or a worker.
func keyFor(d *simulate.Delivery) string {
	if event, posted := d.Transformed["event"].(map[string]any); posted {
		return fmt.Sprint(event["key"])
	}
	return fmt.Sprint(d.Transformed["key"])
}

// TestHostileUnrelated checks that owner labels and references on unrelated objects
// have no effect and are never evaluated.
func TestHostileUnrelated(t *testing.T) {
	for _, tt := range []struct{ name, file, more string }{
		{"direct", "operator.yaml", ""},
		{"workflow", "operator.yaml", byWorkflow + unprotected},
		{"workflow with logic", "logic/operator.yaml", byWorkflow + unprotected},
		{"worker", "operator.yaml", byWorker + unprotected},
		{"worker with logic", "logic/operator.yaml", byWorker + unprotected},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := hostileWorld(t, tt.file, tt.more)
			cr := withTexts("text", nil)
			if err := w.Apply(cr); err != nil {
				t.Fatal(err)
			}
			w.settle()
			texts, parent := w.texts(), w.get(cr)
			before := text([]any{texts, w.things(), parent})
			steps := len(w.Trace())
			n := 0
			for _, name := range hostileTexts(t) {
				for _, namespace := range []string{"attacker", "default"} {
					n++
					owner := map[string]any{"apiVersion": parent["apiVersion"], "kind": "Echo", "name": name, "uid": parent["metadata"].(map[string]any)["uid"], "controller": true}
					foreign := map[string]any{
						"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"text": "evil"},
						"metadata": map[string]any{
							"name": fmt.Sprintf("foreign-%d", n), "namespace": namespace, "labels": labelsOf(texts),
							"annotations": map[string]any{"argoperator.dev/owner": name}, "ownerReferences": []any{owner},
						},
					}
					if err := w.Apply(foreign); err != nil {
						t.Fatal(err)
					}
					if err := w.Patch(foreign, "", "attacker", map[string]any{"data": map[string]any{"text": "worse"}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if now := text([]any{w.texts(), w.things(), w.get(cr)}); now != before {
				t.Errorf("the custom resource or its children were\n%.3000s\nand are\n%.3000s", before, now)
			}
			for _, step := range w.Trace()[steps:] {
				if d := step.Delivery; d != nil && len(d.Attempts) > 0 && !plainKey.MatchString(keyFor(d)) {
					t.Errorf("trigger %s was executed: %.500s", d.Trigger, text(d.Transformed))
				}
			}
		})
	}
}
