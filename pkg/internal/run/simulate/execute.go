package simulate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/argoperator/argoperator/pkg/internal/base/process"
)

// Output limits of a program, in bytes. On a cluster, exceeding them would evict
// the pod; here it would fill the disk or the memory of this machine.
const (
	maxOutput    = 64 << 20 // stdout and stderr
	maxVolumes   = 64 << 20 // volumes of the pod, which other containers read
	maxTemporary = 1 << 30  // /tmp
)

const (
	measureInterval = 200 * time.Millisecond // between two measurements of the volumes
	outputGrace     = time.Second            // for child processes to close the output streams
	exitKilled      = 137                    // exit code of a killed process
)

// limitError reports that a program was ended because it exceeded an output limit.
type limitError struct{ message string }

func (e *limitError) Error() string { return e.message }

func errLimit(limit int64, where string) error {
	return &limitError{fmt.Sprintf("stopped because it wrote more than %d MiB %s", limit>>20, where)}
}

// execution is one running program with its limits.
type execution struct {
	program Program
	ctx     context.Context // of the command; its cause is the reason the command was ended
	end     context.CancelCauseFunc
	output  capture
}

func (p Program) execution(ctx context.Context) *execution {
	e := &execution{program: p}
	e.ctx, e.end = context.WithCancelCause(ctx)
	e.output.full = func() { e.end(errLimit(maxOutput, "to its output")) }
	return e
}

// finish runs a command until it and all processes that it started have ended. An
// exit code is a result, not an error; the end of the context is an error, returned
// as its cause. If the command was killed, finish calls killed, which may be nil.
func (e *execution) finish(cmd *process.Cmd, killed func()) ([]byte, int, error) {
	defer e.end(nil)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &e.output, &e.output, outputGrace
	ownGroup(cmd)
	cmd.Cancel = func() error {
		err := killGroup(cmd.Process)
		if killed != nil {
			killed()
		}
		return err
	}
	go e.watch()
	err := cmd.Run()
	if cmd.Process != nil {
		_ = killGroup(cmd.Process) // processes left running end with their container
	}
	e.measure()
	var much *limitError
	var exit *process.ExitError
	switch cause := context.Cause(e.ctx); {
	case errors.As(cause, &much):
		return fmt.Appendf(e.output.bytes(), "\n%s\n", much), exitKilled, nil
	case cause != nil && err != nil:
		return e.output.bytes(), 0, cause
	case errors.As(err, &exit):
		return e.output.bytes(), exitCode(exit.ProcessState), nil
	case err != nil && !errors.Is(err, process.ErrWaitDelay):
		return nil, 0, fmt.Errorf("running %s: %w", cmd.Path, err)
	}
	return e.output.bytes(), 0, nil
}

// watch measures periodically how much the program has written.
func (e *execution) watch() {
	tick := time.NewTicker(measureInterval)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
			e.measure()
		}
	}
}

func (e *execution) measure() {
	volumes, temporary := e.program.written()
	switch {
	case volumes > maxVolumes:
		e.end(errLimit(maxVolumes, "into the volumes of its pod"))
	case temporary > maxTemporary:
		e.end(errLimit(maxTemporary, "into /tmp"))
	}
}

// written returns the size of the files in the pod's volumes; 0 for argoperator's own program,
// which must not end because of what that of a definition writes next to it.
func (p Program) written() (volumes, temporary int64) {
	if p.Scratch == "" || p.Digest == "" {
		return 0, 0
	}
	tmp := p.localPath("/tmp")
	_ = filepath.WalkDir(p.Scratch, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // it went while we looked
		}
		info, err := entry.Info()
		switch {
		case err != nil: // deleted during the walk
		case strings.HasPrefix(path, tmp+string(filepath.Separator)):
			temporary += info.Size()
		default:
			volumes += info.Size()
		}
		return nil
	})
	return volumes, temporary
}

// maxHeld is the number of bytes kept from the start and from the end of an output.
const maxHeld = 512 << 10

// capture keeps the start and the end of a program's output.
type capture struct {
	mu         sync.Mutex // a program that was killed may still be writing
	head, tail []byte
	total      int64
	full       func() // called when total exceeds maxOutput
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(p))
	if c.total > maxOutput {
		c.full()
	}
	rest := p
	if free := min(maxHeld-len(c.head), len(rest)); free > 0 {
		c.head, rest = append(c.head, rest[:free]...), rest[free:]
	}
	if c.tail = append(c.tail, rest...); len(c.tail) > 2*maxHeld {
		c.tail = append([]byte{}, c.tail[len(c.tail)-maxHeld:]...)
	}
	return len(p), nil
}

// bytes returns the kept output with a note of how much was dropped.
func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail[max(0, len(c.tail)-maxHeld):]
	out := append([]byte{}, c.head...)
	if left := c.total - int64(len(c.head)+len(tail)); left > 0 {
		out = fmt.Appendf(out, "\n… %d bytes omitted …\n", left)
	}
	return append(out, tail...)
}
