package live

import (
	"sync"
	"sync/atomic"

	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// item is an event that waits for one trigger.
type item struct {
	subscriber simulate.Subscriber
	event      int // id of the record
	operator   string
	object     Object
}

// queue holds the events of a trigger in order, as the event bus does.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	items   []item
	closed  bool
	pending *atomic.Int64 // of all queues
}

func newQueue(pending *atomic.Int64) *queue {
	q := &queue{pending: pending}
	q.changed = sync.NewCond(&q.mu)
	return q
}

func (q *queue) add(i item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.pending.Add(1)
	q.items = append(q.items, i)
	q.changed.Signal()
}

// close drops the items that wait.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.pending.Add(-int64(len(q.items)))
	q.items = nil
	q.changed.Signal()
}

// work handles the items one after the other until the queue is closed.
func (q *queue) work(handle func(item)) {
	for {
		q.mu.Lock()
		for len(q.items) == 0 && !q.closed {
			q.changed.Wait()
		}
		if q.closed {
			q.mu.Unlock()
			return
		}
		next := q.items[0]
		q.items = q.items[1:]
		q.mu.Unlock()
		handle(next)
		q.pending.Add(-1)
	}
}
