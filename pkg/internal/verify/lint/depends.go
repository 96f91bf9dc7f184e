package lint

import (
	"maps"
	"slices"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// tasks are those of a DAG, by name.
type tasks map[string]*wfv1.DAGTask

// GetTask returns a task; an empty one if there is none.
func (t tasks) GetTask(name string) *wfv1.DAGTask {
	if task := t[name]; task != nil {
		return task
	}
	return &wfv1.DAGTask{}
}

// GetTaskDependencies returns the tasks for which a task waits.
func (t tasks) GetTaskDependencies(name string) []string {
	of, _ := common.GetTaskDependencies(t.GetTask(name), t)
	return slices.Sorted(maps.Keys(of))
}

// GetTaskFinishedAtTime is not needed to read dependencies.
func (t tasks) GetTaskFinishedAtTime(string) time.Time { return time.Time{} }

// ancestors returns the tasks for which a task waits, and those for which they wait.
func (t tasks) ancestors(name string) map[string]bool {
	out := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		for _, of := range t.GetTaskDependencies(name) {
			if !out[of] {
				out[of] = true
				visit(of)
			}
		}
	}
	visit(name)
	return out
}

// outcome is what is true of a task when others look at it: one or more results.
type outcome []common.TaskResult

var (
	succeeded, failed, errored = outcome{common.TaskResultSucceeded}, outcome{common.TaskResultFailed}, outcome{common.TaskResultErrored}
	skipped, omitted           = outcome{common.TaskResultSkipped}, outcome{common.TaskResultOmitted}
	daemoned                   = outcome{common.TaskResultDaemoned}
	// ofItems are the further outcomes of a task with items.
	ofItems = []outcome{
		{common.TaskResultSucceeded, common.TaskResultAnySucceeded},
		{common.TaskResultFailed, common.TaskResultAnySucceeded},
		{common.TaskResultErrored, common.TaskResultAnySucceeded},
		{common.TaskResultFailed, common.TaskResultAllFailed},
	}
	anyOutcome = append([]outcome{succeeded, failed, errored, skipped, omitted, daemoned}, ofItems...)
)

// outcomes returns the outcomes that a task can have. A daemon runs until its DAG ends: if it ends by itself, it has failed.
func (f flow) outcomes(task *wfv1.DAGTask) []outcome {
	n := slices.IndexFunc(f.spec.Templates, func(t wfv1.Template) bool { return t.Name == task.Template })
	of := task.Inline
	if n >= 0 {
		of = &f.spec.Templates[n]
	}
	if of == nil || task.TemplateRef != nil || f.spec.TemplateDefaults != nil {
		return anyOutcome
	}
	out := []outcome{succeeded, failed, errored}
	if of.IsDaemon() && of.IsPodType() && !task.ShouldExpand() && of.Memoize == nil {
		out[0] = daemoned
	}
	if task.When != "" || task.ShouldExpand() {
		out = append(out, skipped)
	}
	if task.Depends != "" || len(task.Dependencies) > 0 {
		out = append(out, omitted)
	}
	if task.ShouldExpand() {
		out = append(out, ofItems...)
	}
	return out
}

// neverRun reports tasks that wait for results which other tasks never have, so that they are always omitted.
func (i *inspection) neverRun(f flow, t template) {
	if t.DAG == nil {
		return
	}
	all := tasks{}
	for n := range t.DAG.Tasks {
		all[t.DAG.Tasks[n].Name] = &t.DAG.Tasks[n]
	}
	for n := range t.DAG.Tasks {
		task := &t.DAG.Tasks[n]
		d, ok := newDependency(f, all, task)
		if !ok || d.possible() {
			continue
		}
		at := t.path.Child("dag", "tasks").Index(n).Child("depends")
		switch name := d.culprit(); name {
		case "":
			i.reportHint(at, "join alternatives with ||", "the condition is never true, so task %s never runs", task.Name)
		default:
			can := namesOf(d.outcomes[name])
			i.reportHint(at, "wait for "+name+"."+can[0]+", or for another result",
				"task %s can only be %s, so task %s never runs", name, strings.Join(can, ", "), task.Name)
		}
	}
}

// namesOf returns the names of outcomes.
func namesOf(of []outcome) []string {
	var out []string
	for _, o := range of {
		if name := string(o[0]); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// dependency is what a task waits for.
type dependency struct {
	names    []string // of the tasks
	program  *vm.Program
	outcomes map[string][]outcome
}

// newDependency compiles the condition of a task; false if it has none, or one that is not known.
func newDependency(f flow, all tasks, task *wfv1.DAGTask) (dependency, bool) {
	if task.Depends == "" || strings.Contains(task.Depends, "{{") {
		return dependency{}, false
	}
	of, logic := common.GetTaskDependencies(task, all)
	d := dependency{names: slices.Sorted(maps.Keys(of)), outcomes: map[string][]outcome{}}
	for _, name := range d.names {
		if all[name] == nil || common.ValidateTaskResults(task) != nil {
			return dependency{}, false // invalid-manifest reports it
		}
		d.outcomes[name] = f.outcomes(all[name])
	}
	program, err := expr.Compile(strings.ReplaceAll(logic, "-", "_"), expr.AsBool())
	d.program = program
	return d, err == nil && len(d.names) > 0
}

// maxCombinations limits the outcomes that are tried for one task.
const maxCombinations = 4096

// possible reports whether the condition is true for some outcomes.
func (d dependency) possible() bool {
	combinations := 1
	for _, name := range d.names {
		if combinations *= len(d.outcomes[name]); combinations > maxCombinations {
			return true
		}
	}
	for n := range combinations {
		values := map[string]any{}
		for _, name := range d.names {
			of := d.outcomes[name]
			results := map[string]bool{}
			for _, result := range of[n%len(of)] {
				results[string(result)] = true
			}
			values[strings.ReplaceAll(name, "-", "_")] = results
			n /= len(of)
		}
		if result, err := expr.Run(d.program, values); err != nil || result == true {
			return true
		}
	}
	return false
}

// culprit returns the first task without whose limits the condition could be true; "" if there is none.
func (d dependency) culprit() string {
	for _, name := range d.names {
		other := dependency{d.names, d.program, maps.Clone(d.outcomes)}
		other.outcomes[name] = anyOutcome
		if other.possible() {
			return name
		}
	}
	return ""
}
