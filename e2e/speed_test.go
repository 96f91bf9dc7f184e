//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// TestDirectSpeed measures the direct engine: from the creation of a custom
// resource to its Deployment, one at a time and many at once. The figures are
// printed; what is judged are the counts, not the times, which depend on the
// machine. SPEED_CRS=1000 makes the burst larger.
func TestDirectSpeed(t *testing.T) {
	c := connect(t)
	o := c.install(t, "speed", "../examples/memcached")
	t.Run("one at a time", func(t *testing.T) { o.latency(t, 50) })
	for _, n := range bursts() {
		t.Run(fmt.Sprintf("%d at once", n), func(t *testing.T) { o.burst(t, n) })
	}
	if n := o.counts.tally(); n.events > 0 || n.pods > 0 {
		t.Errorf("%d Workflows with %d pods were made for events", n.events, n.pods)
	}
}

// TestSpeedAgainst measures other operators for Memcacheds, whose Deployments
// are named as their custom resources, in the same way: machines differ, so that
// only what was measured on one of them is to be compared. $SPEED_AGAINST are
// files with what to apply, one operator each; they need no status. SPEED_SINGLES
// (default 50) custom resources are made one after the other.
func TestSpeedAgainst(t *testing.T) {
	files := strings.Fields(os.Getenv("SPEED_AGAINST"))
	if len(files) == 0 {
		t.Skip("SPEED_AGAINST is not set")
	}
	singles := 50
	if n, err := strconv.Atoi(os.Getenv("SPEED_SINGLES")); err == nil {
		singles = n
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := connect(t)
			o := c.installAsIs(t, file)
			t.Run("one at a time", func(t *testing.T) { o.latency(t, singles) })
			for _, n := range bursts() {
				t.Run(fmt.Sprintf("%d at once", n), func(t *testing.T) { o.flood(t, n) })
			}
		})
	}
}

// installAsIs brings an operator that somebody else wrote.
func (c *cluster) installAsIs(t *testing.T, file string) *operator {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{cluster: c, name: file, manifest: data, objects: decode(t, data), audit: &audit{}, counts: &counter{}}
	t.Cleanup(func() {
		o.removeAll(t, memcacheds)
		if _, err := try(data, "kubectl", "delete", "-n", operators, "--ignore-not-found", "--timeout=90s", "-f", "-"); err != nil {
			t.Error(err)
		}
	})
	run(t, nil, "kubectl", "label", "namespace", operators, "pod-security.kubernetes.io/enforce-") // they need not be restricted
	run(t, data, "kubectl", "apply", "-n", operators, "-f", "-")
	o.awaitParts(t)
	return o
}

// bursts are the numbers of custom resources that are made at once; SPEED_CRS=0
// leaves them out.
func bursts() []int {
	n, err := strconv.Atoi(os.Getenv("SPEED_CRS"))
	switch {
	case err != nil:
		return []int{100}
	case n == 0:
		return nil
	}
	return []int{100, n}
}

// memcached without servers: what is measured is the operator, not the kubelet.
func memcached(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
		"metadata": map[string]any{"name": name, "namespace": nsA},
		"spec":     map[string]any{"size": size},
	}}
}

// arrivals tells when each Deployment of a namespace was first seen.
type arrivals struct {
	stop  func()
	mu    sync.Mutex
	times map[string]time.Time
	wake  chan struct{}
}

func (c *cluster) arrivals(t *testing.T, gvr schema.GroupVersionResource, namespace string) *arrivals {
	t.Helper()
	list, err := c.objects.Resource(gvr).Namespace(namespace).List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.objects.Resource(gvr).Namespace(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	a := &arrivals{stop: w.Stop, times: map[string]time.Time{}, wake: make(chan struct{}, 1)}
	t.Cleanup(w.Stop)
	go a.follow(w)
	return a
}

func (a *arrivals) follow(w watch.Interface) {
	for event := range w.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type != watch.Added {
			continue
		}
		a.mu.Lock()
		a.times[object.GetName()] = time.Now()
		a.mu.Unlock()
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
}

// of waits for all the names and returns when each was there.
func (a *arrivals) of(t *testing.T, limit time.Duration, names ...string) map[string]time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		found := map[string]time.Time{}
		a.mu.Lock()
		for _, name := range names {
			if at, ok := a.times[name]; ok {
				found[name] = at
			}
		}
		a.mu.Unlock()
		if len(found) == len(names) {
			return found
		}
		select {
		case <-a.wake:
		case <-ctx.Done():
			t.Fatalf("after %s there are %d of %d", limit, len(found), len(names))
		}
	}
}

func (o *operator) latency(t *testing.T, n int) {
	arrived := o.cluster.arrivals(t, deployments, nsA)
	var took []time.Duration
	for i := range n {
		cr := memcached(fmt.Sprintf("single-%d", i), 0)
		start := time.Now()
		o.make(t, cr)
		took = append(took, arrived.of(t, time.Minute, cr.GetName())[cr.GetName()].Sub(start))
	}
	slices.Sort(took)
	t.Logf("custom resource to Deployment: median %s, fastest %s, slowest %s of %d",
		took[n/2].Round(100*time.Microsecond), took[0].Round(100*time.Microsecond), took[n-1].Round(100*time.Microsecond), n)
}

func (o *operator) make(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	if _, err := o.cluster.objects.Resource(memcacheds).Namespace(cr.GetNamespace()).Create(t.Context(), cr, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

func (o *operator) burst(t *testing.T, n int) {
	before := o.usage(t)
	start := time.Now()
	o.flood(t, n)
	o.cluster.await(t, "every status is ready", 10*time.Minute, memcacheds, nsA, func(s seen) bool {
		ready := 0
		for _, cr := range s {
			if current(cr, "True") {
				ready++
			}
		}
		return ready >= n
	})
	t.Logf("%d at once: all ready after %s", n, time.Since(start).Round(time.Millisecond))
	for pod, now := range o.usage(t) {
		if pod != "" {
			t.Logf("  %-60s CPU %6s, memory %3.0f MiB", pod, (now.cpu - before[pod].cpu).Round(10*time.Millisecond), now.memory/(1<<20))
		}
	}
}

// flood makes many custom resources at once and waits for their Deployments. It
// returns after what time all of either were there.
func (o *operator) flood(t *testing.T, n int) (made, children time.Duration) {
	t.Helper()
	arrived := o.cluster.arrivals(t, deployments, nsA)
	start := time.Now()
	names := make([]string, n)
	var makers sync.WaitGroup
	todo := make(chan string, n)
	for i := range names {
		names[i] = fmt.Sprintf("burst-%d-%d", n, i)
		todo <- names[i]
	}
	close(todo)
	for range 10 {
		makers.Go(func() {
			for name := range todo {
				o.make(t, memcached(name, 0))
			}
		})
	}
	makers.Wait()
	made = time.Since(start)
	last := start
	for _, at := range arrived.of(t, 10*time.Minute, names...) {
		if at.After(last) {
			last = at
		}
	}
	t.Logf("%d at once: made in %s, all Deployments after %s", n, made.Round(time.Millisecond), last.Sub(start).Round(time.Millisecond))
	return made, last.Sub(start)
}

// used is what a pod has used, as the kubelet counts it.
type used struct {
	cpu    time.Duration
	memory float64 // bytes
}

// usage asks the kubelets for the pods of the operator's EventSource and Sensors.
func (o *operator) usage(t *testing.T) map[string]used {
	t.Helper()
	nodes, err := o.cluster.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]used{}
	for _, node := range nodes.Items {
		data, err := o.cluster.kube.CoreV1().RESTClient().Get().Resource("nodes").Name(node.Name).SubResource("proxy", "metrics", "resource").DoRaw(t.Context())
		if err != nil {
			t.Logf("no figures of node %s: %v", node.Name, err)
			continue
		}
		for line := range strings.Lines(string(data)) {
			name, pod, value := metric(line)
			now := all[pod]
			switch name {
			case "pod_cpu_usage_seconds_total":
				now.cpu = time.Duration(value * float64(time.Second))
			case "pod_memory_working_set_bytes":
				now.memory = value
			default:
				continue
			}
			all[pod] = now
		}
	}
	return all
}

// metric reads a line such as name{namespace="…",pod="…"} value time; the pod is
// empty where it is none of the operators'.
func metric(line string) (name, pod string, value float64) {
	name, rest, _ := strings.Cut(line, "{")
	labels, numbers, _ := strings.Cut(rest, "}")
	if fields := strings.Fields(numbers); len(fields) > 0 && strings.Contains(labels, `namespace="`+operators+`"`) {
		_, rest, _ := strings.Cut(labels, `pod="`)
		pod, _, _ = strings.Cut(rest, `"`)
		value, _ = strconv.ParseFloat(fields[0], 64) // what is no number counts nothing
	}
	return name, pod, value
}
