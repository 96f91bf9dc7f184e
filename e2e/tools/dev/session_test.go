package dev

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience limits every wait; a loaded machine is slow.
const patience = 2 * time.Minute

// cacheOf names the test whose cache directory the environment has.
const cacheOf = "ARGOPERATOR_TEST"

// session is a running argoperator dev.
type session struct {
	t          *testing.T
	cmd        *exec.Cmd
	url        string // of the page, with its token
	kubeconfig string
	temporary  string // directory for temporary files
	ended      chan struct{}

	mu     sync.Mutex
	output bytes.Buffer // both streams
}

// start runs argoperator dev until the end of the test.
func start(t *testing.T, args ...string) *session {
	t.Helper()
	program, err := filepath.Abs("../../../bin/argoperator")
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, cmd: exec.Command(program, append([]string{"dev"}, args...)...), ended: make(chan struct{})}
	if os.Getenv(cacheOf) != t.Name() { // the sessions of one test have one cache
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		t.Setenv(cacheOf, t.Name())
	}
	s.temporary = t.TempDir()
	s.cmd.Env = append(os.Environ(), "TMPDIR="+s.temporary)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = s
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("run make build dev first: %v", err)
	}
	ready := make(chan struct{})
	go s.read(out, ready)
	select {
	case <-ready:
	case <-s.ended:
		t.Fatalf("argoperator dev ended:\n%s", s.said())
	case <-time.After(patience):
		t.Fatalf("argoperator dev is not ready:\n%s", s.said())
	}
	t.Cleanup(func() {
		s.stop(os.Interrupt)
		if t.Failed() {
			t.Logf("argoperator dev printed:\n%s", s.said())
		}
	})
	return s
}

// read follows the output until it has both addresses, and then until the end.
func (s *session) read(out io.Reader, ready chan<- struct{}) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		_, _ = s.Write([]byte(line + "\n"))
		if url, ok := strings.CutPrefix(line, "page:"); ok {
			s.url = strings.TrimSpace(url)
		}
		if _, path, ok := strings.Cut(line, "export KUBECONFIG="); ok && s.kubeconfig == "" {
			s.kubeconfig = path
			close(ready)
		}
	}
	_ = s.cmd.Wait() // the exit code is tested where it matters
	close(s.ended)
}

func (s *session) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.Write(p)
}

func (s *session) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// stop ends the command and waits for it.
func (s *session) stop(signal os.Signal) {
	_ = s.cmd.Process.Signal(signal) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Errorf("argoperator dev does not end:\n%s", s.said())
	}
}

// try runs kubectl and returns its output.
func (s *session) try(stdin string, args ...string) (string, error) {
	return s.tryFor(patience, stdin, args...)
}

func (s *session) tryFor(limit time.Duration, stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "../../../bin/kubectl", args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// kubectl runs kubectl, which must succeed.
func (s *session) kubectl(args ...string) string {
	s.t.Helper()
	return s.kubectlIn("", args...)
}

func (s *session) kubectlIn(stdin string, args ...string) string {
	s.t.Helper()
	out, err := s.try(stdin, args...)
	if err != nil {
		s.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// refusedIn runs kubectl, which must fail with a message.
func (s *session) refusedIn(stdin, want string, args ...string) {
	s.t.Helper()
	out, err := s.try(stdin, args...)
	if err == nil || !strings.Contains(out, want) {
		s.t.Errorf("kubectl %s: %v, want a failure with %q\n%s", strings.Join(args, " "), err, want, out)
	}
}

// eventually waits until a function returns the wanted value.
func eventually(t *testing.T, what, want string, get func() string) {
	t.Helper()
	got := ""
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if got = get(); got == want {
			return
		}
	}
	t.Fatalf("%s: %q, want %q", what, got, want)
}

// ready waits until an object has the condition Ready.
func (s *session) ready(object string) {
	s.t.Helper()
	s.kubectl("wait", "--for=condition=Ready", "--timeout=120s", object)
}

// copyOf copies a directory of the repository into a new one.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(out, os.DirFS(filepath.Join("../../..", dir))); err != nil {
		t.Fatal(err)
	}
	return out
}

const memcached = "../../../examples/memcached"
