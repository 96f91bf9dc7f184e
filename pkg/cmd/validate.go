package cmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/dryrun"
)

// validateFlags are the flags of validate except the sources.
type validateFlags struct {
	old    []string
	format string
	server bool
}

func newValidate(s streams) *cobra.Command {
	var from sourceFlags
	var flags validateFlags
	cmd := &cobra.Command{
		Use:   "validate RESOURCE.yaml...",
		Short: "Report what the API server would refuse of custom resources",
		Long: `validate holds custom resources to the API of their operator as the API server
would if kubectl sent them: unknown and repeated fields, types, limits, rules,
names, versions. It needs no cluster. What is named may be a file, a directory,
or - for standard input; in a directory, objects of other kinds are passed over.

With --old, a custom resource that is there too, by kind, namespace and name, is
judged as a change: rules that compare with what was before hold for it.

With --server, the API server of the kubeconfig checks them too, by dry runs: with
its admission policies and webhooks, and against what is there already.`,
		Example: `  argoperator validate -f examples/memcached examples/memcached/samples/memcached.yaml
  argoperator validate -f operator.yaml --old before.yaml after.yaml
  kubectl get memcacheds -A -o yaml | argoperator validate -f operator.yaml -
  argoperator validate -f operator.yaml --server sample.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name files or directories that hold custom resources; definitions are named with -f")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !flags.server {
				return validate(cmd.Context(), s, &from, args, flags)
			}
			return interruptible(cmd.Context(), func(ctx context.Context) error { return validate(ctx, s, &from, args, flags) })
		},
	}
	from.register(cmd)
	cmd.Flags().StringArrayVar(&flags.old, "old", nil, "file or directory that holds the custom resources as they were; repeatable")
	serverVar(cmd, &flags.server)
	outputVar(cmd, &flags.format, "text", "json")
	return cmd
}

func validate(ctx context.Context, s streams, from *sourceFlags, names []string, flags validateFlags) error {
	old := flags.old
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
		resources, wrong, err := result.Resources(after, before)
		if err != nil {
			return err
		}
		if len(after) == 0 && findings.HasErrors() {
			wrong = nil // redundant if the files are missing
		}
		if findings = append(findings, wrong...); flags.server && !findings.HasErrors() {
			if wrong, err = validateOnServer(ctx, s, resources); err != nil {
				return err
			}
			findings = append(findings, wrong...)
		}
		sources = slices.Concat(definitions, after, before)
	}
	return printReport(s, sources, findings, flags.format)
}

// validateOnServer lets the API server check custom resources.
func validateOnServer(ctx context.Context, s streams, resources []argoperator.Resource) (diag.List, error) {
	client, lost, err := connect(ctx)
	if client == nil {
		return lost, err
	}
	var objects []dryrun.Object
	for _, r := range resources {
		objects = append(objects, r.Checked()...)
	}
	return checkOnServer(ctx, s, client, objects)
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
