package testsuite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

// things returns an operator whose logic is a shell program, with additional fields
// in its spec.
func things(t *testing.T, program, more, steps string) testsuite.Result {
	t.Helper()
	return inlineWith(t, program, more, "  steps:\n"+steps)
}

// TestRetriesUseSimulatedClock requires that pauses between retries use a simulated clock,
// and that a repeatedly failing request is reported.
func TestRetriesUseSimulatedClock(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r := things(t, logic("x", ":"), "", `
  - name: created
    create: {}
    refuse: [{kind: ConfigMap, code: 503, message: not now}]
    expect: {failures: [another failure]}
`)
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	if got := printed(t, r, "."); !strings.Contains(got, "PATCH /api/v1/namespaces/default/configmaps/one-config?fieldManager=things&force=") ||
		!strings.Contains(got, "failed after 4 attempts with 503 Service Unavailable: not now") {
		t.Error(got)
	}
}

// TestLogicRequestsResync requires that a resync requested by the logic only runs
// with later, even after a short time, because each run requests the next.
func TestLogicRequestsResync(t *testing.T) {
	t.Parallel()
	program := `sleep 1.1; echo '{"children": [], "resyncAfterSeconds": 1, "finalized": true}' > "$ARGOPERATOR_RESPONSE"`
	for engine, run := range map[string]string{"workflow": "workflows", "worker": "reconciles"} {
		r := things(t, program, "  reconcile: {engine: "+engine+"}\n", strings.ReplaceAll(`
  - {name: created, create: {}, expect: {trace: {RUNS: 1}}}
  - {name: once more, timer: {}, expect: {trace: {RUNS: 1}}}
  - {name: and again, timer: {}, expect: {trace: {RUNS: 1}}}
`, "RUNS", run))
		if r.State() != testsuite.Passed {
			t.Error(engine, printed(t, r, "."))
		}
	}
}

// TestTimeout requires that a program is stopped after the definition's timeout,
// and that the custom resource has the same status as on a cluster.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for engine, want := range map[string][2]string{
		"workflow": {"Step exceeded its deadline; see workflow", "Step exceeded its deadline; container logic (main.sh) stopped after 10s"},
		"worker":   {"logic: stopped after 10 s; see deployment", "container logic (main.sh) stopped after 10s"},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			r := things(t, "sleep 300 & sleep 300; wait\n", "  reconcile: {timeout: 10s, engine: "+engine+"}\n", strings.ReplaceAll(`
  - name: created
    create: {}
    expect:
      status: {conditions: [{type: Ready, status: "False", reason: ReconcileFailed, message: '${ startswith("reconcile failed: WANT") }'}]}
`, "WANT", want[0]))
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %s", took)
			}
			findings := r.Findings()
			if len(findings) != 1 || !strings.Contains(findings[0].Message, want[1]) {
				t.Error(printed(t, r, "."))
			}
		})
	}
}

// TestEndlessOutput requires that a program with endless output is stopped and
// reported.
func TestEndlessOutput(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ program, want string }{
		"output":   {"yes\n", "more than 64 MiB to its output"},
		"response": {`yes > "$ARGOPERATOR_RESPONSE"`, "more than 64 MiB into the volumes of its pod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := things(t, tt.program, "", "  - {name: created, create: {}}\n")
			if got := printed(t, r, "."); !strings.Contains(got, tt.want) || !strings.Contains(got, "exit code 137") || len(got) > 10000 {
				t.Errorf("%.3000s", got)
			}
		})
	}
}
