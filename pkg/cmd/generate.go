package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	semver "k8s.io/apimachinery/pkg/util/version"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/doctor"
	"github.com/argoperator/argoperator/pkg/internal/output"
	"github.com/argoperator/argoperator/pkg/internal/terminal"
)

// generateFlags are the flags of generate except the sources.
type generateFlags struct {
	format    output.Format
	dir       string
	uninstall argoperator.Stage // empty: objects to apply
	version   string            // of a chart
	options   argoperator.Options
}

func newGenerate(s streams) *cobra.Command {
	var from sourceFlags
	var flags generateFlags
	var format, stage string
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Print an operator's manifests, checked, in apply order",
		Long: `generate prints the manifests of operators, checked, in apply order.

With --uninstall it prints those to delete, in reverse order and in two stages:
  api       the CustomResourceDefinitions. kubectl waits until every custom
            resource is gone, while the operator still runs and cleans up.
  operator  everything else.
Deleted all at once, custom resources with a finalizer would wait for an operator
that is gone. What a stage leaves behind is told on stderr; one with nothing to
delete prints nothing on stdout. Name the definition as it was applied.

--uninstall=leftovers is for after an upgrade: it asks the cluster, by kubectl, and
prints what an earlier version of the operator made and this one does not. These are
objects of the operator itself, and those of children that its definition no longer
has. It never prints a CustomResourceDefinition.`,
		Example: `  argoperator generate -f examples/memcached | kubectl apply -f -
  argoperator generate -f operator.yaml -o dir --output-dir manifests
  argoperator generate -f operator.yaml -o kustomize --output-dir config
  argoperator generate -f operator.yaml -o helm --output-dir charts --chart-version 1.2.0
  argoperator generate -f - -n platform < operator.yaml
  argoperator generate -f . --uninstall=api | kubectl delete --ignore-not-found -f -
  argoperator generate -f . --uninstall=operator | kubectl delete --ignore-not-found -f -
  argoperator generate -f . --uninstall=leftovers | kubectl delete --ignore-not-found -f -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if flags.format, err = outputFormat(format, flags.dir); err != nil {
				return err
			}
			flags.uninstall = argoperator.Stage(stage)
			if flags.format.Adjustable && stage != "" {
				return usagef("-o %s prints no objects to delete; --uninstall goes with the other formats", format)
			}
			if cmd.Flags().Changed("chart-version") && !flags.format.Adjustable {
				return usagef("--chart-version goes with -o helm, not with -o %s", format)
			}
			if _, err := semver.ParseSemantic(flags.version); err != nil {
				return usagef("--chart-version %q is no semantic version, such as 1.2.0", flags.version)
			}
			if stage == leftovers {
				return interruptible(cmd.Context(), func(ctx context.Context) error { return generateLeftovers(ctx, s, &from, flags) })
			}
			return generate(s, &from, flags)
		},
	}
	from.register(cmd)
	outputVar(cmd, &format, names(output.Formats())...)
	cmd.Flags().StringVar(&flags.dir, "output-dir", "", "directory to write into, for the formats that write files; made where it is missing")
	namespaceVar(cmd, &flags.options.Namespace)
	// Set rejects an empty value, which comes from an unset shell variable
	enumVar(cmd, &stage, "uninstall", "", stageNames(), "print what to delete instead, one stage after the other, or what an upgrade left")
	cmd.Flags().StringVar(&flags.version, "chart-version", "0.1.0", "version of the charts, for -o helm")
	return cmd
}

func generate(s streams, from *sourceFlags, flags generateFlags) error {
	if flags.format.Append != nil && flags.uninstall == "" {
		return stream(s, from, flags)
	}
	result, _, err := from.operators(s, flags.options)
	if err != nil {
		return err
	}
	objects := result.Objects()
	if flags.uninstall != "" {
		var notes []string
		objects, notes = result.Uninstall(flags.uninstall)
		for _, note := range notes {
			s.say("%s", note)
		}
		if len(objects) == 0 {
			return nil
		}
	}
	operators := []output.Operator{{Objects: objects}}
	if flags.format.Adjustable {
		if operators, err = result.Charts(flags.version); errors.Is(err, argoperator.ErrGroupedChart) {
			return usagef("-o helm: %v; use -o kustomize or -o dir", err)
		} else if err != nil {
			return err
		}
	}
	return writeOperators(s, operators, flags)
}

// generateLeftovers prints what earlier versions of the operators left in the cluster.
func generateLeftovers(ctx context.Context, s streams, from *sourceFlags, flags generateFlags) error {
	needs, err := from.requirements(s, flags.options, "--uninstall="+leftovers)
	if err != nil {
		return err
	}
	var all output.Operator
	for _, n := range needs {
		left, err := doctor.Leftovers(ctx, doctorFlags{}.kubectl, n)
		if err != nil {
			s.say("cannot look for leftovers: %v", err)
			return errFindings
		}
		for _, of := range left {
			all.Objects = append(all.Objects, of.Object())
		}
	}
	if len(all.Objects) == 0 {
		s.say("nothing of an earlier version of the operator is there")
		return nil
	}
	return writeOperators(s, []output.Operator{all}, flags)
}

// writeOperators writes operators in the chosen format.
func writeOperators(s streams, operators []output.Operator, flags generateFlags) error {
	files, err := flags.format.Files(operators)
	if err != nil {
		return err
	}
	if flags.format.Directory {
		return writeDir(s, flags.dir, files)
	}
	_, err = s.out.Write(files[0].Data)
	return err
}

// stream writes the operators one by one after all have been checked, however many
// there are.
func stream(s streams, from *sourceFlags, flags generateFlags) (err error) {
	var out spool
	defer func() { err = errors.Join(err, out.Close()) }()
	write := flags.format.Append(&out)
	if err := from.each(s, flags.options, func(o argoperator.Operator) error { return write(o.Documents()) }); err != nil {
		return err
	}
	return out.copyTo(s.out)
}

// writeDir writes the files and reports conflicting and leftover ones.
func writeDir(s streams, dir string, files []output.File) error {
	var left []string
	err := interruptible(context.Background(), func(context.Context) (err error) {
		left, err = output.WriteDir(dir, files) // nothing is written if one file conflicts
		return err
	})
	if taken := (*output.TakenError)(nil); errors.As(err, &taken) {
		s.say("nothing was written: there is already, and not of argoperator")
		for _, name := range taken.Names {
			terminal.Fprintf(s.err, "  %s\n", filepath.Join(dir, filepath.FromSlash(name)))
		}
		terminal.Fprintf(s.err, "choose another directory with --output-dir, or move these away\n")
		return errFindings
	}
	for _, name := range left {
		s.say("%s is no longer part of the operator, but was changed since it was written: it stays",
			filepath.Join(dir, filepath.FromSlash(name)))
	}
	return err
}

// withMissing joins the findings with those about missing files, which make the
// finding that there is no definition redundant.
func withMissing(findings, missing diag.List) diag.List {
	if len(missing) == 0 {
		return findings
	}
	for _, f := range findings {
		if f.Code != diag.NoDefinition || f.File != "" {
			missing = append(missing, f)
		}
	}
	return missing.Sorted()
}

// outputFormat returns a format by name, which --output has validated.
func outputFormat(name, dir string) (output.Format, error) {
	formats := output.Formats()
	f := formats[slices.IndexFunc(formats, func(f output.Format) bool { return f.Name == name })]
	switch {
	case f.Directory && dir == "":
		return f, usagef("-o %s needs --output-dir", name)
	case !f.Directory && dir != "":
		return f, usagef("--output-dir goes with a format that writes files, not with -o %s", name)
	}
	return f, nil
}

func names(formats []output.Format) []string {
	list := make([]string, len(formats))
	for i, f := range formats {
		list[i] = f.Name
	}
	return list
}

// leftovers is the value of --uninstall for what an earlier version left.
const leftovers = "leftovers"

func stageNames() []string {
	var list []string
	for _, s := range argoperator.Stages() {
		list = append(list, string(s))
	}
	return append(list, leftovers)
}
