// Command schemagen writes the JSON Schemas of definitions and tests from
// the types and their comments. It runs in the directory of the types, by
// go generate.
package main

import (
	"fmt"
	"os"

	"github.com/argoperator/argoperator/pkg/internal/testing/generate/schemagen/schema"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func run() error {
	for name, generate := range schema.Files() {
		data, err := generate(".")
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
