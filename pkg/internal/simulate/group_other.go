//go:build !unix

package simulate

import (
	"os"
	"os/exec"
	"strconv"
)

// ownGroup does nothing: killGroup goes by who has started whom.
func ownGroup(*exec.Cmd) {}

// killGroup kills a program and what it has started. Windows knows no groups; of a
// program that has ended, nobody knows what it started.
func killGroup(leader *os.Process) error {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run() == nil { //nolint:gosec // a number
		return nil
	}
	return leader.Kill()
}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
