package simulate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// TestChance executes random sequences of changes and faults. Afterwards an
// operator must reach the same state as in a fresh cluster with the final custom
// resources. CHANCE_SEEDS sets the number of sequences per operator, CHANCE_SEED
// selects a single one.
func TestChance(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // many short-lived allocations
	for _, tt := range []struct {
		file  string
		seeds int
	}{
		{"examples/memcached/operator.yaml", 60},
		{"examples/webapp/operator.yaml", 20},
		{"testdata/behaviour/listed/operator.yaml", 40},
	} {
		o, err := open(filepath.Join(root, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(o.plan.Operator.Name, func(t *testing.T) {
			chances(t, o, tt.seeds, false)
		})
	}
}

// TestChanceWorkflow is the same with pods, which are slow.
func TestChanceWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for _, tt := range []struct{ name, file, more string }{
		{"logic", "examples/memcached-logic/operator.yaml", byWorkflow},
		{"templates", "examples/memcached/operator.yaml", byWorkflow},
	} {
		o, err := openWith(filepath.Join(root, tt.file), tt.more)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(tt.name, func(t *testing.T) { chances(t, o, 1, false) })
	}
}

// TestChanceWorker is the same with a worker, which is killed now and then.
func TestChanceWorker(t *testing.T) {
	for _, tt := range []struct {
		name, file, more string
		seeds            int
	}{
		{"templates", "examples/memcached/operator.yaml", byWorker, 10},
		{"children", "examples/webapp/operator.yaml", byWorker, 5},
		{"logic", "examples/memcached-logic/operator.yaml", byWorker, 1},
		{"line", "testdata/behaviour/line/operator.yaml", "", 4},
	} {
		o, err := openWith(filepath.Join(root, tt.file), tt.more)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(tt.name, func(t *testing.T) { chances(t, o, tt.seeds, false) })
	}
}

// chances runs the sequences of an operator.
func chances(t *testing.T, o operator, count int, attacked bool) {
	t.Helper()
	shared := simulate.NewShared()
	delivered, failed := 0, 0
	all := seeds(t, count)
	for _, seed := range all {
		g := game{t: t, o: o, seed: seed, attacked: attacked, shared: shared, runner: simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}}}
		n, err := g.play(g.length(), nil)
		delivered += n
		if err == nil {
			continue
		}
		if failed++; failed == 1 {
			t.Error(g.shortest(err))
		} else if t.Errorf("seed %d: %.300v", seed, err); failed == 5 {
			return
		}
	}
	t.Logf("%d sequences, %d events delivered", len(all), delivered)
}

// seeds returns the seeds from the environment, or the given number of seeds.
func seeds(t *testing.T, count int) []uint64 {
	t.Helper()
	number := func(name string) (uint64, bool) {
		text := os.Getenv(name)
		if text == "" {
			return 0, false
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n, true
	}
	if one, given := number("CHANCE_SEED"); given {
		return []uint64{one}
	}
	if testing.Short() {
		count = max(count/10, 1)
	}
	if n, given := number("CHANCE_SEEDS"); given {
		count = int(n)
	}
	out := make([]uint64, count)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}

// game is one random sequence of moves on an operator. Each move has its own random
// numbers, so removing the last moves does not change the earlier ones.
type game struct {
	t      *testing.T
	o      operator
	seed   uint64
	shared *simulate.Shared
	runner simulate.Runner

	attacked bool
}

func (g *game) rand(move int) *rand.Rand { return rand.New(rand.NewPCG(g.seed, uint64(move))) }

func (g *game) length() int { return 3 + g.rand(0).IntN(16) }

// runsPods reports whether the operator runs a pod for a reconcile. Only its resync detects
// labels removed from a child.
func (g *game) runsPods() bool {
	return g.o.plan.Reconcile.Engine != plan.Direct && !g.o.plan.Reconcile.Execution.Stays
}

// mild games lose no events, and so need no resync.
func (g *game) mild() bool { return g.seed%2 == 0 }

// exact games deliver each event once.
func (g *game) exact() bool { return g.seed%4 < 2 }

// shortest plays shorter games and returns the log of the shortest that fails.
func (g *game) shortest(err error) string {
	moves := g.length()
	for n := range moves {
		if _, shorter := g.play(n, nil); shorter != nil {
			moves, err = n, shorter
			break
		}
	}
	var log strings.Builder
	_, _ = g.play(moves, func(format string, args ...any) { fmt.Fprintf(&log, format+"\n", args...) }) // fails as before
	return fmt.Sprintf("%s, seed %d, %d moves:\n%s%v", g.o.plan.Operator.Name, g.seed, moves, log.String(), err)
}

// play makes the given number of moves, then ends all faults and compares.
func (g *game) play(moves int, log func(string, ...any)) (delivered int, err error) {
	w, err := g.begin(g.rand(-1))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	w.Log = log
	bad := []int{10, 10, 50}[g.rand(-3).IntN(3)]
	w.Bad = simulate.Bad{Twice: 8, Killed: 8, Forgot: 8, API: bad, Mild: g.mild()}
	if g.exact() {
		w.Bad.Twice, w.Bad.Killed = 0, 0
	}
	for i := range moves {
		if err := w.move(g.rand(i + 1)); err != nil {
			return w.Delivered, fmt.Errorf("move %d: %w", i, err)
		}
	}
	exhausted := bad == 50 && g.o.plan.Reconcile.Finalizer != "" // some deletions are left to the resync
	if err := w.finish(!g.mild() || g.runsPods() || exhausted); err != nil {
		return w.Delivered, err
	}
	fresh, err := g.begin(g.rand(-2))
	if err != nil {
		return w.Delivered, err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	if err := fresh.repeat(w); err != nil {
		return w.Delivered, fmt.Errorf("fresh cluster: %w", err)
	}
	if err := w.untouched(); err != nil {
		return w.Delivered, err
	}
	return w.Delivered, w.compare(fresh)
}

func (g *game) begin(r *rand.Rand) (*table, error) {
	b, err := simulate.NewBus(simulate.Inputs{Objects: g.o.objects, Runner: g.runner}, g.shared, r)
	return &table{Bus: b, game: g, wanted: map[string]map[string]any{}, unrelated: map[string]map[string]any{}, victims: map[string]map[string]any{}}, err
}

// table is the state of a game.
type table struct {
	*simulate.Bus
	game      *game
	wanted    map[string]map[string]any // the desired custom resources
	unrelated map[string]map[string]any // unrelated objects with the names of children
	victims   map[string]map[string]any // unrelated objects that the attacker labelled, as they were then
}

// enough limits the events of one game.
const enough = 4000

func (w *table) log(format string, args ...any) {
	if w.Log != nil {
		w.Log(format, args...)
	}
}

// move executes a random action or fault.
func (w *table) move(r *rand.Rand) error {
	type choice struct {
		weight int
		do     func(*rand.Rand) error
	}
	choices := []choice{
		{30, w.apply}, {6, w.delete}, {8, w.editChild}, {8, w.deleteChild}, {8, w.controllers}, {30, w.pass}, {4, w.settle},
	}
	if !w.game.mild() {
		choices = append(choices, choice{4, w.occupy}, choice{3, w.vacate}, choice{12, w.breakOrMend})
	}
	if w.game.o.plan.Reconcile.Execution.Stays {
		choices = append(choices, choice{6, w.restartWorkers})
	}
	if w.game.attacked {
		choices = append(choices, choice{40, w.attack})
	}
	total := 0
	for _, c := range choices {
		total += c.weight
	}
	n := r.IntN(total)
	for _, c := range choices {
		if n -= c.weight; n < 0 {
			return c.do(r)
		}
	}
	return nil
}

func (w *table) pass(r *rand.Rand) error {
	n := r.IntN(60)
	w.log("time passes (%d)", n)
	for range n {
		if _, err := w.Step(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

func (w *table) restartWorkers(*rand.Rand) error {
	w.log("the worker restarts")
	return w.RestartWorkers(context.Background())
}

func (w *table) settle(*rand.Rand) error {
	w.log("all settles")
	return w.Settle(context.Background(), enough)
}

// apply writes a new or existing custom resource.
func (w *table) apply(r *rand.Rand) error {
	cr, err := w.game.o.schema.Random(r)
	if err != nil {
		return err
	}
	cr = filled(cr).(map[string]any)
	cr["metadata"] = w.randomName(r)
	if before, err := w.Get(cr); err != nil || before != nil && before["metadata"].(map[string]any)["deletionTimestamp"] != nil {
		return err // a finalizer still holds the previous one
	}
	w.log("apply %s", text(cr))
	w.wanted[keyOf(cr)] = cr
	return w.Apply(cr)
}

func (w *table) randomName(r *rand.Rand) map[string]any {
	return map[string]any{"name": []string{"alpha", "beta", "gamma"}[r.IntN(3)], "namespace": []string{"default", "default", "other"}[r.IntN(3)]}
}

func keyOf(o map[string]any) string {
	metadata := o["metadata"].(map[string]any)
	return fmt.Sprintf("%v %v/%v", o["kind"], metadata["namespace"], metadata["name"])
}

func (w *table) delete(r *rand.Rand) error {
	names := slices.Sorted(maps.Keys(w.wanted))
	if len(names) == 0 {
		return nil
	}
	cr := w.wanted[names[r.IntN(len(names))]]
	w.log("delete %s", keyOf(cr))
	delete(w.wanted, keyOf(cr))
	return w.Delete(cr)
}

// child returns a random child; nil if there is none.
func (w *table) child(r *rand.Rand) map[string]any {
	children := slices.DeleteFunc(w.Everything(), func(o map[string]any) bool {
		return o["kind"] == w.game.o.plan.API.Kind.Kind || labelsOf(o)["argoperator.dev/owner-uid"] == nil || isAttackers(o)
	})
	if len(children) == 0 {
		return nil
	}
	return children[r.IntN(len(children))]
}

func labelsOf(o map[string]any) map[string]any {
	labels, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
	return labels
}

func (w *table) deleteChild(r *rand.Rand) error {
	child := w.child(r)
	if child == nil {
		return nil
	}
	w.log("delete %s by hand", keyOf(child))
	return w.Delete(child)
}

// editChild changes a field that the operator sets, or removes an identifying
// label. Without managed-by the child would be unrelated.
func (w *table) editChild(r *rand.Rand) error {
	child := w.child(r)
	if child == nil {
		return nil
	}
	change := handEdit(child, r)
	w.log("edit %s by hand: %s", keyOf(child), change)
	err := w.send(http.MethodPatch, w.Path(child, "?fieldManager=hand"), "application/merge-patch+json", change)
	if err != nil && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
		w.log("refused: %v", err)
		return nil
	}
	return err
}

func handEdit(child map[string]any, r *rand.Rand) string {
	if r.IntN(4) == 0 {
		label := []string{"argoperator.dev/owner-uid", "argoperator.dev/child"}[r.IntN(2)]
		return fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, label)
	}
	n := 1 + r.IntN(9)
	switch child["kind"] {
	case "Deployment":
		return fmt.Sprintf(`{"spec":{"template":{"spec":{"securityContext":{"runAsUser":%d}}}}}`, n)
	case "Service":
		return fmt.Sprintf(`{"spec":{"selector":{"app.kubernetes.io/instance":"hand-%d"}}}`, n)
	case "HorizontalPodAutoscaler":
		return fmt.Sprintf(`{"spec":{"maxReplicas":%d}}`, 1000+n)
	case "ConfigMap":
		if data, _ := child["data"].(map[string]any); data["text"] != nil {
			return fmt.Sprintf(`{"data":{"text":"hand-%d"}}`, n)
		}
	}
	return fmt.Sprintf(`{"metadata":{"annotations":{"argoperator.dev/owner":"hand.%d"}}}`, n)
}

// controllers run the workload controllers.
func (w *table) controllers(*rand.Rand) error {
	w.log("controllers work")
	for _, o := range w.Everything() {
		if o["kind"] != "Deployment" || labelsOf(o)["argoperator.dev/owner-uid"] == nil || isAttackers(o) {
			continue
		}
		replicas, ok := o["spec"].(map[string]any)["replicas"]
		if !ok || replicas == nil {
			replicas = 1
		}
		status := fmt.Sprintf(`{"status":{"observedGeneration":%v,"replicas":%v,"readyReplicas":%[2]v,"updatedReplicas":%[2]v,"availableReplicas":%[2]v}}`,
			o["metadata"].(map[string]any)["generation"], replicas)
		if err := w.send(http.MethodPatch, w.Path(o, "/status?fieldManager=controller"), "application/merge-patch+json", status); err != nil {
			return err
		}
	}
	return nil
}

func (w *table) send(method, path, contentType, body string) error {
	req, err := http.NewRequest(method, path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	_, err = w.Do(req)
	return err
}

// occupy creates an unrelated object with the name of a future child.
func (w *table) occupy(r *rand.Rand) error {
	children := w.game.o.plan.Children
	c := children[r.IntN(len(children))]
	metadata := w.randomName(r)
	if !c.Kind.Namespaced {
		delete(metadata, "namespace")
	}
	o := simulate.Smallest(c.Kind.APIVersion(), c.Kind.Kind, metadata)
	if existing, err := w.Get(o); err != nil || existing != nil {
		return err
	}
	w.log("occupy %s", keyOf(o))
	w.unrelated[keyOf(o)] = o
	return w.putUnrelated(o)
}

// putUnrelated writes an object with an owner, so that it cannot get another
// controller.
func (w *table) putUnrelated(o map[string]any) error {
	metadata := o["metadata"].(map[string]any)
	owner := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "stranger", "namespace": metadata["namespace"]}}
	if err := w.Apply(owner); err != nil {
		return err
	}
	owner, err := w.Get(owner)
	if err != nil {
		return err
	}
	o = plain(o).(map[string]any)
	o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "name": "stranger", "uid": owner["metadata"].(map[string]any)["uid"], "controller": true,
	}}
	return w.Apply(o)
}

func (w *table) vacate(r *rand.Rand) error {
	names := slices.Sorted(maps.Keys(w.unrelated))
	if len(names) == 0 {
		return nil
	}
	o := w.unrelated[names[r.IntN(len(names))]]
	w.log("vacate %s", keyOf(o))
	delete(w.unrelated, keyOf(o))
	return w.Delete(o)
}

func (w *table) breakOrMend(r *rand.Rand) error {
	switch r.IntN(7) {
	case 0:
		w.log("the EventSource stops")
		w.StopSources()
	case 1:
		w.log("the EventSource starts")
		w.StartSources()
	case 2:
		w.log("the watches break")
		w.BreakWatches()
	case 3:
		w.log("the watches restart")
		w.MendWatches()
	case 4:
		w.log("the bus loses its store")
		w.LoseMessages()
	case 5:
		w.log("the API server is ill")
		w.Bad.API = 70
	case 6:
		w.log("the API server is better")
		w.Bad.API = 12
	}
	return nil
}

// finish ends all faults and waits.
func (w *table) finish(resync bool) error {
	w.log("from here on all is well")
	w.Bad = simulate.Bad{}
	if err := w.Retry(context.Background()); err != nil {
		return err
	}
	if resync {
		if err := w.resync(); err != nil {
			return err
		}
	}
	for range 3 { // pending events may revert a controller's write
		if err := w.Settle(context.Background(), enough); err != nil {
			return err
		}
		if err := w.controllers(nil); err != nil {
			return err
		}
	}
	return w.Settle(context.Background(), enough)
}

// resync restarts the EventSource of the direct engine, and runs the pod of the
// other engines.
func (w *table) resync() error {
	w.log("resync")
	p := w.game.o.plan
	if p.Reconcile.Engine == plan.Direct {
		w.StartSources()
		return nil
	}
	w.Restart()
	if err := w.Settle(context.Background(), enough); err != nil { // the next resync starts after all events
		return err
	}
	if p.Reconcile.Execution.Stays {
		return w.LookWithWorkers(context.Background())
	}
	path := "/apis/argoproj.io/v1alpha1/namespaces/" + p.Shared.Namespace + "/workflows"
	spec, err := json.Marshal(w.CronWorkflows()[0].Spec.WorkflowSpec)
	if err != nil {
		return err
	}
	return w.send(http.MethodPost, path, "application/json", fmt.Sprintf(
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"generateName":"resync-","namespace":%q},"spec":%s}`,
		p.Shared.Namespace, spec))
}

// repeat writes the final custom resources of another cluster to this one, which
// has no faults.
func (w *table) repeat(other *table) error {
	for _, name := range slices.Sorted(maps.Keys(other.unrelated)) {
		if err := w.putUnrelated(other.unrelated[name]); err != nil {
			return err
		}
	}
	w.unrelated = other.unrelated
	for _, name := range slices.Sorted(maps.Keys(other.wanted)) {
		if err := w.Apply(other.wanted[name]); err != nil {
			return err
		}
	}
	w.wanted = other.wanted
	return w.finish(false)
}

// compare returns the differences to a fresh cluster.
func (w *table) compare(fresh *table) error {
	if err := w.current(); err != nil {
		return err
	}
	if diff := cmp.Diff(fresh.essence(), w.essence()); diff != "" {
		return fmt.Errorf("the children or the status differ (-fresh +actual):\n%s", diff)
	}
	return nil
}

// current returns an error for an outdated status.
func (w *table) current() error {
	for _, name := range slices.Sorted(maps.Keys(w.wanted)) {
		cr, err := w.Get(w.wanted[name])
		if err != nil {
			return err
		}
		status, _ := cr["status"].(map[string]any)
		generation := cr["metadata"].(map[string]any)["generation"]
		if fmt.Sprint(status["observedGeneration"]) != fmt.Sprint(generation) {
			return fmt.Errorf("%s: generation %v, but the status is %s", name, generation, text(status))
		}
		ready, _ := plain(status["conditions"]).([]any)
		if len(w.unrelated) == 0 && (len(ready) == 0 || ready[0].(map[string]any)["status"] != "True") {
			return fmt.Errorf("%s: the children are not blocked, but the status is %s", name, text(status))
		}
	}
	return nil
}

// essence returns the state of the cluster without what depends on time and order.
func (w *table) essence() map[string]any {
	names := []string{}
	all := w.Everything()
	for _, o := range all {
		names = append(names, fmt.Sprint(o["metadata"].(map[string]any)["uid"]), "uid of "+keyOf(o))
	}
	name := strings.NewReplacer(names...)
	out := map[string]any{}
	for _, o := range all {
		if w.leftBehind(o) {
			continue
		}
		if o["kind"] != "Event" && !strings.HasSuffix(keyOf(o), "/stranger") && !isAttackers(o) { // Events depend on the order
			out[keyOf(o)] = plain(essential(o))
		}
	}
	for key, o := range out {
		out[key] = readText(name.Replace(text(o)))
	}
	return out
}

// leftBehind reports whether an event that was delivered once more made a child again
// that nothing owns, after its custom resource had been deleted or had stopped to want
// it. docs/explanation/reliability.md says so.
func (w *table) leftBehind(o map[string]any) bool {
	metadata := o["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	owner, _ := annotations["argoperator.dev/owner"].(string)
	if w.game.exact() || owner == "" || metadata["ownerReferences"] != nil {
		return false
	}
	namespace, name, _ := strings.Cut(owner, ".")
	kind := w.game.o.plan.API.Kind
	cr, err := w.Get(map[string]any{"apiVersion": kind.APIVersion(), "kind": kind.Kind, "metadata": map[string]any{"namespace": namespace, "name": name}})
	if err != nil {
		return false
	}
	suffix := "/" + metadata["name"].(string)
	if ns, _ := metadata["namespace"].(string); ns != "" && ns != namespace {
		suffix = "/" + ns + suffix
	}
	status, _ := cr["status"].(map[string]any)
	listed, _ := status["children"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	child, _ := labels["argoperator.dev/child"].(string)
	return listed[child+suffix] == nil
}

func essential(o map[string]any) any {
	metadata := o["metadata"].(map[string]any)
	for _, key := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"} {
		delete(metadata, key)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	for _, key := range []string{"generation", "attempt", "siblings", "reconcile"} {
		delete(annotations, "argoperator.dev/"+key)
	}
	delete(labelsOf(o), "argoperator.dev/reclaimed")
	status, _ := o["status"].(map[string]any)
	delete(status, "observedGeneration")
	delete(status, "children")
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		delete(c.(map[string]any), "lastTransitionTime")
		delete(c.(map[string]any), "observedGeneration")
		if message, ok := c.(map[string]any)["message"].(string); ok { // the Workflow's name differs
			c.(map[string]any)["message"], _, _ = strings.Cut(message, "; see workflow")
		}
	}
	return solid(o)
}

// solid returns a value without nulls and empty values, which server-side apply
// leaves behind.
func solid(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if v[key] = solid(inner); v[key] == nil || isEmpty(v[key]) {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = solid(v[i])
		}
	}
	return value
}
