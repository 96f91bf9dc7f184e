package simulate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/template"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	shapes "github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/manifest"
)

var workflowsResource = schema.GroupResource{Group: shapes.ArgoGroup, Resource: "workflows"}

// values replaces {{names}} in a template, using Argo's own code.
type values map[string]any

// with returns a copy with more values.
func (v values) with(prefix string, more map[string]string) values {
	out := values{}
	for name, value := range v {
		out[name] = value
	}
	for name, value := range more {
		out[prefix+name] = value
	}
	return out
}

// filled returns a part of a template with its names replaced.
func filled[T any](part T, v values) (T, error) {
	var out T
	data, err := json.Marshal(part)
	if err != nil {
		return out, fmt.Errorf("encoding a template: %w", err)
	}
	text, err := template.Replace(string(data), v, true)
	if err != nil {
		return out, fmt.Errorf("substituting a template: %w", err)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return out, fmt.Errorf("reading a substituted template: %w", err)
	}
	return out, nil
}

// runWorkflow runs a Workflow that was created from one of the operator's
// templates. Other Workflows are ordinary children.
func (s *Simulation) runWorkflow(ctx context.Context, change cluster.Change, seen *counts) error {
	r, err := s.runOf(change)
	if r == nil || err != nil {
		return err
	}
	if wait := r.pause(); wait > shortPause || wait > 0 && change.New.GetLabels()[laterLabel] != "" {
		s.timers = append(s.timers, timer{due: s.now().Add(wait), wait: wait, run: r})
		return nil
	}
	key, _ := r.values["workflow.parameters.key"].(string)
	if err := seen.workflow(r.record.Origin.Name, key); err != nil {
		return err
	}
	s.trace = append(s.trace, Step{Workflow: r.record})
	return r.all(ctx)
}

// runOf returns the run of a Workflow of the operators; nil for any other change.
func (s *Simulation) runOf(change cluster.Change) (*run, error) {
	if change.Resource != workflowsResource || change.Old != nil || change.New == nil {
		return nil, nil
	}
	w, err := workflowOf(change.New)
	if err != nil {
		return nil, nil //nolint:nilerr // the Workflow controller would not run it either
	}
	origin, spec, ok := s.origin(w)
	if !ok {
		return nil, nil
	}
	if s.runner == nil && manifest.IsDiagnosis(spec) {
		return nil, nil // the message stays unknown
	}
	if s.runner == nil {
		return nil, fmt.Errorf("no runner for the programs of Workflow %s", w.Name)
	}
	if path := fileMount(spec); path != "" && !s.runner.Isolated() && !s.mentions(w.Namespace, spec, path) {
		return nil, fmt.Errorf(
			"a program of %s %s writes %s, which would be that file of this machine: run it in its image with --runner docker",
			origin.Kind,
			origin.Name,
			path,
		)
	}
	record := &Workflow{Namespace: w.Namespace, Name: w.Name, Origin: origin}
	r := &run{s: s, spec: spec, record: record, values: arguments(w, spec)}
	r.spec.Entrypoint = cmp.Or(w.Spec.Entrypoint, spec.Entrypoint)
	return r, nil
}

func workflowOf(o cluster.Object) (*wfv1.Workflow, error) {
	var w wfv1.Workflow
	data, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return &w, json.Unmarshal(data, &w)
}

// origin returns the object of the operators whose spec a Workflow runs, and the spec. A
// Workflow without a reference is one of theirs if it has the spec of a CronWorkflow.
func (s *Simulation) origin(w *wfv1.Workflow) (Origin, wfv1.WorkflowSpec, bool) {
	if ref := w.Spec.WorkflowTemplateRef; ref != nil {
		if t := s.templates[w.Namespace+"/"+ref.Name]; t != nil {
			return Origin{"WorkflowTemplate", t.Name}, t.Spec, true
		}
		return Origin{}, wfv1.WorkflowSpec{}, false
	}
	for _, c := range s.crons {
		if c.Namespace == w.Namespace && encodesAs(c.Spec.WorkflowSpec, w.Spec) {
			return Origin{"CronWorkflow", c.Name}, w.Spec, true
		}
	}
	return Origin{}, wfv1.WorkflowSpec{}, false
}

func encodesAs(a, b wfv1.WorkflowSpec) bool {
	one, err1 := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, other)
}

// timer is a Workflow that waits for its suspend step to end.
type timer struct {
	due  time.Time
	wait time.Duration
	run  *run
}

// shortPause is a pause that ends before anything else happens. A pause that a
// custom resource's logic requested always waits, because each run may request
// another.
const shortPause = 10 * time.Second

// laterLabel marks a Workflow that a custom resource's logic requested.
const laterLabel = "argoperator.dev/timer"

// pause returns how long the Workflow waits before its first step.
func (r *run) pause() time.Duration {
	entry, _ := r.templateNamed(r.spec.Entrypoint)
	if len(entry.Steps) == 0 || len(entry.Steps[0].Steps) == 0 {
		return 0
	}
	first, _ := r.templateNamed(entry.Steps[0].Steps[0].Template)
	if first.Suspend == nil {
		return 0
	}
	filled, err := filled(first, r.values)
	if err != nil {
		return 0 // the run reports the error
	}
	text := filled.Suspend.Duration
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(seconds) * time.Second
	}
	wait, _ := time.ParseDuration(text)
	return wait
}

// templateNamed finds a template by its name.
func (r *run) templateNamed(name string) (wfv1.Template, bool) {
	i := slices.IndexFunc(r.spec.Templates, func(t wfv1.Template) bool { return t.Name == name })
	if i < 0 {
		return wfv1.Template{}, false
	}
	return r.spec.Templates[i], true
}

// FireTimers runs the waiting Workflows one after the other and skips those that
// were deleted. The next Run handles the resulting changes. It returns how many
// Workflows ran.
func (s *Simulation) FireTimers(ctx context.Context) (int, error) {
	if ran, err := s.fireWorkers(ctx); ran > 0 || err != nil {
		return ran, err
	}
	waiting := s.timers
	s.timers = nil
	slices.SortStableFunc(waiting, func(a, b timer) int { return a.due.Compare(b.due) })
	ran := 0
	for _, t := range waiting {
		path := "/apis/argoproj.io/v1alpha1/namespaces/" + t.run.record.Namespace + "/workflows/" + t.run.record.Name
		if _, err := s.ask(http.MethodGet, path, "", nil); cluster.IsNotFound(err) {
			continue
		} else if err != nil {
			return ran, err
		}
		ran++
		s.later += t.wait
		s.trace = append(s.trace, Step{Workflow: t.run.record})
		if err := t.run.all(ctx); err != nil {
			return ran, err
		}
	}
	return ran, nil
}

// fileMount returns the path of a single file that a container mounts.
func fileMount(spec wfv1.WorkflowSpec) string {
	for _, t := range spec.Templates {
		for _, c := range containersOf(t) {
			for _, m := range c.VolumeMounts {
				if m.SubPath != "" {
					return m.MountPath
				}
			}
		}
	}
	return ""
}

// mentions reports whether a file of the pods contains a path literally, so that it
// can be replaced.
func (s *Simulation) mentions(namespace string, spec wfv1.WorkflowSpec, path string) bool {
	for _, template := range spec.Templates {
		for _, v := range slices.Concat(spec.Volumes, template.Volumes) {
			if v.ConfigMap == nil || s.configMaps[namespace+"/"+v.ConfigMap.Name] == nil {
				continue
			}
			for _, text := range s.configMaps[namespace+"/"+v.ConfigMap.Name].Data {
				if cluster.LocalPaths(text, []cluster.Mount{{Path: path}}) != text {
					return true
				}
			}
		}
	}
	return false
}

// arguments returns the arguments of a Workflow, with the defaults of its template.
func arguments(w *wfv1.Workflow, spec wfv1.WorkflowSpec) values {
	out := values{
		"workflow.name": w.Name, "workflow.namespace": w.Namespace, "workflow.uid": string(w.UID),
		"workflow.serviceAccountName": spec.ServiceAccountName,
	}
	for _, parameters := range [][]wfv1.Parameter{spec.Arguments.Parameters, w.Spec.Arguments.Parameters} {
		for _, p := range parameters {
			if p.Value != nil {
				out["workflow.parameters."+p.Name] = p.Value.String()
			}
		}
	}
	return out
}

// run is a running Workflow. Every template runs once: a retry would fail again,
// because nothing else changes meanwhile.
type run struct {
	s      *Simulation
	spec   wfv1.WorkflowSpec
	record *Workflow
	values values
}

// account returns the service account of the Workflow's pods.
func (r *run) account() string { return r.record.Namespace + "/" + r.spec.ServiceAccountName }

// all runs the entrypoint, then the exit handler.
func (r *run) all(ctx context.Context) error {
	bounded, stop := workflowDeadline(ctx, r.spec)
	defer stop()
	_, failure, err := r.template(bounded, r.spec.Entrypoint, nil)
	if err != nil {
		return fmt.Errorf("in Workflow %s: %w", r.record.Name, err)
	}
	phase := "Succeeded"
	if failure != "" {
		phase = "Failed"
	}
	r.record.Failure = failure
	r.values["workflow.status"] = phase
	if err := r.writeStatus(phase, failure); err != nil || r.spec.OnExit == "" {
		return err
	}
	_, _, err = r.template(ctx, r.spec.OnExit, nil)
	return err
}

// writeStatus writes the Workflow's status as the Workflow controller does.
func (r *run) writeStatus(phase, message string) error {
	status := map[string]any{"phase": phase}
	if message != "" {
		status["message"] = message
		status["nodes"] = map[string]any{r.record.Name: map[string]any{"phase": phase, "type": "Pod", "message": message}}
	}
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return fmt.Errorf("encoding the status of a Workflow: %w", err)
	}
	path := "/apis/argoproj.io/v1alpha1/namespaces/" + r.record.Namespace + "/workflows/" + r.record.Name + "/status"
	req, err := http.NewRequest(http.MethodPatch, path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	if _, err := r.s.Do(req); err != nil && !cluster.IsNotFound(err) {
		return err
	}
	return nil
}

// template runs one template and returns its output parameters, and the reason if
// it failed.
func (r *run) template(ctx context.Context, name string, inputs map[string]string) (outputs map[string]string, failure string, err error) {
	t, found := r.templateNamed(name)
	if !found {
		return nil, "", fmt.Errorf("unknown template %s", name)
	}
	v := r.values.with("inputs.parameters.", inputs)
	if len(t.Steps) > 0 {
		failure, err := r.steps(ctx, t, v)
		return nil, failure, err
	}
	if t, err = filled(t, v); err != nil {
		return nil, "", err
	}
	switch {
	case t.Container != nil || t.ContainerSet != nil:
		return r.pod(ctx, t)
	case t.Resource != nil:
		return r.resource(t)
	case t.Suspend != nil:
		return nil, "", nil // FireTimers has waited
	}
	return nil, "", fmt.Errorf("template %s: only containers, container sets, steps, pauses and applied resources are simulated", name)
}

// steps runs one step after the other; Argo does not order the steps of a group.
func (r *run) steps(ctx context.Context, t wfv1.Template, v values) (failure string, err error) {
	for _, group := range t.Steps {
		for _, step := range group.Steps {
			outputs, failure, err := r.step(ctx, step, v)
			if err != nil || failure != "" {
				return failure, err
			}
			v = v.with("steps."+step.Name+".outputs.parameters.", outputs)
		}
	}
	return "", nil
}

func (r *run) step(ctx context.Context, step wfv1.WorkflowStep, v values) (outputs map[string]string, failure string, err error) {
	condition, err := filled(step.When, v)
	if err != nil {
		return nil, "", err
	}
	if runs, err := when(condition); err != nil || !runs {
		return nil, "", err
	}
	given, err := filled(step.Arguments, v)
	if err != nil {
		return nil, "", err
	}
	inputs := map[string]string{}
	for _, p := range given.Parameters {
		inputs[p.Name] = p.Value.String()
	}
	return r.template(ctx, step.Template, inputs)
}

// when evaluates the condition of a step: two words compared with == or !=.
func when(condition string) (bool, error) {
	if condition == "" {
		return true, nil
	}
	words := strings.Fields(condition)
	if len(words) != 3 || words[1] != "==" && words[1] != "!=" {
		return false, fmt.Errorf("the condition %q is not simulated", condition)
	}
	return (words[0] == words[2]) == (words[1] == "=="), nil
}

// resource applies the manifest of a resource template.
func (r *run) resource(t wfv1.Template) (map[string]string, string, error) {
	if t.Resource.Action != "apply" {
		return nil, "", fmt.Errorf("template %s: the action %s is not simulated", t.Name, t.Resource.Action)
	}
	fields, ok := cluster.Decoded([]byte(t.Resource.Manifest)).(map[string]any)
	if !ok {
		return nil, "the manifest is not an object", nil
	}
	o := &unstructured.Unstructured{Object: fields}
	manager, force := "kubectl", "false"
	for _, flag := range t.Resource.Flags {
		if name, found := strings.CutPrefix(flag, "--field-manager="); found {
			manager = name
		}
		if flag == "--force-conflicts" {
			force = "true"
		}
	}
	path := r.s.path(o, "?fieldManager="+manager+"&force="+force)
	req, err := http.NewRequest(http.MethodPatch, path, strings.NewReader(t.Resource.Manifest))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	recorder := &cluster.Recorder{Cluster: r.s.api, Account: r.account()}
	if _, err := recorder.RoundTrip(req); err != nil {
		return nil, "", err
	}
	calls := recorder.TakeCalls()
	r.s.normalizeCalls(calls)
	record := Container{Template: t.Name, Name: "main", Command: append([]string{"kubectl", "apply"}, t.Resource.Flags...), Calls: calls}
	failure := ""
	if calls[0].Status >= http.StatusMultipleChoices {
		failure = fmt.Sprintf("%v", calls[0].Answer)
		record.ExitCode = 1
	}
	r.record.Containers = append(r.record.Containers, record)
	return nil, failure, nil
}
