// Command generate parses the jq files of the direct engine and writes them as Go values.
package main

import (
	"fmt"
	"os"

	"github.com/argoperator/argoperator/pkg/internal/jqfile"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	set, err := jqfile.Parse(os.DirFS("direct"))
	if err != nil {
		return err
	}
	source, err := jqfile.GoSource(set, "plan", "directSet", "pkg/internal/plan/generate")
	if err != nil {
		return err
	}
	return os.WriteFile("direct_generated.go", source, 0o644)
}
