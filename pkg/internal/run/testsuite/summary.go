package testsuite

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// traceSummary counts the triggers, requests, Workflows and reconciles of a worker of a trace.
type traceSummary struct {
	triggers                        []string // that fired, sorted
	requests, workflows, reconciles int
}

func summarize(t simulate.Trace) traceSummary {
	out := traceSummary{requests: len(t.Calls())}
	fired := map[string]bool{}
	for _, step := range t {
		if d := step.Delivery; d != nil {
			for _, a := range d.Attempts {
				fired[a.Trigger] = true
			}
		}
		switch w := step.Workflow; {
		case w == nil:
		case !w.Reconciles():
			out.workflows++
		case w.Key != "": // not a resync, which finds what to reconcile
			out.reconciles++
		}
	}
	out.triggers = slices.Sorted(maps.Keys(fired))
	return out
}

// lastWriter describes which request of this step last wrote an unexpected object,
// or what prevented it.
func (s *stepRun) lastWriter(r v1alpha1.Reference) string {
	if failures := s.trace.Failures(); len(failures) > 0 {
		return strings.TrimSpace("failed: " + failures[0].Text + "\n" + s.conflict(failures[0]))
	}
	if len(s.trace) == 0 {
		return "the operator received no event in this step"
	}
	last := ""
	for _, step := range s.trace {
		if d := step.Delivery; d != nil {
			for _, a := range d.Attempts {
				if call := s.lastWrite(a.Calls, r); call != "" {
					last = fmt.Sprintf("last written by trigger %s of Sensor %s: %s", a.Trigger, d.Sensor, call)
				}
			}
		}
		if w := step.Workflow; w != nil {
			for _, c := range w.Containers {
				if call := s.lastWrite(c.Calls, r); call != "" {
					last = fmt.Sprintf("last written by %s of %s: %s", cmp.Or(c.Name, c.Template), w.Title(), call)
				}
			}
		}
	}
	return cmp.Or(last, s.noWrite())
}

// lastWrite returns the last call that wrote an object.
func (s *stepRun) lastWrite(calls []cluster.Call, r v1alpha1.Reference) string {
	for _, c := range slices.Backward(calls) {
		req, err := http.NewRequest(c.Method, c.Path, http.NoBody)
		if err != nil || c.Method == http.MethodGet {
			continue
		}
		parts, ok := s.s.RequestInfo(req)
		if body, _ := c.Body.(map[string]any); parts.Kind == "" {
			parts.Kind = kindOf(body)
		}
		if !ok || parts.Kind != r.Kind || r.Name != "" && parts.Name != r.Name || r.Namespace != "" && parts.Namespace != r.Namespace {
			continue
		}
		path, _, _ := strings.Cut(c.Path, "?")
		return fmt.Sprintf("%s %s (%d)", c.Method, path, c.Status)
	}
	return ""
}

// noWrite describes what the operator did in a step without writing the object.
func (s *stepRun) noWrite() string {
	const none = "no request of this step wrote it"
	said := ""
	cr, _ := s.s.Get(s.resource)
	if reason, message := simulate.NotReady(cr); message != "" {
		said = fmt.Sprintf("; Ready is False, with reason %s: %s", reason, message)
	}
	got := summarize(s.trace)
	if got.workflows+got.reconciles > 0 {
		return none + said + "; see what its pods did with argoperator test --trace"
	}
	if len(got.triggers) == 0 {
		return none + ": no trigger fired" + said
	}
	return none + "; triggers that fired: " + strings.Join(got.triggers, ", ") + said
}
