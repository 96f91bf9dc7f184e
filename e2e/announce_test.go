//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var coreEvents = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// told waits for exactly one Event of a custom resource, and for kubectl describe to
// show it. Events of cluster-scoped objects are in the namespace default.
func (o *operator) told(t *testing.T, plural string, cr *unstructured.Unstructured, kind, reason string) {
	t.Helper()
	namespace := cr.GetNamespace()
	if namespace == "" {
		namespace = "default"
	}
	about := func(s seen) seen {
		var out seen
		for _, e := range s {
			if nested(e, "involvedObject", "uid") == string(cr.GetUID()) && nested(e, "type") == kind && nested(e, "reason") == reason {
				out = append(out, e)
			}
		}
		return out
	}
	s := o.cluster.await(t, "an Event "+reason+" about "+cr.GetName(), slow, coreEvents, namespace, func(s seen) bool { return len(about(s)) > 0 })
	if found := about(s); len(found) > 1 {
		t.Errorf("%d Events %s about %s, want one:\n%s", len(found), reason, cr.GetName(), describe(found))
	}
	args := []string{"describe", plural, cr.GetName()}
	if cr.GetNamespace() != "" {
		args = append(args, "--namespace", cr.GetNamespace())
	}
	_, shown, _ := strings.Cut(string(run(t, nil, "kubectl", args...)), "\nEvents:")
	if !strings.Contains(shown, kind) || !strings.Contains(shown, reason) {
		t.Errorf("kubectl describe does not show the Event:\n%s", shown)
	}
}
