package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/base/process"
	"github.com/argoperator/argoperator/pkg/internal/base/release"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/run/apiserver"
	"github.com/argoperator/argoperator/pkg/internal/run/devcluster"
	"github.com/argoperator/argoperator/pkg/internal/run/live"
	"github.com/argoperator/argoperator/pkg/internal/run/page"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

// devFlags are the flags of dev except the sources.
type devFlags struct {
	port        int
	controllers bool
	apiServer   string
	test        string
	programs    programFlags
}

func newDev(s streams) *cobra.Command {
	from := sourceFlags{unlocked: true}
	var flags devFlags
	cmd := &cobra.Command{
		Use:   "dev [PATH]...",
		Short: "Run an operator on this machine, without a cluster",
		Long: `Start an API server on this machine, install the operator on it, and run
its EventSource, Sensors and Workflows in this process. A page in the browser shows
every event and request. kubectl works with the printed kubeconfig.

There are no containers: Pods are ready at once, and Jobs succeed. With
--controllers=false no controller touches Deployments, Jobs and other workloads,
and you set their status yourself.

The command watches the files of the definitions and applies changes like
"argoperator generate | kubectl apply -f -". Ctrl-C ends it and removes everything.

The API server is Kubernetes' own if the program argoperator-dev is next to
argoperator or on the PATH. Otherwise it is one in memory: it validates, checks
permissions and admission policies, and kubectl works, but controllers only write
the status of workloads and create no Pods.

Custom code of a definition runs on this machine with your permissions, or with
--runner docker in its image. It runs only if you say so: argoperator asks on a
terminal, also when the code changes, and otherwise needs --run-logic.`,
		Example: `  # Run an operator and open the printed address
  argoperator dev -f .

  # Run an operator with its own code
  argoperator dev -f . --run-logic

  # Open the page at a test
  argoperator dev -f . --test first-steps`,
		Args: from.paths,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if slices.Contains(from.names, "-") {
				return usagef("dev reads files only, got -f -")
			}
			err := interruptibleServer(cmd.Context(), func(ctx context.Context) error { return runDev(ctx, s, &from, flags) })
			if errors.As(err, new(interrupted)) { // the usual way to end it
				return nil
			}
			return err
		},
	}
	from.register(cmd)
	cmd.Flags().IntVar(&flags.port, "port", 0, "port of the page on localhost (default any free port)")
	cmd.Flags().BoolVar(&flags.controllers, "controllers", true, "run the controllers of workloads, and make Pods ready")
	cmd.Flags().StringVar(&flags.apiServer, "api-server", "",
		"API server: kubernetes, or memory (default kubernetes if argoperator-dev is there)")
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
	failing   int // record of the last line, of a trigger that tries again

	loading sync.Mutex       // from reading the definitions to showing the result
	given   bool             // the programs of the definition may run
	objects []map[string]any // that were applied last, or rejected
	applied bool             // the API server has these objects
}

func runDev(ctx context.Context, s streams, from *sourceFlags, flags devFlags) error {
	seen, err := fingerprint(from.names) // before reading: a later change must not be missed
	if err != nil {
		return err
	}
	d := &development{s: s, from: from, flags: flags, programs: flags.programs.consent(s, from)}
	d.project = &devProject{s: s, from: from, runner: d.programs}
	result, err := d.read(ctx)
	if err != nil && (!errors.Is(err, errFindings) || !d.project.defines()) {
		return err
	}
	if err := d.project.has(flags.test); err != nil {
		return err
	}
	session, err := openDevSession(from.names, flags.port)
	if err != nil {
		return usagef("%w", err)
	}
	executable, err := os.Executable()
	if err == nil {
		executable, err = filepath.EvalSymlinks(executable) // a plugin of kubectl is a link
	}
	if err != nil {
		return errors.Join(fmt.Errorf("finding this program: %w", err), session.close())
	}
	server, err := flags.start(ctx, s, from, executable)
	if err != nil {
		return errors.Join(err, session.close())
	}
	return errors.Join(d.run(ctx, server, session, result, seen), session.close(), server.Stop())
}

// read reads the definitions and prints their findings; errFindings: there are errors. It asks
// for the consent to run their programs.
func (d *development) read(ctx context.Context) (argoperator.Result, error) {
	result, sources, err := d.from.generateAll(d.s, argoperator.Options{})
	if err == nil {
		err = report(d.s, sources, d.from.countWarnings(d.s, result.Findings))
	}
	if err == nil {
		d.programs.note(result.Objects())
		d.given, err = d.programs.optional(ctx) // without consent, the operator runs and its programs do not
	}
	return result, err
}

// The values of --api-server.
const (
	kubernetesServer = "kubernetes"
	memoryServer     = "memory"
)

// start starts the API server that the flags name: by default that of Kubernetes if its
// program is there.
func (f devFlags) start(ctx context.Context, s streams, from *sourceFlags, executable string) (devcluster.Server, error) {
	switch f.apiServer {
	case "", kubernetesServer:
		s.say("starting the API server")
		server, err := devcluster.Start(ctx, from.path(), executable, devcluster.Options{Controllers: f.controllers})
		switch {
		case err == nil:
			return server, nil
		case !errors.Is(err, process.ErrNotFound):
			return nil, err
		case f.apiServer != "":
			return nil, usagef("%w, and it is not next to argoperator: a release has both; in a clone of argoperator, run make dev", err)
		}
		s.say("%v, and it is not next to argoperator: the API server is one in memory, which differs from that of Kubernetes", err)
	case memoryServer:
	default:
		return nil, usagef("--api-server is %s or %s, got %q", kubernetesServer, memoryServer, f.apiServer)
	}
	var options apiserver.Options
	if f.controllers {
		options.Ready = testsuite.ReadyStatus
	}
	return apiserver.Start(options)
}

// run runs the operators until the context ends. The fingerprint is that of their files.
func (d *development) run(
	ctx context.Context, server devcluster.Server, session *devSession, result argoperator.Result, seen uint64,
) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	_, access := server.Access()
	kubeconfig, err := session.kubeconfig(server)
	if err != nil {
		return err
	}
	if d.installer, err = devcluster.NewInstaller(access); err != nil {
		return err
	}
	if d.live, err = live.New(live.Inputs{Server: access, Runner: d.programs}); err != nil {
		return err
	}
	defer d.live.Stop()
	d.page = page.New(page.Inputs{
		Live: d.live, Installer: d.installer, Project: d.project,
		Server: access.Host, Kubeconfig: kubeconfig, Version: release.Read().Version,
		Reset: func(context.Context) error { return d.reset(ctx) },
	}, session.listener, session.Token)
	defer d.page.Close()
	serving := make(chan error, 1)
	go func() { serving <- d.page.Serve() }()
	listener, remove := d.live.Listen()
	defer remove()
	if err := d.begin(ctx, result); err != nil && !errors.Is(err, errRejected) {
		return err
	}
	if err := d.greet(kubeconfig); err != nil {
		return err
	}
	go d.watch(ctx, seen)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-serving:
			return err
		case <-server.Ended():
			if ctx.Err() != nil {
				return nil
			}
			return server.Err()
		case <-listener.Ready():
			for _, m := range listener.Take() {
				if err := d.log(m); err != nil {
					return err
				}
			}
		}
	}
}

// begin loads the operators that were read at the start, if their definition has no errors.
func (d *development) begin(ctx context.Context, result argoperator.Result) error {
	d.loading.Lock()
	defer d.loading.Unlock()
	if result.Findings.HasErrors() {
		d.s.say("the definition has errors: the operator starts when they are corrected")
		return d.show(result, page.Waiting, "")
	}
	return d.load(ctx, result)
}

// greet prints where the page and the API server are.
func (d *development) greet(kubeconfig string) error {
	address := d.page.URL()
	if d.flags.test != "" {
		address += "&test=" + url.QueryEscape(d.flags.test)
	}
	_, err := terminal.Fprintf(d.s.out, "page:    %s\nkubectl: export KUBECONFIG=%s\n\n", address, kubeconfig)
	return err
}

// errRejected reports that the API server rejected the operator, which the page shows.
var errRejected = errors.New("the API server rejected the operator")

// load installs operators and runs them. If the API server has their objects, they run on.
func (d *development) load(ctx context.Context, result argoperator.Result) error {
	var objects []map[string]any
	for _, b := range result.Bundles() {
		for _, document := range b.Documents() {
			objects = append(objects, document.Fields)
		}
	}
	if d.applied && reflect.DeepEqual(objects, d.objects) {
		return d.show(result, page.Applied, "")
	}
	d.objects, d.applied = objects, false
	changed, err := d.install(ctx, result, objects)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		d.s.say("%v", err)
		d.live.Fail(err.Error())
		if d.live.Loaded() == 0 {
			return errors.Join(errRejected, d.show(result, page.Rejected, err.Error()))
		}
		d.page.DefineFindings(result.Findings, page.Status{State: page.Rejected, Text: err.Error(), Time: time.Now()})
		return errRejected
	}
	d.applied = true
	d.live.Note(fmt.Sprintf("%d of %d objects of the operator applied", changed, len(objects)))
	if err := d.live.Load(ctx, result); err != nil {
		return err
	}
	return d.show(result, page.Applied, "")
}

// reset deletes the kinds of the operators with all custom resources, and loads the definition
// again.
func (d *development) reset(ctx context.Context) error {
	d.loading.Lock()
	defer d.loading.Unlock()
	result, err := d.read(ctx)
	if err != nil {
		return fmt.Errorf("the definition has errors: %w", err)
	}
	d.applied = false
	d.live.Stop() // its operators would make the objects again
	if err := d.installer.Forget(ctx, d.objects); err != nil {
		return err
	}
	return d.load(ctx, result)
}

// install applies the objects of operators, and returns how many of them it changed.
func (d *development) install(ctx context.Context, result argoperator.Result, objects []map[string]any) (int, error) {
	if err := d.installer.Prepare(ctx, objects, result.Kinds()); err != nil {
		return 0, err
	}
	changed := 0
	for _, o := range objects {
		action, err := d.installer.Apply(ctx, o)
		if err != nil {
			return changed, fmt.Errorf("the API server rejected %v %s: %w", o["kind"], nameOf(o), err)
		}
		if action != devcluster.Unchanged {
			changed++
		}
	}
	return changed, nil
}

func nameOf(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// show shows operators on the page, with the findings of their files.
func (d *development) show(result argoperator.Result, state page.State, text string) error {
	out := page.Definition{
		Findings: result.Findings, Files: []string{}, Operators: []page.Operator{}, RunLogic: d.given || len(result.Operators) == 0,
		Status: page.Status{State: state, Text: text, Time: time.Now()},
	}
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
		if err := graphs[i].Folded().SVG(&svg); err != nil {
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
	d.loading.Lock()
	defer d.loading.Unlock()
	before := d.live.Loaded()
	result, err := d.read(ctx)
	if err == nil {
		err = d.load(ctx, result)
	}
	switch {
	case err == nil && d.live.Loaded() != before:
		d.live.Note("the definition changed, and the operator runs with it")
	case err == nil || errors.Is(err, errRejected):
	case errors.Is(err, errFindings):
		d.live.Note("the definition changed and has errors; the operator runs on as it was")
		d.page.DefineFindings(result.Findings, page.Status{State: page.Errors, Time: time.Now()})
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
func (d *development) log(m live.Message) error {
	r := m.Record
	if r == nil || r.Moved || r.State == live.StateRunning && (r.Text == "" || d.failing == r.ID) {
		return nil
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
	_, err := terminal.Fprintf(d.s.out, "%s\n", line)
	return err
}
