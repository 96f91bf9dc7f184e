//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
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
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// TestDirectSpeed measures the direct engine alone. It prints the figures,
// and checks the counts only, because times depend on the machine.
func TestDirectSpeed(t *testing.T) {
	one := contenders()[0]
	one.bursts = []int{100}
	o := one.install(t, connect(t))
	one.measure(t, o)
	if n := o.counts.tally(); n.events > 0 || n.pods > 0 {
		t.Errorf("%d Workflows with %d pods were made for events", n.events, n.pods)
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

// memcached without servers: what is measured is the operator, not the kubelet.
func memcached(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
		"metadata": map[string]any{"name": name, "namespace": nsA},
		"spec":     map[string]any{"size": size},
	}}
}

// arrivals tells when each object of a namespace was first seen, or first seen in the desired
// state, by its own name and by those of its owners.
type arrivals struct {
	stop  func()
	start time.Time // of what is looked out for
	mu    sync.Mutex
	times map[string]time.Time
	wake  chan struct{}
}

func (c *cluster) arrivals(t *testing.T, gvr schema.GroupVersionResource, namespace string, as func(*unstructured.Unstructured) bool) *arrivals {
	t.Helper()
	list, err := c.objects.Resource(gvr).Namespace(namespace).List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	// an API server that is busy ends a watch that is slow
	w, err := watchtools.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			return c.objects.Resource(gvr).Namespace(namespace).Watch(ctx, options)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &arrivals{stop: w.Stop, times: map[string]time.Time{}, wake: make(chan struct{}, 1)}
	t.Cleanup(w.Stop)
	go a.follow(w, as)
	return a
}

func (a *arrivals) follow(w watch.Interface, as func(*unstructured.Unstructured) bool) {
	for event := range w.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Deleted || as != nil && !as(object) {
			continue
		}
		a.mu.Lock()
		names := []string{object.GetName()}
		for _, owner := range object.GetOwnerReferences() {
			names = append(names, owner.Name)
		}
		for _, name := range names {
			if _, known := a.times[name]; !known {
				a.times[name] = time.Now()
			}
		}
		a.mu.Unlock()
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
}

// last waits for all the names and returns when the last of them was there. It
// looks rarely: what waits must not take the cluster's time.
func (a *arrivals) last(t *testing.T, limit time.Duration, names []string) time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		var last time.Time
		a.mu.Lock()
		missing := slices.ContainsFunc(names, func(name string) bool {
			at, ok := a.times[name]
			if at.After(last) {
				last = at
			}
			return !ok
		})
		a.mu.Unlock()
		if !missing {
			return last
		}
		pause(ctx)
		if ctx.Err() != nil {
			t.Fatalf("after %s some of %d are missing", limit, len(names))
		}
	}
}

func (o *operator) make(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	if _, err := o.cluster.objects.Resource(memcacheds).Namespace(cr.GetNamespace()).Create(t.Context(), cr, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// flood makes many custom resources at once, and waits for their Deployments and,
// where the operator reports, until all are ready. It returns after what time all
// of each were there.
func (o *operator) flood(t *testing.T, n int, reports bool) (made, children, ready time.Duration) {
	t.Helper()
	arrived := o.cluster.arrivals(t, deployments, nsA, nil)
	defer arrived.stop()
	settled := arrived
	if reports {
		settled = o.cluster.arrivals(t, memcacheds, nsA, func(cr *unstructured.Unstructured) bool { return current(cr, "True") })
		defer settled.stop()
	}
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
	children = arrived.last(t, 15*time.Minute, names).Sub(start)
	ready = settled.last(t, 15*time.Minute, names).Sub(start)
	t.Logf("%d at once: made in %s, all Deployments after %s, all ready after %s",
		n, made.Round(time.Millisecond), children.Round(time.Millisecond), ready.Round(time.Millisecond))
	return made, children, ready
}

// used is what a pod has used, as the kubelet counts it.
type used struct {
	cpu    time.Duration
	memory float64 // bytes
}

// usage asks the kubelets for the pods of the operator's EventSource and Sensors. A
// kubelet looks at its pods every few seconds: usage waits until it has looked again.
func (o *operator) usage(t *testing.T) map[string]used {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	since := time.Now()
	for {
		all, oldest := o.sample(t)
		if oldest.After(since) || len(all) == 0 {
			return all
		}
		if ctx.Err() != nil {
			t.Fatalf("the kubelet last looked at %s", oldest)
		}
		pause(ctx)
	}
}

// sample returns what the kubelets know of the pods, and when the oldest of it was.
func (o *operator) sample(t *testing.T) (map[string]used, time.Time) {
	t.Helper()
	nodes, err := o.cluster.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, oldest := map[string]used{}, time.Now()
	for _, node := range nodes.Items {
		data, err := o.cluster.kube.CoreV1().RESTClient().Get().Resource("nodes").Name(node.Name).SubResource("proxy", "metrics", "resource").DoRaw(t.Context())
		if err != nil {
			t.Logf("no figures of node %s: %v", node.Name, err)
			continue
		}
		for line := range strings.Lines(string(data)) {
			name, pod, value, at := metric(line)
			now := all[pod]
			switch name {
			case "pod_cpu_usage_seconds_total":
				now.cpu = time.Duration(value * float64(time.Second))
			case "pod_memory_working_set_bytes":
				now.memory = value
			default:
				continue
			}
			if all[pod] = now; pod != "" && at.Before(oldest) {
				oldest = at
			}
		}
	}
	return all, oldest
}

// metric reads a line such as name{namespace="…",pod="…"} value time; the pod is
// empty where it is none of the operators'.
func metric(line string) (name, pod string, value float64, at time.Time) {
	name, rest, _ := strings.Cut(line, "{")
	labels, numbers, _ := strings.Cut(rest, "}")
	if fields := strings.Fields(numbers); len(fields) > 0 && strings.Contains(labels, `namespace="`+operators+`"`) {
		_, rest, _ := strings.Cut(labels, `pod="`)
		pod, _, _ = strings.Cut(rest, `"`)
		value, _ = strconv.ParseFloat(fields[0], 64) // what is no number counts nothing
		if len(fields) > 1 {
			milliseconds, _ := strconv.ParseInt(fields[1], 10, 64)
			at = time.UnixMilli(milliseconds)
		}
	}
	return name, pod, value, at
}
