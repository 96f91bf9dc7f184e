package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/operator/diff"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/operator/rights"
)

type diffFlags struct {
	from    sourceFlags
	against string
	live    bool
	failOn  string
	format  string
	options argoperator.Options
}

// The values of --fail-on.
const (
	failOnAny         = "any"
	failOnPermissions = "permissions"
)

func newDiff(s streams) *cobra.Command {
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff [PATH]...",
		Short: "Compare an operator with an earlier version or a cluster",
		Long: `Show which objects applying the operators would create, change and delete. Schema
changes that break existing custom resources or clients are findings:

  - a removed field
  - a narrower type
  - a new required field
  - a version that is no longer served

diff first shows which permissions each account gets and loses, the most dangerous
first. It compares what the account may do: a rule that is split, moved to another
role or written in another order is no change.

Deleted objects are those that the operators no longer need. kubectl apply leaves
them, with their permissions; generate --uninstall=leftovers prints them.

If it compares definitions, it shows where they differ, with a renamed child under
its new name, and lists the removed children. Their objects stay in the cluster.

Of a Sensor it shows which triggers changed, and of programs in pods how many lines
of their configuration. With -o unified it shows the lines.

--against names a file or a directory with definitions or generated manifests. If
no such path exists, it names a Git revision that has the same files. --live runs
kubectl diff.

Exit codes: 0 no differences, 1 differences. With --fail-on permissions, 1 only if
an account gets more permissions, or for a change of the schema that is an error.`,
		Example: `  # Compare with the last commit
  argoperator diff -f . --against HEAD

  # Compare with generated manifests
  argoperator generate -f . > manifests.yaml
  argoperator diff -f . --against manifests.yaml -o summary

  # Fail if an account gets more permissions
  argoperator diff -f . --against HEAD --fail-on permissions

  # Compare with a cluster
  argoperator diff -f . --live`,
		Args: flags.from.paths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.live == (flags.against != "") {
				return usagef("use one of --against PATH, --against REVISION and --live")
			}
			if flags.live && flags.failOn != failOnAny {
				return usagef("--fail-on %s needs --against: kubectl diff compares objects only", flags.failOn)
			}
			if strings.HasPrefix(flags.against, "-") {
				return usagef("--against %s is neither a path nor a Git revision", flags.against)
			}
			return interruptible(cmd.Context(), func(ctx context.Context) error {
				if flags.live {
					return diffLive(ctx, s, flags)
				}
				return runDiff(ctx, s, flags)
			})
		},
	}
	flags.from.register(cmd)
	cmd.Flags().StringVar(&flags.against, "against", "", "file, directory or Git revision to compare with")
	cmd.Flags().BoolVar(&flags.live, "live", false, "compare with the cluster of the kubeconfig, with kubectl diff --server-side")
	outputVar(cmd, &flags.format, "text", "unified", "summary", "json")
	flags.failOn = failOnAny
	enumVar(cmd, &flags.failOn, "fail-on", "", []string{failOnAny, failOnPermissions},
		"exit with 1 for any difference, or only for more permissions")
	namespaceVar(cmd, &flags.options.Namespace)
	return cmd
}

func runDiff(ctx context.Context, s streams, flags diffFlags) error {
	result, sources, err := flags.from.operators(s, flags.options)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "argoperator-diff-")
	if err != nil {
		return fmt.Errorf("creating a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	old, missing, err := earlierSources(ctx, flags, dir)
	if err == nil {
		err = report(s, old, missing)
	}
	if err != nil {
		return err
	}
	earlier, findings, err := argoperator.Earlier(old, flags.options)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if err := report(s, old, findings.Only(diag.Error)); err != nil { // lint shows the warnings of the current definitions
		return err
	}
	comparison, err := result.Compare(earlier)
	if err != nil {
		return err
	}
	if err := printComparison(s, comparison, flags.format); err != nil {
		return err
	}
	if flags.format != "json" {
		if err := report(s, sources, comparison.Findings); err != nil {
			return err
		}
	}
	deleted := func(c diff.Change) bool { return c.Action == diff.Deleted }
	if flags.format != "json" && slices.ContainsFunc(comparison.Objects, deleted) {
		generate := flags.from.command(s, "generate")
		if flags.options.Namespace != "" {
			generate += " -n " + flags.options.Namespace
		}
		s.say("kubectl apply leaves the deleted objects in the cluster, with their permissions; "+
			"afterwards, %s --uninstall=leftovers prints those of operators that stay", generate)
	}
	fails := len(comparison.Objects) > 0
	if flags.failOn == failOnPermissions {
		fails = rights.More(comparison.Permissions)
	}
	switch {
	case fails || comparison.Findings.HasErrors():
		return errFindings
	case len(comparison.Objects) == 0:
		s.note("no differences")
	}
	return nil
}

func printComparison(s streams, c argoperator.Comparison, format string) error {
	switch format {
	case "json":
		return diffJSON(s.out, c)
	case "summary":
		for _, change := range c.Objects {
			if _, err := terminal.Fprintf(s.out, "%s\n", change); err != nil {
				return err
			}
		}
		return rights.Print(s.out, c.Permissions, false)
	}
	if len(c.Objects) == 0 {
		return nil
	}
	if err := rights.Print(s.out, c.Permissions, colour(s.out)); err != nil {
		return err
	}
	p := diff.Printer{Colour: colour(s.out), Programs: format == "unified"}
	if err := p.PrintDefinitions(s.out, c.Definitions); err != nil {
		return err
	}
	return p.Print(s.out, c.Objects)
}

// diffJSON prints one Diff. Its format is part of the interface.
func diffJSON(w io.Writer, c argoperator.Comparison) error {
	type change struct {
		Action string `json:"action"`
		Kind   string `json:"kind"`
		Name   string `json:"name"`
	}
	type breaking struct {
		File     string        `json:"file"`
		Line     int           `json:"line"`
		Column   int           `json:"column"`
		Severity diag.Severity `json:"severity"`
		Message  string        `json:"message"`
	}
	out := struct {
		APIVersion  string            `json:"apiVersion"`
		Kind        string            `json:"kind"`
		Definitions []diff.Difference `json:"definitions"`
		Changes     []change          `json:"changes"`
		Permissions []rights.Change   `json:"permissions"`
		Breaking    []breaking        `json:"breaking"`
	}{
		v1alpha1.APIVersion, "Diff", append([]diff.Difference{}, c.Definitions...),
		[]change{},
		append([]rights.Change{}, c.Permissions...),
		[]breaking{},
	}
	for _, o := range c.Objects {
		out.Changes = append(out.Changes, change{string(o.Action), o.Kind, o.Name})
	}
	for _, f := range c.Findings {
		out.Breaking = append(out.Breaking, breaking{f.File, f.Line, f.Column, f.Severity, f.Message})
	}
	return terminal.JSON(w, out)
}

// earlierSources reads the definitions or manifests to compare with: a path, or the
// same files in a Git revision, which it extracts into a directory.
func earlierSources(ctx context.Context, flags diffFlags, dir string) ([]argoperator.Source, diag.List, error) {
	if _, err := os.Stat(flags.against); err == nil {
		old := sourceFlags{
			names: []string{flags.against}, recursive: true, check: "the value of --against",
			set: flags.from.set, values: flags.from.values,
		}
		return old.read(nil)
	}
	old := sourceFlags{recursive: flags.from.recursive, set: flags.from.set, values: flags.from.values}
	earlier := revision{flags.from.path(), flags.against}
	for i, name := range flags.from.names {
		if name == "-" {
			return nil, nil, usagef("standard input is not in a Git revision: name a file or a directory with -f")
		}
		at, err := earlier.checkout(ctx, name, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return nil, nil, err
		}
		if _, err := os.Stat(at); err == nil { // the path may not exist in that revision
			old.names = append(old.names, at)
		}
	}
	sources, findings, err := old.read(nil)
	for i := range sources {
		sources[i].Name = flags.against + ":" + strings.TrimPrefix(strings.TrimPrefix(sources[i].Name, filepath.ToSlash(dir)), "/")
	}
	return sources, findings, err
}

// diffLive runs kubectl diff, which compares with the cluster as the API server
// would store the objects.
func diffLive(ctx context.Context, s streams, flags diffFlags) error {
	result, _, err := flags.from.operators(s, flags.options)
	if err != nil {
		return err
	}
	stream, err := output.Stream(result.Objects())
	if err != nil {
		return err
	}
	kubectl, err := flags.from.path().Command(
		ctx, process.Kubectl, "diff", "--server-side", "--force-conflicts", "--field-manager=kubectl", "-f", "-",
	)
	if err != nil {
		return usagef("--live needs kubectl: %w", err)
	}
	kubectl.Stdin, kubectl.Stdout, kubectl.Stderr, kubectl.WaitDelay = bytes.NewReader(stream), s.out, s.err, outputGrace
	err = kubectl.Run()
	var exit *process.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return errFindings // differences, or an error that kubectl has printed
	case err != nil:
		return fmt.Errorf("kubectl diff: %w", err)
	}
	return nil
}
