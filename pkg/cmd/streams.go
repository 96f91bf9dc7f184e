// Package cmd implements the commands of argoperator, one per file.
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

// calledAs returns the name that users type: kubectl finds plugins by their file
// name.
func calledAs(program string) string {
	if base := filepath.Base(program); strings.HasPrefix(base, "kubectl-") {
		return "kubectl argoperator"
	}
	return "argoperator"
}

// streams are the input and output of a command. Only complete results go to out;
// messages go to err.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
	// name of the program in its help; empty: argoperator
	name string
}

// say prints a message. It escapes control characters from the input.
func (s streams) say(format string, args ...any) {
	terminal.Fprintf(s.err, "argoperator: "+format+"\n", args...)
}

// complain prints an error; joined errors get a line each.
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

// Run executes a command line, whose first argument is the program's name, and
// returns the exit code.
func Run(args []string, in io.Reader, out, err io.Writer) int {
	return run(args[1:], streams{in: in, out: out, err: err, name: calledAs(args[0])})
}
