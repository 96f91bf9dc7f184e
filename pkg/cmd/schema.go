package cmd

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

func newSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [Operator|OperatorTest]",
		Short: "Print the JSON Schema of the definition language, or that of tests, for editors",
		Long: `Print the JSON Schema of the definition language, or that of tests.

Editors with the YAML language server read it when the definition begins with
  # yaml-language-server: $schema=operator.schema.json`,
		Example: `  argoperator schema > operator.schema.json
  argoperator schema OperatorTest > test.schema.json`,
		ValidArgs: []string{v1alpha1.Kind, v1alpha1.TestKind},
		RunE: func(_ *cobra.Command, args []string) error {
			schema := v1alpha1.JSONSchema
			switch {
			case len(args) > 1 || len(args) == 1 && args[0] != v1alpha1.Kind && args[0] != v1alpha1.TestKind:
				return usagef("there is a schema of %s and one of %s, got %q", v1alpha1.Kind, v1alpha1.TestKind, args)
			case len(args) == 1 && args[0] == v1alpha1.TestKind:
				schema = v1alpha1.OperatorTestSchema
			}
			_, err := s.out.Write(schema())
			return err
		},
	}
}
