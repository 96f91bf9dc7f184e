package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/verify/lint"
)

func newSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [Operator|OperatorTest|LintConfig]",
		Short: "Print the JSON Schema of definitions, tests or the configuration of lint",
		Long: `Print the JSON Schema of definitions, with OperatorTest the one of tests, or with
LintConfig the one of ` + lint.ConfigFile + `. Editors with the YAML language
server use it to complete and check a file that begins with this line:

  # yaml-language-server: $schema=operator.schema.json`,
		Example: `  # Write the schemas next to a definition
  argoperator schema > operator.schema.json
  argoperator schema OperatorTest > test.schema.json
  argoperator schema LintConfig > lint.schema.json`,
		ValidArgs: []string{v1alpha1.Kind, v1alpha1.TestKind, lint.ConfigKind},
		Args:      oneSchema,
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := schemaFor(append(args, v1alpha1.Kind)[0])
			if err == nil {
				_, err = s.out.Write(data)
			}
			return err
		},
	}
}

func schemaFor(kind string) ([]byte, error) {
	switch kind {
	case v1alpha1.TestKind:
		return v1alpha1.OperatorTestSchema(), nil
	case lint.ConfigKind:
		return lint.ConfigSchema()
	}
	return v1alpha1.JSONSchema(), nil
}

func oneSchema(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return usagef("schema takes one kind, got %s", strings.Join(args, ", "))
	case len(args) == 0 || slices.Contains(cmd.ValidArgs, args[0]):
		return nil
	}
	unknown := fmt.Sprintf("no schema of %q", args[0])
	if hint := diag.DidYouMean(args[0], cmd.ValidArgs, diag.FoldKey); hint != "" {
		return usagef("%s; %s", unknown, hint)
	}
	return usagef("%s; use %s", unknown, strings.Join(cmd.ValidArgs, ", "))
}
