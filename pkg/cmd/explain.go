package cmd

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/explain"
)

func newExplain(s streams) *cobra.Command {
	var from sourceFlags
	var format, namespace string
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say what carries an operator and why, what each event costs, and who may do what",
		Long: `explain says of each definition which engine carries it and what kept the
cheaper one away, how many pods and requests to the API server each kind of event
costs, what every permission is for, what is remembered where, and which limits
are near. With -o json it says all of it, with what each number is the sum of.`,
		Example: `  argoperator explain -f examples/memcached
  argoperator explain -f . -o json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return explainSources(s, &from, format, argoperator.Options{Namespace: namespace})
		},
	}
	from.register(cmd)
	outputVar(cmd, &format, "text", "json")
	namespaceVar(cmd, &namespace)
	return cmd
}

func explainSources(s streams, from *sourceFlags, format string, options argoperator.Options) error {
	sources, missing, err := from.read(s.in)
	if err != nil {
		return err
	}
	explanation, err := argoperator.Explain(sources, options)
	if err != nil {
		return err
	}
	if err := report(s, sources, from.countWarnings(s, withMissing(explanation.Findings, missing))); err != nil {
		return err
	}
	if format == "json" {
		return explain.JSON(s.out, explanation.Reports)
	}
	return explain.Printer{Colour: colour(s.out)}.Print(s.out, explanation.Reports)
}
