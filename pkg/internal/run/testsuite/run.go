package testsuite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// testRun is one running test.
type testRun struct {
	ctx        context.Context // of this run only
	test       *definition.Test
	tested     argoperator.Result
	s          *simulate.Simulation
	update     bool
	now        func() time.Time
	resource   map[string]any // as created
	uid        string         // of the custom resource, also after its deletion
	seenEvents map[string]bool
	goldens    []Golden
	progress   func(t *definition.Test, what string)
	position   string // the current step
}

// report reports the test's progress.
func (p *testRun) report(what string) {
	if p.progress == nil {
		return
	}
	if what != "" {
		what = ": " + what
	}
	p.progress(p.test, p.position+what)
}

// newTestRun sets up the cluster for the first step.
func newTestRun(ctx context.Context, j job, o Options) (*testRun, diag.List, error) {
	operators, err := j.operators()
	if err != nil {
		return nil, nil, err
	}
	p := &testRun{
		ctx: ctx, test: j.test, update: o.Update, now: o.Now, resource: j.test.Resource, seenEvents: map[string]bool{},
		progress: o.Progress, position: "before the first step",
	}
	p.tested = selected(operators, j.test.Spec.Operator)
	inputs := simulate.Inputs{
		Objects:  p.tested.Objects(),
		Kinds:    p.tested.Kinds(),
		Runner:   o.Runner,
		Prepared: j.prepared,
		Progress: p.report,
	}
	if o.Requests != nil {
		inputs.Requests = func(call cluster.Call) { o.Requests(j.test, call) }
	}
	p.s, err = simulate.New(inputs)
	if err != nil {
		return nil, nil, err
	}
	var wrong diag.List
	for _, object := range j.test.Objects {
		err := p.s.Put(object)
		var refused *cluster.StatusError
		if errors.As(err, &refused) {
			wrong.Add(p.test.KeyPosition("spec", "objects"), diag.StepFailed, err.Error(), "")
			continue
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return p, wrong, p.s.Run(ctx)
}

// stepRun is one running step.
type stepRun struct {
	*testRun
	index    int
	step     v1alpha1.TestStep
	before   snapshot // state before the step
	trace    simulate.Trace
	events   []map[string]any
	findings diag.List
}

// runStep runs one step.
func (p *testRun) runStep(index int) (Step, error) {
	since := stopwatch(p.now)
	s := &stepRun{testRun: p, index: index, step: p.test.Spec.Steps[index]}
	err := s.execute()
	out := Step{Name: s.step.Name, State: Passed}
	if err == nil && !s.findings.HasErrors() {
		s.expectations()
		out.Trace = s.trace // relisting repeats the trace
		err = s.checkIdempotent()
	}
	if err != nil {
		return out, err
	}
	if s.findings.HasErrors() {
		out.State = Failed
	}
	if out.Trace == nil {
		out.Trace = s.trace
	}
	out.Findings, out.Duration = withoutRepeatedHints(s.findings.Sorted()), since()
	return out, nil
}

// withoutRepeatedHints keeps a hint only in the last of consecutive findings that
// share it.
func withoutRepeatedHints(findings diag.List) diag.List {
	for i := range findings {
		if i+1 < len(findings) && findings[i].Hint == findings[i+1].Hint {
			findings[i].Hint = ""
		}
	}
	return findings
}

// execute executes the step and runs the operator until nothing changes.
func (s *stepRun) execute() error {
	start := len(s.s.Trace())
	s.before = s.snapshot()
	s.s.Intercept(refusals(s.s, s.step.Refuse))
	defer s.s.Intercept(nil)
	err := s.act()
	var refused *cluster.StatusError
	switch {
	case errors.As(err, &refused):
		s.refused(err)
	case err != nil && !s.reportStepError(err):
		return err
	case s.step.Expect.Refused != "":
		s.unmet(s.at("expect", "refused"), "the API server accepted it", "")
	}
	if !s.reportNotConverged(s.s.Run(s.ctx), &err) {
		return err
	}
	if cr, _ := s.s.Get(s.resource); cr != nil {
		s.uid = textOf(cr, "metadata", "uid")
	}
	s.trace = slices.Clone(s.s.Trace()[start:])
	s.events = s.newEvents()
	return nil
}

// reportStepError turns a stepError into a finding.
func (s *stepRun) reportStepError(err error) bool {
	var stepErr *stepError
	if !errors.As(err, &stepErr) {
		return false
	}
	s.findings.Add(s.at(stepErr.path...), diag.StepFailed, stepErr.message, stepErr.hint)
	return true
}

// reportNotConverged turns a NotConvergedError into a finding; it returns false for
// another error.
func (s *stepRun) reportNotConverged(err error, out *error) bool {
	var notConverged *simulate.NotConvergedError
	if errors.As(err, &notConverged) {
		s.findings.Add(s.at("name"), diag.NotIdempotent, err.Error(), "see what it reacts to with argoperator test --trace")
		err = nil
	}
	*out = err
	return err == nil
}

// refused compares the API server's refusal of the step with the expected one.
func (s *stepRun) refused(err error) {
	want := s.step.Expect.Refused
	switch {
	case want == "":
		s.findings.Add(s.atKey(s.test.Action(s.index)), diag.StepFailed, err.Error(), "if the rejection is expected, set expect.refused")
	case !strings.Contains(err.Error(), want):
		s.unmet(s.at("expect", "refused"), "the API server rejected it with another message: "+err.Error(), "")
	}
}

// checkIdempotent relists everything, which must not change anything. After a step of which
// the operator knows nothing, the relist would show it a change for the first time.
func (s *stepRun) checkIdempotent() error {
	if len(s.trace) == 0 {
		return nil
	}
	if s.findings.HasErrors() || len(s.step.Refuse) > 0 || s.step.NotIdempotent != "" || s.test.Spec.NotIdempotent != "" {
		return nil
	}
	failing := len(s.trace.Failures()) > 0 // a retry, which the custom resource's status reports
	before := s.snapshot()
	for range 2 { // the observed state may change once
		if err := s.s.Relist(s.ctx); err != nil {
			return err
		}
		var err error
		if !s.reportNotConverged(s.s.Run(s.ctx), &err) {
			return err
		}
		after := s.snapshot()
		changes := slices.DeleteFunc(before.changes(after), func(change string) bool {
			return failing && strings.HasPrefix(change, kindOf(s.resource)+" ")
		})
		for _, change := range changes {
			s.findings.Add(s.at("name"), diag.NotIdempotent, "after a second delivery of the event, "+change,
				"the same custom resource must give the same objects; if that is impossible, set notIdempotent with the reason")
		}
		if len(changes) > 0 || failing || before.same(after) {
			return nil
		}
		before = after
	}
	s.findings.Add(
		s.at("name"),
		diag.NotIdempotent,
		"every further delivery of the event makes the operator write its observed state again",
		"",
	)
	return nil
}

// path returns the path of the step, or of a field in it.
func (s *stepRun) path(below ...string) []string {
	return append([]string{"spec", "steps", strconv.Itoa(s.index)}, below...)
}

func (s *stepRun) at(below ...string) diag.Position { return s.test.Position(s.path(below...)...) }

func (s *stepRun) atKey(below ...string) diag.Position {
	return s.test.KeyPosition(s.path(below...)...)
}

func (s *stepRun) unmet(at diag.Position, message, hint string) {
	s.findings.Add(at, diag.FailedExpectation, message, hint)
}

// newEvents returns the Events about the custom resource since the last step.
func (s *stepRun) newEvents() []map[string]any {
	var out []map[string]any
	for _, o := range s.s.Objects() {
		if o["kind"] != "Event" || o["apiVersion"] != "v1" || textOf(o, "involvedObject", "uid") != s.uid {
			continue
		}
		id := nameOf(o) + " " + textOf(o, "metadata", "resourceVersion")
		if !s.seenEvents[id] {
			s.seenEvents[id] = true
			out = append(out, o)
		}
	}
	return out
}

// snapshot is the state of the cluster.
type snapshot struct {
	order   []string
	objects map[string]map[string]any
}

func (p *testRun) snapshot() snapshot {
	out := snapshot{objects: map[string]map[string]any{}}
	for _, o := range p.s.Objects() {
		id := fmt.Sprint(o["apiVersion"], " ", placeOf(o))
		out.order = append(out.order, id)
		out.objects[id] = o
	}
	return out
}

// same reports whether nothing has been written since. A custom resource that lists its
// children may have been written and be as it was: their check leaves no other trace.
func (s snapshot) same(later snapshot) bool {
	return slices.EqualFunc(s.order, later.order, func(a, b string) bool {
		before, after := s.objects[a], later.objects[b]
		return a == b && (textOf(before, "metadata", "resourceVersion") == textOf(after, "metadata", "resourceVersion") ||
			listsChildren(before) && difference(before, after) == "")
	})
}

// listsChildren reports whether the observed state of a custom resource lists objects.
func listsChildren(o map[string]any) bool {
	children, _ := valueOf(o, "status", "children").(map[string]any)
	for key := range children {
		if strings.Contains(key, "/") {
			return true
		}
	}
	return false
}

// changes describes the differences to a later snapshot, ignoring bookkeeping: a
// generation counts changes of the operator's annotations, too.
func (s snapshot) changes(later snapshot) []string {
	var out []string
	for _, id := range s.order {
		o, still := s.objects[id], later.objects[id]
		switch {
		case still == nil:
			out = append(out, placeOf(o)+" goes")
		case textOf(o, "metadata", "resourceVersion") != textOf(still, "metadata", "resourceVersion"):
			if change := difference(copied(o), copied(still)); change != "" {
				out = append(out, placeOf(o)+" changes: "+change)
			}
		}
	}
	for _, id := range later.order {
		if s.objects[id] == nil {
			out = append(out, placeOf(later.objects[id])+" comes")
		}
	}
	return out
}
