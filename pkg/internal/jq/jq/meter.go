package jq

import (
	"context"
	"fmt"
	"runtime/metrics"
	"time"
)

// The limits of one evaluation. A Sensor has none: there, an endless program blocks
// every event, and one that uses all memory kills the pod.
const (
	MaxSteps = 10_000_000 // about half a second
	maxTime  = 10 * time.Second
	maxHeap  = 1 << 30 // bytes by which the heap may grow during the evaluation
)

// The words for an evaluation that takes too long, and what to do.
const (
	unending = "does not end in time"
	endless  = "give the numbers and lists that it loops over a maximum in the schema, and loops an end"
)

// LimitError reports an exceeded limit.
type LimitError struct{ Message, Hint string }

func (e *LimitError) Error() string { return e.Message }

// meter is the context of one evaluation. gojq calls Done before each step, so it
// counts the steps.
type meter struct {
	context.Context
	steps   int
	err     error
	started time.Time
	watched time.Time // when the heap was last read
	heap    uint64    // its first size; 0 until it is read
}

const (
	stride   = 32                   // steps between two checks of the time
	interval = 2 * time.Millisecond // between two checks of the heap, which most evaluations never reach
)

var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (m *meter) Done() <-chan struct{} {
	if m.steps++; m.steps%stride != 0 {
		return nil
	}
	if m.err = m.met(); m.err != nil {
		return closed
	}
	return nil
}

func (m *meter) Err() error { return m.err }

// met returns the error of the exceeded limit, if any.
func (m *meter) met() error {
	now := time.Now()
	if m.steps == stride {
		m.started, m.watched = now, now
	}
	switch {
	case m.steps >= MaxSteps, now.Sub(m.started) > maxTime:
		return &LimitError{unending, endless}
	case now.Sub(m.watched) < interval:
		return nil
	}
	m.watched = now
	heap := heapSize()
	if m.heap == 0 {
		m.heap = heap
	}
	if heap > m.heap+maxHeap {
		return &LimitError{fmt.Sprintf("takes more than %d MiB of memory", maxHeap>>20), smaller}
	}
	return m.Context.Err()
}

func heapSize() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
