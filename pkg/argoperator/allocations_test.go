package argoperator_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestAllocations holds what a run allocates to what is written down, as that is
// the same on every machine: 3 % more is a regression, 10 % less is to be written
// down. UPDATE=1 does so; the diff is the review.
func TestAllocations(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too")
	}
	file := filepath.Join(root, "testdata", "allocations.json")
	known, now := map[string]float64{}, map[string]float64{}
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &known); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range benchmarked {
		source := sourceOf(t, name)
		now[name] = math.Round(testing.AllocsPerRun(3, func() { printed(t, source) }))
		switch was := known[name]; {
		case os.Getenv("UPDATE") != "":
		case now[name] > was*1.03:
			t.Errorf("%s: %.0f allocations, were %.0f: find out why with go test ./pkg/argoperator -run '^$' -bench Generate/%s -memprofile", name, now[name], was, name)
		case now[name] < was*0.9:
			t.Errorf("%s: %.0f allocations, were %.0f: write that down with UPDATE=1 go test ./pkg/argoperator -run TestAllocations", name, now[name], was)
		}
	}
	if os.Getenv("UPDATE") != "" {
		data, err := json.MarshalIndent(now, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
