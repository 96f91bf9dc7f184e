//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestPublished plays the scenarios with the manifests of the tutorial that
// $E2E_TUTORIAL holds, as published, for comparison: what fails there is not a
// defect of ours. Each custom resource gets a namespace of its own, since all of
// a namespace share one Deployment.
func TestPublished(t *testing.T) {
	dir := os.Getenv("E2E_TUTORIAL")
	if dir == "" {
		t.Skip("E2E_TUTORIAL is not set")
	}
	c := connect(t)
	run(t, nil, "kubectl", "label", "namespace", operators, "pod-security.kubernetes.io/enforce-") // its pods run as root
	o := &operator{cluster: c, name: "tutorial", audit: &audit{}, counts: &counter{}}
	var files []string
	for _, name := range []string{"crd", "rbac", "fix-rbac", "event-source", "sensor", "configmap", "workflow-template"} {
		file := filepath.Join(dir, name+".yaml")
		files = append(files, "-f", file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		o.objects = append(o.objects, decode(t, data)...)
	}
	t.Cleanup(func() {
		if _, err := try(nil, "kubectl", slices.Concat([]string{"delete", "-n", operators, "--ignore-not-found", "--timeout=90s"}, files)...); err != nil {
			t.Error(err)
		}
	})
	run(t, nil, "kubectl", slices.Concat([]string{"apply", "-n", operators}, files)...)
	o.awaitParts(t)
	w := &world{subject: subject{name: "tutorial", engine: "tutorial", kind: memcacheds}, operator: o}
	foreign := []string{"bus-store-lost", "redefined", "burst", "refusals", "namespace-deleted"}
	for _, d := range disturbances {
		if !slices.Contains(foreign, d.name) {
			t.Run(d.name, func(t *testing.T) { field{w}.play(t, d) })
		}
	}
	for _, s := range w.subject.incidents() {
		if !slices.Contains(foreign, s.name) {
			t.Run(s.name, func(t *testing.T) { w.play(t, s) })
		}
	}
}

func (w *world) published() bool { return w.subject.engine == "tutorial" }

// namespaceOf is where a Memcached of the tutorial is, alone.
func (*world) namespaceOf(name string) string { return "e2e-" + name }

// publish makes a Memcached of the tutorial, in a namespace of its own.
func (w *world) publish(t *testing.T, name string, size int64) *unstructured.Unstructured {
	t.Helper()
	w.cluster.namespace(t, w.namespaceOf(name), "")
	made, err := w.cluster.objects.Resource(memcacheds).Namespace(w.namespaceOf(name)).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": map[string]any{"name": name}, "spec": map[string]any{"size": size},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.made = append(w.made, made)
	return made
}

// sharedChild waits for the tutorial's Deployment.
func (w *world) sharedChild(t *testing.T, cr *unstructured.Unstructured, size int64) *unstructured.Unstructured {
	t.Helper()
	s := w.cluster.await(t, fmt.Sprintf("the Deployment of %s with %d replicas", cr.GetName(), size), min(slow, 3*time.Minute), deployments, cr.GetNamespace(), func(s seen) bool {
		return len(s) == 1 && number(s[0], "spec", "replicas") == size
	})
	return s[0]
}
