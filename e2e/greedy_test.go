//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var blobs = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "blobs"}

const blob = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: blob}
spec:
  api:
    group: example.com
    kind: Blob
    versions: [{name: v1, schema: {spec: {text: string, data: object}, status: {text: string}}}]
  children:
  - name: config
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}, data: {text: "${ .spec.text // \"\" }", of: "${ .spec.data | tojson | .[:100] }"}}
  status: {text: "${ $children.config.data.text }"}
`

// TestGreedy lets one custom resource be large, or nested deep, and be edited as
// fast as the API server takes it, while another is edited now and then. Beside
// other tests it would measure those.
func TestGreedy(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	c := connect(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "operator.yaml"), []byte(blob), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{subject: subject{name: "direct/blob", engine: "direct", kind: blobs, namespace: nsA}, operator: c.install(t, "blob", dir)}
	w.measured = record(t, "greedy", w.subject.name)
	blobOf := func(name string) {
		w.create(t, "example.com/v1", blobs.Resource, nsA, name, map[string]any{"text": "first"})
	}
	blobOf("other")
	blobOf("greedy")
	alone := w.delays(t, "other", 5)
	said := []string{"alone `" + summary(alone) + "`"}
	for _, g := range []struct {
		name string
		data any
		most time.Duration // that another one may be held up; 0: that is only measured
	}{
		{"one field", "x", 30 * time.Second},
		{"30 KiB", strings.Repeat("x", 30<<10), 30 * time.Second},
		{"300 KiB", strings.Repeat("x", 300<<10), 0}, // a change carries it twice, in base64, and the bus takes 1 MiB
		{"5,000 fields", manyFields(5_000), 0},       // which are in managedFields too
		{"1,000 levels", nestedBy(1_000), 0},
	} {
		edits, stop := w.keepEditing(t, "greedy", g.data)
		beside := w.delays(t, "other", 5)
		stop()
		said = append(said, fmt.Sprintf("%d edits of one with %s `%s`", edits.Load(), g.name, summary(beside)))
		if longest := slices.Max(beside); g.most > 0 && longest > g.most {
			t.Errorf("%s: another custom resource was held up for %s", g.name, longest)
		}
		w.delays(t, "greedy", 1) // all of its events have been handled
	}
	w.measured("another custom resource is reconciled after (median and longest): %s", strings.Join(said, ". During "))
}

func manyFields(n int) any {
	out := map[string]any{}
	for i := range n {
		out[fmt.Sprintf("f%05d", i)] = i
	}
	return out
}

func nestedBy(levels int) any {
	var out any = 1
	for range levels {
		out = map[string]any{"a": out}
	}
	return out
}

func summary(delays []time.Duration) string {
	slices.Sort(delays)
	return fmt.Sprintf("%s and %s", delays[len(delays)/2].Round(10*time.Millisecond), delays[len(delays)-1].Round(10*time.Millisecond))
}

// budget is how many bytes edits of one size may store: etcd keeps every version for minutes, has a
// quota of 2 GiB, and gets the operator's writes of the same object, too.
const budget = 200 << 20

// keepEditing changes a custom resource until it is stopped, or has used its budget, and counts.
func (w *world) keepEditing(t *testing.T, name string, data any) (*atomic.Int64, func()) {
	t.Helper()
	client, edits := w.cluster.objects.Resource(blobs).Namespace(nsA), &atomic.Int64{}
	body := func(text string) []byte {
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"text": text, "data": map[string]any{"it": data}}})
		if err != nil {
			t.Fatal(err)
		}
		return patch
	}
	if _, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"data":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Patch(t.Context(), name, types.MergePatchType, body("begin"), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	most := int64(budget / len(body("")))
	go func() {
		defer close(done)
		for ctx.Err() == nil && edits.Load() < most {
			change := []byte(fmt.Sprintf(`{"spec":{"text":"e%d"}}`, edits.Load()))
			if _, err := client.Patch(ctx, name, types.MergePatchType, change, metav1.PatchOptions{}); err == nil {
				edits.Add(1)
			}
		}
	}()
	return edits, func() { cancel(); <-done }
}

// delays are how long it takes, time and again, until an edit has arrived in the
// child and on the status.
func (w *world) delays(t *testing.T, name string, n int) []time.Duration {
	t.Helper()
	client := w.cluster.objects.Resource(blobs).Namespace(nsA)
	var out []time.Duration
	for i := range n {
		text, began := fmt.Sprintf("%d at %d", i, time.Now().UnixNano()), time.Now()
		if _, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"text":"`+text+`"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		for arrived := false; !arrived; time.Sleep(10 * time.Millisecond) { // a watch would have to read the other one's edits too
			one, err := client.Get(t.Context(), name, metav1.GetOptions{})
			arrived = err == nil && nested(one, "status", "text") == text
			if time.Since(began) > slow {
				t.Fatalf("%s did not arrive on the status within %s", text, slow)
			}
		}
		out = append(out, time.Since(began))
	}
	return out
}
