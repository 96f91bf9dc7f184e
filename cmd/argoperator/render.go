package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/simulate"
)

// renderFlags are what render asks beside its sources.
type renderFlags struct {
	event, old, format, runner string
	trace                      bool
}

func newRender(s streams) *cobra.Command {
	var from sourceFlags
	var flags renderFlags
	events, formats, runners := []string{simulate.Added, simulate.Updated, simulate.Deleted}, []string{"yaml", "json"}, []string{"local", "docker"}
	cmd := &cobra.Command{
		Use:   "render [RESOURCE.yaml]",
		Short: "Show what an operator makes of a custom resource, without a cluster",
		Long: `render lets a custom resource happen to an operator: the event goes through
Argo's own filters, transforms and triggers onto a cluster in memory, and what
comes of it goes round again until nothing changes. Programs run on this machine,
or in their images with --runner docker.

stdout is what the cluster would hold: the children in the order in which they
were written, then the custom resource as the operator left it. Without a file
the custom resource is one with every field that its schema has. What failed on
the way is told on stderr, and --trace shows it.`,
		Example: `  argoperator render -f examples/memcached examples/memcached/samples/memcached.yaml
  argoperator render -f operator.yaml --trace sample.yaml
  argoperator render -f operator.yaml --event UPDATE --old before.yaml after.yaml`,
		Args: oneResource,
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			for _, err := range []error{
				oneOf("event", flags.event, events), oneOf("output", flags.format, formats), oneOf("runner", flags.runner, runners),
			} {
				if err != nil {
					return err
				}
			}
			if (flags.event == simulate.Updated) != (flags.old != "") {
				return usagef("--event UPDATE and --old go together: an update is a change from one to the other")
			}
			if flags.old != "" && name == "" {
				return usagef("--old needs the file that holds the custom resource as it becomes")
			}
			return render(s, &from, flags, name)
		},
	}
	from.register(cmd)
	cmd.Flags().StringVar(&flags.event, "event", simulate.Added, "what happens to the custom resource: "+strings.Join(events, "|"))
	cmd.Flags().StringVar(&flags.old, "old", "", "the custom resource as it was, for --event UPDATE")
	cmd.Flags().BoolVar(&flags.trace, "trace", false, "print every step instead: what arrived, what passed, every request and its answer")
	cmd.Flags().StringVarP(&flags.format, "output", "o", "yaml", "output format: yaml|json")
	cmd.Flags().StringVar(&flags.runner, "runner", "local", "where programs run: local|docker")
	completeWith(cmd, "event", events)
	completeWith(cmd, "output", formats)
	completeWith(cmd, "runner", runners)
	return cmd
}

func oneResource(_ *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	return usagef("one file holds the custom resources, got %q; definitions are named with -f", args)
}

func render(s streams, from *sourceFlags, flags renderFlags, name string) error {
	if name == "-" && slices.Contains(from.names, "-") {
		return usagef("standard input cannot be the definition and the custom resource")
	}
	sources, missing, err := from.read(s.in)
	if err != nil {
		return err
	}
	result, err := argoperator.Generate(sources, argoperator.Options{})
	if err != nil {
		return err
	}
	findings := withMissing(result.Findings, missing)
	var happenings []simulate.Happening
	if !findings.HasErrors() {
		var wrong diag.List
		if happenings, wrong, err = readHappenings(s.in, flags, name, result); err != nil {
			return err
		}
		findings = append(findings, wrong...)
	}
	if err := report(s, sources, findings); err != nil {
		return err
	}
	rendering, err := happen(s, flags, result, happenings)
	var refused *simulate.Refusal
	if errors.As(err, &refused) {
		findings = diag.List{}
		findings.Add(diag.Position{File: name}, diag.BadValue, err.Error(), "")
		err = report(s, sources, findings)
	}
	if err != nil {
		return err
	}
	if len(rendering.Trace) == 0 {
		fmt.Fprintf(s.err, "argoperator: no EventSource saw anything: nothing changed, or not in a namespace that is watched\n")
	}
	for _, failure := range rendering.Trace.Failures() {
		fmt.Fprintf(s.err, "argoperator: failed: %s\n", failure)
	}
	return show(s, flags, rendering)
}

// readHappenings reads the custom resources. What the operator does not look at
// is a finding.
func readHappenings(stdin io.Reader, flags renderFlags, name string, result argoperator.Result) ([]simulate.Happening, diag.List, error) {
	objects, findings, err := readResources(stdin, name, result)
	if err != nil {
		return nil, nil, err
	}
	var old []map[string]any
	if flags.old != "" {
		var wrong diag.List
		if old, wrong, err = readResources(stdin, flags.old, result); err != nil {
			return nil, nil, err
		}
		findings = append(findings, wrong...)
		if len(old) != len(objects) && !findings.HasErrors() {
			findings.Add(diag.Position{File: flags.old}, diag.BadValue,
				fmt.Sprintf("it holds %d custom resources and %s holds %d", len(old), name, len(objects)), "name one state before for each state after")
		}
	}
	if findings.HasErrors() {
		return nil, findings, nil
	}
	var out []simulate.Happening
	for i, o := range objects {
		h := simulate.Happening{Event: flags.event, Object: o}
		if old != nil {
			h.Old = old[i]
		}
		out = append(out, h)
	}
	return out, findings, nil
}

func readResources(stdin io.Reader, name string, result argoperator.Result) ([]map[string]any, diag.List, error) {
	var findings diag.List
	if name == "" {
		objects, err := simulate.Samples(result.Objects())
		if err != nil {
			return nil, nil, usagef("%w; name a file that holds a custom resource", err)
		}
		return objects, nil, nil
	}
	data, err := readInput(stdin, name)
	if errors.Is(err, fs.ErrNotExist) {
		findings.Add(diag.Position{File: name}, diag.FileNotFound, "no such file or directory", "check the name of the custom resource")
		return nil, findings, nil
	}
	if err != nil {
		return nil, nil, err
	}
	objects, err := simulate.Decode(data)
	if err != nil {
		findings.Add(diag.Position{File: name}, diag.YAMLSyntax, err.Error(), "")
		return nil, findings, nil
	}
	watched := simulate.Watched(result.Objects())
	for i, o := range objects {
		if what, ok := watched.Holds(o); !ok {
			findings.Add(diag.Position{File: name}, diag.WrongKind,
				fmt.Sprintf("document %d is %s, which the operator does not look at", i+1, what), "it looks at "+watched.String())
		}
	}
	if len(objects) == 0 {
		findings.Add(diag.Position{File: name}, diag.BadValue, "the file holds no custom resource", "")
	}
	return objects, findings, nil
}

func readInput(stdin io.Reader, name string) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return data, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a custom resource: %w", err)
	}
	return data, nil
}

// happen runs the simulation. Argo's code prints of parameters that fail onto
// the standard output, which belongs to the result.
func happen(s streams, flags renderFlags, result argoperator.Result, happenings []simulate.Happening) (simulate.Rendering, error) {
	if s.out == io.Writer(os.Stdout) {
		original := os.Stdout
		os.Stdout = os.Stderr
		defer func() { os.Stdout = original }()
	}
	env := machineEnv()
	var runner simulate.Runner = simulate.Local{Env: env}
	if flags.runner == "docker" {
		runner = simulate.Docker{Env: env}
	}
	return simulate.Render(context.Background(), simulate.Inputs{Objects: result.Objects(), Runner: runner}, happenings)
}

// machineEnv is what a program needs of this machine to run at all; what else
// there is does not concern it.
func machineEnv() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR", "SystemRoot"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func show(s streams, flags renderFlags, rendering simulate.Rendering) error {
	if flags.trace {
		return rendering.Trace.Print(s.out)
	}
	encode := rendering.YAML
	if flags.format == "json" {
		encode = rendering.JSON
	}
	data, err := encode()
	if err != nil {
		return err
	}
	_, err = s.out.Write(data)
	return err
}
