package main

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

func newLint(s streams) *cobra.Command {
	var from sourceFlags
	var format string
	formats := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Report everything that is wrong with definitions",
		Example: `  argoperator lint -f .
  argoperator lint -f operators -R -o json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("output", format, formats); err != nil {
				return err
			}
			return lint(s, &from, format)
		},
	}
	from.register(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "output format: text|json")
	completeWith(cmd, "output", formats)
	return cmd
}

func lint(s streams, from *sourceFlags, format string) error {
	result, sources, err := from.generate(s.in, argoperator.Options{})
	if err != nil {
		return err
	}
	return printReport(s, sources, result.Findings, format)
}
