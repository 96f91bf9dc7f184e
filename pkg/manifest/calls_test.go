package manifest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/testing/need"
)

// TestPerCall runs the shell loop of the logic's container with the program of the worker that
// talks to it, in the shells of stock images.
func TestPerCall(t *testing.T) {
	script := strings.NewReplacer(workspaceDir, "$BASE/workspace", logicDir, "$BASE/logic", temporaryDir+"/", "$BASE/tmp/").Replace(perCall)
	for _, shell := range []string{"dash", "bash", "busybox sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			need.Program(t, strings.Fields(shell)[0])
			cmd := exec.Command(need.Program(t, "python3"), "-B", "testdata/calls.py", "../../templates/runtime")
			cmd.Env = append(os.Environ(), "LOOP="+script, "LOOP_SHELL="+shell)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}
