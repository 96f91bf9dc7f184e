package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
)

func newValidate(s streams) *cobra.Command {
	var from sourceFlags
	var old []string
	var format string
	cmd := &cobra.Command{
		Use:   "validate RESOURCE.yaml...",
		Short: "Report what the API server would refuse of custom resources",
		Long: `validate holds custom resources to the API of their operator as the API server
would if kubectl sent them: unknown and repeated fields, types, limits, rules,
names, versions. It needs no cluster. What is named may be a file, a directory,
or - for standard input; in a directory, objects of other kinds are passed over.

With --old, a custom resource that is there too, by kind, namespace and name, is
judged as a change: rules that compare with what was before hold for it.`,
		Example: `  argoperator validate -f examples/memcached examples/memcached/samples/memcached.yaml
  argoperator validate -f operator.yaml --old before.yaml after.yaml
  kubectl get memcacheds -A -o yaml | argoperator validate -f operator.yaml -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name files or directories that hold custom resources; definitions are named with -f")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return validate(s, &from, args, old, format)
		},
	}
	from.register(cmd)
	cmd.Flags().StringArrayVar(&old, "old", nil, "file or directory that holds the custom resources as they were; repeatable")
	outputVar(cmd, &format, "text", "json")
	return cmd
}

func validate(s streams, from *sourceFlags, names, old []string, format string) error {
	if err := onceFromStdin(slices.Concat(from.names, names, old)); err != nil {
		return err
	}
	result, definitions, err := from.generate(s, argoperator.Options{})
	if err != nil {
		return err
	}
	sources := definitions
	findings := result.Findings
	if !findings.HasErrors() {
		var after, before []argoperator.Source
		if after, before, findings, err = readChanges(s, names, old, from.recursive); err != nil {
			return err
		}
		_, wrong, err := result.Resources(after, before)
		if err != nil {
			return err
		}
		if len(after) == 0 && findings.HasErrors() {
			wrong = nil // redundant if the files are missing
		}
		findings = append(findings, wrong...)
		sources = slices.Concat(definitions, after, before)
	}
	return printReport(s, sources, findings, format)
}

// readChanges reads the new and the old custom resources.
func readChanges(s streams, names, old []string, recursive bool) (after, before []argoperator.Source, findings diag.List, err error) {
	after, findings, err = readResources(s, names, recursive)
	if err != nil {
		return nil, nil, nil, err
	}
	before, missing, err := readResources(s, old, recursive)
	return after, before, append(findings, missing...), err
}

// readResources reads files of custom resources. A missing file is a finding.
func readResources(s streams, names []string, recursive bool) ([]argoperator.Source, diag.List, error) {
	return (&sourceFlags{names: names, recursive: recursive, alone: true, check: "the name of the custom resource"}).read(s.in)
}

// onceFromStdin rejects a command line that reads standard input twice.
func onceFromStdin(names []string) error {
	count := 0
	for _, name := range names {
		if name == "-" {
			count++
		}
	}
	if count > 1 {
		return usagef("standard input cannot be the definition and the custom resource, nor anything else twice")
	}
	return nil
}

// printReport prints findings as the output of a command.
func printReport(s streams, sources []argoperator.Source, findings diag.List, format string) error {
	var err error
	switch format {
	case "json":
		err = diag.JSON(s.out, findings)
	case "sarif":
		err = diag.SARIF(s.out, findings, linter())
	case "github":
		err = diag.GitHub(s.out, findings)
	case "junit":
		err = diag.JUnit(s.out, findings, "argoperator lint")
	default:
		err = diag.Printer{Colour: colour(s.out), Source: excerpts(sources)}.Print(s.out, findings)
	}
	if err != nil {
		return err
	}
	if findings.HasErrors() {
		return errFindings
	}
	return nil
}
