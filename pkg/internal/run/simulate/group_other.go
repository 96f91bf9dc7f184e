//go:build !unix

package simulate

import (
	"os"
	"os/exec"
	"strconv"
)

// ownGroup does nothing: killGroup follows parent processes instead.
func ownGroup(*exec.Cmd) {}

// killGroup kills a program and the processes that it started. Windows has no
// process groups, so children of a program that has already ended stay.
func killGroup(leader *os.Process) error {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run() == nil { //nolint:gosec // a number
		return nil
	}
	return leader.Kill()
}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
