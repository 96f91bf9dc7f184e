package argoperator

import (
	"iter"
	"runtime"
)

// inOrder works on several items at a time and yields what became of them in
// their order. Only so many are ahead of the one that is yielded next as keep the
// processors busy, so what is in memory does not grow with the list.
func inOrder[In, Out any](items iter.Seq[In], work func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		ahead := 2 * runtime.GOMAXPROCS(0)
		var queue []chan Out
		for item := range items {
			done := make(chan Out, 1) // whoever works never waits, even if nobody takes it
			go func() { done <- work(item) }()
			queue = append(queue, done)
			if len(queue) < ahead {
				continue
			}
			if !yield(<-queue[0]) {
				return
			}
			queue = queue[1:]
		}
		for _, done := range queue {
			if !yield(<-done) {
				return
			}
		}
	}
}
