//go:build !unix

package simulate

import (
	"os"

	"github.com/argoperator/argoperator/pkg/internal/base/process"
)

// ownGroup does nothing: killGroup follows parent processes instead.
func ownGroup(*process.Cmd) {}

// killGroup kills a program and the processes that it started. Windows has no
// process groups, so children of a program that has already ended stay.
func killGroup(leader *os.Process) error {
	if process.Kill(leader) == nil {
		return nil
	}
	return leader.Kill()
}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
