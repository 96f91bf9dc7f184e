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
		Use:   "sample",
		Short: "Print custom resources to start from",
		Long: `sample prints a custom resource of each operator, made of its schema: every field
that can be there at once, under what the schema says of it, with its default or
a value of its kind. What is printed, the API server accepts.

--minimal leaves out what need not be there. --edge prints several, each with
values of one sort in which mistakes show: the longest texts, the lowest numbers,
nothing in the lists. --seed prints a random one, the same for the same number.`,
		Example: `  argoperator sample -f operator.yaml | kubectl apply -f -
  argoperator sample -f examples/memcached --minimal
  argoperator sample -f operator.yaml --edge | argoperator render -f operator.yaml -`,
		Args: noArgs,
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
					return usagef("--full, --minimal, --edge and --seed exclude each other")
				}
				if choice.on {
					options.Kind = choice.sort
				}
			}
			return sample(s, &from, options)
		},
	}
	from.register(cmd)
	cmd.Flags().BoolVar(&flags.full, "full", false, "every field that can be there at once; the default")
	cmd.Flags().BoolVar(&flags.minimal, "minimal", false, "what is required only")
	cmd.Flags().BoolVar(&flags.edge, "edge", false, "several, with values at the borders of what is legal")
	cmd.Flags().Uint64Var(&flags.seed, "seed", 0, "a random one by this number")
	cmd.Flags().StringVar(&flags.version, "api-version", "", "version of the API, such as v1beta1; default: the one that the operator works with")
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
