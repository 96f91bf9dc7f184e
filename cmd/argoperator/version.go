package main

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/cmd/argoperator/internal/build"
)

func newVersion(s streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and what it was built with",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("output", format, build.Formats); err != nil {
				return err
			}
			return build.Print(s.out, format)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "output format: text|json")
	completeWith(cmd, "output", build.Formats)
	return cmd
}
