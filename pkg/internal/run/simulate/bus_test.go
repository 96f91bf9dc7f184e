package simulate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/sensors/dependencies"
	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/itchyny/gojq"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// Bus is a simulation with an event bus between the EventSources and the Sensors.
// Each trigger has its own queue, random choice decides which queue is served, and
// Bad injects faults.
type Bus struct {
	*Simulation
	Bad Bad
	// Log is called for every step; nil: not called.
	Log func(format string, args ...any)
	// Delivered counts deliveries to triggers.
	Delivered int

	rand     *rand.Rand
	up       bool  // the EventSources run
	watching bool  // their watches work
	starting []int // watches that have not listed their objects yet, so that they miss changes
	known    []map[cluster.Key]cluster.Object
	queues   []*queue
	pods     []pending
	faults   int // faults of the API server in the current delivery
	budget   int // allowed faults
	inPod    bool
	shared   *Shared
	compare  int // deliveries until the next comparison with Argo's transform
}

// Bad contains the probabilities of faults in percent.
type Bad struct {
	Twice  int  // events published twice
	Killed int  // deliveries that end before the acknowledgement and are repeated
	Forgot int  // events that a worker acknowledges before it is killed
	API    int  // failing requests
	Mild   bool // no request fails often enough to exhaust the retries
}

// Shared caches what is expensive to prepare: the compiled programs of the Sensors,
// and what every simulation can share. It must not be used concurrently.
type Shared struct {
	programs map[string]*gojq.Code
	prepared *Prepared
}

// NewShared returns an empty Shared.
func NewShared() *Shared {
	return &Shared{programs: map[string]*gojq.Code{}, prepared: NewPrepared()}
}

// queue contains the pending messages of a trigger.
type queue struct {
	subscription
	waiting []*message
	open    []*message // delivered but not acknowledged; the messages are redelivered
}

// message is an event on the bus.
type message struct {
	event Event
	cloud *cloudevents.Event
	body  map[string]any
}

// pending is a Workflow whose pod has not started.
type pending struct {
	change cluster.Change
	tries  int
}

// retries of a Workflow after a failed pod.
const retries = 3

// budgetOfPod is how many requests of one reconcile may fail.
const budgetOfPod = 1000

// NewBus starts with an empty cluster.
func NewBus(in Inputs, shared *Shared, r *rand.Rand) (*Bus, error) {
	in.Prepared = shared.prepared
	s, err := New(in)
	if err != nil {
		return nil, err
	}
	b := &Bus{Simulation: s, rand: r, up: true, watching: true, known: make([]map[cluster.Key]cluster.Object, len(s.watches)), shared: shared}
	for i := range b.known {
		b.known[i] = map[cluster.Key]cluster.Object{}
	}
	for _, sub := range s.subscriptions {
		b.queues = append(b.queues, &queue{subscription: sub})
	}
	s.cluster.NewUID = func(count int) types.UID { // like real uids, they differ in the first digits
		return types.UID(fmt.Sprintf("%04x0000-0000-0000-0000-%012d", count*7919%65536, count))
	}
	s.api = http.HandlerFunc(b.serve)
	return b, nil
}

func (b *Bus) log(format string, args ...any) {
	if b.Log != nil {
		b.Log(format, args...)
	}
}

func (b *Bus) chance(percent int) bool { return percent > 0 && b.rand.IntN(100) < percent }

// serve answers requests and injects faults: it refuses a request, or drops the
// answer to an executed one.
func (b *Bus) serve(w http.ResponseWriter, r *http.Request) {
	if b.faults >= b.budget || !b.chance(b.Bad.API) {
		b.cluster.ServeHTTP(w, r)
		return
	}
	b.faults++
	code := []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusConflict}[b.rand.IntN(4)]
	if code == http.StatusConflict && strings.Contains(bodyOf(r), `"resourceVersion"`) {
		code = http.StatusInternalServerError // a conflict requires a resourceVersion
	}
	if b.inPod {
		code = http.StatusConflict // a pod would sleep before it retries the others
	}
	done := code == http.StatusInternalServerError && b.chance(50)
	if done {
		b.cluster.ServeHTTP(&cluster.Answer{Headers: http.Header{}}, r)
	}
	b.log("    %s %s: %d (carried out: %v)", r.Method, r.URL.Path, code, done)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a bad day","code":%d}`, code)
}

// bodyOf reads the body of a request and keeps it readable.
func bodyOf(r *http.Request) string {
	if r.Body == nil {
		return ""
	}
	data, _ := io.ReadAll(r.Body) // an in-memory reader
	r.Body = io.NopCloser(bytes.NewReader(data))
	return string(data)
}

// StopSources stops the EventSources, which then miss all changes.
func (b *Bus) StopSources() { b.listen(); b.up, b.starting = false, nil }

// StartSources restarts them, so that they relist everything.
func (b *Bus) StartSources() {
	b.listen() // earlier changes are not replayed
	b.up, b.watching = true, true
	for i := range b.known {
		b.known[i] = map[cluster.Key]cluster.Object{}
	}
	b.relist()
}

// BreakWatches interrupts the watches; the EventSources keep their caches.
func (b *Bus) BreakWatches() { b.listen(); b.watching, b.starting = false, nil }

// MendWatches restarts the watches: the EventSources see existing objects, but not
// which ones were deleted.
func (b *Bus) MendWatches() {
	b.listen()
	b.watching = true
	if b.up {
		b.relist()
	}
}

// Restart restarts the EventSources and their watches.
func (b *Bus) Restart() {
	if b.up {
		b.MendWatches()
	} else {
		b.StartSources()
	}
}

// LoseMessages deletes the stream of the bus.
func (b *Bus) LoseMessages() {
	b.listen()
	for _, q := range b.queues {
		q.waiting, q.open = nil, nil
	}
}

// relist lets each watch start by itself, in any order.
func (b *Bus) relist() {
	b.starting = nil
	for i := range b.watches {
		b.starting = append(b.starting, i)
	}
}

// list starts one of the watches with all objects that there are.
func (b *Bus) list() error {
	at := b.rand.IntN(len(b.starting))
	i := b.starting[at]
	b.starting = slices.Delete(b.starting, at, at+1)
	b.log("  watch %d starts", i)
	for _, k := range b.cluster.Order {
		b.notify(i, k, nil, b.cluster.Objects[k])
	}
	return nil
}

// listen delivers changes to the EventSources.
func (b *Bus) listen() {
	for _, c := range b.cluster.TakeChanges() {
		o := c.Object()
		k := cluster.Key{GroupResource: c.Resource, Namespace: o.GetNamespace(), Name: o.GetName()}
		if c.Resource == workflowsResource && c.Old == nil && c.New != nil {
			b.pods = append(b.pods, pending{change: c, tries: retries})
		}
		if !b.up || !b.watching {
			continue
		}
		for i := range b.watches {
			if !slices.Contains(b.starting, i) {
				b.notify(i, k, c.Old, c.New)
			}
		}
	}
}

// notify sends the current object to an informer; nil: it was deleted, and the
// watch reports its last state. Deletions of unknown objects are ignored.
func (b *Bus) notify(i int, k cluster.Key, last, o cluster.Object) {
	w, known := b.watches[i], b.known[i][k]
	if known == nil && o == nil {
		return
	}
	if o == nil && w.matches(last) {
		known = last
	}
	event, ok := w.eventFor(b.cluster, cluster.Change{Resource: k.GroupResource, Old: known, New: o})
	switch {
	case w.matches(o):
		b.known[i][k] = o
	default:
		delete(b.known[i], k)
	}
	if !ok {
		return
	}
	times := 1
	if b.chance(b.Bad.Twice) {
		times = 2
	}
	for range times {
		b.queue(event)
	}
}

func (b *Bus) queue(event Event) {
	b.events++
	cloud, err := cloudEvent(event, b.events, metav1.Now().Time)
	if err != nil {
		panic(err) // unreachable: it is JSON
	}
	m := &message{event: event, cloud: cloud}
	for _, q := range b.queues {
		if slices.ContainsFunc(q.dependencies, func(d eventsv1.EventDependency) bool { return matches(d, event) }) {
			q.waiting = append(q.waiting, m)
		}
	}
}

// Step executes one pending action; it returns false if there is none.
func (b *Bus) Step(ctx context.Context) (bool, error) {
	b.listen()
	var todo []func() error
	for _, q := range b.queues {
		if len(q.waiting) > 0 {
			todo = append(todo, func() error { return b.next(ctx, q) })
		}
		if len(q.open) > 0 && b.chance(20) { // after later messages
			todo = append(todo, func() error { return b.again(ctx, q) })
		}
	}
	if len(b.pods) > 0 {
		todo = append(todo, func() error { return b.work(ctx) })
	}
	if len(b.starting) > 0 {
		todo = append(todo, b.list)
	}
	for _, w := range b.workers {
		for _, key := range w.failed() {
			if b.chance(20) { // after later messages
				todo = append(todo, func() error { return b.retry(ctx, w, key) })
			}
		}
	}
	if len(todo) > 0 && !b.chance(3) {
		return true, todo[b.rand.IntN(len(todo))]()
	}
	if b.cluster.CollectGarbage() > 0 {
		b.log("  the garbage collector works")
		return true, nil
	}
	return len(todo) > 0 || b.anyOpen(), nil
}

func (b *Bus) anyOpen() bool {
	return slices.ContainsFunc(b.queues, func(q *queue) bool { return len(q.open) > 0 })
}

// Settle executes actions until none are left.
func (b *Bus) Settle(ctx context.Context, limit int) error {
	end := b.Delivered + limit
	for {
		more, err := b.Step(ctx)
		if err != nil || !more {
			return err
		}
		if b.Delivered > end {
			return fmt.Errorf("still not settled after %d events", limit)
		}
	}
}

func (b *Bus) next(ctx context.Context, q *queue) error {
	m := q.waiting[0]
	q.waiting = q.waiting[1:]
	if b.posts(&q.trigger) && b.chance(b.Bad.Forgot) {
		b.log("  %s: the worker is killed when it has acknowledged %s", q.trigger.Template.Name, m.event.summary())
		return b.RestartWorkers(ctx)
	}
	if b.chance(b.Bad.Killed) {
		q.open = append(q.open, m)
		if b.chance(30) {
			b.log("  %s: killed before %s", q.trigger.Template.Name, m.event.summary())
			return nil
		}
		b.log("  %s: killed after %s", q.trigger.Template.Name, m.event.summary())
	}
	return b.deliver(ctx, q, m)
}

func (b *Bus) again(ctx context.Context, q *queue) error {
	i := b.rand.IntN(len(q.open))
	m := q.open[i]
	q.open = slices.Delete(q.open, i, i+1)
	b.log("  %s: once more", q.trigger.Template.Name)
	return b.deliver(ctx, q, m)
}

func (e Event) summary() string {
	var payload struct {
		Body metav1.PartialObjectMetadata `json:"body"`
	}
	_ = json.Unmarshal(e.Data, &payload) // for log output only
	return fmt.Sprintf("%s of %s, version %s", e.Type, e.Object, payload.Body.ResourceVersion)
}

// deliver delivers an event to a trigger.
func (b *Bus) deliver(ctx context.Context, q *queue, m *message) error {
	b.Delivered++
	for _, d := range q.dependencies {
		if !matches(d, m.event) {
			continue
		}
		delivery := &Delivery{}
		passed, err := b.pass(d, m, delivery)
		if err != nil {
			return err
		}
		if passed == nil {
			if delivery.Lost {
				return fmt.Errorf("%s: %s", d.Name, delivery.Stopped)
			}
			continue
		}
		b.faults, b.budget, b.inPod = 0, budget(&q.trigger, b.Bad.Mild), b.posts(&q.trigger)
		b.log("  %s: %s", q.trigger.Template.Name, m.event.summary())
		err = b.fire(ctx, q.sensor, &q.trigger, events{d.Name: passed}, delivery)
		b.inPod = false
		if err != nil {
			return err
		}
		b.logCalls(delivery)
		b.logTurns()
	}
	b.trace = nil
	return nil
}

// posts reports whether a trigger sends its events to a worker.
func (b *Bus) posts(t *eventsv1.Trigger) bool {
	return t.Template.HTTP != nil && b.workerOf(t.Template.HTTP) != nil
}

// logTurns logs what workers have done since the last step.
func (b *Bus) logTurns() {
	for _, step := range b.trace {
		if w := step.Workflow; w != nil && w.Origin.Kind == "Deployment" {
			for _, c := range w.Containers {
				b.log("    worker: %s", c.Output)
			}
		}
	}
}

// retry runs what a worker tries again: the failed reconciles of a custom resource.
func (b *Bus) retry(ctx context.Context, w *worker, key string) error {
	b.Delivered++
	b.log("  worker: %q once more", key)
	return b.command(ctx, w, workerCommand{Key: key})
}

func (b *Bus) command(ctx context.Context, w *worker, command workerCommand) error {
	b.faults, b.budget, b.inPod = 0, budgetOfPod, true
	_, err := w.do(ctx, command)
	b.inPod = false
	b.logTurns()
	b.trace = nil
	return err
}

// failed returns the keys that a worker tries again, sorted.
func (w *worker) failed() []string {
	var out []string
	for key, found := range w.timers {
		if found.retry {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// RestartWorkers kills the workers; the new ones begin with a look at all.
func (b *Bus) RestartWorkers(ctx context.Context) error {
	for _, w := range b.workers {
		clear(w.timers)
		if err := errors.Join(w.end(), b.command(ctx, w, workerCommand{Start: true})); err != nil {
			return err
		}
	}
	return nil
}

// LookWithWorkers is the resync of the workers.
func (b *Bus) LookWithWorkers(ctx context.Context) error {
	for _, w := range b.workers {
		if err := b.command(ctx, w, workerCommand{}); err != nil {
			return err
		}
	}
	return nil
}

// Retry lets the workers try again what has failed.
func (b *Bus) Retry(ctx context.Context) error {
	for _, w := range b.workers {
		for _, key := range w.failed() {
			if err := b.retry(ctx, w, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// budget returns how many requests of a delivery may fail.
func budget(t *eventsv1.Trigger, mild bool) int {
	if !mild {
		return 1000
	}
	all := attempts(t) - 1
	if d := t.DlqTrigger; d != nil && d.Template.Log == nil {
		all += attempts(d)
	}
	return all
}

func (b *Bus) logCalls(d *Delivery) {
	if b.Log == nil {
		return
	}
	for _, a := range d.Attempts {
		for _, c := range a.Calls {
			body, _ := json.Marshal(c.Body)
			b.log("    %s %s: %d %.300s", c.Method, c.Path, c.Status, body)
		}
	}
}

// pass is the simulation's own with cached programs. It periodically compares the
// result with that of Argo's own code.
func (b *Bus) pass(d eventsv1.EventDependency, m *message, delivery *Delivery) (*eventsv1.Event, error) {
	if m.body == nil {
		if err := json.Unmarshal(m.event.Data, &m.body); err != nil {
			return nil, err
		}
	}
	code := b.shared.programs[d.Transform.JQ]
	if code == nil {
		query, err := gojq.Parse(d.Transform.JQ)
		if err != nil {
			return nil, err
		}
		if code, err = gojq.Compile(query); err != nil {
			return nil, err
		}
		b.shared.programs[d.Transform.JQ] = code
	}
	result, _ := code.Run(m.body).Next()
	fields, ok := result.(map[string]any)
	if b.compare--; b.compare < 0 {
		b.compare = 500
		if err := sameAsArgo(d, m, fields); err != nil {
			return nil, err
		}
	}
	if !ok {
		delivery.Stopped, delivery.Lost = fmt.Sprintf("the transform made %v", result), true
		return nil, nil
	}
	if len(fields) == 1 && fields["go"] == false { // held back by the filter
		return nil, nil
	}
	out := m.cloud.Clone()
	if err := out.SetData(cloudevents.ApplicationJSON, fields); err != nil {
		return nil, err
	}
	return filter(d, &out, delivery), nil
}

func sameAsArgo(d eventsv1.EventDependency, m *message, fields map[string]any) error {
	in := m.cloud.Clone()
	out, err := dependencies.ApplyTransform(&in, d.Transform)
	if err != nil {
		return err
	}
	var theirs, ours any
	text, err := json.Marshal(fields)
	if err := errors.Join(err, json.Unmarshal(out.Data(), &theirs), json.Unmarshal(text, &ours)); err != nil {
		return err
	}
	if !reflect.DeepEqual(theirs, ours) {
		return fmt.Errorf("%s: Argo's transform returns %v, ours %v", d.Name, theirs, ours)
	}
	return nil
}

// work runs one of the Workflows. A failed one is retried.
func (b *Bus) work(ctx context.Context) error {
	i := b.rand.IntN(len(b.pods))
	p := b.pods[i]
	b.pods = slices.Delete(b.pods, i, i+1)
	b.Delivered++
	b.faults, b.budget, b.inPod = 0, budgetOfPod, true
	defer func() { b.inPod = false }()
	b.trace = nil
	if err := b.runWorkflow(ctx, p.change, &counts{of: map[string]int{}}); err != nil {
		return err
	}
	for _, step := range b.trace {
		if w := step.Workflow; w != nil {
			b.log("  Workflow %s: %s", w.Name, cmp.Or(w.Failure, "done"))
			for _, c := range w.Containers {
				b.log("    %s", c.Output)
			}
			if p.tries--; w.Failure != "" && p.tries > 0 {
				b.pods = append(b.pods, p)
			}
		}
	}
	b.trace = nil
	return nil
}

// Everything returns all objects sorted by kind, namespace and name.
func (b *Bus) Everything() []map[string]any {
	var out []map[string]any
	keys := slices.SortedFunc(maps.Keys(b.cluster.Objects), func(x, y cluster.Key) int {
		return cmp.Or(cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	for _, k := range keys {
		if k.GroupResource != workflowsResource {
			out = append(out, b.cluster.Objects[k].DeepCopy().Object)
		}
	}
	return out
}
