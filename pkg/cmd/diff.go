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
)

type diffFlags struct {
	from    sourceFlags
	against string
	live    bool
	format  string
	options argoperator.Options
}

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

For definitions, diff also lists the removed children. Their objects stay in the
cluster.

--against names a file or a directory with definitions or generated manifests. If
no such path exists, it names a Git revision that has the same files. --live runs
kubectl diff.

Exit codes: 0 no differences, 1 differences.`,
		Example: `  # Compare with the last commit
  argoperator diff -f . --against HEAD

  # Compare with generated manifests
  argoperator generate -f . > manifests.yaml
  argoperator diff -f . --against manifests.yaml -o summary

  # Compare with a cluster
  argoperator diff -f . --live`,
		Args: flags.from.paths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.live == (flags.against != "") {
				return usagef("use one of --against PATH, --against REVISION and --live")
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
	outputVar(cmd, &flags.format, "text", "summary", "json")
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
	changes, findings, err := result.Compare(earlier)
	if err != nil {
		return err
	}
	if err := printChanges(s, changes, findings, flags.format); err != nil {
		return err
	}
	if flags.format != "json" {
		if err := report(s, sources, findings); err != nil {
			return err
		}
	}
	if len(changes) > 0 || findings.HasErrors() {
		return errFindings
	}
	s.note("no differences")
	return nil
}

func printChanges(s streams, changes []diff.Change, findings diag.List, format string) error {
	switch format {
	case "summary":
		for _, c := range changes {
			if _, err := terminal.Fprintf(s.out, "%s\n", c); err != nil {
				return err
			}
		}
		return nil
	case "json":
		return diffJSON(s.out, changes, findings)
	}
	if len(changes) == 0 {
		return nil
	}
	return diff.Printer{Colour: colour(s.out)}.Print(s.out, changes)
}

// diffJSON prints one Diff. Its format is part of the interface.
func diffJSON(w io.Writer, changes []diff.Change, findings diag.List) error {
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
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Changes    []change   `json:"changes"`
		Breaking   []breaking `json:"breaking"`
	}{v1alpha1.APIVersion, "Diff", []change{}, []breaking{}}
	for _, c := range changes {
		out.Changes = append(out.Changes, change{string(c.Action), c.Kind, c.Name})
	}
	for _, f := range findings {
		out.Breaking = append(out.Breaking, breaking{f.File, f.Line, f.Column, f.Severity, f.Message})
	}
	return terminal.JSON(w, out)
}

// earlierSources reads the definitions or manifests to compare with: a path, or the
// same files in a Git revision, which it extracts into a directory.
func earlierSources(ctx context.Context, flags diffFlags, dir string) ([]argoperator.Source, diag.List, error) {
	if _, err := os.Stat(flags.against); err == nil {
		old := sourceFlags{names: []string{flags.against}, recursive: true, check: "the value of --against"}
		return old.read(nil)
	}
	old := sourceFlags{recursive: flags.from.recursive}
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
