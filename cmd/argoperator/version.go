package main

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/cmd/argoperator/internal/build"
	"github.com/argoperator/argoperator/pkg/terminal"
)

func newVersion(s streams) *cobra.Command {
	var format string
	formats := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and what it was built with",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("output", format, formats); err != nil {
				return err
			}
			if format == "json" {
				return terminal.JSON(s.out, build.Read())
			}
			_, err := terminal.Fprintf(s.out, "%s\n", build.Read())
			return err
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "output format: text|json")
	completeWith(cmd, "output", formats)
	return cmd
}
