//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// contender is an operator for Memcacheds whose speed is measured.
type contender struct {
	name    string
	install func(t *testing.T, c *cluster) *operator
	singles int   // custom resources that are made one after the other
	bursts  []int // numbers of custom resources that are made at once, one after the other
	reports bool  // it writes a status
	apart   bool  // each custom resource needs a namespace of its own
}

// contenders in the order of docs/explanation/performance.md. Of what makes pods for each
// event there are fewer, as two cores start only some in a second.
func contenders() []contender {
	list := []contender{
		{"direct/memcached", installs("memcached"), 50, []int{10, 100, 1000, 5000}, true, false},
		{"controller-runtime (as scaffolded)", reference("-workers=1"), 50, []int{10, 100, 1000, 5000}, true, false},
		{"controller-runtime (8 workers)", reference("-workers=8"), 50, []int{10, 100, 1000}, true, false},
		{"worker/memcached", definedBy(func(t *testing.T) string {
			return variant(t, "../examples/memcached", "  reconcile: {engine: worker}\n")
		}), 50, []int{10, 100, 1000}, true, false},
		{"worker/memcached-logic", definedBy(func(t *testing.T) string {
			return rewritten(t, "../examples/memcached-logic", "engine: workflow", "engine: worker")
		}), 50, []int{10, 100, 200}, true, false},
		{"worker/memcached-logic (hook)", definedBy(hooked), 50, []int{10, 100, 200}, true, false},
		{"workflow/memcached-logic", installs("memcached-logic"), 20, []int{10, 50}, true, false},
	}
	if dir := os.Getenv("E2E_TUTORIAL"); dir != "" {
		list = append(list, contender{"the tutorial (as published)", publishes(dir), 5, nil, false, true})
	}
	list = append(list, contender{"steps/memcached-tutorial", installs("memcached-tutorial"), 5, []int{5}, true, false})
	for _, file := range strings.Fields(os.Getenv("E2E_BENCH_AGAINST")) {
		list = append(list, contender{filepath.Base(file), func(t *testing.T, c *cluster) *operator { return c.installAsIs(t, file) }, 50, []int{10, 100, 1000}, false, false})
	}
	return list
}

// figures are what was measured of a contender. Times are milliseconds.
type figures struct {
	Operator string   `json:"operator"`
	Singles  int      `json:"singles"`
	Rest     float64  `json:"rest,omitempty"` // MiB of its pods, before the first custom resource
	Median   float64  `json:"median"`         // from the custom resource to its child
	P99      float64  `json:"p99"`
	Bursts   []atOnce `json:"bursts,omitempty"`
}

// atOnce is a burst. CPU is that of the operator, and of the parts of the cluster
// that work for it, for each custom resource.
type atOnce struct {
	Count    int                `json:"count"`
	Existing int                `json:"existing"` // custom resources that were there before
	Made     float64            `json:"made"`     // until all custom resources were created
	Children float64            `json:"children"` // until all had their child
	Ready    float64            `json:"ready,omitempty"`
	CPU      float64            `json:"cpu"`
	Parts    map[string]float64 `json:"parts,omitempty"`
	Memory   float64            `json:"memory"` // MiB, afterwards
	Calls    float64            `json:"calls"`  // requests to the API server for each custom resource
	Pods     float64            `json:"pods"`   // for each custom resource
	After    float64            `json:"after"`  // the median of ten more, with all these there
}

// TestBench measures contenders one after the other; $E2E_BENCH names some, or
// all of them, and $E2E_BENCH_MOST limits the bursts. $E2E_BENCH_AGAINST are files
// with other operators for Memcacheds whose Deployments are named as their custom
// resources; they need no status. The results go to $E2E_BENCH_RESULTS, of which
// docs/explanation/performance.md is made. Machines differ: compare only
// figures of one run.
func TestBench(t *testing.T) {
	chosen := os.Getenv("E2E_BENCH")
	if chosen == "" {
		t.Skip("E2E_BENCH is not set")
	}
	var all []figures
	for _, one := range contenders() {
		if chosen != "all" && !slices.Contains(strings.Split(chosen, ","), one.name) {
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			c := connect(t)
			// Where thousands go with their kind, the garbage collector may find the kind
			// gone before it has come to all children, and leaves the rest alone.
			run(t, nil, "kubectl", "delete", "deployments", "-n", nsA, "--all", "--wait=false")
			c.await(t, "the children of the one before to be gone", 15*time.Minute, deployments, nsA, func(s seen) bool { return len(s) == 0 })
			all = append(all, one.measure(t, one.install(t, c)))
		})
		if file := os.Getenv("E2E_BENCH_RESULTS"); file != "" { // as they come: a run takes long
			data, err := json.MarshalIndent(all, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, append(data, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (one contender) measure(t *testing.T, o *operator) figures {
	t.Helper()
	if one.apart {
		one.warm(t, o)
	}
	rest := 0.0
	for name, now := range o.spent(t) {
		if !now.part && name != process { // which has just begun
			rest += now.memory / (1 << 20)
		}
	}
	took := one.latencies(t, o, "single", one.singles)
	out := figures{Operator: one.name, Singles: len(took), Rest: rest, Median: millis(took[len(took)/2]), P99: millis(took[len(took)*99/100])}
	t.Logf("at rest: %.0f MiB", rest)
	t.Logf("custom resource to child: median %.1f ms, p99 %.1f ms of %d", out.Median, out.P99, out.Singles)
	existing := one.singles
	for _, n := range one.bursts {
		if most, err := strconv.Atoi(os.Getenv("E2E_BENCH_MOST")); err == nil && n > most {
			break
		}
		burst := one.burst(t, o, n, existing)
		existing += n
		after := one.latencies(t, o, fmt.Sprintf("after-%d", n), 10)
		existing += len(after)
		burst.After = millis(after[len(after)/2])
		t.Logf("%+v", burst)
		out.Bursts = append(out.Bursts, burst)
	}
	return out
}

// warm waits until an operator that loses events while it starts receives events.
func (one contender) warm(t *testing.T, o *operator) {
	t.Helper()
	for i := range 4 {
		arrived := one.makeOne(t, o, "warm", i)
		came := arrived.within(2 * time.Minute)
		arrived.stop()
		if came {
			return
		}
		t.Logf("no child of the custom resource made after the start, number %d", i+1)
	}
	t.Fatal("the operator receives no events")
}

// makeOne makes a custom resource, and looks out for its child.
func (one contender) makeOne(t *testing.T, o *operator, prefix string, i int) *arrivals {
	t.Helper()
	cr, where := memcached(fmt.Sprintf("%s-%d", prefix, i), 0), nsA
	if one.apart {
		where = fmt.Sprintf("e2e-bench-%s-%d", prefix, i)
		cr.SetNamespace(where)
		o.cluster.namespace(t, where, "")
		t.Cleanup(func() { o.cluster.drop(t, where) })
		if err := unstructured.SetNestedField(cr.Object, int64(1), "spec", "size"); err != nil {
			t.Fatal(err)
		}
	}
	arrived := o.cluster.arrivals(t, deployments, where, func(d *unstructured.Unstructured) bool {
		return one.apart || d.GetName() == cr.GetName() || ownedByName(d, cr.GetName()) // others still change their status
	})
	arrived.start = time.Now()
	o.make(t, cr)
	return arrived
}

// latencies are the sorted times from custom resources to their children, one
// at a time.
func (one contender) latencies(t *testing.T, o *operator, prefix string, n int) []time.Duration {
	t.Helper()
	var took []time.Duration
	for i := range n {
		arrived := one.makeOne(t, o, prefix, i)
		took = append(took, arrived.first(t, 5*time.Minute).Sub(arrived.start))
		arrived.stop() // fifty that look on would be measured too
	}
	slices.Sort(took)
	return took
}

func (one contender) burst(t *testing.T, o *operator, n, existing int) atOnce {
	t.Helper()
	log := openAudit(t)
	before, pods := o.spent(t), o.counts.tally().pods
	made, children, ready := o.flood(t, n, one.reports)
	out := atOnce{Count: n, Existing: existing, Made: millis(made), Children: millis(children), Ready: millis(ready), Parts: map[string]float64{}}
	each := float64(n)
	for name, now := range o.spent(t) {
		cpu := millis(now.cpu-before[name].cpu) / each
		if now.part {
			out.Parts[name] = cpu
			continue
		}
		out.CPU += cpu
		out.Memory += now.memory / (1 << 20)
	}
	out.Pods = float64(o.counts.tally().pods-pods) / each
	log.close()
	for _, e := range log.read(t) {
		if !e.late {
			out.Calls += 1 / each
		}
	}
	return out
}

// spending is what a part of an operator, or of the cluster, has used.
type spending struct {
	used
	part bool // it is the cluster's
}

// process is the name of what an operator spends that runs outside the cluster.
const process = "process"

// shared are the processes of the cluster that work for operators. Where
// $LAB_RUN has their numbers, what they use is counted too.
var shared = []string{"kube-apiserver", "etcd", "nats", "workflow-controller"}

func (o *operator) spent(t *testing.T) map[string]spending {
	t.Helper()
	out := map[string]spending{}
	if o.process != nil {
		out[process] = spending{used: processUsage(t, o.process.Pid)}
	}
	for _, name := range shared {
		data, err := os.ReadFile(filepath.Join(os.Getenv("LAB_RUN"), name+".pid"))
		if err != nil {
			continue
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			out[name] = spending{used: processUsage(t, pid), part: true}
		}
	}
	for pod, u := range o.usage(t) {
		if pod != "" {
			out[pod] = spending{used: u}
		}
	}
	return out
}

// processUsage reads what Linux says of a process: clock ticks of 10 ms, and
// pages in memory.
func processUsage(t *testing.T, pid int) used {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // from the state, the third field
	number := func(i int) float64 {
		n, err := strconv.ParseFloat(fields[i-3], 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const userTime, systemTime, resident = 14, 15, 24
	return used{time.Duration((number(userTime) + number(systemTime)) * float64(10*time.Millisecond)), number(resident) * float64(os.Getpagesize())}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// definedBy brings the definition in a directory.
func definedBy(dir func(t *testing.T) string) func(t *testing.T, c *cluster) *operator {
	return func(t *testing.T, c *cluster) *operator {
		t.Helper()
		return c.install(t, "the worker", dir(t))
	}
}

// installs brings an example.
func installs(example string) func(*testing.T, *cluster) *operator {
	return func(t *testing.T, c *cluster) *operator { return c.install(t, "bench", "../examples/"+example) }
}

// hooked is examples/memcached-logic whose program is a server.
func hooked(t *testing.T) string {
	t.Helper()
	dir := rewritten(t, "../examples/memcached-logic", "engine: workflow", "engine: worker")
	file := filepath.Join(dir, "operator.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := replaceOnce(t, string(data), "command: [python3, main.py]", "command: [python3, hook.py]\n    hook: {port: 9000, path: /sync}")
	text = replaceOnce(t, text, "files: [logic/main.py]", "files: [logic/main.py, logic/hook.py]")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "logic"), os.DirFS("testdata/bench")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// publishes brings the tutorial's manifests as they are.
func publishes(dir string) func(*testing.T, *cluster) *operator {
	return func(t *testing.T, c *cluster) *operator {
		var whole bytes.Buffer
		for _, name := range []string{"crd", "rbac", "fix-rbac", "event-source", "sensor", "configmap", "workflow-template"} {
			data, err := os.ReadFile(filepath.Join(dir, name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			whole.Write(data)
			whole.WriteString("\n---\n")
		}
		file := filepath.Join(t.TempDir(), "tutorial.yaml")
		if err := os.WriteFile(file, whole.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return c.installAsIs(t, file)
	}
}

// reference brings the same operator written in Go: its own process, with an
// account of its own in the audit log and the CustomResourceDefinition of the
// example.
func reference(flags ...string) func(*testing.T, *cluster) *operator {
	return func(t *testing.T, c *cluster) *operator {
		program := os.Getenv("E2E_REFERENCE")
		if program == "" {
			t.Skip("E2E_REFERENCE is not set: it is the program of e2e/reference")
		}
		o := &operator{cluster: c, name: "reference", objects: decode(t, generate(t, "../examples/memcached")), audit: &audit{}}
		o.take(t)
		o.counts = &counter{}
		crd, err := o.only("CustomResourceDefinition").MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			o.removeAll(t, memcacheds)
			run(t, crd, "kubectl", "delete", "--timeout=90s", "-f", "-")
		})
		run(t, crd, "kubectl", "apply", "-f", "-")
		run(t, nil, "kubectl", "wait", "--for=condition=Established", "crd/memcacheds.cache.example.com")
		command := exec.CommandContext(context.Background(), program, flags...)
		command.Env = append(os.Environ(), "KUBECONFIG="+accountFor(t, "reference"))
		command.Stderr = os.Stderr
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		o.process = command.Process
		t.Cleanup(func() {
			if err := command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			_ = command.Wait() // it was interrupted
		})
		return o
	}
}

// accountFor makes a service account that may do anything and returns its
// kubeconfig.
func accountFor(t *testing.T, name string) string {
	t.Helper()
	run(t, nil, "kubectl", "create", "serviceaccount", "-n", operators, name)
	run(t, nil, "kubectl", "create", "clusterrolebinding", name, "--clusterrole=cluster-admin", "--serviceaccount="+operators+":"+name)
	t.Cleanup(func() {
		run(t, nil, "kubectl", "delete", "clusterrolebinding", name)
		run(t, nil, "kubectl", "delete", "serviceaccount", "-n", operators, name)
	})
	token := strings.TrimSpace(string(run(t, nil, "kubectl", "create", "token", "-n", operators, name, "--duration=3h")))
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, run(t, nil, "kubectl", "config", "view", "--raw", "--minify", "--flatten"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, nil, "kubectl", "--kubeconfig", file, "config", "set-credentials", name, "--token="+token)
	run(t, nil, "kubectl", "--kubeconfig", file, "config", "set-context", "--current", "--user="+name)
	return file
}

// drop takes a namespace away, with all that is in it.
func (c *cluster) drop(t *testing.T, name string) {
	t.Helper()
	if err := c.kube.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// ownedByName tells whether an object has an owner of this name.
func ownedByName(o *unstructured.Unstructured, name string) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Name == name })
}

// within waits for an object, and tells whether one came.
func (a *arrivals) within(limit time.Duration) bool {
	select {
	case <-a.wake:
		return true
	case <-time.After(limit):
		return false
	}
}

// first waits for the first object.
func (a *arrivals) first(t *testing.T, limit time.Duration) time.Time {
	t.Helper()
	if !a.within(limit) {
		t.Fatalf("after %s there is none", limit)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range a.times {
		return at
	}
	return time.Time{}
}
