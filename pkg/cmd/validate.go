package cmd

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/verify/dryrun"
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
		Use:   "validate PATH...",
		Short: "Check custom resources as the API server does",
		Long: `Check custom resources against the API of their operator as the API server does:
unknown and repeated fields, types, limits, rules, names and versions. Also check
that the API server accepts the names of their children. This needs no cluster.
A PATH is a file, a directory, or - for standard input. In directories,
argoperator ignores objects of other kinds.

With --old, a custom resource with the same kind, namespace and name is an update
of the old one, so rules that compare both apply.

With --server, the API server of the kubeconfig also checks the custom resources by
dry runs: with its admission policies and webhooks, and against existing objects.`,
		Example: `  # Check the samples of the operator in the current directory
  argoperator validate -f . samples

  # Check a change of a custom resource
  sed 's/replicas: 1/replicas: 2/' samples/guestbook.yaml > new.yaml
  argoperator validate -f . --old samples/guestbook.yaml new.yaml

  # Check the custom resources in a cluster before you apply a new definition
  kubectl get guestbooks -A -o yaml | argoperator validate -f . -

  # Also check with a cluster
  argoperator validate -f . --server samples`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name the files or directories of custom resources; -f names definitions")
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
	cmd.Flags().StringArrayVar(&flags.old, "old", nil, "file or directory with the custom resources before the change; repeatable")
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
		if !wrong.HasErrors() {
			wrong = append(wrong, result.RejectedNames(resources)...)
		}
		if err := adviseOnInput(s, names, from, result, after, wrong); err != nil {
			return err
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

// adviseOnInput changes the hints of the findings about files that are definitions, and
// about directories that hold custom resources in subdirectories only.
func adviseOnInput(
	s streams,
	names []string,
	from *sourceFlags,
	result argoperator.Result,
	sources []argoperator.Source,
	findings diag.List,
) error {
	for i := range findings {
		f := &findings[i]
		isDefinition := func(source argoperator.Source) bool { return source.Name == f.File && argoperator.Defines(source) }
		switch {
		case f.Code == diag.WrongKind && slices.ContainsFunc(sources, isDefinition):
			definition := sourceFlags{names: []string{f.File}}
			f.Hint = "the file is a definition; check it with " + definition.command(s, "lint")
		case f.Code == diag.NoCustomResource && !from.recursive && !slices.Contains(names, "-"):
			below, _, err := readResources(s, names, true)
			if err != nil {
				return err
			}
			found, _, err := result.Resources(below, nil)
			if err != nil {
				return err
			}
			if len(found) > 0 {
				dir := path.Dir(found[0].Position("kind").File)
				f.File, f.Hint = strings.Join(
					names,
					", ",
				), fmt.Sprintf(
					"custom resources are in %s: %s %s",
					dir,
					from.command(s, "validate"),
					quoted(dir),
				)
			}
		}
	}
	return nil
}

// validateOnServer checks custom resources with the API server.
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
	return (&sourceFlags{names: names, recursive: recursive, alone: true, check: "the path of the custom resource"}).read(s.in)
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
		return usagef("only one of the inputs can be standard input")
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
	if format == "text" && len(findings) == 0 {
		s.note("no findings")
	}
	return nil
}
