//go:build perf

package argoperator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// guard holds figures that are the same on every machine to what a file of
// testdata has: 3 % more is a regression, 10 % less is to be written down.
// UPDATE=1 does so; the diff is the review. why says how to find the reason.
// Chance can only add to a figure, so what is too high is counted again, up to
// five times, and the least is taken.
func guard(t *testing.T, name, unit, why string, names []string, count func(of string) float64) {
	t.Helper()
	file := filepath.Join(root, "testdata", name)
	least := func(of string, enough float64) float64 {
		n := count(of)
		for again := 0; again < 4 && n > enough; again++ {
			n = min(n, count(of))
		}
		return n
	}
	if os.Getenv("UPDATE") != "" {
		now := map[string]float64{}
		for _, of := range names {
			now[of] = least(of, 0)
		}
		data, err := json.MarshalIndent(now, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]float64{}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	for _, of := range names {
		was := known[of]
		switch n := least(of, was*1.03); {
		case n > was*1.03:
			t.Errorf("%s: %g %s, were %g: find out why with %s", of, n, unit, was, why)
		case n < was*0.9:
			t.Errorf("%s: %g %s, were %g: write that down with UPDATE=1 make perf", of, n, unit, was)
		}
	}
}
