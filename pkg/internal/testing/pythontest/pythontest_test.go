package pythontest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/testing/pythontest"
)

// outcome is what a program wrote, and how it ended.
type outcome struct {
	Output, Problems string
	State            string
}

// started runs a program in dir; name is python3 or the path of another one.
func started(t *testing.T, dir, name string, env []string, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Args[0] = "python3" // which messages contain
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, env...), strings.NewReader("line 1\nline 2\n")
	var out, problems strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &problems
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{out.String(), problems.String(), cmd.ProcessState.String()}
}

// TestSame compares programs with what python3 itself makes of them.
func TestSame(t *testing.T) {
	real, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	defer pythontest.Start()()
	if forked, err := exec.LookPath("python3"); err != nil || forked == real {
		t.Fatalf("PATH still leads to %s (%v)", real, err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"beside.py":             "value = 1\n",
		"module.py":             "import beside, sys\nprint(beside.value, sys.argv, __name__, __file__, sys.path[0] == sys.path[0].strip(), sys.dont_write_bytecode)\n",
		"wrong.py":              "def f():\n    raise ValueError('é')\nf()\n",
		"syntax.py":             "def f(:\n",
		"deep/sitecustomize.py": "import time\ntime.sleep = lambda seconds: print('slept', seconds)\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		env, args []string
	}{
		"a script":              {nil, []string{"-B", "module.py", "a", "", "ü"}},
		"a script by its path":  {nil, []string{filepath.Join(dir, "module.py")}},
		"an error":              {nil, []string{"-B", "wrong.py"}},
		"no Python":             {nil, []string{"-B", "syntax.py"}},
		"no such file":          {nil, []string{"-B", "missing.py"}},
		"a text":                {nil, []string{"-c", "import sys; print(sys.argv, sys.path[0], __name__); sys.exit(3)", "x"}},
		"an error in a text":    {nil, []string{"-c", "1/0"}},
		"standard input":        {nil, []string{"-c", "import sys; print(sys.stdin.read())"}},
		"a program from it":     {[]string{"PYTHONUTF8=1"}, []string{"-B", "-"}},
		"environment":           {[]string{"A=b=c", "E="}, []string{"-c", "import os; print(sorted(os.environ.items()))"}},
		"another flag":          {nil, []string{"-S", "-c", "import sys; print(sys.flags.no_site)"}},
		"a flag by environment": {[]string{"PYTHONOPTIMIZE=1"}, []string{"-c", "assert False"}},
		"customised":            {[]string{"PYTHONPATH=" + dir + "/deep"}, []string{"-c", "import time; time.sleep(1000)"}},
		"at its exit":           {nil, []string{"-c", "import atexit, threading; atexit.register(print, 'end'); threading.Thread(target=lambda: print('thread')).start(); print('main')"}},
		"killed":                {nil, []string{"-c", "import os; os.kill(os.getpid(), 9)"}},
		"a message":             {nil, []string{"-c", "import sys; sys.exit('why')"}},
		"a child":               {nil, []string{"-c", "import subprocess; print(subprocess.run(['sh', '-c', 'echo out; exit 4']).returncode)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // with and without what the server has kept
				if diff := cmp.Diff(started(t, dir, real, tt.env, tt.args...), started(t, dir, "python3", tt.env, tt.args...)); diff != "" {
					t.Errorf("-python3 +fork:\n%s", diff)
				}
			}
		})
	}
}

// TestIsolated: a program sees nothing of another one, and ends with its process group.
func TestIsolated(t *testing.T) {
	defer pythontest.Start()()
	dir := t.TempDir()
	for range 4 { // both servers
		got := started(t, dir, "python3", nil, "-c", "import json, os, sys; print(hasattr(json, 'mark'), 'MARK' in os.environ, 'x' in sys.path); json.mark = 1; os.environ['MARK'] = '1'; sys.path.append('x')")
		if want := "False False False\n"; got.Output != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	orders := map[string]bool{}
	for range 16 {
		orders[started(t, dir, "python3", nil, "-c", "print(set('abcdefgh'))").Output] = true
	}
	if len(orders) < 2 {
		t.Error("every start has the same hash seed")
	}
	cmd := exec.Command("python3", "-c", "import time; print('ready', flush=True); time.sleep(60)")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err == nil { // the end, once nobody holds the pipe any more
		t.Error("it still writes")
	}
	_ = cmd.Wait()
}
