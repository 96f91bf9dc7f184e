package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// outputGrace limits how long child processes may keep the streams of an ended
// command open.
const outputGrace = time.Second

// interrupted is the signal that ended a command.
type interrupted struct{ signal os.Signal }

// brokenPipe is the signal of writing to a closed pipe.
var brokenPipe = interrupted{syscall.SIGPIPE}

func (i interrupted) Error() string { return "interrupted: " + i.signal.String() }

// interruptible runs work that would leave processes or temporary files behind if
// the process just ended. A signal cancels its context, and the process ends after
// the cleanup; a second signal ends it at once.
func interruptible(ctx context.Context, work func(ctx context.Context) error) error {
	return interruptibleBy(ctx, work, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
}

// interruptibleServer is interruptible for work that serves clients: one that goes away while it
// gets an answer causes SIGPIPE, too. The work has to end when it cannot write its output.
func interruptibleServer(ctx context.Context, work func(ctx context.Context) error) error {
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	return interruptibleBy(ctx, work, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

func interruptibleBy(ctx context.Context, work func(ctx context.Context) error, by ...os.Signal) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	for _, s := range by {
		if s == os.Interrupt || !signal.Ignored(s) { // nohup ignores SIGHUP
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(interrupted{s})
		case <-ctx.Done():
		}
	}()
	err := work(ctx)
	if i, ok := context.Cause(ctx).(interrupted); ok { //nolint:errorlint // it is never wrapped
		return i
	}
	if errors.Is(err, syscall.EPIPE) { // the signal may not have arrived yet
		return brokenPipe
	}
	return err
}

// errUnread reports that the reader of standard output ended before it read anything.
var errUnread = errors.New("nothing read the output")

// untilClosed passes a function the streams to write a result to. If the reader of
// standard output ends, which otherwise ends the process, it returns errUnread or
// brokenPipe.
func (s streams) untilClosed(write func(streams) error) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGPIPE)
	defer signal.Stop(signals)
	out := &counter{to: s.out}
	s.out = out
	err := write(s)
	switch {
	case !errors.Is(err, syscall.EPIPE):
		return err
	case out.written == 0:
		return errUnread
	}
	return brokenPipe
}

// counter counts the written bytes.
type counter struct {
	to      io.Writer
	written int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.written += n
	return n, err
}

// end ends the process by the signal that interrupted it, so that a shell ends its
// script too. If that fails, the exit code reports the signal.
func (i interrupted) end() int {
	number, ok := i.signal.(syscall.Signal)
	if !ok {
		return exitFailure
	}
	if number != syscall.SIGPIPE { // SIGPIPE only ends a process that writes
		signal.Reset(i.signal)
		raise(number)
	}
	return 128 + int(number)
}
