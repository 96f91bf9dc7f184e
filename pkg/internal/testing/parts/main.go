// Command parts does parts of what argoperator generate does, to be measured by
// themselves: argoperator itself has no way to leave its checks out.
//
//	parts unchecked DIRECTORY   prints what generate prints, one definition after the other, unchecked
//	parts encode FILE COUNT     prints the objects of a definition so many times
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	if err := errors.Join(run(os.Args[1:], output.Formats()[0].Append(out)), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "parts:", err)
		os.Exit(1)
	}
}

func run(args []string, printed func([]output.Document) error) error {
	switch {
	case len(args) == 2 && args[0] == "unchecked":
		return unchecked(args[1], printed)
	case len(args) == 3 && args[0] == "encode":
		count, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return encode(args[1], count, printed)
	}
	return errors.New("usage: parts unchecked DIRECTORY | encode FILE COUNT")
}

func unchecked(dir string, printed func([]output.Document) error) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := encode(file, 1, printed); err != nil {
			return err
		}
	}
	return nil
}

func encode(file string, count int, printed func([]output.Document) error) error {
	objects, err := built(file)
	if err != nil {
		return err
	}
	for range count {
		documents, err := output.Documents(objects)
		if err != nil {
			return err
		}
		if err := printed(documents); err != nil {
			return err
		}
	}
	return nil
}

// built returns the objects of the definition in a file.
func built(file string) ([]manifest.Object, error) {
	data, err := os.ReadFile(file) //nolint:gosec // it is told which
	if err != nil {
		return nil, err
	}
	definitions, findings := definition.Parse(source.Input{Name: file, Data: data, Dir: os.DirFS(filepath.Dir(file))})
	if findings.HasErrors() || len(definitions) != 1 {
		return nil, fmt.Errorf("%s: %d definitions, %v", file, len(definitions), findings)
	}
	p, findings := plan.New(definitions[0])
	if findings.HasErrors() {
		return nil, fmt.Errorf("%s: %v", file, findings)
	}
	return manifest.Build(p), nil
}
