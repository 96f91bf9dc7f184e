package cmd

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/operator/explain"
)

func newExplain(s streams) *cobra.Command {
	var from sourceFlags
	var format, namespace string
	var printer explain.Printer
	cmd := &cobra.Command{
		Use:   "explain [PATH]...",
		Short: "Explain the engine, costs, permissions and limits of an operator",
		Long: `Show which pods and Secrets each operator has, the reason for every permission,
which engine it uses and why a cheaper one cannot run it, how many pods and API
requests each kind of event costs, where the operator stores what it observed,
and which limits are near. With -o json, the report also has the terms of each
sum.

With --security, show who can decide each value that the operator writes and
reads: namespaces, names, images, commands, roles, labels and data.

With --programs, print the jq program of each trigger with comments, and the lines
of the definition that it was made of.`,
		Example: `  # Explain the operator in the current directory
  argoperator explain -f .

  # Show who decides what the operator writes and reads
  argoperator explain -f . --security

  # Print what the Sensors compute
  argoperator explain -f . --programs

  # Print a report for programs
  argoperator explain -f . -o json`,
		Args: from.paths,
		RunE: func(*cobra.Command, []string) error {
			if format == "json" && printer.Programs {
				return usagef("--programs prints text: the programs are in the generated Sensors")
			}
			return explainSources(s, &from, format, printer, argoperator.Options{Namespace: namespace})
		},
	}
	from.register(cmd)
	outputVar(cmd, &format, "text", "json")
	namespaceVar(cmd, &namespace)
	cmd.Flags().BoolVar(&printer.Security, "security", false, "show who decides what the operator writes and reads instead of the report")
	cmd.Flags().BoolVar(&printer.Programs, "programs", false, "print the programs of the Sensors instead of the report")
	cmd.MarkFlagsMutuallyExclusive("security", "programs")
	return cmd
}

func explainSources(s streams, from *sourceFlags, format string, printer explain.Printer, options argoperator.Options) error {
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
	printer.Colour = colour(s.out)
	printer.File = func(name string) []byte {
		for _, source := range sources {
			if source.Name == name {
				return source.Data
			}
		}
		return nil
	}
	return printer.Print(s.out, explanation.Reports)
}
