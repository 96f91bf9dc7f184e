package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/base/release"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/run/devcluster"
	"github.com/argoperator/argoperator/pkg/internal/run/live"
	"github.com/argoperator/argoperator/pkg/internal/run/page"
)

// devFlags are the flags of dev except the sources.
type devFlags struct {
	port        int
	controllers bool
	test        string
	programs    programFlags
}

func newDev(s streams) *cobra.Command {
	from := sourceFlags{unlocked: true}
	var flags devFlags
	cmd := &cobra.Command{
		Use:   "dev [PATH]...",
		Short: "Run an operator on this machine, without a cluster",
		Long: `Start Kubernetes' API server on this machine, install the operator on it, and run
its EventSource, Sensors and Workflows in this process. A page in the browser shows
every event and request. kubectl works with the printed kubeconfig.

There are no containers: Pods are ready at once, and Jobs succeed. With
--controllers=false no controller touches Deployments, Jobs and other workloads,
and you set their status yourself.

The command watches the files of the definitions and applies changes like
"argoperator generate | kubectl apply -f -". Ctrl-C ends it and removes everything.

The program argoperator-dev, which has the API server, must be next to argoperator
or on the PATH.

Custom code of a definition runs on this machine with your permissions, or with
--runner docker in its image. It runs only if you say so: argoperator asks on a
terminal, also when the code changes, and otherwise needs --run-logic.`,
		Example: `  # Run an operator and open the printed address
  argoperator dev -f .

  # Run an operator with its own code
  argoperator dev -f . --run-logic

  # Show a failing test
  argoperator dev -f . --test drift`,
		Args: from.paths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if slices.Contains(from.names, "-") {
				return usagef("dev reads files only, got -f -")
			}
			err := interruptible(cmd.Context(), func(ctx context.Context) error { return runDev(ctx, s, &from, flags) })
			if errors.As(err, new(interrupted)) { // the usual way to end it
				return nil
			}
			return err
		},
	}
	from.register(cmd)
	cmd.Flags().IntVar(&flags.port, "port", 0, "port of the page on localhost (default any free port)")
	cmd.Flags().BoolVar(&flags.controllers, "controllers", true, "run the controllers of workloads, and make Pods ready")
	cmd.Flags().StringVar(&flags.test, "test", "", "open the page at this test")
	flags.programs.register(cmd)
	return cmd
}

// development is a running dev command.
type development struct {
	s         streams
	from      *sourceFlags
	flags     devFlags
	live      *live.Live
	installer *devcluster.Installer
	page      *page.Server
	project   *devProject
	programs  *consent
	given     bool // the programs of the definition may run
	failing   int  // record of the last line, of a trigger that tries again
}

func runDev(ctx context.Context, s streams, from *sourceFlags, flags devFlags) error {
	seen, err := fingerprint(from.names) // before reading: a later change must not be missed
	if err != nil {
		return err
	}
	result, _, err := from.operators(s, argoperator.Options{})
	if err != nil {
		return err
	}
	programs := flags.programs.consent(s, from)
	programs.note(result.Objects())
	given, err := programs.optional(ctx)
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err == nil {
		executable, err = filepath.EvalSymlinks(executable) // a plugin of kubectl is a link
	}
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	s.say("starting the API server")
	cluster, err := devcluster.Start(ctx, from.path(), executable, devcluster.Options{Controllers: flags.controllers})
	if errors.Is(err, process.ErrNotFound) {
		return usagef("%w, and it is not next to argoperator: a release has both; in a clone of argoperator, run make dev", err)
	}
	if err != nil {
		return err
	}
	d := &development{
		s: s, from: from, flags: flags, programs: programs, given: given, project: &devProject{s: s, from: from, runner: programs},
	}
	return errors.Join(d.run(ctx, cluster, result, seen), cluster.Stop())
}

// run runs the operators until the context ends. The fingerprint is that of their files.
func (d *development) run(ctx context.Context, cluster *devcluster.Cluster, result argoperator.Result, seen uint64) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var err error
	if d.installer, err = devcluster.NewInstaller(cluster.Config); err != nil {
		return err
	}
	if d.live, err = live.New(live.Inputs{Server: cluster.Config, Runner: d.programs}); err != nil {
		return err
	}
	defer d.live.Stop()
	d.page, err = page.New(page.Inputs{
		Live: d.live, Installer: d.installer, Project: d.project,
		Server: cluster.Config.Host, Kubeconfig: cluster.Kubeconfig, Version: release.Read().Version,
	}, d.flags.port)
	if err != nil {
		return usagef("%w", err)
	}
	defer d.page.Close()
	serving := make(chan error, 1)
	go func() { serving <- d.page.Serve() }()
	listener, remove := d.live.Listen()
	defer remove()
	if err := d.load(ctx, result); err != nil {
		return err
	}
	d.greet(cluster)
	go d.watch(ctx, seen)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-serving:
			return err
		case <-cluster.Ended():
			if ctx.Err() != nil {
				return nil
			}
			return cluster.Err()
		case <-listener.Ready():
			for _, m := range listener.Take() {
				d.log(m)
			}
		}
	}
}

// greet prints where the page and the API server are.
func (d *development) greet(cluster *devcluster.Cluster) {
	address := d.page.URL()
	if d.flags.test != "" {
		address += "&test=" + url.QueryEscape(d.flags.test)
	}
	terminal.Fprintf(d.s.out, "page:    %s\nkubectl: export KUBECONFIG=%s\n\n", address, cluster.Kubeconfig)
}

// load installs operators and runs them.
func (d *development) load(ctx context.Context, result argoperator.Result) error {
	if err := d.install(ctx, result); err != nil {
		return err
	}
	if err := d.live.Load(ctx, result); err != nil {
		return err
	}
	return d.show(result, result.Findings)
}

// install applies the objects of operators.
func (d *development) install(ctx context.Context, result argoperator.Result) error {
	var objects []map[string]any
	for _, b := range result.Bundles() {
		for _, document := range b.Documents() {
			objects = append(objects, document.Fields)
		}
	}
	if err := d.installer.Prepare(ctx, objects, result.Kinds()); err != nil {
		return err
	}
	changed := 0
	for _, o := range objects {
		action, err := d.installer.Apply(ctx, o)
		if err != nil {
			return fmt.Errorf("the API server rejected %v %s: %w", o["kind"], nameOf(o), err)
		}
		if action != devcluster.Unchanged {
			changed++
		}
	}
	d.live.Note(fmt.Sprintf("%d of %d objects of the operator applied", changed, len(objects)))
	return nil
}

func nameOf(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// show shows operators on the page, with the findings of their files.
func (d *development) show(result argoperator.Result, findings diag.List) error {
	out := page.Definition{Findings: findings, Files: []string{}, RunLogic: d.given}
	files, err := d.project.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		out.Files = append(out.Files, f.Name)
	}
	graphs := result.Graphs()
	for i, o := range result.Operators {
		var svg strings.Builder
		if err := graphs[i].SVG(&svg); err != nil {
			return err
		}
		kind := o.Kind()
		out.Operators = append(out.Operators, page.Operator{
			Name: o.Name, Kind: kind.Kind, APIVersion: kind.GroupVersion().String(), Namespaced: o.Namespaced(), Engine: o.Engine(),
			Graph: svg.String(),
		})
	}
	d.page.Define(out)
	return nil
}

// watch loads the definitions again whenever their files differ from a fingerprint.
func (d *development) watch(ctx context.Context, seen uint64) {
	for {
		changed, err := awaitChange(ctx, d.from.names, seen)
		if err == nil && changed {
			seen, err = fingerprint(d.from.names) // before reading, as at the start
		}
		if err != nil && ctx.Err() == nil {
			d.s.say("%v", err)
		}
		if err != nil || !changed {
			return
		}
		d.reload(ctx)
	}
}

// reload applies changed definitions. With errors, the operators run on as they were.
func (d *development) reload(ctx context.Context) {
	result, sources, err := d.from.generate(d.s, argoperator.Options{})
	if err == nil {
		err = report(d.s, sources, result.Findings)
	}
	if err == nil {
		d.programs.note(result.Objects())
		d.given, err = d.programs.optional(ctx) // without consent, the operator runs and its programs do not
	}
	if err == nil {
		err = d.load(ctx, result)
	}
	switch {
	case err == nil:
		d.live.Note("the definition changed, and the operator runs with it")
	case errors.Is(err, errFindings):
		d.live.Note("the definition changed and has errors; the operator runs on as it was")
		d.page.DefineFindings(result.Findings)
	case ctx.Err() == nil:
		d.live.Note(err.Error())
	}
}

func title(r *live.Summary) string {
	if r.Type == live.TypeWorkflow && r.Object.Kind == "Workflow" {
		return "Workflow " + r.Title
	}
	return r.Title
}

// log prints a record as a line.
func (d *development) log(m live.Message) {
	r := m.Record
	if r == nil || r.State == live.StateRunning && (r.Text == "" || d.failing == r.ID) {
		return
	}
	d.failing = 0
	if r.State == live.StateRunning {
		d.failing = r.ID // further attempts fail in the same way
	}
	indent := ""
	if r.Cause != 0 {
		indent = "  "
	}
	line := r.Time.Add(time.Duration(r.Duration)).Format("15:04:05.000") + " " + indent + title(r)
	for _, c := range r.Calls {
		line += fmt.Sprintf("  %s %s %d", c.Method, c.What, c.Status)
	}
	switch r.State {
	case live.StateFailed, live.StateLost:
		line += "  " + string(r.State)
	case live.StateRunning:
		line += "  tries again"
	}
	if r.Text != "" {
		line += "  " + r.Text
	}
	terminal.Fprintf(d.s.out, "%s\n", line)
}
