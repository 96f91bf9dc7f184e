package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/internal/krm"
)

func newFn(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "fn",
		Short: "Be a KRM function: a ResourceList in, one with the operators' objects out",
		Long: `fn reads a ResourceList from standard input and prints it with the objects of
operators added to its items, as kustomize and kpt run functions.

The operator is that of the function's configuration, if that is a definition;
else those of all definitions among the items, which are marked with
config.kubernetes.io/local-config, so that nobody applies them. Files that a
definition refers to are looked for beside its file, in the directory that fn
runs in. Findings are results of the list; with an error among them nothing else
changes, and the exit code is 1.`,
		Example: `  kustomize build --enable-alpha-plugins --enable-exec .
  kpt fn eval . --exec "argoperator fn"`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return fn(s) },
	}
}

// maxPackage limits the size of a ResourceList in bytes. It contains a whole
// package, including third-party CustomResourceDefinitions.
const maxPackage = 128 << 20

func fn(s streams) error {
	in, err := io.ReadAll(io.LimitReader(s.in, maxPackage+1))
	if err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	if len(in) > maxPackage {
		return usagef("the ResourceList has more than %d MiB", maxPackage>>20)
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return fmt.Errorf("opening the directory: %w", err)
	}
	out, failed, err := krm.Run(in, root.FS())
	if errors.Is(err, krm.ErrNoList) {
		return usagef("%v: kustomize and kpt run this command", err)
	}
	if err != nil {
		return err
	}
	if _, err := s.out.Write(out); err != nil {
		return err
	}
	if failed {
		return errFindings
	}
	return nil
}
