//go:build e2e

package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// TestDoctor: the cluster is ready for an operator, but not in a namespace that
// is not there.
func TestDoctor(t *testing.T) {
	t.Parallel()
	connect(t)
	if out := string(run(t, nil, binary(t), "doctor", "-f", "../examples/memcached-logic")); strings.Contains(out, "\n  error") || !strings.Contains(out, "EventBus default: is ready") {
		t.Errorf("the cluster is not ready:\n%s", out)
	}
	out, err := exec.CommandContext(t.Context(), binary(t), "doctor", "-f", "../examples/memcached-logic", "-n", "nowhere").Output() //nolint:gosec // ourselves
	if err == nil || !strings.Contains(string(out), "Namespace nowhere: does not exist") {
		t.Errorf("it is ready in a namespace that is not there: %v\n%s", err, out)
	}
}
