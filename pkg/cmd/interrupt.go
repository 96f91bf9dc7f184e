package cmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// lingering is how long the programs that a command has started may hold its
// streams when it has ended.
const lingering = time.Second

// interrupted is the signal that has ended a command.
type interrupted struct{ signal os.Signal }

// unread is a pipe that nobody reads any more.
var unread = interrupted{syscall.SIGPIPE}

func (i interrupted) Error() string { return "interrupted: " + i.signal.String() }

// interruptible does work that leaves processes or temporary files behind if the
// process just ends. A signal ends its context instead, and the process once the
// work has cleaned up; a second signal ends it at once.
func interruptible(ctx context.Context, work func(ctx context.Context) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE} {
		if s == os.Interrupt || !signal.Ignored(s) { // nohup ignores the end of the terminal
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
	if errors.Is(err, syscall.EPIPE) { // the signal may still be on its way
		return unread
	}
	return err
}

// end ends the process by the signal that has interrupted it: so a shell knows
// that its script is to end too. Where that does not work, the exit code says so.
func (i interrupted) end() int {
	number, ok := i.signal.(syscall.Signal)
	if !ok {
		return exitFailure
	}
	if number != syscall.SIGPIPE { // which ends a process only as it writes
		signal.Reset(i.signal)
		raise(number)
	}
	return 128 + int(number)
}
