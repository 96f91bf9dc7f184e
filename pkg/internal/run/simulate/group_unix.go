//go:build unix

package simulate

import (
	"errors"
	"os"
	"syscall"

	"github.com/argoperator/argoperator/pkg/internal/base/process"
)

// ownGroup starts a program in a process group of its own, together with all its
// children.
func ownGroup(cmd *process.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills what is left of a program's process group.
func killGroup(leader *os.Process) error {
	err := syscall.Kill(-leader.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// exitCode returns the exit code as a container reports it: 128 plus the signal for
// a killed process.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
