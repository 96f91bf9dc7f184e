//go:build e2e

package e2e

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestGroup has operators of one install.group share what listens and works, and adds
// one of them while custom resources of the others change.
func TestGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	c := connect(t)
	const definitions, more = "testdata/group", "testdata/group/more"
	grown := run(t, nil, binary(t), "generate", "-f", definitions, "-f", more)
	t.Cleanup(func() { _, _ = try(grown, "kubectl", "delete", "--ignore-not-found", "-f", "-") }) // after what install takes away
	o := c.install(t, "group", definitions)
	record(t, "group", "worker/group")
	for _, kind := range []string{"EventSource", "Sensor", "Deployment"} {
		if n := len(slices.DeleteFunc(slices.Clone(o.objects), func(o *unstructured.Unstructured) bool { return o.GetKind() != kind })); n != 1 {
			t.Errorf("%d objects of kind %s", n, kind)
		}
	}
	page := func(plural string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: plural}
	}
	awaitText := func(plural string, cr *unstructured.Unstructured, text string) {
		t.Helper()
		c.await(t, "the text "+text+" of "+plural, slow, configMaps, nsA, func(s seen) bool {
			of := s.ownedBy(cr)
			return len(of) == 1 && nested(of[0], "data", "text") == text
		})
		c.await(t, plural+" to be ready", slow, page(plural), nsA, func(s seen) bool {
			found := s.by(cr.GetUID())
			return found != nil && current(found, "True") && nested(found, "status", "text") == text
		})
	}
	a := o.create(t, "example.com/v1", "cards", nsA, "one", map[string]any{"text": "first"})
	b := o.createKind(t, "example.com/v1", "Note", "notes", nsA, "one", map[string]any{"text": "first"})
	awaitText("cards", a, "first")
	awaitText("notes", b, "first")

	o.merge(t, page("cards"), a, `{"spec":{"text":"second"}}`)
	run(t, grown, "kubectl", "apply", "-f", "-")
	o.merge(t, page("notes"), b, `{"spec":{"text":"second"}}`)
	run(t, nil, "kubectl", "wait", "--for=condition=Established", "customresourcedefinition/sheets.example.com", "--timeout=60s")
	third := o.createKind(t, "example.com/v1", "Sheet", "sheets", nsA, "one", map[string]any{"text": "third"})
	awaitText("cards", a, "second")
	awaitText("notes", b, "second")
	awaitText("sheets", third, "third")

	// While the operators run, or they would receive the events without their permissions.
	run(t, nil, "kubectl", "delete", "cards,notes,sheets", "-n", nsA, "--all")
	for _, cr := range []*unstructured.Unstructured{a, b, third} {
		c.await(t, "the children to go", slow, configMaps, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 0 })
	}
}
