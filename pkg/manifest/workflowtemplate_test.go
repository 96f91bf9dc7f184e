//go:build unix

package manifest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAfterRead runs the wait script in each shell of this machine, because an image
// may have any of them.
func TestAfterRead(t *testing.T) {
	shells := [][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"mksh"}}
	tests := []struct {
		name    string
		request bool
		read    string // the file that shows the end of read
		logic   []string
		want    int
	}{
		{"logic succeeds", true, "workspace/read.exit", []string{"sh", "-c", "test -s read.exit"}, 0},
		{"arguments stay as they are", true, "workspace/read.exit", []string{"sh", "-c", `test "$1" = 'a  "$b"'`, "x", `a  "$b"`}, 0},
		{"logic fails", true, "workspace/read.exit", []string{"sh", "-c", "exit 3"}, 3},
		{"no such logic", true, "workspace/read.exit", []string{"./no-such-program"}, 127},
		{"nothing to do", false, "workspace/read.exit", []string{"sh", "-c", "exit 3"}, 0},
		{"read was killed", false, "ctr/read/exitcode", []string{"sh", "-c", "exit 3"}, 0},
	}
	for _, shell := range shells {
		if _, err := exec.LookPath(shell[0]); err != nil && shell[0] != "sh" {
			continue
		}
		for _, tt := range tests {
			t.Run(shell[0]+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				pod := newPod(t)
				if tt.request {
					pod.write("workspace/request.json", "{}")
				}
				cmd := pod.start(shell, tt.logic)
				time.Sleep(20 * time.Millisecond) // it probably waits by now; the test does not depend on it
				if pod.read("workspace/logic.exit") != "" {
					t.Error("the logic has ended before read")
				}
				pod.write(tt.read, "0")
				if got := pod.wait(cmd); got != tt.want {
					t.Errorf("exit code %d, want %d", got, tt.want)
				}
				if left := strings.TrimSpace(pod.read("workspace/logic.exit")); left != strconv.Itoa(tt.want) {
					t.Errorf("left %q for apply, want %d", left, tt.want)
				}
			})
		}
		t.Run(shell[0]+" the logic ends well", func(t *testing.T) {
			t.Parallel()
			pod := newPod(t)
			pod.write("workspace/request.json", "{}")
			pod.write("workspace/read.exit", "0")
			cmd := pod.start(shell, []string{"sh", "-c", `trap 'echo done > ended; exit 4' TERM; echo yes > begun; while :; do sleep 0.05; done`})
			for pod.read("workspace/begun") == "" {
				time.Sleep(5 * time.Millisecond)
			}
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil { // the group, like Argo's executor
				t.Fatal(err)
			}
			if got := pod.wait(cmd); got != 4 || pod.read("workspace/ended") == "" {
				t.Errorf("exit code %d, want that of the logic, 4", got)
			}
		})
	}
}

// podFiles are the files that the containers of a pod share.
type podFiles struct {
	t   *testing.T
	dir string
}

func newPod(t *testing.T) podFiles {
	p := podFiles{t, t.TempDir()}
	for _, dir := range []string{"workspace", "ctr/read"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p podFiles) write(name, text string) {
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p podFiles) read(name string) string {
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return string(text)
}

// start runs the container of the logic, in its own process group.
func (p podFiles) start(shell, logic []string) *exec.Cmd {
	script := strings.NewReplacer(workspaceDir, filepath.Join(p.dir, "workspace"), executorDir, filepath.Join(p.dir, "ctr")).Replace(afterRead)
	cmd := exec.Command(shell[0], append(append(shell[1:len(shell):len(shell)], "-c", script, "logic"), logic...)...)
	cmd.Dir = filepath.Join(p.dir, "workspace")
	cmd.Env = append(os.Environ(), "ARGOPERATOR_REQUEST="+filepath.Join(p.dir, "workspace", "request.json"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // it may have ended
	return cmd
}

// wait returns the exit code.
func (p podFiles) wait(cmd *exec.Cmd) int {
	if err := cmd.Wait(); cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}
