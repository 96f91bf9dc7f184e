package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/verify/dryrun"
)

// renderFlags are the flags of render except the sources.
type renderFlags struct {
	event, old, format string
	objects            []string
	trace, server, all bool
	programs           programFlags
}

func newRender(s streams) *cobra.Command {
	var from sourceFlags
	var flags renderFlags
	cmd := &cobra.Command{
		Use:   "render [RESOURCE.yaml]",
		Short: "Simulate an operator for a custom resource",
		Long: `Simulate how an operator handles a custom resource, without a cluster. argoperator
runs Argo's own code against an in-memory API server until nothing changes, and
prints the resulting objects: the children, then the custom resource with its
status. Without a file, it uses a sample with every field of the schema. --all also
prints the labels, annotations, owners and observed state that the operator adds for
itself.

--objects names objects that exist in the cluster, such as related objects and those
that patches change, with their status. argoperator also prints those that the
operator changes.

Custom code of a definition runs on this machine with your permissions, or with
--runner docker in its image. It runs only if you say so: argoperator asks on a
terminal, and otherwise needs --run-logic.

Failures and the objects that a deletion removed go to stderr. With --trace,
argoperator prints every event and request instead of the objects.

With --server, the API server of the kubeconfig also checks the custom resource and
the objects that the operator writes, by dry runs.

Exit codes: 0 nothing failed, 1 a program, a trigger or a Workflow failed.`,
		Example: `  # Print the objects that the operator makes for the sample
  argoperator render -f . samples/guestbook.yaml

  # Print every event and request
  argoperator render -f . --trace samples/guestbook.yaml

  # Simulate an operator that reads a ConfigMap of the cluster
  echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}' > objects.yaml
  argoperator render -f . --objects objects.yaml samples/guestbook.yaml

  # Simulate a change and a deletion
  sed 's/replicas: 1/replicas: 2/' samples/guestbook.yaml > new.yaml
  argoperator render -f . --event UPDATE --old samples/guestbook.yaml new.yaml
  argoperator render -f . --event DELETE samples/guestbook.yaml

  # Also check with a cluster
  argoperator render -f . --server samples/guestbook.yaml`,
		Args: oneResource,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			if (flags.event == simulate.Updated) != (flags.old != "") {
				return usagef("--event UPDATE needs --old, and --old needs --event UPDATE")
			}
			if flags.old != "" && name == "" {
				return usagef("--old needs the file of the custom resource after the change")
			}
			return interruptible(cmd.Context(), func(ctx context.Context) error { return render(ctx, s, &from, flags, name) })
		},
	}
	from.register(cmd)
	flags.event = simulate.Added
	enumVar(cmd, &flags.event, "event", "", []string{simulate.Added, simulate.Updated, simulate.Deleted}, "event of the custom resource")
	cmd.Flags().StringVar(&flags.old, "old", "", "file with the custom resource before the change, for --event UPDATE")
	cmd.Flags().StringArrayVar(&flags.objects, "objects", nil, "file with objects that exist before, with their status; repeatable")
	cmd.Flags().BoolVar(&flags.trace, "trace", false, "print every event, and every request with its response, instead of the objects")
	cmd.Flags().BoolVar(&flags.all, "all", false, "print also what the operator adds to objects for itself")
	serverVar(cmd, &flags.server)
	outputVar(cmd, &flags.format, "yaml", "json")
	flags.programs.register(cmd)
	return cmd
}

func oneResource(_ *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	return usagef("render takes one file of custom resources, got %s; -f names definitions", strings.Join(args, ", "))
}

func render(ctx context.Context, s streams, from *sourceFlags, flags renderFlags, name string) error {
	if err := onceFromStdin(slices.Concat([]string{name, flags.old}, flags.objects, from.names)); err != nil {
		return err
	}
	result, sources, err := from.generate(s, argoperator.Options{})
	if err != nil {
		return err
	}
	findings := result.Findings
	var todo todo
	if !findings.HasErrors() {
		more, wrong, err := readActions(s, flags, name, result, &todo)
		if err != nil {
			return err
		}
		sources, findings = append(sources, more...), append(findings, wrong...)
		given, wrong, err := todo.readGiven(s, flags.objects)
		if err != nil {
			return err
		}
		sources, findings = append(sources, given...), append(findings, wrong...)
	}
	if err := report(s, sources, findings); err != nil {
		return err
	}
	client, err := mustConnect(ctx, s, flags.server)
	if err != nil {
		return err
	}
	runner := flags.programs.consent(s, from)
	runner.note(result.Objects())
	if err := runner.required(ctx); err != nil {
		return err
	}
	rendering, err := simulateActions(ctx, s, flags, runner, result, todo)
	var refused *cluster.StatusError
	if errors.As(err, &refused) {
		findings = diag.List{}
		findings.Add(todo.refused(name, err), diag.BadValue, err.Error(), "")
		err = report(s, sources, findings)
	}
	if err == nil {
		err = reportFromServer(ctx, s, client, sources, todo.objects(flags, result, rendering.Trace))
	}
	if err != nil {
		return err
	}
	if err := show(s, flags, result, rendering); err != nil {
		return err
	}
	return reportRendering(s, flags, rendering)
}

// reportRendering reports what stdout does not show; it returns errFindings if
// something failed.
func reportRendering(s streams, flags renderFlags, r simulate.Rendering) error {
	for _, failure := range r.Failures {
		s.say("failed: %s", failure)
	}
	if r.LastLines != "" && !flags.trace {
		s.say("last lines of the program (--trace prints all):\n  %s", terminal.Lines(r.LastLines, "  "))
	}
	switch {
	case flags.event == simulate.Deleted:
		s.list("deleted", r.Deleted)
		s.list("kept", r.Kept)
		if r.Events == 0 {
			s.say("no EventSource received the deletion: the operator has nothing to do for it, or does not watch the namespace")
		}
	case r.Events == 0:
		s.say("no EventSource received an event: nothing changed, or the operator does not watch the namespace")
	case len(r.Objects) == 0:
		s.say("the operator wrote nothing")
	}
	if len(r.Failures) > 0 {
		return errFindings
	}
	return nil
}

// readActions reads the custom resources. It reports those that the API server
// would reject or that the operator does not watch.
func readActions(s streams, flags renderFlags, name string, result argoperator.Result, out *todo) ([]argoperator.Source, diag.List, error) {
	if name == "" {
		objects, err := simulate.Samples(result.Objects())
		if err != nil {
			return nil, nil, usagef("%w; name the file of a custom resource", err)
		}
		for _, o := range objects {
			out.actions = append(out.actions, simulate.Action{Event: flags.event, Object: o})
		}
		return nil, nil, nil
	}
	var old []string
	if flags.old != "" {
		old = []string{flags.old}
	}
	after, before, findings, err := readChanges(s, []string{name}, old, false)
	sources := slices.Concat(after, before)
	if err != nil || findings.HasErrors() {
		return sources, findings, err
	}
	resources, findings, err := result.Resources(after, before)
	if err != nil {
		return nil, nil, err
	}
	if len(before) > 0 && !findings.HasErrors() {
		_, wrong, err := result.Resources(before, nil)
		if err != nil {
			return nil, nil, err
		}
		findings = append(findings, wrong...)
	}
	out.actions, out.resources = actions(flags, result, resources, &findings), resources
	return sources, findings, nil
}

// actions returns the actions on custom resources that the operator watches.
func actions(flags renderFlags, result argoperator.Result, resources []argoperator.Resource, findings *diag.List) []simulate.Action {
	watched := simulate.Watched(result.Objects(), result.Kinds())
	var out []simulate.Action
	for _, r := range resources {
		if what, ok := watched.Contains(r.Object); !ok && !findings.HasErrors() {
			findings.Add(
				r.Position("apiVersion"),
				diag.WrongKind,
				fmt.Sprintf("the operator does not watch %s", what),
				"it watches "+watched.String(),
			)
		}
		if flags.event == simulate.Updated && r.Old == nil && !findings.HasErrors() {
			findings.Add(
				r.Position("metadata.name"),
				diag.BadValue,
				fmt.Sprintf("%s has no custom resource of this kind, namespace and name", flags.old),
				"add the custom resource before the change",
			)
		}
		out = append(out, simulate.Action{Event: flags.event, Object: r.Object, Old: r.Old})
	}
	return out
}

// simulateActions runs the simulation.
func simulateActions(
	ctx context.Context,
	s streams,
	flags renderFlags,
	runner simulate.Runner,
	result argoperator.Result,
	todo todo,
) (simulate.Rendering, error) {
	defer keepStdout(s)()
	line := newProgress(s.err)
	defer line.close()
	return simulate.Render(ctx, simulate.Inputs{
		Objects: result.Objects(), Kinds: result.Kinds(), Runner: runner, Untraced: !flags.trace && !flags.server,
		Progress: func(what string) { line.set("%s", what) }, Given: todo.givenFields(),
	}, todo.actions)
}

// keepStdout reserves the standard output for the result, because Argo's code
// prints errors of parameters. The returned function restores it.
func keepStdout(s streams) func() {
	if s.out != io.Writer(os.Stdout) {
		return func() {}
	}
	original := os.Stdout
	os.Stdout = os.Stderr
	return func() { os.Stdout = original }
}

// machineEnv returns the environment variables that programs need on this machine;
// no others are passed.
func machineEnv() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR", "SystemRoot"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// todo lists the actions of a rendering.
type todo struct {
	actions   []simulate.Action
	resources []argoperator.Resource // in files; nil for samples
	given     []source.Object        // that exist before
}

// readGiven reads the objects that exist before.
func (t *todo) readGiven(s streams, names []string) ([]argoperator.Source, diag.List, error) {
	sources, findings, err := (&sourceFlags{names: names, alone: true, check: "the value of --objects"}).read(s.in)
	if err != nil || findings.HasErrors() {
		return sources, findings, err
	}
	t.given, findings = argoperator.Objects(sources)
	return sources, findings, nil
}

func (t todo) givenFields() []map[string]any {
	var out []map[string]any
	for _, o := range t.given {
		out = append(out, o.Fields)
	}
	return out
}

// refused returns the position of what the API server rejects: a given object, or the
// custom resource.
func (t todo) refused(name string, err error) diag.Position {
	var given *simulate.GivenError
	if errors.As(err, &given) {
		return t.given[given.Index].At(nil)
	}
	return diag.Position{File: name}
}

// objects returns what an API server can check after a rendering.
func (t todo) objects(flags renderFlags, result argoperator.Result, trace simulate.Trace) []dryrun.Object {
	defaulted := len(t.resources) == 0 ||
		!slices.ContainsFunc(t.actions, func(a simulate.Action) bool { return argoperator.InDefaultNamespace(a.Object) })
	var out []dryrun.Object
	for i, a := range t.actions {
		switch {
		case flags.event == simulate.Deleted:
		case len(t.resources) == 0:
			out = append(out, result.CustomResource(a.Object, defaulted, nil))
		default:
			out = append(out, t.resources[i].Checked()...)
		}
	}
	return append(out, appliedObjects(result, trace, defaulted)...)
}

func show(s streams, flags renderFlags, result argoperator.Result, rendering simulate.Rendering) error {
	if flags.trace {
		return rendering.Trace.Print(s.out)
	}
	if !flags.all {
		for i, o := range rendering.Objects {
			rendering.Objects[i] = simulate.Bare(o, result.Observing())
		}
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
