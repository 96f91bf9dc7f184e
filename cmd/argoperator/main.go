// Command argoperator turns a short definition into everything that a Kubernetes
// operator needs, run by stock Argo Events and Argo Workflows.
//
// The rule of this package: it names the process's streams and exit code, and
// leaves the rest to pkg/cmd.
package main

import (
	"os"

	"github.com/argoperator/argoperator/pkg/cmd"
)

func main() {
	os.Exit(cmd.Run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
