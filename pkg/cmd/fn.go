package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/internal/project/krm"
)

func newFn(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "fn",
		Short: "Run as a KRM function for kustomize and kpt",
		Long: `Read a ResourceList from standard input, and print it with the objects of
operators added to its items.

If the configuration of the function is a definition, fn adds the objects of this
operator. Otherwise it uses all definitions among the items, and marks them with
config.kubernetes.io/local-config so that nobody applies them. argoperator looks
for the files that a definition refers to next to the file of the definition, in
the directory in which fn runs.

Findings become results of the list. After an error, fn changes nothing else and
ends with exit code 1.`,
		Example: `  # In a directory whose kustomization has argoperator fn as a generator
  kustomize build --enable-alpha-plugins --enable-exec .

  # In a kpt package
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
		return usagef("the ResourceList is larger than %d MiB", maxPackage>>20)
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return fmt.Errorf("opening the current directory: %w", err)
	}
	out, failed, err := krm.Run(in, root.FS())
	if errors.Is(err, krm.ErrNoList) {
		return usagef("%w; kustomize and kpt run this command", err)
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
