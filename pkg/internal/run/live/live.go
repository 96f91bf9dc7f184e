package live

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/operator/graph"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// Inputs of New.
type Inputs struct {
	// Server is the API server, with the rights of its administrator.
	Server *rest.Config
	// Runner of the programs in Workflows.
	Runner simulate.Runner
}

// Live runs operators.
type Live struct {
	in       Inputs
	client   dynamic.Interface
	api      *api
	switches *switches
	records  *records
	objects  *objects
	listens  *listeners
	runs     *runs
	recorder *recorder
	pending  atomic.Int64 // deliveries that wait

	mu      sync.Mutex
	current *generation
	loaded  int // how often operators were loaded
}

// New connects to an API server and runs nothing.
func New(in Inputs) (*Live, error) {
	l := &Live{in: in, switches: newSwitches(), listens: newListeners(), runs: newRuns()}
	var err error
	if l.api, err = newAPI(in.Server, l.switches); err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	if l.client, err = dynamic.NewForConfig(in.Server); err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	l.records = newRecords(func(s Summary) { l.listens.tell(Message{Record: &s}) })
	l.objects = newObjects(l.client, l.listens.tell)
	l.recorder = &recorder{
		objects: l.objects,
		refuses: func() int { code, _ := l.switches.refusal(); return code },
		pending: l.Pending,
		removed: map[string]bool{},
	}
	l.objects.follow(l.recorder.follow)
	l.api.requested = l.recorder.requested
	return l, nil
}

// generation is one version of the operators, which runs until the next is loaded.
type generation struct {
	*Live
	ctx       context.Context // until the next generation
	lifetime  context.Context // until the end
	cancel    context.CancelFunc
	sim       *simulate.Simulation
	view      View
	origins   map[simulate.Origin]string // operators by what their Workflows run
	queues    map[string]*queue          // by Sensor and trigger
	informers []*informer                // of the EventSources
	watches   []simulate.Watch           // of the informers
	work      sync.WaitGroup
	numbers   atomic.Int64 // of events
}

// originsOf returns the names of operators by their WorkflowTemplates and CronWorkflows.
func originsOf(result argoperator.Result) map[simulate.Origin]string {
	out := map[simulate.Origin]string{}
	for _, b := range result.Bundles() {
		for _, o := range b.Objects {
			switch o.(type) {
			case *wfv1.WorkflowTemplate, *wfv1.CronWorkflow, *appsv1.Deployment:
				out[simulate.Origin{Kind: o.GetObjectKind().GroupVersionKind().Kind, Name: o.GetName()}] = b.Name
			}
		}
	}
	return out
}

// Load replaces the operators by others, whose objects the API server has. Their
// EventSources publish an event for every existing object, as they do when they start.
func (l *Live) Load(ctx context.Context, result argoperator.Result) error {
	l.Stop()
	g := &generation{Live: l, lifetime: ctx, origins: originsOf(result), queues: map[string]*queue{}}
	var err error
	g.sim, err = simulate.New(simulate.Inputs{
		Objects: result.Objects(), Kinds: result.Kinds(), Runner: l.in.Runner, Now: time.Now, Prepared: simulate.NewPrepared(),
		Remote: &simulate.Remote{API: l.api, Publish: g.publish, Relist: g.relist, Worked: g.worked, Later: g.later},
	})
	if err != nil {
		return err
	}
	g.view = View{Target: g.sim.Target, Graphs: graphs(result)}
	g.ctx, g.cancel = context.WithCancel(ctx)
	l.mu.Lock()
	l.current = g
	l.loaded++
	l.mu.Unlock()
	l.objects.load(ctx, result)
	return g.start()
}

func graphs(result argoperator.Result) map[string]graph.Graph {
	out := map[string]graph.Graph{}
	for i, g := range result.Graphs() {
		out[result.Operators[i].Name] = g
	}
	return out
}

// Stop ends the operators and waits for their work. Workflows that run go on.
func (l *Live) Stop() {
	l.mu.Lock()
	g := l.current
	l.current = nil
	l.mu.Unlock()
	if g == nil {
		return
	}
	g.cancel()
	g.mu.Lock()
	for _, q := range g.queues {
		q.close()
	}
	g.mu.Unlock()
	g.work.Wait()
	if err := g.sim.Close(); err != nil {
		l.note(StateFailed, err.Error())
	}
}

func (g *generation) start() error {
	for _, c := range g.sim.CronWorkflows() {
		if err := g.schedule(c); err != nil {
			return err
		}
	}
	for _, w := range g.sim.Workers() {
		g.repeat(w)
	}
	if err := g.watchWorkflows(); err != nil {
		return err
	}
	for _, w := range g.sim.Watches() {
		if err := g.watch(w); err != nil {
			return err
		}
	}
	return nil
}

// publish sends an event to the queues of the triggers that it reaches.
func (g *generation) publish(e simulate.Event) {
	subscribers, err := g.sim.Subscribers(e, int(g.numbers.Add(1)))
	if err != nil {
		g.note(StateFailed, "encoding an event: "+err.Error())
		return
	}
	record := g.eventRecord(e)
	lost := g.switches.get().LoseEvents
	if lost {
		record.State, record.Text = StateLost, "the event bus lost it"
		record.Nodes = record.Nodes[:len(record.Nodes)-1]
	}
	id := g.records.add(record)
	if lost {
		return
	}
	for _, s := range subscribers {
		g.queueOf(s).add(item{subscriber: s, event: id, operator: record.Operator, object: record.Object})
	}
}

// queueOf returns the queue of a trigger, which works off its events in order.
func (g *generation) queueOf(s simulate.Subscriber) *queue {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := s.Trigger()
	q := g.queues[name]
	if q == nil {
		q = newQueue(&g.pending)
		g.queues[name] = q
		if g.ctx.Err() != nil { // stopped meanwhile
			q.close()
			return q
		}
		g.work.Add(1)
		go func() {
			defer g.work.Done()
			q.work(func(i item) { g.deliver(i) })
		}()
	}
	return q
}

// deliver delivers an event to a trigger.
func (g *generation) deliver(i item) {
	if !g.switches.awaitSensors(g.ctx) {
		return
	}
	start, id := time.Now(), 0
	record := func(d *simulate.Delivery) Record {
		out := g.view.Delivery(d, i.operator)
		out.Cause, out.Time, out.Object = i.event, start, i.object
		return out
	}
	delivery, err := i.subscriber.Deliver(g.ctx, func(d *simulate.Delivery) {
		running := record(d)
		if running.State != StateFailed { // it is done
			return
		}
		running.State = StateRunning
		if id == 0 {
			id = g.records.add(running)
		} else {
			g.records.replace(id, running)
		}
	})
	if g.ctx.Err() != nil {
		return
	}
	g.recorder.stir()
	done := record(delivery)
	done.Duration = Milliseconds(time.Since(start))
	if err != nil {
		done.State, done.Text = StateFailed, err.Error()
	}
	for _, a := range delivery.Attempts {
		g.objects.observeWritten(g.ctx, a.Calls, g.sim)
	}
	switch {
	case done.State == StateSkipped:
		done.complete()
		g.records.update(i.event, true, func(r *Record) {
			r.Skipped++
			r.Rejected = append(r.Rejected, done)
		})
	case id == 0:
		g.records.add(done)
	default:
		g.records.replace(id, done)
	}
}

// note records a message.
func (l *Live) note(state State, text string) {
	one := Record{}
	one.Type, one.State, one.Title = TypeNote, state, text
	l.records.add(one)
}

// Note records a message.
func (l *Live) Note(text string) { l.note(StateDone, text) }

// Fail records a failure of no trigger.
func (l *Live) Fail(text string) { l.note(StateFailed, text) }

// Act records what a user did.
func (l *Live) Act(title string, about Object, nodes ...string) int {
	one := Record{}
	one.Type, one.State, one.Title, one.Object, one.Nodes = TypeAction, StateDone, title, about, nodes
	return l.records.add(one)
}

// Switches returns the switches.
func (l *Live) Switches() Switches { return l.switches.get() }

// Switch turns a switch on or off.
func (l *Live) Switch(name string, on bool) error {
	if err := l.switches.set(name, on); err != nil {
		return err
	}
	if l.switches.get().LoseEvents {
		l.recorder.end("events were lost, and tests have no step for that")
	}
	return nil
}

// Resync does what the operators' CronWorkflows do at their intervals.
func (l *Live) Resync(ctx context.Context) error {
	g := l.generation()
	if g == nil {
		return nil
	}
	l.recorder.act("time passes until the resync", "resync")
	return g.sim.Resync(ctx)
}

// Redeliver publishes the event of a record once more.
func (l *Live) Redeliver(id int) error {
	g := l.generation()
	r, ok := l.records.get(id)
	e, isEvent := r.Input.(rawEvent)
	if !ok || g == nil || !isEvent {
		return fmt.Errorf("record %d has no event, or is too old", id)
	}
	l.recorder.act("the event is delivered again", "replay")
	g.publish(e.event)
	return nil
}

func (l *Live) generation() *generation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// Loaded counts how often operators were loaded.
func (l *Live) Loaded() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loaded
}

// Pending returns the number of deliveries that wait for a trigger.
func (l *Live) Pending() int { return int(l.pending.Load()) }

// Record returns a record, unless it is too old.
func (l *Live) Record(id int) (Record, bool) { return l.records.get(id) }

// Summaries returns the summaries of all records, the oldest first.
func (l *Live) Summaries() []Summary { return l.records.summaries() }

// ObjectStates returns the custom resources, their children, and what those own.
func (l *Live) ObjectStates() []ObjectState { return l.objects.states() }
