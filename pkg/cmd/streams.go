// Package cmd implements the commands of argoperator, one per file.
//
// The rule of this package: flags, streams and exit codes are handled here and
// nowhere else. Results go to the output stream once they are complete, messages to
// the error stream.
package cmd

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// calledAs returns the name that users type: kubectl finds plugins by their file name,
// and go run builds in a temporary directory.
func calledAs(program string) string {
	const main = "./cmd/argoperator"
	if strings.HasPrefix(filepath.Base(program), "kubectl-") {
		return "kubectl argoperator"
	}
	if _, err := os.Stat(main); err == nil && strings.Contains(program, "go-build") {
		return "go run " + main
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

// list prints a message with an item on each line.
func (s streams) list(heading string, items []string) {
	if len(items) == 0 {
		s.say("%s: nothing", heading)
		return
	}
	s.say("%s:", heading)
	for _, item := range items {
		terminal.Fprintf(s.err, "  %s\n", item)
	}
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

// note prints a message that only a user at a terminal needs: logs and scripts have the
// exit code.
func (s streams) note(format string, args ...any) {
	if isTerminal(s.err) {
		s.say(format, args...)
	}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// takesSequences reports whether a stream is a terminal that understands escape
// sequences.
func takesSequences(stream any) bool { return isTerminal(stream) && os.Getenv("TERM") != "dumb" }

// colour reports whether to colour the output of a stream.
func colour(w io.Writer) bool {
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return takesSequences(w)
}

// Run executes a command line, whose first argument is the program's name, and
// returns the exit code.
func Run(args []string, in io.Reader, out, err io.Writer) int {
	return run(args[1:], streams{in: in, out: out, err: err, name: calledAs(args[0])})
}
