package cmd

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/argoperator/argoperator/pkg/internal/base/place"
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
			root := newRoot(s)
			root.DisableAutoGenTag = true
			head := &doc.GenManHeader{
				Title:   "ARGOPERATOR",
				Section: "1",
				Source:  "argoperator " + release.Read().Version,
				Manual:  "argoperator",
				Date:    &time.Time{},
			}
			if err := writeManual(root, *head, dir); err != nil {
				return fmt.Errorf("writing manual pages: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "output-dir", "", "directory to write into; created if it does not exist")
	return cmd
}

// writeManual writes the pages of a command and of those below it.
func writeManual(cmd *cobra.Command, head doc.GenManHeader, dir string) error {
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() && !below.IsAdditionalHelpTopicCommand() {
			if err := writeManual(below, head, dir); err != nil {
				return err
			}
		}
	}
	var page bytes.Buffer
	if err := doc.GenMan(cmd, &head, &page); err != nil {
		return err
	}
	return place.Replace(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+"."+head.Section), page.Bytes())
}
