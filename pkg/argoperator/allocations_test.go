package argoperator_test

import (
	"math"
	"testing"
)

// TestAllocations guards what a run allocates.
func TestAllocations(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too")
	}
	now := map[string]float64{}
	for _, name := range benchmarked {
		source := sourceOf(t, name)
		now[name] = math.Round(testing.AllocsPerRun(3, func() { printed(t, source) }))
	}
	guard(t, "allocations.json", "allocations", "go test ./pkg/argoperator -run '^$' -bench Generate -memprofile", now)
}
