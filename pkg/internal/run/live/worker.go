package live

import (
	"context"
	"time"

	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// worked records what a worker has done for one custom resource.
func (g *generation) worked(w *simulate.Workflow) {
	record := g.view.Workflow(w, g.origins[w.Origin])
	record.Time, record.key = time.Now(), w.Key
	g.records.add(record)
	for _, c := range w.Containers {
		g.objects.observeWritten(g.ctx, c.Calls, g.sim)
	}
}

// later does some work of a worker after a time, unless the operators have changed by then.
func (g *generation) later(after time.Duration, do func(ctx context.Context) error) {
	g.work.Add(1)
	go func() {
		defer g.work.Done()
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(after):
		}
		if err := do(g.ctx); err != nil && g.ctx.Err() == nil {
			g.note(StateFailed, err.Error())
		}
	}()
}

// repeat makes a worker look at all custom resources at its interval.
func (g *generation) repeat(w simulate.Worker) {
	g.later(w.Resync(), func(ctx context.Context) error {
		defer g.repeat(w)
		g.Act("Deployment "+w.Name()+" looks at all", Object{Kind: "Deployment", Namespace: w.Namespace(), Name: w.Name()}, "resync")
		return w.Look(ctx)
	})
}
