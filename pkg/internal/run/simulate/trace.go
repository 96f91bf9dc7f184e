package simulate

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// Trace is the list of steps in order.
type Trace []Step

// events counts the events in the trace.
func (t Trace) events() int {
	n := 0
	for _, step := range t {
		if step.Event != nil {
			n++
		}
	}
	return n
}

// Calls returns the requests of the triggers and of the programs in a trace, in order.
func (t Trace) Calls() []cluster.Call {
	var out []cluster.Call
	for _, step := range t {
		if step.Delivery != nil {
			for _, a := range step.Delivery.Attempts {
				out = append(out, a.Calls...)
			}
		}
		if step.Workflow != nil {
			for _, c := range step.Workflow.Containers {
				out = append(out, c.Calls...)
			}
		}
	}
	return out
}

// Failure is a failure in a trace.
type Failure struct {
	Text     string // one line
	Conflict bool   // the API server answered with a conflict
}

// Failures returns the failures of a trace. A failure that happened several times is one.
func (t Trace) Failures() []Failure {
	var out []Failure
	times := map[string]int{}
	for _, f := range t.failures() {
		if times[f.Text]++; times[f.Text] == 1 {
			out = append(out, f)
		}
	}
	for i, f := range out {
		if n := times[f.Text]; n > 1 {
			out[i].Text = fmt.Sprintf("%s (%d times)", f.Text, n)
		}
	}
	return out
}

// Texts returns the texts of failures.
func Texts(failures []Failure) []string {
	var out []string
	for _, f := range failures {
		out = append(out, f.Text)
	}
	return out
}

func isConflict(c cluster.Call) bool { return c.Status == http.StatusConflict }

// isRejection reports whether the API server rejected a request for another reason.
func isRejection(c cluster.Call) bool {
	return c.Status >= http.StatusBadRequest && c.Status != http.StatusNotFound && !isConflict(c)
}

func (t Trace) failures() []Failure {
	var out []Failure
	on, rejected := "", map[string]bool{} // by trigger and object
	for _, step := range t {
		if e := step.Event; e != nil {
			on = fmt.Sprintf(", on %s of %s", e.Type, e.Object)
		}
		if d := step.Delivery; d != nil {
			if d.Lost {
				out = append(out, Failure{Text: fmt.Sprintf("dependency %s of Sensor %s%s: %s", d.Dependency, d.Sensor, on, d.Stopped)})
			}
			for i, a := range d.Attempts {
				last := i == len(d.Attempts)-1 || d.Attempts[i+1].Trigger != a.Trigger
				if a.Failure == "" || !last || a.looksForChild() || a.findsItGone() {
					continue
				}
				call := a.lastCall()
				path, _, _ := strings.Cut(call.Path, "?")
				if !isConflict(call) {
					rejected[a.Trigger+path] = true
				} else if rejected[a.Trigger+path] {
					continue // it tries to create an object that it could not change, in case the object is gone
				}
				out = append(out, Failure{
					Text:     fmt.Sprintf("trigger %s of Sensor %s: %s", a.Trigger, d.Sensor, a.Failure),
					Conflict: isConflict(call),
				})
			}
		}
		if w := step.Workflow; w != nil && w.Failure != "" {
			out = append(out, Failure{
				Text: w.Title() + ": " + w.Cause(),
				Conflict: slices.ContainsFunc(w.Containers, func(c Container) bool {
					return c.ExitCode != 0 && slices.ContainsFunc(c.Calls, isConflict) && !slices.ContainsFunc(c.Calls, isRejection)
				}),
			})
		}
	}
	return out
}

// looksForChild reports whether a failed attempt only looked whether a child exists, after
// the API server rejected it.
func (a Attempt) looksForChild() bool {
	return len(a.Calls) > 0 && a.Calls[0].Method == http.MethodPatch && a.Calls[0].ContentType == "application/json-patch+json" &&
		(a.Calls[0].Status == http.StatusNotFound || a.Calls[0].Status == http.StatusUnprocessableEntity)
}

// findsItGone reports whether a failed attempt deleted an object that is gone already.
func (a Attempt) findsItGone() bool {
	return a.lastCall().Method == http.MethodDelete && a.lastCall().Status == http.StatusNotFound
}

// lastCall returns the last request of an attempt, if it sent one.
func (a Attempt) lastCall() cluster.Call {
	if len(a.Calls) == 0 {
		return cluster.Call{}
	}
	return a.Calls[len(a.Calls)-1]
}

// Cause returns the failure with one line of the program's output. That is the line
// of the failure if argoperator's own program wrote it, else the last line, where
// tracebacks have the error. It appends what the program was waiting for.
func (w *Workflow) Cause() string {
	words, output := "", w.Failure
	for _, c := range w.Containers {
		said := strings.TrimSpace(c.Output)
		if before, ends := strings.CutSuffix(w.Failure, said); ends && c.ExitCode != 0 && c.Killed == "" {
			words, output = before, said
		}
	}
	lines := strings.Split(output, "\n")
	at := slices.IndexFunc(lines, ownFailure)
	if at < 0 {
		at = len(lines) - 1
	}
	out := words + lines[at]
	for _, c := range w.Containers {
		if waited := c.waited(); waited != "" && c.ExitCode != 0 {
			out += "; " + waited
		}
	}
	return out
}

// maxLastLines limits LastLines.
const maxLastLines = 10

// LastLines returns the last lines that the program of a failed Workflow printed, where
// its failure has only one of them; "" if there is no more to tell.
func (t Trace) LastLines() string {
	for _, step := range slices.Backward(t) {
		if step.Workflow == nil || step.Workflow.Failure == "" {
			continue
		}
		for _, c := range slices.Backward(step.Workflow.Containers) {
			lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(c.Output), "\n"), func(line string) bool {
				return strings.Trim(line, " ^~") == "" // what newer Pythons draw below a line, or an empty line
			})
			if c.ExitCode != 0 && len(lines) > 1 && !slices.ContainsFunc(lines, ownFailure) {
				return strings.Join(lines[max(0, len(lines)-maxLastLines):], "\n")
			}
		}
	}
	return ""
}

// ownFailure reports whether a line is the failure that argoperator's own program wrote.
func ownFailure(line string) bool { return strings.HasPrefix(line, "failed: ") }

// waited describes what a failed program was waiting for: its end, or a request
// that failed repeatedly.
func (c Container) waited() string {
	var out []string
	if c.Killed != "" {
		out = append(out, fmt.Sprintf("container %s (%s) %s", cmp.Or(c.Name, "main"), c.Command[len(c.Command)-1], c.Killed))
	}
	most, times := cluster.Call{}, 1
	for i := 0; i < len(c.Calls); {
		call, n := c.Calls[i], 1
		for i+n < len(c.Calls) && call.IsRetry(c.Calls[i+n]) {
			n++
		}
		if n > times {
			most, times = c.Calls[i+n-1], n
		}
		i += n
	}
	if times > 1 {
		out = append(out, fmt.Sprintf("%s %s failed after %d attempts with %s", most.Method, most.Path, times, most.Outcome()))
	}
	return strings.Join(out, "; ")
}

// Step is one step of a trace; exactly one of its fields is set.
type Step struct {
	Event    *Event    // published by an EventSource
	Delivery *Delivery // the previous event delivered to a trigger
	Workflow *Workflow // created by a trigger, with its run, or what a worker has done
}

// Delivery is one event delivered to one dependency of one trigger.
type Delivery struct {
	Sensor, Dependency, Trigger string
	Program                     string // jq of the dependency's transform
	// Transformed is the event after the dependency's transform.
	Transformed map[string]any
	// Stopped is the reason that the trigger did not run; empty if it did.
	Stopped string
	// Lost reports that a failure stopped the event, not the filter.
	Lost bool
	// Attempts of the trigger: the first one, its retries, and those of the
	// dead-letter trigger.
	Attempts []Attempt

	attempted func(*Delivery) // called after each attempt; nil: not called
}

// Attempt is one execution of a trigger.
type Attempt struct {
	Trigger string
	Calls   []cluster.Call
	Failure string // empty on success
	Note    string // what is not simulated
}

// Workflow is one run of a Workflow.
type Workflow struct {
	Namespace, Name string
	Origin          Origin
	Key             string // of a worker: that of the custom resource; "" otherwise, and for a look at all
	Containers      []Container
	Failure         string // empty on success
}

// Reconciles reports whether it is what a worker has done, for a custom resource or for all.
func (w *Workflow) Reconciles() bool { return w.Origin.Kind == "Deployment" }

// Title returns what ran, for messages.
func (w *Workflow) Title() string {
	switch {
	case !w.Reconciles():
		return fmt.Sprintf("Workflow %s/%s", w.Namespace, w.Name)
	case w.Key == "":
		return fmt.Sprintf("Deployment %s, resync", w.Name)
	}
	return fmt.Sprintf("Deployment %s, reconcile of %s", w.Name, w.Key)
}

// Origin is the object whose spec runs: a WorkflowTemplate, a CronWorkflow or, for a worker, a Deployment.
type Origin struct{ Kind, Name string }

// Container is one program that ran or was skipped.
type Container struct {
	Template, Name string
	Command        []string
	Output         string // stdout and stderr
	ExitCode       int
	Calls          []cluster.Call
	Skipped        string   // the reason it did not run
	Killed         string   // the reason it was killed
	Missing        []string // variables whose Secret or ConfigMap does not exist
}
