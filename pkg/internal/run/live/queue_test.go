package live

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pending atomic.Int64
		q, other := newQueue(&pending), newQueue(&pending)
		var handled []int
		next := make(chan struct{})
		go q.work(func(i item) {
			handled = append(handled, i.event)
			<-next
		})
		check := func(what string, waiting int64, want ...int) {
			t.Helper()
			synctest.Wait()
			if got := pending.Load(); got != waiting {
				t.Errorf("%s: %d events wait, want %d", what, got, waiting)
			}
			if d := cmp.Diff(want, handled); d != "" {
				t.Errorf("%s (-want +got):\n%s", what, d)
			}
		}

		check("nothing yet", 0)
		for _, event := range []int{1, 2, 3} {
			q.add(item{event: event})
		}
		other.add(item{event: 9})
		check("one is handled at a time, and waits until then", 4, 1)
		next <- struct{}{}
		check("in order", 3, 1, 2)
		q.close()
		check("what waits is dropped", 2, 1, 2)
		next <- struct{}{}
		check("what is handled ends", 1, 1, 2)
		q.add(item{event: 4})
		check("a closed queue takes nothing", 1, 1, 2)
		other.close()
		check("a queue that nobody works off", 0, 1, 2)
	})
}
