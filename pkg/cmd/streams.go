// Package cmd implements the commands of argoperator, one file a command.
//
// The rule of this package: flags, streams and exit codes are handled here and
// nowhere else. Results go to the output stream once they are complete, messages to
// the error stream.
package cmd

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/terminal"
)

// calledAs is what people type: kubectl finds plugins by their file's name.
func calledAs(program string) string {
	if base := filepath.Base(program); strings.HasPrefix(base, "kubectl-") {
		return "kubectl argoperator"
	}
	return "argoperator"
}

// streams are where a command reads and writes. Results go to out, and only
// once they are complete; talk goes to err.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
	// name of the program in its help; empty is argoperator.
	name string
}

// say tells people something beside the result: text of the input in it cannot
// do anything.
func (s streams) say(format string, args ...any) {
	terminal.Fprintf(s.err, "argoperator: "+format+"\n", args...)
}

// complain prints an error, and joined ones in a line each.
func (s streams) complain(err error) {
	if usage := (usageError{}); errors.As(err, &usage) {
		err = usage.error
	}
	if several, joined := err.(interface{ Unwrap() []error }); joined {
		for _, err := range several.Unwrap() {
			s.complain(err)
		}
		return
	}
	s.say("%v", err)
}

// Run executes a command line, its first argument the name of the program, and
// returns the exit code.
func Run(args []string, in io.Reader, out, err io.Writer) int {
	return run(args[1:], streams{in: in, out: out, err: err, name: calledAs(args[0])})
}
