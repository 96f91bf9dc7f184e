//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	webapps     = schema.GroupVersionResource{Group: "web.example.com", Version: "v1", Resource: "webapps"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	ingresses   = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}
	autoscalers = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
)

// forgotten takes away what the operator remembers of the children. No event of
// a child follows, so it is for the resync to bring it back.
func (o *operator) forgotten(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	account := "system:serviceaccount:" + operators + ":" + nested(o.only("Sensor"), "spec", "template", "serviceAccountName")
	if _, err := as(t, account).Resource(o.resource()).Namespace(cr.GetNamespace()).
		Patch(t.Context(), cr.GetName(), types.MergePatchType, []byte(`{"status":{"children":null}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	o.startResync(t)
	o.cluster.await(t, "the resync to find the child again", slow, o.resource(), cr.GetNamespace(), func(s seen) bool {
		now := s.by(cr.GetUID())
		ready, _, _ := unstructured.NestedBool(now.Object, "status", "children", "deployment", "ready")
		return ready
	})
	o.awaitIdle(t)
}

func (o *operator) merge(t *testing.T, gvr schema.GroupVersionResource, object *unstructured.Unstructured, patch string, subresources ...string) {
	t.Helper()
	_, err := o.cluster.objects.Resource(gvr).Namespace(object.GetNamespace()).
		Patch(t.Context(), object.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	if err != nil {
		t.Fatalf("patching %s %s: %v", gvr.Resource, object.GetName(), err)
	}
}

// TestWebApp leads an operator with optional children through what users do:
// fields come and go, and the children with them.
func TestWebApp(t *testing.T) {
	c := connectLong(t)
	o := c.install(t, "webapp", "../examples/webapp")
	cr := sample(t, "../examples/webapp/samples/webapp.yaml")
	cr, err := c.objects.Resource(webapps).Namespace(nsA).Create(t.Context(), cr, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.awaitReady(t, webapps, cr)
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{configMaps: 1, deployments: 1, services: 1, ingresses: 1, autoscalers: 0})

	t.Log("without a host there is no Ingress; a key that goes from config goes from the ConfigMap")
	o.merge(t, webapps, cr, `{"spec":{"host":null,"config":{"index.html":null,"other.html":"<p>"}}}`)
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{ingresses: 0})
	c.await(t, "the ConfigMap to follow", slow, configMaps, nsA, func(s seen) bool {
		owned := s.ownedBy(cr)
		data, _, _ := unstructured.NestedStringMap(owned[0].Object, "data")
		return len(owned) == 1 && maps.Equal(data, map[string]string{"other.html": "<p>"})
	})

	t.Log("with autoscale there is a HorizontalPodAutoscaler, and the replicas are its own")
	o.merge(t, webapps, cr, `{"spec":{"host":"again.example.com","autoscale":{"maxReplicas":3}}}`)
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{ingresses: 1, autoscalers: 1})
	c.await(t, "the Deployment's replicas to be left to others", slow, deployments, nsA, func(s seen) bool {
		owned := s.ownedBy(cr)
		return len(owned) == 1 && !owns(owned[0], "webapp", "f:replicas")
	})
	o.awaitReady(t, webapps, cr)

	t.Log("an optional child deleted by hand comes back")
	o.deleteOwned(t, cr, ingresses)
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{ingresses: 1})
	o.awaitReady(t, webapps, cr)

	if err := c.objects.Resource(webapps).Namespace(nsA).Delete(t.Context(), cr.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{configMaps: 0, deployments: 0, services: 0, ingresses: 0, autoscalers: 0})
	if n := o.counts.tally(); n.events > 0 {
		t.Errorf("%d Workflows were made for events", n.events)
	}
}

// TestForeign has an object in the place of a child that somebody else made: it
// stays as it is, and the custom resource says so.
func TestForeign(t *testing.T) {
	c := connectLong(t)
	o := c.install(t, "foreign", "../examples/webapp")
	foreign := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "hello", "namespace": nsA},
		"spec": map[string]any{"selector": map[string]any{"app": "other"}, "ports": []any{map[string]any{"name": "http", "port": int64(80), "targetPort": int64(9)}}},
	}}
	foreign, err := c.objects.Resource(services).Namespace(nsA).Create(t.Context(), foreign, metav1.CreateOptions{FieldManager: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	cr, err := c.objects.Resource(webapps).Namespace(nsA).Create(t.Context(), sample(t, "../examples/webapp/samples/webapp.yaml"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.await(t, "the refusal on the status", slow, webapps, nsA, func(s seen) bool {
		now := s.by(cr.GetUID())
		status, reason, message := condition(now, "Ready")
		return status == "False" && reason == "Failed" && strings.Contains(message, "service:")
	})
	o.told(t, "webapps.web.example.com", cr, "Warning", "ReconcileFailed")
	now, err := c.objects.Resource(services).Namespace(nsA).Get(t.Context(), "hello", metav1.GetOptions{})
	if err != nil || now.GetResourceVersion() != foreign.GetResourceVersion() {
		t.Errorf("somebody else's Service was changed: %v %v", err, now)
	}
	t.Log("when it is gone, the child takes its place at the next change")
	if err := c.objects.Resource(services).Namespace(nsA).Delete(t.Context(), "hello", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.merge(t, webapps, cr, `{"spec":{"replicas":1}}`)
	o.awaitReady(t, webapps, cr)
}

// TestSimulator compares what render says with what the cluster has; for
// Memcacheds that is the end of their life.
func TestSimulator(t *testing.T) {
	c := connectLong(t)
	const dir = "../examples/webapp"
	o := c.install(t, "simulator", dir)
	o.compare(t, dir, nsA, webapps)
}

// compare makes the samples of an example, and compares their children with
// what render says.
func (o *operator) compare(t *testing.T, example, namespace string, gvr schema.GroupVersionResource) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(example, "samples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		cr := sample(t, file)
		cr.SetNamespace(namespace)
		made, err := o.cluster.objects.Resource(gvr).Namespace(namespace).Create(t.Context(), cr, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		o.awaitReady(t, gvr, made)
		o.asRendered(t, example, made)
	}
}

// asRendered compares the children of a custom resource with what render makes
// of it.
func (o *operator) asRendered(t *testing.T, dir string, made *unstructured.Unstructured) {
	t.Helper()
	cr := made.DeepCopy()
	unstructured.RemoveNestedField(cr.Object, "status")
	cr.SetManagedFields(nil)
	text, err := cr.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, want := range decode(t, run(t, text, binary(t), "render", "--run-logic", "-f", dir, "-")) {
		if want.GetKind() == cr.GetKind() {
			continue
		}
		got := decode(t, run(t, nil, "kubectl", "get", strings.ToLower(want.GetKind()), want.GetName(), "-n", cr.GetNamespace(), "-o", "json"))[0]
		for _, difference := range missing(want.Object, got.Object, "") {
			t.Errorf("%s %s: %s", want.GetKind(), want.GetName(), difference)
		}
		compared++
	}
	if compared == 0 {
		t.Errorf("render of %s says that there are no children", cr.GetName())
	}
	t.Logf("%s: %d children are as render says", cr.GetName(), compared)
}

// missing lists what one value has and another has not. What the API server
// adds does not count.
func missing(want, got any, path string) []string {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(w)) {
			out = append(out, missing(w[key], g[key], path+"."+key)...)
		}
		return out
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return []string{fmt.Sprintf("%s has %d entries, render says %d", path, len(g), len(w))}
		}
		var out []string
		for i := range w {
			out = append(out, missing(w[i], g[i], fmt.Sprintf("%s[%d]", path, i))...)
		}
		return out
	}
	if !reflect.DeepEqual(want, got) {
		return []string{fmt.Sprintf("%s is %v, render says %v", path, got, want)}
	}
	return nil
}

// awaitReady waits until the operator says that a custom resource is ready as it is now.
func (o *operator) awaitReady(t *testing.T, gvr schema.GroupVersionResource, cr *unstructured.Unstructured) {
	t.Helper()
	o.cluster.await(t, cr.GetKind()+" "+cr.GetName()+" to be ready", slow, gvr, cr.GetNamespace(), func(s seen) bool {
		now := s.by(cr.GetUID())
		return now != nil && current(now, "True")
	})
}

// awaitOwned waits until a custom resource has so many children of each kind.
func (o *operator) awaitOwned(t *testing.T, cr *unstructured.Unstructured, counts map[schema.GroupVersionResource]int) {
	t.Helper()
	for gvr, n := range counts {
		o.cluster.await(t, fmt.Sprintf("%d %s of %s", n, gvr.Resource, cr.GetName()), slow, gvr, cr.GetNamespace(), func(s seen) bool {
			return len(s.ownedBy(cr)) == n
		})
	}
}

func (o *operator) deleteOwned(t *testing.T, cr *unstructured.Unstructured, gvr schema.GroupVersionResource) {
	t.Helper()
	s := o.cluster.await(t, "one of "+gvr.Resource, slow, gvr, cr.GetNamespace(), func(s seen) bool { return len(s.ownedBy(cr)) == 1 })
	child := s.ownedBy(cr)[0]
	if err := o.cluster.objects.Resource(gvr).Namespace(child.GetNamespace()).Delete(t.Context(), child.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.cluster.await(t, "it to be gone", slow, gvr, cr.GetNamespace(), func(s seen) bool { return s.by(child.GetUID()) == nil })
}

// owns tells whether a field manager has set a field of the spec.
func owns(o *unstructured.Unstructured, manager, field string) bool {
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == manager && entry.FieldsV1 != nil && bytes.Contains(entry.FieldsV1.Raw, []byte(`"`+field+`"`)) {
			return true
		}
	}
	return false
}

var partitioned = schema.GroupVersionResource{Group: "e2e.example.com", Version: "v1", Resource: "partitioneds"}

// TestForEach keeps a child for each entry of a list.
func TestForEach(t *testing.T) {
	c := connectLong(t)
	o := c.install(t, "forEach", "testdata/partitions")
	cr := o.create(t, "e2e.example.com/v1", partitioned.Resource, nsA, "p", map[string]any{"zones": []any{"a", "b", "c"}})
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{configMaps: 4})
	o.awaitReady(t, partitioned, cr)
	t.Log("quick changes: the last one wins")
	for _, zones := range []string{`["a","b"]`, `["a","b","c","d","e"]`, `["z"]`, `["b","y"]`} {
		o.merge(t, partitioned, cr, `{"spec":{"zones":`+zones+`}}`)
	}
	o.awaitNames(t, cr, configMaps, "p", "p-b", "p-y")
	o.awaitReady(t, partitioned, cr)
	c.await(t, "the status to count them", slow, partitioned, nsA, func(s seen) bool {
		return number(s.by(cr.GetUID()), "status", "parts") == 2
	})
	t.Log("one taken away by hand comes back")
	if err := c.objects.Resource(configMaps).Namespace(nsA).Delete(t.Context(), "p-b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.awaitNames(t, cr, configMaps, "p", "p-b", "p-y")
}

func (o *operator) awaitNames(t *testing.T, cr *unstructured.Unstructured, gvr schema.GroupVersionResource, names ...string) {
	t.Helper()
	o.cluster.await(t, fmt.Sprintf("%s of %s: %v", gvr.Resource, cr.GetName(), names), slow, gvr, cr.GetNamespace(), func(s seen) bool {
		var have []string
		for _, child := range s.ownedBy(cr) {
			have = append(have, child.GetName())
		}
		slices.Sort(have)
		return slices.Equal(have, names)
	})
}
