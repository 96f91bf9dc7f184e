package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asProgram is the environment variable that makes the test binary the program under test.
const asProgram = "ARGOPERATOR_DEV_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is a running argoperator-dev.
type program struct {
	*exec.Cmd
	stdin io.Closer
	temp  string // its directory for temporary files
	ended chan error
}

// begin starts the program and waits until the cluster is ready.
func begin(t *testing.T, args ...string) *program {
	p := &program{Cmd: exec.Command(os.Args[0], args...), temp: t.TempDir(), ended: make(chan error, 1)}
	p.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+p.temp)
	p.Stderr = t.Output()
	stdin, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if file, ok := strings.CutPrefix(line, "export KUBECONFIG="); err != nil || !ok {
		t.Fatalf("standard output %q: %v", line, err)
	} else if _, err := os.Stat(strings.TrimSpace(file)); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.Wait() }()
	return p
}

// ends checks that the program ends soon, without an error and without temporary files.
func (p *program) ends(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("the program does not end")
	}
	left, err := os.ReadDir(p.temp)
	if err != nil || len(left) > 0 {
		t.Errorf("the program left %v: %v", left, err)
	}
}

func TestProgram(t *testing.T) {
	t.Run("ends when it is interrupted", func(t *testing.T) {
		p := begin(t)
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		p.ends(t)
	})
	t.Run("ends when standard input is closed, and keeps the directory that it was given", func(t *testing.T) {
		dir := t.TempDir()
		p := begin(t, "--with-parent", "--controllers=false", "--dir="+dir)
		if err := p.stdin.Close(); err != nil {
			t.Fatal(err)
		}
		p.ends(t)
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	})
}

func TestFlags(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"--version"}, strings.NewReader(""), &out); err != nil || !strings.HasPrefix(out.String(), "argoperator-dev devel, Kubernetes v") {
		t.Errorf("--version: %q, %v", out.String(), err)
	}
	if err := run([]string{"cluster"}, strings.NewReader(""), &out); err == nil || err.Error() != `unexpected argument "cluster"` {
		t.Errorf("an argument: %v", err)
	}
}
