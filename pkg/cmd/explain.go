package cmd

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/operator/explain"
)

func newExplain(s streams) *cobra.Command {
	var from sourceFlags
	var format, namespace string
	var security bool
	cmd := &cobra.Command{
		Use:   "explain [PATH]...",
		Short: "Explain the engine, costs, permissions and limits of an operator",
		Long: `Show which engine each operator uses and why a cheaper one cannot run it, how
many pods and API requests each kind of event costs, the reason for every
permission, where the operator stores what it observed, and which limits are
near. With -o json, the report also has the terms of each sum.

With --security, show who can decide each value that the operator writes and
reads: namespaces, names, images, commands, roles, labels and data.`,
		Example: `  # Explain the operator in the current directory
  argoperator explain -f .

  # Show who decides what the operator writes and reads
  argoperator explain -f . --security

  # Print a report for programs
  argoperator explain -f . -o json`,
		Args: from.paths,
		RunE: func(*cobra.Command, []string) error {
			return explainSources(s, &from, format, security, argoperator.Options{Namespace: namespace})
		},
	}
	from.register(cmd)
	outputVar(cmd, &format, "text", "json")
	namespaceVar(cmd, &namespace)
	cmd.Flags().BoolVar(&security, "security", false, "show who decides what the operator writes and reads instead of the report")
	return cmd
}

func explainSources(s streams, from *sourceFlags, format string, security bool, options argoperator.Options) error {
	sources, missing, err := from.read(s.in)
	if err != nil {
		return err
	}
	explanation, err := argoperator.Explain(sources, options)
	if err != nil {
		return err
	}
	if err := report(s, sources, from.countWarnings(s, from.withMissing(explanation.Findings, missing, sources))); err != nil {
		return err
	}
	if format == "json" {
		return explain.JSON(s.out, explanation.Reports)
	}
	return explain.Printer{Colour: colour(s.out), Security: security}.Print(s.out, explanation.Reports)
}
