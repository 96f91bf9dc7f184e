package argoperator

import (
	"iter"
	"runtime"
)

// inOrder processes several items in parallel and yields the results in order. It
// starts only as many items ahead as keep the processors busy, so memory use does
// not grow with the list.
func inOrder[In, Out any](items iter.Seq[In], work func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		ahead := 2 * runtime.GOMAXPROCS(0)
		var queue []chan Out
		for item := range items {
			done := make(chan Out, 1) // buffered: work must not block if the caller stops
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
