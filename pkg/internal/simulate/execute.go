package simulate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// What a program may write, in bytes. On a cluster more of it would end the pod
// that fills the disk of its node; here it would fill that of this machine, or
// its memory.
const (
	maxOutput    = 64 << 20 // to its streams
	maxVolumes   = 64 << 20 // into the volumes of its pod: others read what is in them
	maxTemporary = 1 << 30  // into /tmp
)

const (
	weighInterval = 200 * time.Millisecond // between two looks at the volumes
	lingering     = time.Second            // in which what a program has started gives its streams back
	exitKilled    = 137                    // the exit code of what was killed
)

// excess is why a program was ended that wrote too much.
type excess struct{ message string }

func (e *excess) Error() string { return e.message }

func tooMuch(limit int64, where string) error {
	return &excess{fmt.Sprintf("ended, because it wrote more than %d MiB %s", limit>>20, where)}
}

// execution is one program at work, within its bounds.
type execution struct {
	program Program
	ctx     context.Context // of the command; its cause says why it was ended
	end     context.CancelCauseFunc
	said    capture
}

func (p Program) execution(ctx context.Context) *execution {
	e := &execution{program: p}
	e.ctx, e.end = context.WithCancelCause(ctx)
	e.said.full = func() { e.end(tooMuch(maxOutput, "to its output")) }
	return e
}

// finish runs a command to its end, with all that it starts. An exit code is a
// result, not an error; that the context has ended is an error, its cause.
// Killed is called when the command was killed; nil: nothing is left to do then.
func (e *execution) finish(cmd *exec.Cmd, killed func()) ([]byte, int, error) {
	defer e.end(nil)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &e.said, &e.said, lingering
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
		_ = killGroup(cmd.Process) // what it has left running ends with its container
	}
	e.weigh()
	var much *excess
	var exit *exec.ExitError
	switch cause := context.Cause(e.ctx); {
	case errors.As(cause, &much):
		return fmt.Appendf(e.said.bytes(), "\n%s\n", much), exitKilled, nil
	case cause != nil && err != nil:
		return e.said.bytes(), 0, cause
	case errors.As(err, &exit):
		return e.said.bytes(), exitCode(exit.ProcessState), nil
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, 0, fmt.Errorf("running %s: %w", cmd.Path, err)
	}
	return e.said.bytes(), 0, nil
}

// watch looks again and again at how much the program has written.
func (e *execution) watch() {
	tick := time.NewTicker(weighInterval)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
			e.weigh()
		}
	}
}

func (e *execution) weigh() {
	volumes, temporary := e.program.written()
	switch {
	case volumes > maxVolumes:
		e.end(tooMuch(maxVolumes, "into the volumes of its pod"))
	case temporary > maxTemporary:
		e.end(tooMuch(maxTemporary, "into /tmp"))
	}
}

// written is how much is in the volumes of the pod.
func (p Program) written() (volumes, temporary int64) {
	if p.Scratch == "" {
		return 0, 0
	}
	tmp := p.here("/tmp")
	_ = filepath.WalkDir(p.Scratch, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // it went while we looked
		}
		info, err := entry.Info()
		switch {
		case err != nil: // so did this
		case strings.HasPrefix(path, tmp+string(filepath.Separator)):
			temporary += info.Size()
		default:
			volumes += info.Size()
		}
		return nil
	})
	return volumes, temporary
}

// maxHeld is how much of the beginning of an output, and of its end, is kept.
const maxHeld = 512 << 10

// capture keeps the beginning and the end of what a program writes.
type capture struct {
	mu         sync.Mutex // a program that was given up may still write
	head, tail []byte
	total      int64
	full       func() // called when it is more than maxOutput
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

// bytes are what was kept, and how much was not.
func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail[max(0, len(c.tail)-maxHeld):]
	out := append([]byte{}, c.head...)
	if left := c.total - int64(len(c.head)+len(tail)); left > 0 {
		out = fmt.Appendf(out, "\n… %d bytes left out …\n", left)
	}
	return append(out, tail...)
}
