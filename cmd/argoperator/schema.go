package main

import (
	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

func newSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the definition language, for editors",
		Long: `Print the JSON Schema of the definition language.

Editors with the YAML language server read it when the definition begins with
  # yaml-language-server: $schema=operator.schema.json`,
		Example: "  argoperator schema > operator.schema.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.out.Write(v1alpha1.JSONSchema())
			return err
		},
	}
}
