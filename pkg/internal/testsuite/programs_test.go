package testsuite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/argoperator/argoperator/pkg/internal/testsuite"
)

// things is an operator whose logic is a shell program; more goes into its spec.
func things(t *testing.T, program, more, steps string) testsuite.Result {
	t.Helper()
	return inlineWith(t, program, more, "  steps:\n"+steps)
}

// TestPausesTakeNoTime tells that the pauses between the attempts of the
// operator's own program pass on a clock of their own, and that a request that
// fails again and again is named.
func TestPausesTakeNoTime(t *testing.T) {
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
		!strings.Contains(got, "was tried 7 times, and the answer was 503 Service Unavailable: not now") {
		t.Error(got)
	}
}

// TestLogicThatAsksForMore tells that what the logic asks for comes with later
// alone, even if the time is short: each run asks for another one.
func TestLogicThatAsksForMore(t *testing.T) {
	t.Parallel()
	program := `sleep 1.1; echo '{"children": [], "resyncAfterSeconds": 1, "finalized": true}' > "$ARGOPERATOR_RESPONSE"`
	r := things(t, program, "", `
  - {name: created, create: {}, expect: {trace: {workflows: 1}}}
  - {name: once more, timer: {}, expect: {trace: {workflows: 1}}}
  - {name: and again, timer: {}, expect: {trace: {workflows: 1}}}
`)
	if r.State() != testsuite.Passed {
		t.Error(printed(t, r, "."))
	}
}

// TestTimeout tells that a program is ended when the definition's time is over, and
// that the custom resource says what it does on a cluster.
func TestTimeout(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r := things(t, "sleep 300 & sleep 300; wait\n", "  reconcile: {timeout: 10s}\n", `
  - name: created
    create: {}
    expect:
      status: {conditions: [{type: Ready, status: "False", reason: ReconcileFailed, message: '${ startswith("reconcile failed: Step exceeded its deadline; see workflow") }'}]}
`)
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	findings := r.Findings()
	if len(findings) != 1 || !strings.Contains(findings[0].Message, "Step exceeded its deadline; container logic (main.sh) ended after 10s") {
		t.Error(printed(t, r, "."))
	}
}

// TestEndlessWriting tells that a program which writes without end is ended, and
// that a message says so.
func TestEndlessWriting(t *testing.T) {
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
