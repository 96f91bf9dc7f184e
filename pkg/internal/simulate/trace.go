package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
)

// Trace is what happened, in order.
type Trace []Step

// events are how many there are in it.
func (t Trace) events() int {
	n := 0
	for _, step := range t {
		if step.Event != nil {
			n++
		}
	}
	return n
}

// Failures of what happened, in a line each: what a person should know who reads
// the outcome only.
func (t Trace) Failures() []string {
	var out []string
	on := ""
	for _, step := range t {
		if e := step.Event; e != nil {
			on = fmt.Sprintf(", on %s of %s", e.Type, e.Object)
		}
		if d := step.Delivery; d != nil {
			if d.Lost {
				out = append(out, fmt.Sprintf("dependency %s of Sensor %s%s: %s", d.Dependency, d.Sensor, on, d.Stopped))
			}
			for i, a := range d.Attempts {
				last := i == len(d.Attempts)-1 || d.Attempts[i+1].Trigger != a.Trigger
				if a.Failure != "" && last {
					out = append(out, fmt.Sprintf("trigger %s of Sensor %s: %s", a.Trigger, d.Sensor, a.Failure))
				}
			}
		}
		if w := step.Workflow; w != nil && w.Failure != "" {
			out = append(out, fmt.Sprintf("Workflow %s/%s: %s", w.Namespace, w.Name, w.Cause()))
		}
	}
	return out
}

// Cause is the failure with one line of what the program said: where it is the
// one that argoperator brings along, that of the failure; else the last, as the
// status has it. A traceback ends with what was wrong. It goes on with what the
// program was waiting for, if it waited.
func (w *Workflow) Cause() string {
	words, output, said := strings.Cut(w.Failure, "): ")
	if !said {
		words, output = "", w.Failure
	} else {
		words += "): "
	}
	lines := strings.Split(output, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "failed: ") })
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

// waited says what a program that failed was waiting for: its end, or a request
// that failed again and again.
func (c Container) waited() string {
	var out []string
	if c.Killed != "" {
		out = append(out, fmt.Sprintf("container %s (%s) %s", cmp.Or(c.Name, "main"), c.Command[len(c.Command)-1], c.Killed))
	}
	most, times := cluster.Call{}, 1
	for i := 0; i < len(c.Calls); {
		call, n := c.Calls[i], 1
		for i+n < len(c.Calls) && call.Again(c.Calls[i+n]) {
			n++
		}
		if n > times {
			most, times = c.Calls[i+n-1], n
		}
		i += n
	}
	if times > 1 {
		out = append(out, fmt.Sprintf("%s %s was tried %d times, and the answer was %s", most.Method, most.Path, times, most.Outcome()))
	}
	return strings.Join(out, "; ")
}

// Step is one thing that happened; one of its fields is set.
type Step struct {
	Event    *Event    // published by an EventSource
	Delivery *Delivery // of the last event to a trigger
	Workflow *Workflow // that a trigger created, run
}

// Delivery is one event on its way through one dependency of one trigger.
type Delivery struct {
	Sensor, Dependency, Trigger string
	// Transformed is the event after the dependency's transform.
	Transformed map[string]any
	// Stopped says why the event went no further; empty where it did.
	Stopped string
	// Lost says that it stopped because something failed, not because the filter
	// is there to hold it back.
	Lost bool
	// Attempts to carry out the trigger: one, those of the retry strategy, and
	// those of the dead-letter trigger.
	Attempts []Attempt
}

// Attempt is one execution of a trigger.
type Attempt struct {
	Trigger string
	Calls   []cluster.Call
	Failure string // empty where it went well
	Note    string // what is not simulated of it
}

// Workflow is one run of a Workflow.
type Workflow struct {
	Namespace, Name, Template string
	Containers                []Container
	Failure                   string // empty where it went well
}

// Container is one program that ran.
type Container struct {
	Template, Name string
	Command        []string
	Output         string // both streams
	ExitCode       int
	Calls          []cluster.Call
	Skipped        string   // why it did not run
	Killed         string   // why it did not run to its end
	Missing        []string // variables whose Secret or ConfigMap is not there
}
