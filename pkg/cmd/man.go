package cmd

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/argoperator/argoperator/pkg/internal/base/release"
)

func newMan(s streams) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man",
		Short: "Write manual pages",
		Long: `Write a manual page for each command, for man(1). Packages run this command when
they are built. The pages have no date, so the same version writes the same
pages.`,
		Example: `  # Write the manual pages
  argoperator man --output-dir man1`,
		Args: noArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			if dir == "" {
				return usagef("name the directory for the pages with --output-dir")
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("creating a directory: %w", err)
			}
			root := newRoot(s)
			root.DisableAutoGenTag = true
			head := &doc.GenManHeader{
				Title:   "ARGOPERATOR",
				Section: "1",
				Source:  "argoperator " + release.Read().Version,
				Manual:  "argoperator",
				Date:    &time.Time{},
			}
			if err := doc.GenManTree(root, head, dir); err != nil {
				return fmt.Errorf("writing manual pages: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "output-dir", "", "directory to write into; created if it does not exist")
	return cmd
}
