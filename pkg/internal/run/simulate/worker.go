package simulate

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// workerDriver runs the operator's own program of a worker for the simulation.
//
//go:embed worker.py
var workerDriver []byte

// worker is the pod of a Deployment that reconciles. Its program lives as long as the
// simulation; it asks the API server for its next command, and handles one at a time.
type worker struct {
	pod
	deployment *appsv1.Deployment
	container  corev1.Container
	logic      []corev1.Container // of the operators that have one
	start      sync.Once
	startErr   error
	stop       context.CancelFunc
	mu         sync.Mutex // one command at a time
	commands   chan workerCommand
	results    chan workerResult
	ended      chan error
	ctx        context.Context // of the current command
	callErr    error           // why the logic could not be called in it
	records    []Container     // of the logic, in the current command
	hook       *hook           // the server of the logic, while it runs
	timers     map[string]nextTurn
}

// nextTurn is when a worker runs a custom resource without an event; that of the empty key is a
// look at all.
type nextTurn struct {
	at    time.Time
	retry bool // of a failed reconcile, not a time that its logic asked for
}

// workerCommand is an event of the Sensor, or the key of a custom resource whose time has
// come; the empty key is a look at all.
type workerCommand struct {
	Event    json.RawMessage `json:"event,omitempty"`
	Operator string          `json:"operator,omitempty"` // of the event
	Key      string          `json:"key"`                // of several operators, with the name of one
	Start    bool            `json:"start,omitempty"`    // the look of a worker that has just started
	Now      int64           `json:"now,omitempty"`      // the time of the cluster, in seconds; 0: the clock has it
}

type workerResult struct {
	Turns []struct {
		Key, Line string
		Code      int
	}
	Waits []struct {
		Key     string
		Seconds float64
		Retry   bool
	}
}

// newWorker returns the worker of a Deployment; nil if it is another one.
func (s *Simulation) newWorker(d *appsv1.Deployment) *worker {
	spec := d.Spec.Template.Spec
	if !manifest.IsWorker(d) {
		return nil
	}
	w := &worker{
		deployment: d, container: spec.Containers[0], timers: map[string]nextTurn{},
		commands: make(chan workerCommand), results: make(chan workerResult), ended: make(chan error, 1),
	}
	w.logic = spec.Containers[1:]
	w.pod = pod{
		run: &run{s: s, spec: wfv1.WorkflowSpec{ServiceAccountName: spec.ServiceAccountName}, record: &Workflow{
			Namespace: d.Namespace, Name: d.Name, Origin: Origin{Kind: "Deployment", Name: d.Name},
		}},
		template: argo.PodOf(d),
	}
	return w
}

// Close ends the workers of the simulation.
func (s *Simulation) Close() error {
	var errs []error
	for _, w := range s.workers {
		errs = append(errs, w.end())
	}
	return errors.Join(errs...)
}

// end kills the program, as far as it runs.
func (w *worker) end() error {
	if w.stop == nil {
		return nil
	}
	w.stop()
	<-w.ended
	w.endHook()
	w.api.close()
	w.stop, w.start = nil, sync.Once{}
	return os.RemoveAll(w.dir)
}

// begin starts the program.
func (w *worker) begin() error {
	if w.s.runner == nil {
		return fmt.Errorf("no runner for the programs of Deployment %s", w.record.Name)
	}
	var err error
	if w.dir, err = os.MkdirTemp("", "argoperator-pod-*"); err != nil {
		return fmt.Errorf("creating the directory of the pod: %w", err)
	}
	current := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.s.api.ServeHTTP(rw, r) }) // Intercept replaces it
	if w.api, err = serve(current, w.account()); err != nil {
		return err
	}
	w.api.server.Handler = w
	if err := errors.Join(w.volumes(), w.clock()); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.clockMount().Source, "driver.py"), workerDriver, 0o644); err != nil {
		return fmt.Errorf("creating the worker: %w", err)
	}
	program, _ := w.program(w.container)
	program.Command = []string{"python3", "-B", clockDir + "/driver.py"}
	if w.s.remote == nil {
		program.Command = append(program.Command, "hurry")
	}
	program.API, program.Mounts = true, append(program.Mounts, w.clockMount())
	modules := strings.Join([]string{clockDir, manifest.WorkerDir, manifest.RuntimeDir}, ":")
	program.Env = append(program.Env, "ARGOPERATOR_API="+w.api.address, "PYTHONPATH="+modules)
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go func() {
		output, code, err := w.s.runner.Run(ctx, program)
		if err == nil {
			err = fmt.Errorf("the program of Deployment %s ended with exit code %d: %s", w.record.Name, code, bytes.TrimSpace(output))
		}
		w.ended <- err
	}()
	return nil
}

// do sends a command and returns when the worker has done it.
func (w *worker) do(ctx context.Context, command workerCommand) (workerResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start.Do(func() { w.startErr = w.begin() })
	if w.startErr != nil {
		return workerResult{}, w.startErr
	}
	w.ctx, w.records, w.callErr = ctx, nil, nil
	if w.s.remote == nil {
		command.Now = w.s.now().Add(w.s.later).Unix()
	}
	w.s.progress("Deployment %s", w.record.Name)
	select {
	case w.commands <- command:
	case err := <-w.ended:
		w.ended <- err
		return workerResult{}, err
	case <-ctx.Done():
		return workerResult{}, context.Cause(ctx)
	}
	select {
	case result := <-w.results:
		w.remember(result)
		return result, w.callErr
	case err := <-w.ended:
		w.ended <- err
		return workerResult{}, err
	case <-ctx.Done():
		return workerResult{}, context.Cause(ctx)
	}
}

// remember adds what the worker has done to the trace, and keeps its timers.
func (w *worker) remember(result workerResult) {
	calls := w.api.TakeCalls()
	w.s.normalizeCalls(calls)
	for i, turn := range result.Turns {
		delete(w.timers, turn.Key)
		record := &Workflow{Namespace: w.record.Namespace, Name: w.record.Name, Origin: w.record.Origin, Key: ofOperator(turn.Key)}
		if turn.Code != 0 {
			record.Failure = failureOfTurn(turn.Line)
		}
		main := Container{Template: w.record.Name, Name: w.container.Name, Output: turn.Line + "\n", ExitCode: turn.Code}
		if i == len(result.Turns)-1 {
			main.Calls = calls
			record.Containers = slices.Clone(w.records)
		}
		record.Containers = append(record.Containers, main)
		if w.s.remote != nil {
			w.s.remote.Worked(record)
		} else {
			w.s.trace = append(w.s.trace, Step{Workflow: record})
		}
	}
	for _, wait := range result.Waits {
		after := time.Duration(wait.Seconds * float64(time.Second))
		w.timers[wait.Key] = nextTurn{w.s.now().Add(after), wait.Retry}
		if w.s.remote != nil {
			w.s.remote.Later(after, func(ctx context.Context) error { return w.due(ctx, wait.Key) })
		}
	}
}

// ofOperator returns the key of a custom resource without the name of its operator.
func ofOperator(key string) string { return key[strings.LastIndex(key, " ")+1:] }

// failureOfTurn returns why a reconcile failed, of its line in the log: without the cause, the
// requests and the duration, which no two runs have in common.
func failureOfTurn(line string) string {
	if _, told, found := strings.Cut(line, " ms; "); found {
		line = told
	}
	if i := strings.Index(line, "failed: "); i >= 0 {
		line = line[i:]
	}
	return line
}

// ServeHTTP serves the requests of the program: for its commands, and those to the API
// server.
func (w *worker) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	path, own := strings.CutPrefix(r.URL.Path, "/argoperator.dev/")
	if !own {
		w.api.ServeHTTP(rw, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var answer any
	switch path {
	case "next":
		var result workerResult
		if string(body) != "{}" {
			if err := json.Unmarshal(body, &result); err != nil {
				return
			}
			w.results <- result
		}
		select {
		case answer = <-w.commands:
		case <-r.Context().Done():
			return
		}
	case "call":
		var call struct{ Container, Directory, Key string }
		if err := json.Unmarshal(body, &call); err != nil {
			return
		}
		answer = w.call(call.Container, call.Directory, call.Key)
	case "serve":
		answer = w.serveHook()
	case "lost":
		answer = w.lostHook()
	}
	if body, err = json.Marshal(answer); err != nil {
		panic(fmt.Sprintf("simulate: plain data does not encode: %v", err)) // unreachable
	}
	rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = rw.Write(body) // the program may be gone
}

// workerCall is the result of a call of the logic.
type workerCall struct {
	InTime bool `json:"inTime"`
	Code   int  `json:"code"`
}

// call runs the logic as the shell in its container does.
func (w *worker) call(container, directory, key string) workerCall {
	const workspace = "/workspace"
	dir := workspace + "/" + directory
	logic := w.logic[slices.IndexFunc(w.logic, func(c corev1.Container) bool { return c.Name == container })]
	program := w.logicProgram(logic)
	program.Env = append(program.Env, "ARGOPERATOR_KEY="+key, "ARGOPERATOR_REQUEST="+dir+"/request.json",
		"ARGOPERATOR_RESPONSE="+dir+"/response.json")
	ctx, stop := withDeadline(w.ctx, w.config().Logic.Seconds)
	defer stop()
	output, code, err := w.s.runner.Run(ctx, program)
	late := deadlineOf(ctx)
	local := program.localPath(dir)
	_ = os.WriteFile(filepath.Join(local, "output"), output, 0o644)
	record := Container{
		Template: w.record.Name, Name: logic.Name, Command: program.Command,
		Output: withMountPaths(string(output), program.Mounts), ExitCode: code,
	}
	switch {
	case err != nil && late != nil:
		record.ExitCode, record.Killed = exitKilled, late.Error()
	case err != nil:
		record.ExitCode, w.callErr = notFound, fmt.Errorf("container %s: %w", logic.Name, err)
	}
	w.records = append(w.records, record)
	return workerCall{record.Killed == "", record.ExitCode}
}

// logicProgram returns the user's program in a container.
func (w *worker) logicProgram(logic corev1.Container) Program {
	program, _ := w.program(logic)
	program.Command, program.Digest = own(program.Command), w.coder().of(logic).Digest
	return program
}

// coder finds what a definition decides about the program.
func (w *worker) coder() coder {
	return coder{namespace: w.record.Namespace, template: w.template, configMaps: w.s.configMaps, images: w.s.runner.Isolated()}
}

// workerConfig is what the simulation needs of the configuration of a worker.
type workerConfig struct {
	ResyncSeconds int
	Logic         struct{ Seconds int64 }
}

func (w *worker) config() workerConfig {
	var config workerConfig
	for _, v := range w.template.Volumes {
		if v.ConfigMap == nil || v.Name != "runtime" && v.Name != "operators" {
			continue
		}
		files := w.s.configMaps[w.record.Namespace+"/"+v.ConfigMap.Name]
		if files == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(files.Data)) { // operators of a group have the same
			if strings.HasSuffix(name, ".json") {
				_ = json.Unmarshal([]byte(files.Data[name]), &config) // argoperator's own
			}
		}
	}
	return config
}

// workerOf returns the worker that a trigger sends its events to; nil: none.
func (s *Simulation) workerOf(t *eventsv1.HTTPTrigger) *worker {
	for _, w := range s.workers {
		if strings.HasPrefix(t.URL, fmt.Sprintf("http://%s.%s.svc:", w.record.Name, w.record.Namespace)) {
			return w
		}
	}
	return nil
}

// brokenError is why the simulation of a worker ended: its program or that of its logic could not
// run, or somebody interrupted it. That is no answer to the Sensor.
type brokenError struct{ err error }

func (b *brokenError) Error() string { return b.err.Error() }

// workerTransport sends requests to a worker.
type workerTransport struct {
	worker *worker
	ctx    context.Context
}

// RoundTrip implements http.RoundTripper.
func (t workerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body workerCommand
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, fmt.Errorf("decoding an event: %w", err)
	}
	body.Operator = strings.TrimPrefix(r.URL.Path, "/")
	if _, err := t.worker.do(t.ctx, body); err != nil {
		return nil, &brokenError{err}
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r, Header: http.Header{}}, nil
}

// due runs a custom resource whose time has come, unless that has changed since.
func (w *worker) due(ctx context.Context, key string) error {
	w.mu.Lock()
	found, waits := w.timers[key]
	w.mu.Unlock()
	if !waits || found.at.After(w.s.now()) {
		return nil
	}
	_, err := w.do(ctx, workerCommand{Key: key})
	return err
}

// Workers returns the Deployments of the workers.
func (s *Simulation) Workers() []Worker {
	var out []Worker
	for _, w := range s.workers {
		out = append(out, Worker{w})
	}
	return out
}

// Worker is the pod of a Deployment that reconciles.
type Worker struct{ w *worker }

// Name returns the name of the Deployment.
func (o Worker) Name() string { return o.w.record.Name }

// Namespace returns the namespace of the Deployment.
func (o Worker) Namespace() string { return o.w.record.Namespace }

// Resync returns the time between two looks at all custom resources.
func (o Worker) Resync() time.Duration {
	return time.Duration(o.w.config().ResyncSeconds) * time.Second
}

// Look makes the worker look at all custom resources.
func (o Worker) Look(ctx context.Context) error {
	_, err := o.w.do(ctx, workerCommand{})
	return err
}

// fireWorkers runs the custom resources whose logic asked for a time, in order, and returns
// how many ran.
func (s *Simulation) fireWorkers(ctx context.Context) (int, error) {
	ran := 0
	for _, w := range s.workers {
		type due struct {
			key string
			at  time.Time
		}
		var all []due
		for key, found := range w.timers {
			if !found.retry {
				all = append(all, due{key, found.at})
				delete(w.timers, key)
			}
		}
		slices.SortFunc(all, func(a, b due) int { return a.at.Compare(b.at) })
		for _, one := range all {
			ran++
			if wait := one.at.Sub(s.now()); wait > 0 {
				s.later += wait
			}
			if _, err := w.do(ctx, workerCommand{Key: one.key}); err != nil {
				return ran, err
			}
		}
	}
	return ran, nil
}
