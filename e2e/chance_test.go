//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestChance lets things happen by chance: custom resources come, change and go,
// children are edited and deleted, pods of the operator are killed, its bus is
// away. When it is over and one resync has run, what is there is what render says
// for the last state of the custom resources. $CHANCE_SEED repeats a run.
func TestChance(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	seeds := []uint64{uint64(time.Now().UnixNano()), 1}
	if text := os.Getenv("CHANCE_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []uint64{seed}
	}
	for _, s := range []subject{subjects[0], subjects[1], subjects[4]} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // what one does to the bus and to all pods happens to the other as well
			c := connect(t)
			dir := s.definition(t)
			w := &world{subject: s, operator: c.install(t, s.name, dir)}
			w.measured = record(t, "random-actions", s.name)
			events, played := 60, seeds
			if s.engine == "workflow" {
				events, played = 25, seeds[:1] // its pods are slow
			}
			for _, seed := range played {
				w.byChance(t, dir, seed, events)
			}
			w.measured("%d sequences of %d random actions, seeds %v", len(played), events, played)
		})
	}
}

// happening is what may happen, and how likely it is.
type happening struct {
	weight int
	name   string
	do     func(*testing.T, *world, *rand.Rand, map[string]int64) string
}

var happenings = []happening{
	{6, "create or edit", func(t *testing.T, w *world, r *rand.Rand, want map[string]int64) string {
		name, size := anyName(r), r.Int64N(3)
		w.put(t, name, size)
		want[name] = size
		return fmt.Sprintf("%s to %d", name, size)
	}},
	{2, "delete", func(t *testing.T, w *world, r *rand.Rand, want map[string]int64) string {
		name := anyName(r)
		w.dropNamed(t, name)
		delete(want, name)
		return name
	}},
	{2, "edit a child", func(t *testing.T, w *world, r *rand.Rand, _ map[string]int64) string {
		return w.anyChild(t, r, "scale", "--replicas=1")
	}},
	{2, "delete a child", func(t *testing.T, w *world, r *rand.Rand, _ map[string]int64) string {
		return w.anyChild(t, r, "delete", "--wait=false")
	}},
	{1, "kill the EventSource", func(t *testing.T, _ *world, _ *rand.Rand, _ map[string]int64) string {
		return kill(t, "eventsource-name")
	}},
	{1, "kill the Sensors", func(t *testing.T, _ *world, _ *rand.Rand, _ map[string]int64) string {
		return kill(t, "sensor-name")
	}},
	{1, "restart the bus", func(t *testing.T, _ *world, _ *rand.Rand, _ map[string]int64) string {
		control(t, "restart", theBus)
		return ""
	}},
}

func anyName(r *rand.Rand) string { return fmt.Sprintf("chance%d", r.IntN(5)) }

func kill(t *testing.T, label string) string {
	t.Helper()
	run(t, nil, "kubectl", "delete", "pods", "-n", operators, "-l", label, "--wait=false", "--grace-period=0", "--force")
	return ""
}

// put creates a Memcached or changes its size. One that is about to go is waited for.
func (w *world) put(t *testing.T, name string, size int64) {
	t.Helper()
	client := w.cluster.objects.Resource(w.subject.kind).Namespace(w.subject.namespace)
	if now, err := client.Get(t.Context(), name, metav1.GetOptions{}); err == nil {
		w.edit(t, now, size)
		return
	}
	w.make(t, name, size)
}

func (w *world) dropNamed(t *testing.T, name string) {
	t.Helper()
	now := &unstructured.Unstructured{}
	now.SetName(name)
	now.SetNamespace(w.subject.namespace)
	w.drop(t, now)
}

// anyChild does something by kubectl to a child that is there.
func (w *world) anyChild(t *testing.T, r *rand.Rand, verb string, args ...string) string {
	t.Helper()
	list, err := w.cluster.objects.Resource(deployments).Namespace(w.subject.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) == 0 {
		return "none"
	}
	name := list.Items[r.IntN(len(list.Items))].GetName()
	_, _ = try(nil, "kubectl", append([]string{verb, "deployment", name, "-n", w.subject.namespace}, args...)...) // it may be gone by now
	return name
}

func (w *world) byChance(t *testing.T, dir string, seed uint64, events int) {
	t.Helper()
	t.Logf("CHANCE_SEED=%d", seed)
	r, want, story := rand.New(rand.NewPCG(seed, seed)), map[string]int64{}, []string{}
	for range events {
		one := draw(r)
		story = append(story, one.name+" "+one.do(t, w, r, want))
	}
	w.awaitParts(t)
	w.awaitIdle(t)
	w.startResync(t)
	defer func() {
		if t.Failed() {
			t.Logf("CHANCE_SEED=%d:\n%s", seed, strings.Join(story, "\n"))
		}
	}()
	w.cluster.await(t, fmt.Sprintf("Deployments for %v", want), slow, deployments, w.subject.namespace, func(s seen) bool { return len(s) == len(want) })
	client := w.cluster.objects.Resource(w.subject.kind).Namespace(w.subject.namespace)
	for name, size := range want {
		cr, err := client.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.has(t, cr, size)
		w.asRendered(t, dir, cr)
	}
	w.removeAll(t, w.subject.kind)
	w.awaitIdle(t)
}

func draw(r *rand.Rand) happening {
	sum := 0
	for _, h := range happenings {
		sum += h.weight
	}
	n := r.IntN(sum)
	for _, h := range happenings {
		if n -= h.weight; n < 0 {
			return h
		}
	}
	return happenings[0]
}
