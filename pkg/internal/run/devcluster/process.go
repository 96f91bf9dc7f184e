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
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argoperator/argoperator/pkg/internal/base/process"
)

// Server is an API server for development.
type Server interface {
	// Access returns the kubeconfig of its administrator, as a file and for client-go.
	Access() (kubeconfig string, config *rest.Config)
	// Ended is closed when the server has ended.
	Ended() <-chan struct{}
	// Err returns why the server ended.
	Err() error
	// Stop ends the server and removes its files.
	Stop() error
}

// Program is the name of the program with the API server.
var Program = process.Server.Program

// Cluster is a running program.
type Cluster struct {
	Kubeconfig string // file
	Config     *rest.Config

	cmd   *process.Cmd
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

// Start starts the program and returns when its API server is ready. The program is next to
// the executable or on the path: a clone that argoperator would build it in may be a
// repository of somebody else that only looks like one.
func Start(ctx context.Context, path process.Path, executable string, o Options) (*Cluster, error) {
	c := &Cluster{ended: make(chan struct{})}
	var err error
	c.cmd, err = path.Beside(executable, "--with-parent", fmt.Sprintf("--controllers=%t", o.Controllers))
	if err != nil {
		return nil, err
	}
	c.cmd.Stderr = &c.said
	if c.alive, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.cmd.Path, err)
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

// Access implements Server.
func (c *Cluster) Access() (kubeconfig string, config *rest.Config) { return c.Kubeconfig, c.Config }

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
		if c.Kubeconfig == "" {
			return nil
		}
		return os.RemoveAll(filepath.Dir(c.Kubeconfig)) // if somebody killed the program, it is still there
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
