package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
)

// sampleFlags are the flags of sample except the sources.
type sampleFlags struct {
	full, minimal, edge bool
	seed                uint64
	version             string
}

func newSample(s streams) *cobra.Command {
	var from sourceFlags
	var flags sampleFlags
	cmd := &cobra.Command{
		Use:   "sample [PATH]...",
		Short: "Print a sample custom resource",
		Long: `Print a custom resource for each operator, made from the schema of its kind. The
API server accepts it. By default it has every field that can be set at once,
each with its description and with its default or another legal value.`,
		Example: `  # Create a custom resource
  argoperator sample -f . | kubectl apply -f -

  # Print the required fields only
  argoperator sample -f . --minimal

  # Simulate the operator with extreme values
  argoperator sample -f . --edge | argoperator render -f . -`,
		Args: from.paths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options := argoperator.SampleOptions{Version: flags.version, Seed: flags.seed}
			for _, choice := range []struct {
				on   bool
				sort argoperator.SampleKind
			}{
				{flags.full, argoperator.Full},
				{flags.minimal, argoperator.Minimal},
				{flags.edge, argoperator.Edge},
				{cmd.Flags().Changed("seed"), argoperator.Random},
			} {
				if choice.on && options.Kind != "" {
					return usagef("use only one of --full, --minimal, --edge and --seed")
				}
				if choice.on {
					options.Kind = choice.sort
				}
			}
			return sample(s, &from, options)
		},
	}
	from.register(cmd)
	cmd.Flags().BoolVar(&flags.full, "full", false, "print every field that can be set at once (the default)")
	cmd.Flags().BoolVar(&flags.minimal, "minimal", false, "print the required fields only")
	cmd.Flags().
		BoolVar(&flags.edge, "edge", false, "print several resources with extreme values: longest texts, lowest and highest numbers, "+
			"empty lists")
	cmd.Flags().Uint64Var(&flags.seed, "seed", 0, "print a random resource, the same for the same number")
	cmd.Flags().
		StringVar(&flags.version, "api-version", "", "version of the API, such as v1beta1 (default the version that the operator uses)")
	return cmd
}

func sample(s streams, from *sourceFlags, options argoperator.SampleOptions) error {
	result, _, err := from.operators(s, argoperator.Options{})
	if err != nil {
		return err
	}
	texts, err := result.Samples(options)
	if errors.Is(err, argoperator.ErrNoSchema) {
		return usagef("%w", err)
	}
	if err != nil {
		return err
	}
	_, err = s.out.Write(argoperator.Stream(texts))
	return err
}
