// Command schemagen writes the JSON Schema of a definition, schema.json, from
// the types and their comments. It runs in the directory of the types, by
// go generate.
package main

import (
	"fmt"
	"os"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1/internal/schemagen/schema"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func run() error {
	data, err := schema.Generate(".")
	if err != nil {
		return err
	}
	return os.WriteFile("schema.json", data, 0o644)
}
