// Command argoperator turns a short definition into everything that a
// Kubernetes operator needs, carried by stock Argo Events and Argo Workflows.
//
// The rule of this room: flags, streams and exit codes live here and nowhere
// else; one file a subcommand.
package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/argoperator/argoperator/pkg/terminal"
)

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, name: calledAs(os.Args[0])}))
}

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
