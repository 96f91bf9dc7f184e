//go:build perf

package argoperator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

// guard compares machine-independent measurements with a file in testdata: 3 % more
// is a regression, and 10 % less must be recorded with UPDATE=1. help names the
// command or page that explains the cause. Noise can only increase a measurement, so
// a high one is repeated up to five times, and the minimum counts.
func guard(t *testing.T, name, unit, help string, names []string, count func(of string) float64) {
	t.Helper()
	file := filepath.Join(root, "testdata", name)
	least := func(of string, limit float64) float64 {
		n := count(of)
		for again := 0; again < 4 && n > limit; again++ {
			n = min(n, count(of))
		}
		return n
	}
	if goldenfile.Update() {
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
	recorded := map[string]float64{}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, of := range names {
		was := recorded[of]
		switch n := least(of, was*1.03); {
		case n > was*1.03:
			t.Errorf("%s: %g %s, was %g: find the cause with %s", of, n, unit, was, help)
		case n < was*0.9:
			t.Errorf("%s: %g %s, was %g: record it with UPDATE=1 make perf", of, n, unit, was)
		}
	}
}
