package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

var workflowsResource = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}

// maxPods is the number of Workflows that run at the same time on this machine.
const maxPods = 4

// runs are the Workflows that run or wait.
type runs struct {
	mu      sync.Mutex
	started map[string]bool // uids
	mutexes map[string]chan struct{}
	free    chan struct{}
}

func newRuns() *runs {
	return &runs{started: map[string]bool{}, mutexes: map[string]chan struct{}{}, free: make(chan struct{}, maxPods)}
}

// start reports whether a Workflow has not run yet.
func (r *runs) start(uid string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started[uid] {
		return false
	}
	r.started[uid] = true
	return true
}

// lock waits for the mutexes of a Workflow, which are sorted, and for a free place. The
// returned function gives them back.
func (r *runs) lock(ctx context.Context, names []string) (unlock func(), err error) {
	var held []chan struct{}
	unlock = func() {
		for _, one := range held {
			<-one
		}
	}
	for _, name := range names {
		r.mu.Lock()
		if r.mutexes[name] == nil {
			r.mutexes[name] = make(chan struct{}, 1)
		}
		held = append(held, r.mutexes[name])
		r.mu.Unlock()
	}
	for i, one := range append(held, r.free) {
		select {
		case one <- struct{}{}:
		case <-ctx.Done():
			held = held[:i]
			unlock()
			return nil, ctx.Err()
		}
	}
	held = append(held, r.free)
	return unlock, nil
}

// watchWorkflows runs the Workflows that triggers and CronWorkflows create.
func (g *generation) watchWorkflows() error {
	_, err := newInformer(g.ctx, source{client: g.client, resource: workflowsResource}, g.runWorkflow, func(error) {})
	return err
}

func (g *generation) runWorkflow(c cluster.Change) {
	if c.New == nil || c.Old != nil {
		return
	}
	if phase, _, _ := unstructured.NestedString(c.New.Object, "status", "phase"); phase != "" {
		return // it ran
	}
	r, ok, err := g.sim.RunOf(c)
	if err != nil {
		g.note(StateFailed, err.Error())
	}
	if ok && g.runs.start(string(c.New.GetUID())) {
		go g.run(r, identity(c.New), stateOf(c.New.Object))
	}
}

// run runs a Workflow. It ends with the server and not with the operators' generation.
func (g *generation) run(r simulate.Run, about Object, state string) {
	ctx := g.lifetime
	names, err := r.Mutexes()
	if err != nil {
		g.note(StateFailed, err.Error())
		return
	}
	operator := g.origins[r.Workflow().Origin]
	waiting := g.view.Workflow(r.Workflow(), operator)
	waiting.State, waiting.Object, waiting.state = StateRunning, about, state
	id := g.records.add(waiting)
	select {
	case <-ctx.Done():
		return
	case <-time.After(r.Pause()):
	}
	unlock, err := g.runs.lock(ctx, names)
	if err != nil {
		return
	}
	start := time.Now()
	err = r.Do(ctx)
	unlock()
	if ctx.Err() != nil {
		return
	}
	g.records.update(id, false, func(out *Record) {
		done := g.view.Workflow(r.Workflow(), operator)
		done.ID, done.Time, done.Duration, done.Object = id, start, Milliseconds(time.Since(start)), about
		if err != nil {
			done.State, done.Text = StateFailed, err.Error()
		}
		*out = done
	})
	for _, c := range r.Workflow().Containers {
		g.objects.observeWritten(ctx, c.Calls, g.sim)
	}
	g.forget(ctx, r, about)
}

// forget deletes a Workflow when its time to live has passed.
func (g *generation) forget(ctx context.Context, r simulate.Run, w Object) {
	keep, limited := r.Kept(r.Workflow().Failure != "")
	if !limited {
		return
	}
	time.AfterFunc(keep, func() {
		_ = g.client.Resource(workflowsResource).Namespace(w.Namespace).Delete(ctx, w.Name, metav1.DeleteOptions{}) // it may be gone
	})
}

// schedule runs a CronWorkflow at its times.
func (g *generation) schedule(c *wfv1.CronWorkflow) error {
	for _, text := range c.Spec.Schedules {
		schedule, err := cron.ParseStandard(text)
		if err != nil {
			return fmt.Errorf("CronWorkflow %s: %w", c.Name, err)
		}
		g.work.Add(1)
		go func() {
			defer g.work.Done()
			g.tick(c, schedule)
		}()
	}
	return nil
}

func (g *generation) tick(c *wfv1.CronWorkflow, schedule cron.Schedule) {
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(time.Until(schedule.Next(time.Now()))):
		}
		g.Act("CronWorkflow "+c.Name+" runs", Object{Kind: "CronWorkflow", Namespace: c.Namespace, Name: c.Name}, "resync")
		if err := g.sim.RunCron(g.ctx, c); err != nil && g.ctx.Err() == nil {
			g.note(StateFailed, err.Error())
		}
	}
}
