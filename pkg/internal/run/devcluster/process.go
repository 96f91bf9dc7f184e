// Package devcluster starts the program argoperator-dev, an API server and controllers
// without containers, and installs operators on it as kubectl apply does.
//
// The rule of this package: nothing stays behind when it ends.
package devcluster

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Program is the name of the program with the API server.
const Program = "argoperator-dev"

// MissingError reports that the program is not installed.
type MissingError struct{}

func (MissingError) Error() string {
	return Program + " is not next to argoperator, and not on the PATH"
}

// Find returns the path of the program: next to the executable, on the PATH, or built from
// its directory in a clone, where it calls building first. cache is a directory for what
// it builds.
func Find(ctx context.Context, executable, clone, cache string, building func()) (string, error) {
	name := Program
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	beside := filepath.Join(filepath.Dir(executable), name)
	if info, err := os.Stat(beside); err == nil && !info.IsDir() {
		return beside, nil
	}
	module := filepath.Join(clone, "cmd", Program)
	if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
		building()
		return build(ctx, module, filepath.Join(cache, name))
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", MissingError{}
}

// build builds the program; go build does nothing if it is up to date.
func build(ctx context.Context, module, to string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", err
	}
	kubernetes, err := exec.CommandContext(ctx, "go", "list", "-C", module, "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return "", fmt.Errorf("building %s: %w", Program, err)
	}
	flags := "-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=" + strings.TrimSpace(string(kubernetes))
	cmd := exec.CommandContext(ctx, "go", "build", "-C", module, "-trimpath", flags, "-o", to, ".")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", Program, err, output)
	}
	return to, nil
}

// Cluster is a running program.
type Cluster struct {
	Kubeconfig string // file
	Config     *rest.Config

	cmd   *exec.Cmd
	alive io.Closer     // the program ends when it is closed
	ended chan struct{} // closed when the program has ended
	said  tail          // its error stream
}

// Options of Start.
type Options struct {
	// Controllers of workloads run, and Pods become ready.
	Controllers bool
}

// startTimeout is generous: a loaded machine takes 20 seconds.
const startTimeout = 3 * time.Minute

// Start starts the program and returns when its API server is ready.
func Start(ctx context.Context, program string, o Options) (*Cluster, error) {
	c := &Cluster{ended: make(chan struct{})}
	c.cmd = exec.Command(program, "--with-parent", fmt.Sprintf("--controllers=%t", o.Controllers))
	c.cmd.Stderr = &c.said
	var err error
	if c.alive, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	ready := make(chan string, 1)
	go c.read(out, ready)
	ctx, stop := context.WithTimeout(ctx, startTimeout)
	defer stop()
	if err := c.await(ctx, ready); err != nil {
		_ = c.Stop()
		return nil, err
	}
	return c, nil
}

// read reads the line with the kubeconfig, and waits until the program ends.
func (c *Cluster) read(out io.Reader, ready chan<- string) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if path, ok := strings.CutPrefix(lines.Text(), "export KUBECONFIG="); ok {
			ready <- path
		}
	}
	_ = c.cmd.Wait() // Err reports it
	close(c.ended)
}

func (c *Cluster) await(ctx context.Context, ready <-chan string) error {
	select {
	case c.Kubeconfig = <-ready:
	case <-c.ended:
		return c.Err()
	case <-ctx.Done():
		return fmt.Errorf("%s is not ready: %w", Program, ctx.Err())
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig of %s: %w", Program, err)
	}
	config.QPS = -1 // the server is ours alone
	c.Config = config
	return nil
}

// Ended is closed when the program has ended.
func (c *Cluster) Ended() <-chan struct{} { return c.ended }

// Err returns why the program ended.
func (c *Cluster) Err() error {
	return fmt.Errorf("%s ended: %s: %s", Program, c.cmd.ProcessState, c.said.text())
}

// stopTimeout is how long the program may take to end.
const stopTimeout = 20 * time.Second

// Stop ends the program, which removes its files.
func (c *Cluster) Stop() error {
	_ = c.alive.Close()
	select {
	case <-c.ended:
		return nil
	case <-time.After(stopTimeout):
	}
	_ = c.cmd.Process.Kill()
	<-c.ended
	if c.Kubeconfig == "" {
		return fmt.Errorf("%s did not end by itself, and left a directory %s-…", Program, filepath.Join(os.TempDir(), Program))
	}
	return os.RemoveAll(filepath.Dir(c.Kubeconfig)) // which the program created for itself
}

// tail keeps the end of a stream.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const maxTail = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	t.data = t.data[max(0, len(t.data)-maxTail):]
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.data))
}
