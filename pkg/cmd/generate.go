package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	semver "k8s.io/apimachinery/pkg/util/version"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/verify/doctor"
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
		Use:   "generate [PATH]...",
		Short: "Print the manifests of an operator",
		Long: `Check the definitions of operators, and print their manifests in apply order.

With --uninstall, print the objects to delete instead, in reverse order. Name the
definition that you applied, and delete one stage after the other:

  api        The CustomResourceDefinitions. kubectl delete waits until every
             custom resource is gone, while the operator still runs its cleanup.
  operator   Everything else.
  leftovers  After an upgrade: objects in the cluster that an earlier version of
             the operator or of its definition made, and this one does not.
             It prints why to stderr, also of objects that only look like it.
             It never prints a CustomResourceDefinition, a Namespace or a
             PersistentVolume. It needs kubectl.

If you delete everything at once, custom resources with a finalizer wait for an
operator that is gone. A stage without objects prints nothing. Notes on objects
that remain go to stderr.`,
		Example: `  # Apply an operator
  argoperator generate -f . | kubectl apply -f -

  # Write one file for each object
  argoperator generate -f . -o dir --output-dir manifests

  # Write a kustomization or a Helm chart
  argoperator generate -f . -o kustomize --output-dir config
  argoperator generate -f . -o helm --output-dir charts --chart-version 1.2.0

  # Read the definition from standard input, and install into another namespace
  argoperator generate -f - -n platform < operator.yaml

  # Uninstall an operator
  argoperator generate -f . --uninstall=api | kubectl delete --ignore-not-found -f - &&
  argoperator generate -f . --uninstall=operator | kubectl delete --ignore-not-found -f -

  # After an upgrade, delete the objects that the new version no longer has
  argoperator generate -f . --uninstall=leftovers | kubectl delete --ignore-not-found -f -`,
		Args: from.paths,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if flags.format, err = outputFormat(format, flags.dir); err != nil {
				return err
			}
			flags.uninstall = argoperator.Stage(stage)
			if flags.format.Adjustable && stage != "" {
				return usagef("--uninstall does not work with -o %s", format)
			}
			if cmd.Flags().Changed("chart-version") && !flags.format.Adjustable {
				return usagef("--chart-version needs -o helm, got -o %s", format)
			}
			if _, err := semver.ParseSemantic(flags.version); err != nil {
				return usagef("--chart-version %q is not a semantic version such as 1.2.0", flags.version)
			}
			if stage == leftovers {
				return interruptible(cmd.Context(), func(ctx context.Context) error { return generateLeftovers(ctx, s, &from, flags) })
			}
			return generate(s, &from, flags)
		},
	}
	from.register(cmd)
	outputVar(cmd, &format, names(output.Formats())...)
	cmd.Flags().
		StringVar(&flags.dir, "output-dir", "", "directory to write into with -o dir, kustomize and helm; created if it does not exist")
	namespaceVar(cmd, &flags.options.Namespace)
	// Set rejects an empty value, which comes from an unset shell variable
	enumVar(cmd, &stage, "uninstall", "", stageNames(), "print the objects to delete instead")
	cmd.Flags().StringVar(&flags.version, "chart-version", "0.1.0", "version of the charts, with -o helm")
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
	if flags.uninstall != "" {
		objects, notes := result.Uninstall(flags.uninstall)
		for _, note := range notes {
			s.say("%s", note)
		}
		if len(objects) == 0 {
			return nil
		}
		return writeOperators(s, []output.Operator{{Objects: objects}}, flags)
	}
	operators := []output.Operator{{Objects: result.Objects()}}
	if flags.format.Adjustable {
		if operators, err = result.Charts(flags.version); errors.Is(err, argoperator.ErrGroupedChart) {
			return usagef("-o helm: %w; use -o kustomize or -o dir", err)
		} else if err != nil {
			return err
		}
	}
	var total made
	for _, o := range result.Operators {
		total.add(o)
	}
	for _, g := range result.Groups {
		total.share(g)
	}
	return total.report(s, from, func(s streams) error { return writeOperators(s, operators, flags) })
}

// generateLeftovers prints the objects in the cluster that only earlier versions of the
// operators made.
func generateLeftovers(ctx context.Context, s streams, from *sourceFlags, flags generateFlags) error {
	needs, err := from.requirements(s, flags.options, "--uninstall="+leftovers)
	if err != nil {
		return err
	}
	var all output.Operator
	for _, n := range needs {
		left, err := doctor.Leftovers(ctx, doctorFlags{from: *from}.kubectl, n)
		if err != nil {
			s.say("looking for leftovers: %v", err)
			return errFindings
		}
		for _, one := range left {
			if one.Doubt != "" {
				s.say("left alone: %s", one)
				continue
			}
			s.say("to delete: %s", one)
			all.Objects = append(all.Objects, one.Object())
		}
	}
	if len(all.Objects) == 0 {
		s.say("the cluster has no objects of an earlier version of the operator")
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
	var total made
	groups, err := from.each(s, flags.options, func(o argoperator.Operator) error {
		total.add(o)
		return write(o.Documents())
	})
	if err != nil {
		return err
	}
	for _, g := range groups {
		total.share(g)
		if err := write(g.Documents()); err != nil {
			return err
		}
	}
	return total.report(s, from, func(s streams) error { return out.copyTo(s.out) })
}

// made counts the generated operators and objects.
type made struct {
	operators, objects int
	name, engine       string // of the last operator
}

func (m *made) add(o argoperator.Operator) {
	m.objects += len(o.Objects)
	m.operators++
	m.name, m.engine = o.Name, o.Engine()
}

func (m *made) share(g argoperator.Group) { m.objects += len(g.Objects) }

func (m *made) String() string {
	if m.operators == 1 {
		return fmt.Sprintf("%s: %d objects, no errors; engine %s", m.name, m.objects, m.engine)
	}
	return fmt.Sprintf("%d operators: %d objects, no errors", m.operators, m.objects)
}

// report writes the objects and a summary for the user. If nothing reads the output,
// such as when kubectl is not installed, it says what to do without kubectl.
func (m *made) report(s streams, from *sourceFlags, write func(streams) error) error {
	err := s.untilClosed(write)
	switch {
	case err == nil:
		s.note("%s", m)
	case errors.Is(err, errUnread):
		s.say("%s", m)
		s.say("nothing read the objects: the command after the pipe is not installed, or it has ended")
		terminal.Fprintf(s.err, "  hint: to simulate the operator without a cluster: %s\n", from.command(s, "render"))
		terminal.Fprintf(s.err, "  hint: to write the objects to files: %s -o dir --output-dir manifests\n", from.command(s, "generate"))
		return brokenPipe
	}
	return err
}

// writeDir writes the files and reports conflicting and leftover ones.
func writeDir(s streams, dir string, files []output.File) error {
	var left []string
	err := interruptible(context.Background(), func(context.Context) (err error) {
		left, err = output.WriteDir(dir, files) // nothing is written if one file conflicts
		return err
	})
	if taken := (*output.TakenError)(nil); errors.As(err, &taken) {
		for i, name := range taken.Names {
			taken.Names[i] = filepath.Join(dir, filepath.FromSlash(name))
		}
		s.list("wrote nothing, because these files exist and argoperator did not write them", taken.Names)
		terminal.Fprintf(s.err, "Choose another directory with --output-dir, or move the files.\n")
		return errFindings
	}
	if err == nil {
		s.note("wrote %d files to %s", len(files), dir)
	}
	for _, name := range left {
		s.say("kept %s: it is no longer part of the operator, but somebody changed it since argoperator wrote it",
			filepath.Join(dir, filepath.FromSlash(name)))
	}
	return err
}

// outputFormat returns a format by name, which --output has validated.
func outputFormat(name, dir string) (output.Format, error) {
	formats := output.Formats()
	f := formats[slices.IndexFunc(formats, func(f output.Format) bool { return f.Name == name })]
	switch {
	case f.Directory && dir == "":
		return f, usagef("-o %s writes files: name their directory with --output-dir", name)
	case !f.Directory && dir != "":
		return f, usagef("--output-dir needs a format that writes files, such as -o dir; got -o %s", name)
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

// leftovers is the value of --uninstall for the objects of an earlier version.
const leftovers = "leftovers"

func stageNames() []string {
	var list []string
	for _, s := range argoperator.Stages() {
		list = append(list, string(s))
	}
	return append(list, leftovers)
}
