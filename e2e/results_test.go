//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// result is the outcome of one scenario with one operator. They are
// the input of docs/explanation/guarantees.md.
type result struct {
	Scenario string  `json:"scenario"`
	Operator string  `json:"operator"` // ENGINE/EXAMPLE
	Passed   bool    `json:"passed"`
	Seconds  float64 `json:"seconds"`
	Measured string  `json:"measured,omitempty"`
	Problem  string  `json:"problem,omitempty"`
}

// results are collected while the tests run and written when they end.
var results struct {
	sync.Mutex
	list []result
}

// record keeps the outcome of a scenario when its test ends. The function that
// it returns adds what was measured.
func record(t *testing.T, scenario, operator string) func(format string, args ...any) {
	t.Helper()
	one, began := result{Scenario: scenario, Operator: operator}, time.Now()
	t.Cleanup(func() {
		if t.Skipped() {
			return
		}
		one.Passed, one.Seconds = !t.Failed(), float64(time.Since(began).Milliseconds())/1000
		fmt.Printf("e2e: %-22s %-26s %s %s\n", scenario, operator, verdict(one.Passed), one.Measured)
		results.Lock()
		defer results.Unlock()
		results.list = append(results.list, one)
		keep()
	})
	return func(format string, args ...any) { one.Measured = fmt.Sprintf(format, args...) }
}

// fail notes that a scenario failed before it was recorded.
func fail(scenario, operator string) {
	results.Lock()
	defer results.Unlock()
	if !slices.ContainsFunc(results.list, func(r result) bool { return r.Scenario == scenario && r.Operator == operator }) {
		results.list = append(results.list, result{Scenario: scenario, Operator: operator})
	}
}

func verdict(passed bool) string {
	if passed {
		return "pass"
	}
	return "FAIL"
}

// keep writes the results so far, so that a stopped run keeps them. It reports
// whether it succeeded.
func keep() bool {
	path := os.Getenv("E2E_RESULTS")
	if path == "" || len(results.list) == 0 {
		return true
	}
	if err := writeResults(path); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: results:", err)
		return false
	}
	return true
}

func TestMain(m *testing.M) {
	code := m.Run()
	if !keep() {
		code = max(code, 1)
	}
	os.Exit(code)
}

// writeResults adds the results to those that are in the file already, in place
// of older ones of the same scenario and operator.
func writeResults(path string) error {
	var all []result
	if data, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
	}
	for _, one := range results.list {
		all = slices.DeleteFunc(all, func(r result) bool { return r.Scenario == one.Scenario && r.Operator == one.Operator })
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Operator, b.Operator))
	})
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644) //nolint:gosec // a report is for everyone
}
