//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
)

// subject is an operator that the scenarios are played with: all keep Memcacheds
// or the same by another name, by different engines.
type subject struct {
	name       string // ENGINE/EXAMPLE
	engine     string
	definition func(t *testing.T) string
	kind       schema.GroupVersionResource // of its custom resources
	namespace  string                      // of its custom resources
	burst      int                         // custom resources at once
	templates  bool                        // its pods differ from those of logic by what computes the children only
}

var subjects = []subject{
	{"direct/memcached", "direct", example("memcached"), memcacheds, nsA, 100, false},
	{"workflow/memcached-logic", "workflow", logicInPods, memlogics, nsC, 10, false},
	{"workflow/templates", "workflow", templatesInPods, memstores, nsB, 10, true},
	{"steps/memcached-tutorial", "steps", tutorial, memsteps, nsOpen, 3, false},
	{"worker/memcached-logic", "worker", logicInWorker, memworks, nsD, 100, false},
	{"worker/templates", "worker", templatesInWorker, memstays, nsD, 100, true},
}

// Memcacheds by other names, so that several operators can be there at a time.
var (
	memlogics, memstores, memsteps = ofKind("Memlogic"), ofKind("Memstore"), ofKind("Memstep")
	memworks, memstays             = ofKind("Memwork"), ofKind("Memstay")
)

// ofKind are Memcacheds that are called otherwise.
func ofKind(kind string) schema.GroupVersionResource {
	return memcacheds.GroupVersion().WithResource(strings.ToLower(kind) + "s")
}

// memcachedAs is the example of the direct engine for such a kind.
func memcachedAs(t *testing.T, kind string) string {
	t.Helper()
	return renamed(t, "../examples/memcached", "kind: Memcached\n", "kind: "+kind+"\n", "metadata:\n  name: memcached\n", "metadata:\n  name: "+strings.ToLower(kind)+"\n")
}

// logicInPods is the example of the workflow engine.
func logicInPods(t *testing.T) string { return logicFor(t, "Memlogic") }

func logicFor(t *testing.T, kind string) string {
	t.Helper()
	return renamed(t, "../examples/memcached-logic", "kind: Memcached\n", "kind: "+kind+"\n", "name: memcached-logic\n", "name: "+strings.ToLower(kind)+"\n")
}

// logicInWorker is the same in a pod that stays.
func logicInWorker(t *testing.T) string {
	t.Helper()
	return rewritten(t, logicFor(t, "Memwork"), "engine: workflow", "engine: worker")
}

// templatesInWorker is the example of the direct engine, carried by a pod that stays.
func templatesInWorker(t *testing.T) string {
	t.Helper()
	return variant(t, memcachedAs(t, "Memstay"), "  reconcile: {engine: worker}\n")
}

// templatesInPods is the example of the direct engine, carried by Workflows.
func templatesInPods(t *testing.T) string {
	t.Helper()
	return variant(t, memcachedAs(t, "Memstore"), "  reconcile: {engine: workflow}\n")
}

// tutorial is the example of the steps engine.
func tutorial(t *testing.T) string { return tutorialFor(t, "Memstep") }

func tutorialFor(t *testing.T, kind string) string {
	t.Helper()
	name := strings.ToLower(kind)
	return renamed(
		t, "../examples/memcached-tutorial", "kind: Memcached\n", "kind: "+kind+"\n", "metadata:\n  name: memcached-tutorial\n", "metadata:\n  name: "+name+"\n",
		": memcached-", ": "+name+"-", "--memcached-manifest", "--"+name+"-manifest", "args.memcached_", "args."+name+"_",
	)
}

// renamed replaces words by others in all files of a definition.
func renamed(t *testing.T, dir string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		dir = rewritten(t, dir, pairs[i], pairs[i+1])
	}
	return dir
}

func example(name string) func(*testing.T) string {
	return func(*testing.T) string { return "../examples/" + name }
}

// scenario is something that happens to an operator, and what must come of it.
type scenario struct {
	name   string
	play   func(*testing.T, *world)
	engine string // that it is about; "": all
	// carriage: it is about when Workflows run, not about what their pods compute.
	carriage bool
	alone    bool // it is about all custom resources of the operator
}

// incidents are those with something to see in a subject.
func (s subject) incidents() []scenario {
	return slices.DeleteFunc(slices.Clone(incidents), func(one scenario) bool {
		return one.engine != "" && one.engine != s.engine || one.carriage && s.templates
	})
}

// disturbance stops parts of the operators or of the cluster: for all the
// operators at once.
type disturbance struct {
	name string
	play func(*testing.T, field)
}

// disturbances happen one after the other. Each has two custom resources of every
// operator that were there before.
var disturbances = []disturbance{
	{"source-down", sourceDown},
	{"sensor-down", sensorDown},
	{"api-restart", apiRestart},
	{"controller-down", controllerDown},
	{"bus-store-lost", busStoreLost}, // when the EventSources are old enough to be replayed
	{"bus-down", busDown},
}

// incidents concern one operator, most of them a few of its custom resources only.
// Where Workflows carry the reconciles these happen side by side, because
// Workflows are slow.
var incidents = []scenario{
	{name: "redefined", play: redefined, carriage: true, alone: true},
	{name: "quick-edits", play: quickEdits, carriage: true},
	{name: "burst", play: burst, carriage: true},
	{name: "child-edited", play: childEdited},
	{name: "child-deleted", play: childDeleted},
	{name: "child-foreign", play: childForeign},
	{name: "quota", play: quota},
	{name: "refusals", play: refusals},
	{name: "namespace-deleted", play: namespaceDeleted, carriage: true},
	{name: "hostile", play: hostileAnnotations, engine: "steps"},
}

// TestScenarios plays every scenario with the operator of the direct engine, and
// disturbs the operators of all engines together. One alone:
// -run 'TestScenarios/engines/.*/quick-edits'.
func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	for _, together := range fields() {
		t.Run(together.name, func(t *testing.T) {
			c := connect(t)
			var f field
			for _, s := range together.subjects {
				f = append(f, &world{subject: s, operator: c.install(t, s.name, s.definition(t))})
				if s.engine == "direct" {
					t.Run("incidents", func(t *testing.T) {
						for _, one := range s.incidents() {
							t.Run(one.name, func(t *testing.T) { f[0].play(t, one) })
						}
					})
				}
			}
			t.Run("disturbances", func(t *testing.T) {
				for _, one := range disturbances {
					t.Run(one.name, func(t *testing.T) { f.play(t, one) })
				}
			})
		})
	}
}

// together are the operators that are disturbed at the same time.
type together struct {
	name     string
	subjects []subject
}

// fields are all engines at once; the incidents of the direct one come before the
// others are there, as it is much faster. What is disturbed of workflow/templates
// is no other than of workflow/memcached-logic. Without a guard each is alone: it
// is about one.
func fields() []together {
	direct, logic, steps, worker := subjects[0], subjects[1], subjects[3], subjects[4]
	if os.Getenv("E2E_WITHOUT") != "" {
		var alone []together
		for _, one := range []subject{direct, logic, steps, worker} {
			alone = append(alone, together{one.name, []subject{one}})
		}
		return alone
	}
	return []together{{"engines", []subject{direct, logic, steps, worker}}}
}

// TestIncidents plays the incidents with the operators that pods reconcile, side by
// side, because Workflows are slow.
func TestIncidents(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	t.Parallel()
	for _, s := range subjects {
		if s.engine == "direct" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			c := connect(t)
			w := &world{subject: s, operator: c.install(t, s.name, s.definition(t))}
			t.Run("incidents", func(t *testing.T) {
				for _, one := range s.incidents() {
					t.Run(one.name, func(t *testing.T) {
						if !one.alone { // those come first, and the others wait
							t.Parallel()
						}
						w.play(t, one)
					})
				}
			})
		})
	}
}

// world is a subject on the cluster.
type world struct {
	*operator
	subject  subject
	measured func(format string, args ...any)
	made     []*unstructured.Unstructured // by the scenario
	life     *life                        // of the disturbance that is played
}

func (w *world) play(t *testing.T, s scenario) {
	own := *w
	own.made = nil
	own.measured = record(t, s.name, w.subject.name)
	t.Cleanup(func() {
		if t.Failed() {
			own.dump(t)
		}
		own.clear(t)
	})
	s.play(t, &own)
}

// clear takes away what a scenario has made and nobody lives on with.
func (w *world) clear(t *testing.T) {
	t.Helper()
	client := w.cluster.objects.Resource(w.subject.kind)
	for _, cr := range w.made {
		if w.life != nil && (cr == w.life.edited || cr == w.life.deleted) {
			continue
		}
		err := client.Namespace(cr.GetNamespace()).Delete(context.Background(), cr.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}

// aside is a namespace of a scenario's own.
func (w *world) aside(scenario string) string {
	return "e2e-" + scenario + "-" + w.subject.kind.Resource
}

// quiet waits until every Workflow of a custom resource has come to its end.
func (w *world) quiet(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	if w.published() {
		w.awaitIdle(t) // their names do not say whose they are
		return
	}
	w.awaitEnd(t, "the Workflows of "+cr.GetName()+" to end", func(one *unstructured.Unstructured) bool {
		return strings.Contains(one.GetName(), "-"+cr.GetName()+"-")
	})
}

// make creates a Memcached.
func (w *world) make(t *testing.T, name string, size int64) *unstructured.Unstructured {
	t.Helper()
	return w.makeIn(t, w.subject.namespace, name, size)
}

func (w *world) makeIn(t *testing.T, namespace, name string, size int64) *unstructured.Unstructured {
	t.Helper()
	if w.published() {
		return w.publish(t, name, size)
	}
	cr := w.create(t, "cache.example.com/v1alpha1", w.subject.kind.Resource, namespace, name, map[string]any{"size": size})
	w.made = append(w.made, cr)
	return cr
}

// edit changes its size.
func (w *world) edit(t *testing.T, cr *unstructured.Unstructured, size int64) {
	t.Helper()
	w.merge(t, w.subject.kind, cr, fmt.Sprintf(`{"spec":{"size":%d}}`, size))
}

// drop deletes it, without waiting.
func (w *world) drop(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	client := w.cluster.objects.Resource(w.subject.kind).Namespace(cr.GetNamespace())
	if err := client.Delete(t.Context(), cr.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// has waits until a Memcached has one Deployment of its size and says so on its
// status.
func (w *world) has(t *testing.T, cr *unstructured.Unstructured, size int64) {
	t.Helper()
	w.hasChild(t, cr, size)
	if w.published() {
		return // it writes no status
	}
	w.cluster.await(t, fmt.Sprintf("the status of %s to be ready with %d", cr.GetName(), size), slow, w.subject.kind, cr.GetNamespace(), func(s seen) bool {
		now := s.by(cr.GetUID())
		return now != nil && number(now, "spec", "size") == size && current(now, "True") && number(now, "status", "readyReplicas") == size
	})
}

func (w *world) hasChild(t *testing.T, cr *unstructured.Unstructured, size int64) *unstructured.Unstructured {
	t.Helper()
	if w.published() {
		return w.sharedChild(t, cr, size)
	}
	s := w.cluster.await(t, fmt.Sprintf("one Deployment of %s with %d replicas", cr.GetName(), size), slow, deployments, cr.GetNamespace(), func(s seen) bool {
		owned := s.ownedBy(cr)
		return len(owned) == 1 && number(owned[0], "spec", "replicas") == size
	})
	return s.ownedBy(cr)[0]
}

// gone waits until nothing is left of a Memcached.
func (w *world) gone(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	w.cluster.await(t, cr.GetName()+" to go", slow, w.subject.kind, cr.GetNamespace(), func(s seen) bool { return s.by(cr.GetUID()) == nil })
	w.cluster.await(t, "the Deployment of "+cr.GetName()+" to go", slow, deployments, cr.GetNamespace(), func(s seen) bool {
		return len(s.ownedBy(cr)) == 0 && (!w.published() || len(s) == 0)
	})
}

// life is three Memcacheds to which something happens at a bad time: one is
// created, one edited, one deleted.
type life struct {
	name                     string
	created, edited, deleted *unstructured.Unstructured
}

// quickEdits: the last one wins, and stays.
func quickEdits(t *testing.T, w *world) {
	cr := w.make(t, "quick", 0)
	began := time.Now()
	for i := range 19 {
		w.edit(t, cr, int64(i%2+1))
	}
	w.edit(t, cr, 0)
	edited := time.Since(began)
	w.has(t, cr, 0)
	took := time.Since(began)
	w.quiet(t, cr)
	w.has(t, cr, 0)
	w.measured("20 edits in %s; the last one is applied after %s, and stays", seconds(edited), seconds(took))
}

// burst: many at once, where no pod may start, so that the operator is what is
// seen and not the machine.
func burst(t *testing.T, w *world) {
	namespace := w.aside("burst")
	w.cluster.namespace(t, namespace, "")
	w.limit(t, namespace, "pods", 0)
	n := w.subject.burst
	step := func(size int64, do func(i int)) time.Duration {
		began := time.Now()
		for i := range n {
			do(i)
		}
		w.cluster.await(t, fmt.Sprintf("%d Deployments of size %d", n, size), 20*time.Minute, deployments, namespace, func(s seen) bool {
			right := 0
			for _, d := range s {
				if metav1.GetControllerOf(d) != nil && number(d, "spec", "replicas") == size {
					right++
				}
			}
			return right == n && len(s) == n
		})
		return time.Since(began)
	}
	list := make([]*unstructured.Unstructured, n)
	created := step(1, func(i int) { list[i] = w.makeIn(t, namespace, fmt.Sprintf("m%d", i), 1) })
	edited := step(2, func(i int) { w.edit(t, list[i], 2) })
	w.cluster.await(t, "every status to be current", 20*time.Minute, w.subject.kind, namespace, func(s seen) bool {
		return !slices.ContainsFunc(s, func(cr *unstructured.Unstructured) bool {
			return number(cr, "status", "observedGeneration") != cr.GetGeneration()
		})
	})
	w.measured("%d created: all children after %s; %d edited: after %s", n, seconds(created), n, seconds(edited))
}

func childEdited(t *testing.T, w *world) {
	cr := w.make(t, "edited-child", 0)
	w.has(t, cr, 0)
	w.quiet(t, cr)
	d := w.hasChild(t, cr, 0)
	began := time.Now()
	w.merge(t, deployments, d, `{"spec":{"replicas":2}}`)
	w.cluster.await(t, "the Deployment to be as it was", slow, deployments, d.GetNamespace(), func(s seen) bool {
		now := s.by(d.GetUID())
		return now != nil && now.GetGeneration() >= d.GetGeneration()+2 && number(now, "spec", "replicas") == 0
	})
	w.measured("restored after %s", seconds(time.Since(began)))
	w.has(t, cr, 0)
}

func childDeleted(t *testing.T, w *world) {
	cr := w.make(t, "deleted-child", 0)
	w.has(t, cr, 0)
	w.quiet(t, cr)
	d := w.hasChild(t, cr, 0)
	began := time.Now()
	w.dropChild(t, d)
	w.cluster.await(t, "another Deployment", slow, deployments, d.GetNamespace(), func(s seen) bool {
		owned := s.ownedBy(cr)
		if w.published() {
			owned = s
		}
		return len(owned) == 1 && owned[0].GetUID() != d.GetUID()
	})
	w.measured("created again after %s", seconds(time.Since(began)))
	w.has(t, cr, 0)
}

// dropChild deletes the child by hand.
func (w *world) dropChild(t *testing.T, d *unstructured.Unstructured) {
	t.Helper()
	if err := w.cluster.objects.Resource(deployments).Namespace(d.GetNamespace()).Delete(t.Context(), d.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// childForeign: an object of others in the place of a child stays as it is, and
// the custom resource says so.
func childForeign(t *testing.T, w *world) {
	foreign, client := w.occupy(t, "foreign")
	cr := w.make(t, "foreign", 1)
	message := w.refused(t, cr)
	w.measured("%s", message)
	if !w.published() { // nor where nothing conflicts
		w.resize(t, cr, 0)
		w.cluster.await(t, "the edit to be refused", slow, w.subject.kind, cr.GetNamespace(), func(s seen) bool {
			now := s.by(cr.GetUID())
			return now != nil && number(now, "status", "observedGeneration") == 2
		})
		w.refused(t, cr)
	}
	now, err := client.Get(t.Context(), foreign.GetName(), metav1.GetOptions{})
	if err != nil || number(now, "spec", "replicas") != 0 || len(now.GetOwnerReferences()) > 0 || now.GetGeneration() != foreign.GetGeneration() {
		t.Errorf("the Deployment of others was changed: %v %v", err, now)
	}
}

// occupy creates an object of others in the place of the child of a custom resource that is
// not there yet.
func (w *world) occupy(t *testing.T, cr string) (*unstructured.Unstructured, dynamic.ResourceInterface) {
	t.Helper()
	probe := w.make(t, "probe-"+cr, 0)
	child := w.hasChild(t, probe, 0)
	data, err := json.Marshal(child.Object["spec"]) // nothing but its owner will tell it from a child
	if err != nil {
		t.Fatal(err)
	}
	var spec map[string]any
	if err := utiljson.Unmarshal(bytes.ReplaceAll(data, []byte(probe.GetName()), []byte(cr)), &spec); err != nil {
		t.Fatal(err)
	}
	name, namespace := child.GetName(), w.subject.namespace
	if w.published() { // every child has this name
		namespace = w.namespaceOf(cr)
		w.cluster.namespace(t, namespace, "")
	} else {
		name = replaceOnce(t, name, probe.GetName(), cr)
	}
	foreign := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": name, "namespace": namespace},
		"spec":     spec,
	}}
	client := w.cluster.objects.Resource(deployments).Namespace(namespace)
	foreign, err = client.Create(t.Context(), foreign, metav1.CreateOptions{FieldManager: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = try(nil, "kubectl", "delete", "deployment", "-n", namespace, foreign.GetName(), "--ignore-not-found")
	})
	return foreign, client
}

// refused waits until the status says that the custom resource failed, and
// returns how.
func (w *world) refused(t *testing.T, cr *unstructured.Unstructured) string {
	t.Helper()
	var said string
	w.cluster.await(t, "the failure on the status of "+cr.GetName(), slow, w.subject.kind, cr.GetNamespace(), func(s seen) bool {
		now := s.by(cr.GetUID())
		if now == nil {
			return false
		}
		status, reason, message := condition(now, "Ready")
		said = fmt.Sprintf("Ready=%s, %s: %s", status, reason, message)
		return status == "False" && (reason == "Failed" || reason == "ReconcileFailed")
	})
	return said
}

// quota: what the API server refuses is on the status and holds nobody up; when
// it may be, the resync makes up for it.
func quota(t *testing.T, w *world) {
	namespace := w.aside("quota")
	w.cluster.namespace(t, namespace, "")
	lift := w.limit(t, namespace, "count/deployments.apps", 0)
	held := w.makeIn(t, namespace, "held", 0)
	began := time.Now()
	free := w.make(t, "free", 0)
	w.has(t, free, 0)
	beside := time.Since(began)
	message := w.refused(t, held)
	lift()
	w.quiet(t, held)
	w.startResync(t)
	w.has(t, held, 0)
	w.measured("another one is reconciled in %s meanwhile; %s; reconciled by the resync", seconds(beside), message)
}

// limit sets a quota and returns how to lift it.
func (w *world) limit(t *testing.T, namespace, what string, n int) func() {
	t.Helper()
	quotas := w.cluster.objects.Resource(resourceQuotas).Namespace(namespace)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"name": "e2e"},
		"spec": map[string]any{"hard": map[string]any{what: fmt.Sprint(n)}},
	}}
	if _, err := quotas.Create(t.Context(), object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	w.cluster.await(t, "the quota to be in force", slow, resourceQuotas, namespace, func(s seen) bool {
		return len(s) == 1 && s[0].Object["status"] != nil && len(nestedMap(s[0], "status", "hard")) > 0
	})
	return func() {
		if err := quotas.Delete(t.Context(), "e2e", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
}

// namespaceDeleted: a namespace goes with all that is in it, and the operator
// goes on.
func namespaceDeleted(t *testing.T, w *world) {
	namespace := w.aside("gone")
	w.cluster.namespace(t, namespace, "")
	one := w.makeIn(t, namespace, "one", 0)
	w.has(t, one, 0)
	w.makeIn(t, namespace, "two", 1) // in the middle of it
	began := time.Now()
	run(t, nil, "kubectl", "delete", "namespace", namespace, "--timeout="+slow.String())
	took := time.Since(began)
	w.has(t, w.make(t, "elsewhere", 0), 0)
	w.measured("gone after %s", seconds(took))
}

// redefined: another definition is applied while custom resources come and
// change; all follow.
func redefined(t *testing.T, w *world) {
	var list []*unstructured.Unstructured
	n := 1
	if w.subject.engine == "direct" {
		n = 5 // they take no time
	}
	for i := range n {
		list = append(list, w.make(t, fmt.Sprintf("r%d", i), 0))
	}
	for _, cr := range list {
		w.has(t, cr, 0)
	}
	dir := w.subject.definition(t)
	began := time.Now()
	w.apply(t, generate(t, rewritten(t, dir, "-alpine", "-alpine3.99")))
	created := w.make(t, "created", 0)
	w.merge(t, w.subject.kind, list[0], `{"metadata":{"labels":{"in":"flight"}}}`)
	for _, cr := range append(list, created) {
		w.cluster.await(t, "the Deployment of "+cr.GetName()+" to be of the new definition", slow, deployments, w.subject.namespace, func(s seen) bool {
			owned := s.ownedBy(cr)
			return len(owned) == 1 && hasImage(owned[0], "-alpine3.99")
		})
	}
	took := time.Since(began)
	w.apply(t, w.manifest)
	for _, cr := range append(list, created) {
		w.cluster.await(t, "the Deployment of "+cr.GetName()+" to be of the old definition", slow, deployments, w.subject.namespace, func(s seen) bool {
			owned := s.ownedBy(cr)
			return len(owned) == 1 && !hasImage(owned[0], "-alpine3.99")
		})
		w.has(t, cr, 0)
	}
	w.awaitListening(t)
	w.measured("%d custom resources follow the new definition within %s", n+1, seconds(took))
}

func (o *operator) apply(t *testing.T, manifest []byte) {
	t.Helper()
	run(t, manifest, "kubectl", "apply", "-f", "-")
}

func hasImage(d *unstructured.Unstructured, suffix string) bool {
	containers, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		if image, _ := c.(map[string]any)["image"].(string); len(image) > len(suffix) && image[len(image)-len(suffix):] == suffix {
			return true
		}
	}
	return false
}
