//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	memkepts  = ofKind("Memkept")
	memmoveds = ofKind("Memmoved")
	memcrowds = ofKind("Memcrowd")
	unrulies  = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "unrulies"}
)

// mishaps happen to the pods of a worker that has a standby. In each, a custom resource is
// created, one edited and one deleted, as in a disturbance.
var mishaps = []scenario{
	{name: "worker-killed", play: workerKilled},
	{name: "worker-out-of-memory", play: workerOutOfMemory},
	{name: "worker-node-gone", play: workerNodeGone},
	{name: "worker-lease-taken", play: workerLeaseTaken},
	{name: "worker-twice", play: workerTwice},
	{name: "worker-restarts", play: workerRestarts},
	{name: "key-fails", play: keyFails},
	{name: "api-away", play: apiAway},
}

// TestWorker plays what can happen to the pod of a worker, to its programs and to its queue.
// One alone: -run TestWorker/pods/worker-killed.
func TestWorker(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	c := connect(t)
	t.Run("pods", func(t *testing.T) {
		s := subject{name: "worker/memcached-logic", engine: "worker", kind: memkepts, namespace: nsD, definition: func(t *testing.T) string {
			return variant(t, rewritten(t, logicFor(t, "Memkept"), "engine: workflow", "engine: worker, diagnose: false"), "  install: {replicas: 2}\n")
		}}
		w := &world{subject: s, operator: c.install(t, s.name, s.definition(t))}
		for _, one := range mishaps {
			t.Run(one.name, func(t *testing.T) { w.play(t, one) })
		}
	})
	t.Run("logic", func(t *testing.T) { c.playUnruly(t) })
	t.Run("thousand-at-once", func(t *testing.T) {
		s := subject{name: "worker/templates", engine: "worker", kind: memcrowds, namespace: nsD, burst: 1000, definition: func(t *testing.T) string {
			return variant(t, memcachedAs(t, "Memcrowd"), "  reconcile: {engine: worker}\n")
		}}
		w := &world{subject: s, operator: c.install(t, s.name, s.definition(t))}
		w.play(t, scenario{name: "thousand-at-once", play: burst})
	})
	t.Run("engine-changed", func(t *testing.T) { c.playEngineChanged(t) })
}

// worker is the name of the worker's Deployment and of its Lease.
func (o *operator) worker() string { return o.only("Deployment").GetName() }

// awaitRestart waits until the process of a pod of the worker has ended after something
// happened to it, and another has started.
func (c *cluster) awaitRestart(t *testing.T, pod string, happens func()) {
	t.Helper()
	restarts := func(s seen) int64 {
		for _, p := range s {
			statuses, _, _ := unstructured.NestedSlice(p.Object, "status", "containerStatuses")
			for _, one := range statuses {
				if of := one.(map[string]any); p.GetName() == pod && of["name"] == "runtime" {
					return of["restartCount"].(int64)
				}
			}
		}
		return -1
	}
	before := restarts(c.await(t, pod+" to run", slow, pods, operators, func(s seen) bool { return restarts(s) >= 0 }))
	happens()
	c.await(t, "the process of "+pod+" to be another", slow, pods, operators, func(s seen) bool { return restarts(s) > before })
}

// works returns the name of the pod that has the Lease; another than before.
func (w *world) works(t *testing.T, before string) string {
	t.Helper()
	pod, _, _ := strings.Cut(w.leader(t, w.worker(), before), "@")
	return pod
}

// meanwhile lets a custom resource be created, one edited and one deleted around a mishap,
// and waits for the result.
func (w *world) meanwhile(t *testing.T, name string, happens func()) time.Duration {
	t.Helper()
	w.life = &life{name: name, edited: w.make(t, name+"-edited", 1), deleted: w.make(t, name+"-deleted", 0)}
	w.has(t, w.life.edited, 1)
	w.has(t, w.life.deleted, 0)
	happens()
	began := time.Now()
	w.happen(t)
	w.end(t)
	took := time.Since(began)
	w.life = nil
	return took
}

// holds creates a custom resource, and calls happens before the API server answers the request to
// create its child.
func (w *world) holds(t *testing.T, name string, happens func()) *unstructured.Unstructured {
	t.Helper()
	namespace := w.aside(name)
	w.cluster.namespace(t, namespace, "")
	held := &hold{reached: make(chan struct{}), open: make(chan struct{})}
	open := sync.OnceFunc(func() { close(held.open) })
	w.cluster.refuse(t, namespace, map[string]*refusal{"probe-webhook": {code: 403, times: 1 << 30}, "held": {held: held}})
	t.Cleanup(open)
	cr := w.makeIn(t, namespace, "held", 0)
	select {
	case <-held.reached:
	case <-time.After(slow):
		t.Fatal("the worker never created the child")
	}
	happens()
	open()
	return cr
}

// forceDelete deletes a pod without waiting for its processes.
func forceDelete(t *testing.T, pod string) {
	t.Helper()
	run(t, nil, "kubectl", "delete", "pod", "-n", operators, pod, "--wait=false", "--grace-period=0", "--force")
}

// workerKilled: all pods of the worker are killed after one has sent the child, before it has
// written the status.
func workerKilled(t *testing.T, w *world) {
	list, err := w.cluster.kube.CoreV1().Pods(operators).List(t.Context(), metav1.ListOptions{LabelSelector: "argoperator.dev/worker=" + w.worker()})
	if err != nil {
		t.Fatal(err)
	}
	var cr *unstructured.Unstructured
	took := w.meanwhile(t, "killed", func() {
		cr = w.holds(t, "killed", func() {
			for _, pod := range list.Items {
				forceDelete(t, pod.Name)
			}
		})
	})
	w.has(t, cr, 0)
	w.measured("reconciled %s after all its pods were killed, one in the middle of a reconcile", seconds(took))
}

// devour takes the memory of a container. It uses many processes that are smaller than the
// worker, so that the kernel ends the worker.
const devour = `
import os, time
open("/proc/1/oom_score_adj", "w").write("1000")
for _ in range(60):
    if not os.fork():
        kept = b"x" * (8 << 20)
        time.sleep(30)
        os._exit(0)
    time.sleep(0.02)
time.sleep(5)
`

// workerOutOfMemory: the kernel ends the process of the worker.
func workerOutOfMemory(t *testing.T, w *world) {
	pod := w.works(t, "")
	took := w.meanwhile(t, "memory", func() {
		w.cluster.awaitRestart(t, pod, func() {
			if _, err := try(nil, "kubectl", "exec", "-n", operators, pod, "-c", "runtime", "--", "python3", "-c", devour); err == nil {
				t.Skip("the cluster does not limit memory")
			}
		})
	})
	w.measured("reconciled %s after the container was restarted", seconds(took))
}

// workerNodeGone: the pod that works goes in the middle of a reconcile, without releasing its
// Lease, as with its node. The standby takes over.
func workerNodeGone(t *testing.T, w *world) {
	pod := w.works(t, "")
	var cr *unstructured.Unstructured
	var began time.Time
	took := w.meanwhile(t, "node", func() {
		cr = w.holds(t, "node", func() { forceDelete(t, pod) })
		began = time.Now()
	})
	w.has(t, cr, 0)
	if now := w.works(t, ""); now == pod {
		t.Errorf("%s works still", pod)
	}
	w.measured("reconciled by the other pod %s after the one that worked had gone (%s)", seconds(time.Since(began)), seconds(took))
}

// workerLeaseTaken: a process that has lost its Lease writes nothing any more.
func workerLeaseTaken(t *testing.T, w *world) {
	pod := w.works(t, "")
	took := w.meanwhile(t, "lease", func() {
		w.cluster.awaitRestart(t, pod, func() {
			run(t, nil, "kubectl", "patch", "lease", "-n", operators, w.worker(), "--type=merge", "-p", `{"spec":{"holderIdentity":"somebody@192.0.2.1"}}`)
		})
	})
	w.measured("reconciled %s after another had the Lease, and did nothing", seconds(took))
}

// workerTwice: somebody runs the Deployment of the worker a second time. Only one process
// works.
func workerTwice(t *testing.T, w *world) {
	again := w.only("Deployment").DeepCopy()
	name := w.worker() + "-again"
	again.SetName(name)
	for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"}} {
		if err := unstructured.SetNestedField(again.Object, name, append(path, "argoperator.dev/worker")...); err != nil {
			t.Fatal(err)
		}
	}
	client := w.cluster.objects.Resource(deployments).Namespace(operators)
	if _, err := client.Create(t.Context(), again, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = try(nil, "kubectl", "delete", "deployment", "-n", operators, name, "--ignore-not-found", "--cascade=foreground")
	})
	run(t, nil, "kubectl", "rollout", "status", "-n", operators, "deployment/"+name, "--timeout="+starting.String())
	took := w.meanwhile(t, "twice", func() {})
	list, err := w.cluster.kube.CoreV1().Pods(operators).List(t.Context(), metav1.ListOptions{LabelSelector: "argoperator.dev/worker=" + name})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("the pods of %s: %v %v", name, list, err)
	}
	for _, pod := range list.Items {
		log, err := w.cluster.kube.CoreV1().Pods(operators).GetLogs(pod.Name, &corev1.PodLogOptions{Container: "runtime"}).DoRaw(t.Context())
		if err != nil || slices.Contains(strings.Split(string(log), "\n"), "works") {
			t.Errorf("%s should only wait: %v %s", pod.Name, err, log)
		}
	}
	w.measured("reconciled in %s by one of %d pods", seconds(took), 2+len(list.Items))
}

// workerRestarts: the worker is restarted, twice, while there is much to do.
func workerRestarts(t *testing.T, w *world) {
	namespace := w.aside("restarts")
	w.cluster.namespace(t, namespace, "")
	w.limit(t, namespace, "pods", 0)
	const n = 60
	list := make([]*unstructured.Unstructured, n)
	for i := range list {
		list[i] = w.makeIn(t, namespace, fmt.Sprintf("m%d", i), 1)
	}
	began := time.Now()
	for size := range int64(2) {
		run(t, nil, "kubectl", "rollout", "restart", "-n", operators, "deployment/"+w.worker())
		for _, cr := range list {
			w.edit(t, cr, size+2)
		}
	}
	w.cluster.await(t, "all Deployments of the last size", slow, deployments, namespace, func(s seen) bool {
		return len(s) == n && !slices.ContainsFunc(s, func(d *unstructured.Unstructured) bool { return number(d, "spec", "replicas") != 3 })
	})
	w.cluster.await(t, "every status to be current", slow, w.subject.kind, namespace, func(s seen) bool {
		return !slices.ContainsFunc(s, func(cr *unstructured.Unstructured) bool {
			return number(cr, "status", "observedGeneration") != cr.GetGeneration()
		})
	})
	w.measured("%d custom resources, edited twice during two restarts, are reconciled after %s", n, seconds(time.Since(began)))
	run(t, nil, "kubectl", "rollout", "status", "-n", operators, "deployment/"+w.worker(), "--timeout="+starting.String())
}

// keyFails: custom resources that always fail, more than the worker has threads, do not hold up
// another one.
func keyFails(t *testing.T, w *world) {
	namespace := w.aside("fails")
	w.cluster.namespace(t, namespace, "")
	w.cluster.refuse(t, namespace, map[string]*refusal{"probe-webhook": {code: 403, times: 1 << 30}, "never": {code: 500, times: 1 << 30}})
	const n = 40
	var never []*unstructured.Unstructured
	for i := range n {
		never = append(never, w.makeIn(t, namespace, fmt.Sprintf("never%d", i), 0))
	}
	for _, cr := range never {
		w.refused(t, cr)
	}
	var beside []time.Duration
	for i := range 5 {
		began := time.Now()
		w.has(t, w.makeIn(t, namespace, fmt.Sprintf("fine%d", i), 0), 0)
		beside = append(beside, time.Since(began))
	}
	if longest := slices.Max(beside); longest > 30*time.Second {
		t.Errorf("another custom resource was held up for %s", longest)
	}
	w.measured("while %d always fail, another one is reconciled after (median and longest) `%s`", n, summary(beside))
}

// apiAway: nobody can reach the API server for two minutes.
func apiAway(t *testing.T, w *world) {
	began := time.Now()
	took := w.meanwhile(t, "api-away", func() {
		w.makeIn(t, w.subject.namespace, "api-away-before", 0) // it may be in the middle of it
		during(t, theAPIServer, func() {
			select {
			case <-t.Context().Done():
			case <-time.After(2 * time.Minute):
			}
		})
		w.cluster.awaitReady(t)
		// When its watch has ended, the controller of Argo Workflows 4.0 reads the ended one again and again, without a pause.
		control(t, "restart", theController)
		w.audit.pardoned = append(w.audit.pardoned, span{began, time.Now()})
	})
	w.measured("reconciled %s after the API server is back", seconds(took))
}

// playUnruly has a program that misbehaves for one custom resource, which another does not
// suffer from. When it is corrected, that one is reconciled, too.
func (c *cluster) playUnruly(t *testing.T) {
	o := c.install(t, "unruly", "testdata/unruly")
	for _, one := range []struct{ mode, says string }{
		{"hangs", "stopped after 10 s"}, {"forks", "stopped after 10 s"}, {"fills", "logic: "}, {"devours", "logic: "}, {"fails", "it fails on purpose"},
	} {
		t.Run(one.mode, func(t *testing.T) {
			measured := record(t, "logic-"+one.mode, "worker/unruly")
			t.Cleanup(func() {
				if t.Failed() {
					o.dump(t)
				}
			})
			cr := o.create(t, "example.com/v1", unrulies.Resource, nsD, one.mode, map[string]any{"mode": one.mode})
			var message string
			c.await(t, "the failure on the status", slow, unrulies, nsD, func(s seen) bool {
				now := s.by(cr.GetUID())
				if now == nil {
					return false
				}
				_, _, message = condition(now, "Ready")
				return current(now, "False") && strings.Contains(message, one.says)
			})
			if strings.Contains(message, "nobody limits memory") {
				t.Skip("the cluster does not limit memory")
			}
			began := time.Now()
			beside := o.create(t, "example.com/v1", unrulies.Resource, nsD, "beside-"+one.mode, map[string]any{"mode": "calm"})
			o.awaitReady(t, unrulies, beside)
			took := time.Since(began)
			o.merge(t, unrulies, cr, `{"spec":{"mode":"calm"}}`)
			o.awaitReady(t, unrulies, cr)
			measured("another one is reconciled in %s meanwhile; `%s`", seconds(took), message)
		})
	}
}

// playEngineChanged applies the definition with another engine, and leaves what only the worker
// needs. The worker stops by itself.
func (c *cluster) playEngineChanged(t *testing.T) {
	direct := generate(t, memcachedAs(t, "Memmoved"))
	t.Cleanup(func() { _, _ = try(direct, "kubectl", "delete", "--ignore-not-found", "-f", "-") }) // after what install takes away
	s := subject{name: "worker/templates", engine: "worker", kind: memmoveds, namespace: nsD}
	w := &world{subject: s, operator: c.install(t, s.name, variant(t, memcachedAs(t, "Memmoved"), "  reconcile: {engine: worker}\n"))}
	w.play(t, scenario{name: "engine-changed", play: func(t *testing.T, w *world) {
		cr := w.make(t, "moved", 0)
		w.has(t, cr, 0)
		began := time.Now()
		run(t, direct, "kubectl", "apply", "-f", "-")
		(&operator{cluster: c, name: "moved", manifest: direct, objects: decode(t, direct)}).awaitListening(t)
		c.await(t, "the worker to be no longer available", slow, deployments, operators, func(s seen) bool {
			return slices.ContainsFunc(s, func(d *unstructured.Unstructured) bool {
				status, _, _ := condition(d, "Available")
				return d.GetName() == w.worker() && status == "False"
			})
		})
		took := time.Since(began)
		w.awaitLog(t, "argoperator.dev/worker="+w.worker(), "delete this Deployment", 1)
		w.edit(t, cr, 2)
		w.has(t, cr, 2)
		w.measured("the worker has stopped %s after the definition with another engine was applied", seconds(took))
	}})
}
