//go:build perf

package argoperator_test

import (
	"math"
	"testing"
)

// TestAllocations limits the memory that a run allocates.
func TestAllocations(t *testing.T) {
	guard(t, "allocations.json", "allocations", "go test ./pkg/argoperator -run '^$' -bench Generate -memprofile", benchmarked,
		func(name string) float64 {
			source := sourceOf(t, name)
			return math.Round(testing.AllocsPerRun(3, func() { printed(t, source) }))
		})
}
