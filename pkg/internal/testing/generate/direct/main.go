// Command generate parses the jq files of the direct engine and writes them as Go values.
package main

import (
	"log"
	"os"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
	"github.com/argoperator/argoperator/pkg/internal/testing/generate/gosource"
)

func main() {
	set, err := jqfile.Parse(os.DirFS("direct"))
	if err != nil {
		log.Fatal(err)
	}
	source, err := gosource.File("plan", "directSet", *set, "pkg/internal/testing/generate/direct")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("direct_generated.go", source, 0o644); err != nil {
		log.Fatal(err)
	}
}
