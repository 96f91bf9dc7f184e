package cmd

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/internal/base/release"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

func newVersion(s streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version of argoperator, of the Argo Events and Argo Workflows that it
contains, and of Go.`,
		Example: `  # Print the version
  argoperator version

  # Print the version for programs
  argoperator version -o json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if format == "json" {
				return terminal.JSON(s.out, release.Read())
			}
			_, err := terminal.Fprintf(s.out, "%s\n", release.Read())
			return err
		},
	}
	outputVar(cmd, &format, "text", "json")
	return cmd
}
