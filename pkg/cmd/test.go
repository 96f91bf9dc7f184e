package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/place"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
	"github.com/argoperator/argoperator/pkg/internal/verify/dryrun"
)

// testFlags are the flags of test except the sources.
type testFlags struct {
	run, format          string
	update, watch, trace bool
	server               bool
	parallel             int
	programs             programFlags
}

func newTest(s streams) *cobra.Command {
	from := sourceFlags{unlocked: true} // tests name images as the definition does
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test [NAME]...",
		Short: "Run the tests of an operator",
		Long: `Run the tests of operators without a cluster. Each step of a test changes a custom
resource or a child. argoperator runs Argo's own code against an in-memory API
server until nothing changes, and compares the result with the expectations. It
then delivers all events a second time, which must change nothing.

Custom code of a definition runs on this machine with your permissions, or with
--runner docker in its image. It runs only if you say so: argoperator asks on a
terminal, and otherwise needs --run-logic.

A test is a file of kind OperatorTest in the directory tests next to a definition.
-f names definitions, tests, or directories that hold them. A test belongs to the
nearest definition above it.

With --server, the API server of the kubeconfig also checks the custom resources of
the tests and the objects that the operators write, by dry runs.`,
		Example: `  # Run all tests of the project in the current directory
  argoperator test -f .

  # Run one test, and show every request of a failed step
  argoperator test -f . --trace first-steps

  # Run the tests again whenever a file changes
  argoperator test -f . --watch

  # Also check with a cluster
  argoperator test -f . --server`,
		Args: func(cmd *cobra.Command, args []string) error { return testNames(cmd, s, args) },
		RunE: func(cmd *cobra.Command, names []string) error {
			chosen, err := chooseTests(flags.run, names)
			if err != nil {
				return err
			}
			if slices.Contains(from.names, "-") {
				return usagef("test reads files only, got -f -")
			}
			runner := flags.programs.consent(s, &from)
			if flags.watch {
				return watch(s, from.names, func(ctx context.Context) error {
					err := runTests(ctx, s, &from, flags, runner, chosen)
					if errors.Is(err, errFindings) { // already printed
						return nil
					}
					return err
				})
			}
			return interruptible(cmd.Context(), func(ctx context.Context) error { return runTests(ctx, s, &from, flags, runner, chosen) })
		},
	}
	from.registerAs(cmd, "file or directory with definitions or tests; repeatable")
	cmd.Flags().StringVar(&flags.run, "run", "", "run only tests whose names match this regular expression")
	cmd.Flags().BoolVar(&flags.update, "update", false, "write the results into the golden files")
	cmd.Flags().BoolVar(&flags.watch, "watch", false, "run again whenever a file changes, until interrupted")
	cmd.Flags().BoolVar(&flags.trace, "trace", false, "print every event and request of a failed step")
	outputVar(cmd, &flags.format, "text", "json", "junit")
	serverVar(cmd, &flags.server)
	flags.programs.register(cmd)
	cmd.Flags().IntVar(&flags.parallel, "parallel", runtime.NumCPU(), "number of tests to run at the same time")
	return cmd
}

// testNames rejects paths among the names of tests.
func testNames(cmd *cobra.Command, s streams, names []string) error {
	if cmd.Flags().Changed("filename") {
		return nil
	}
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			path := sourceFlags{names: []string{name}}
			return usagef("%s is a path, but the arguments are names of tests; run %s", name, path.command(s, "test"))
		}
	}
	return nil
}

// choice selects tests.
type choice struct {
	names []string // empty: all
	run   *regexp.Regexp
}

func chooseTests(run string, names []string) (choice, error) {
	pattern, err := regexp.Compile(run)
	if err != nil {
		return choice{}, usagef("--run %q is not a regular expression: %w", run, err)
	}
	return choice{names, pattern}, nil
}

func (c choice) takes(name string) bool {
	return (len(c.names) == 0 || slices.Contains(c.names, name)) && c.run.MatchString(name)
}

// unmatched reports selectors that match no test.
func (c choice) unmatched(all []string) diag.List {
	var findings diag.List
	for _, name := range c.names {
		if !slices.Contains(all, name) {
			findings.Add(diag.Position{}, diag.NoTest, fmt.Sprintf("no test is named %q", name), diag.DidYouMean(name, all, diag.FoldKey))
		}
	}
	if !slices.ContainsFunc(all, c.takes) && len(findings) == 0 {
		findings.Add(
			diag.Position{},
			diag.NoTest,
			fmt.Sprintf("no test matches --run %q", c.run),
			"tests: "+strings.Join(slices.Compact(slices.Sorted(slices.Values(all))), ", "),
		)
	}
	return findings
}

// runTests runs the tests once.
func runTests(ctx context.Context, s streams, from *sourceFlags, flags testFlags, runner *consent, chosen choice) error {
	read, err := readSuites(s, from, chosen, runner.note)
	if err != nil {
		return err
	}
	wrong := report(s, read.sources, read.findings)
	if wrong != nil && (!errors.Is(wrong, errFindings) || len(read.suites) == 0) {
		return wrong
	}
	client, err := mustConnect(ctx, s, flags.server)
	if err != nil {
		return err
	}
	if err := runner.required(ctx); err != nil {
		return err
	}
	results, objects, err := runSuites(ctx, s, read.suites, flags, runner, read.sources)
	if err != nil {
		return err
	}
	if err := writeGoldens(s, results); err != nil {
		return err
	}
	if err := printResults(s, results, flags, read.sources); err != nil {
		return err
	}
	if err := reportFromServer(ctx, s, client, read.sources, objects); err != nil {
		return err
	}
	for _, g := range read.unrun {
		s.say("the tests of %s did not run: it has errors", g.name)
	}
	if slices.ContainsFunc(results, func(r testsuite.Result) bool { return r.State() == testsuite.Failed }) {
		return errFindings
	}
	return wrong
}

// testedObjects returns what an API server can check after a test.
func testedObjects(r testsuite.Result) []dryrun.Object {
	defaulted := !argoperator.InDefaultNamespace(r.Test.Resource)
	var out []dryrun.Object
	for i, step := range r.Steps {
		if given := r.Test.Spec.Steps[i]; given.Create != nil && given.Expect.Refused == "" && step.State == testsuite.Passed {
			cr := simulate.Merged(r.Test.Resource, given.Create)
			out = append(out, r.Operators.CustomResource(cr, false, r.Test.ResourcePosition))
		}
		out = append(out, appliedObjects(r.Operators, step.Trace, defaulted)...)
	}
	return out
}

// runSuites runs the tests. With --server it returns what the API server can check.
func runSuites(
	ctx context.Context,
	s streams,
	suites []testsuite.Suite,
	flags testFlags,
	runner simulate.Runner,
	sources []argoperator.Source,
) ([]testsuite.Result, []dryrun.Object, error) {
	out := s.out
	defer keepStdout(s)()
	printer := testsuite.Printer{Findings: diag.Printer{Colour: colour(out), Source: excerpts(sources)}, Trace: flags.trace}
	line := newProgress(s.err)
	defer line.close()
	total, done := 0, 0
	for _, suite := range suites {
		total += len(suite.Tests)
	}
	var mu sync.Mutex // guards done
	var printing error
	var objects []dryrun.Object
	results, err := testsuite.Run(ctx, suites, testsuite.Options{
		Runner: runner, Parallel: flags.parallel, Update: flags.update, Now: time.Now,
		Progress: func(t argoperator.Test, what string) {
			mu.Lock()
			defer mu.Unlock()
			line.set("%d of %d tests done; %s, %s", done, total, t.Metadata.Name, what)
		},
		Done: func(r testsuite.Result) {
			mu.Lock()
			done++
			mu.Unlock()
			if flags.server {
				objects = append(objects, testedObjects(r)...)
			}
			if flags.format == "text" && printing == nil {
				printing = line.aside(func() error { return printer.Print(out, r) })
			}
		},
	})
	if err == nil {
		err = printing
	}
	return results, objects, err
}

func printResults(s streams, results []testsuite.Result, flags testFlags, sources []argoperator.Source) error {
	switch flags.format {
	case "json":
		return testsuite.JSON(s.out, results)
	case "junit":
		return testsuite.JUnit(s.out, results, diag.Printer{Source: excerpts(sources)})
	}
	_, err := terminal.Fprintf(s.out, "%s\n", testsuite.Summary(results))
	return err
}

// writeGoldens writes the golden files that --update changes and reports them.
func writeGoldens(s streams, results []testsuite.Result) error {
	for _, r := range results {
		for _, g := range r.Goldens {
			if err := place.Replace(g.File, g.Data); err != nil {
				return fmt.Errorf("writing a golden file: %w", err)
			}
			s.say("wrote %s", g.File)
		}
	}
	return nil
}
