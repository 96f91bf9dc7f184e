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
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/cluster"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/simulate"
)

// play is one test at work.
type play struct {
	ctx      context.Context // of the one run that a play is
	test     *definition.Test
	s        *simulate.Simulation
	update   bool
	now      func() time.Time
	resource map[string]any // as it was created
	uid      string         // of the custom resource, after its end too
	heard    map[string]bool
	goldens  []Golden
	doing    func(t *definition.Test, what string)
	at       string // the step
}

// tell says what the test is doing.
func (p *play) tell(what string) {
	if p.doing == nil {
		return
	}
	if what != "" {
		what = ": " + what
	}
	p.doing(p.test, p.at+what)
}

// newPlay makes the cluster as it is before the first step.
func newPlay(ctx context.Context, j job, o Options) (*play, diag.List, error) {
	operators, err := j.operators()
	if err != nil {
		return nil, nil, err
	}
	p := &play{
		ctx: ctx, test: j.test, update: o.Update, now: o.Now, resource: j.test.Resource, heard: map[string]bool{},
		doing: o.Doing, at: "before the first step",
	}
	tested := chosen(operators, j.test.Spec.Operator)
	p.s, err = simulate.New(simulate.Inputs{
		Objects: tested.Objects(), Kinds: tested.Kinds(), Runner: o.Runner, Prepared: j.prepared, Progress: p.tell,
	})
	if err != nil {
		return nil, nil, err
	}
	var wrong diag.List
	for _, object := range j.test.Objects {
		err := p.put(object)
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

// scene is a step, with what was there before.
type scene struct {
	*play
	index    int
	step     v1alpha1.TestStep
	before   snapshot // what the operator changes is what is other than in here
	trace    simulate.Trace
	told     []map[string]any
	findings diag.List
}

// play plays one step.
func (p *play) play(index int) (Step, error) {
	since := stopwatch(p.now)
	s := &scene{play: p, index: index, step: p.test.Spec.Steps[index]}
	err := s.happen()
	out := Step{Name: s.step.Name, State: Passed}
	if err == nil && !s.findings.HasErrors() {
		s.expectations()
		out.Trace = s.trace // what comes now is the same once more
		err = s.again()
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
	out.Findings, out.Duration = quiet(s.findings.Sorted()), since()
	return out, nil
}

// quiet says the same hint once, below the last finding that has it.
func quiet(findings diag.List) diag.List {
	for i := range findings {
		if i+1 < len(findings) && findings[i].Hint == findings[i+1].Hint {
			findings[i].Hint = ""
		}
	}
	return findings
}

// happen lets the step happen and the operator come to rest.
func (s *scene) happen() error {
	start := len(s.s.Trace())
	s.before = s.snapshot()
	s.s.Intercept(refusals(s.s, s.step.Refuse))
	defer s.s.Intercept(nil)
	err := s.act()
	var refused *cluster.StatusError
	switch {
	case errors.As(err, &refused):
		s.refused(err)
	case err != nil && !s.stuck(err):
		return err
	case s.step.Expect.Refused != "":
		s.unmet(s.at("expect", "refused"), "the API server took it", "")
	}
	if !s.restless(s.s.Run(s.ctx), &err) {
		return err
	}
	if cr, _ := s.s.Get(s.resource); cr != nil {
		s.uid = textOf(cr, "metadata", "uid")
	}
	s.trace = slices.Clone(s.s.Trace()[start:])
	s.told = s.news()
	return nil
}

// stuck makes a finding of what cannot be done because of how the test is written.
func (s *scene) stuck(err error) bool {
	var problem *problem
	if !errors.As(err, &problem) {
		return false
	}
	s.findings.Add(s.at(problem.path...), diag.StepFailed, problem.message, problem.hint)
	return true
}

// restless makes a finding of an operator that does not come to rest; false: it
// is another error.
func (s *scene) restless(err error, out *error) bool {
	var restless *simulate.NotConvergedError
	if errors.As(err, &restless) {
		s.findings.Add(s.at("name"), diag.NotIdempotent, err.Error(), "argoperator test --trace shows what it reacts to")
		err = nil
	}
	*out = err
	return err == nil
}

// refused compares the API server's refusal of the step itself.
func (s *scene) refused(err error) {
	want := s.step.Expect.Refused
	switch {
	case want == "":
		s.findings.Add(s.atKey(s.test.Action(s.index)), diag.StepFailed, err.Error(), "where that is meant, expect.refused says so")
	case !strings.Contains(err.Error(), want):
		s.unmet(s.at("expect", "refused"), "the refusal does not say so: "+err.Error(), "")
	}
}

// again delivers everything once more: nothing may come of it.
func (s *scene) again() error {
	if s.findings.HasErrors() || len(s.step.Refuse) > 0 || s.step.NotIdempotent != "" || s.test.Spec.NotIdempotent != "" {
		return nil
	}
	failing := len(s.trace.Failures()) > 0 // then this is another attempt, which the custom resource tells of
	before := s.snapshot()
	for range 2 { // what the operator notes for itself may catch up, once
		if err := s.s.Relist(s.ctx); err != nil {
			return err
		}
		var err error
		if !s.restless(s.s.Run(s.ctx), &err) {
			return err
		}
		after := s.snapshot()
		changes := slices.DeleteFunc(before.changes(after), func(change string) bool {
			return failing && strings.HasPrefix(change, kindOf(s.resource)+" ")
		})
		for _, change := range changes {
			s.findings.Add(s.at("name"), diag.NotIdempotent, "delivered once more, "+change,
				"the same custom resource must make the same objects; where that cannot be, notIdempotent says why")
		}
		if len(changes) > 0 || failing || before.same(after) {
			return nil
		}
		before = after
	}
	s.findings.Add(s.at("name"), diag.NotIdempotent, "whenever it is delivered once more, the operator writes its own notes again", "")
	return nil
}

// path of the step, or below it.
func (s *scene) path(below ...string) []string {
	return append([]string{"spec", "steps", strconv.Itoa(s.index)}, below...)
}

func (s *scene) at(below ...string) diag.Position { return s.test.Position(s.path(below...)...) }

func (s *scene) atKey(below ...string) diag.Position { return s.test.KeyPosition(s.path(below...)...) }

func (s *scene) unmet(at diag.Position, message, hint string) {
	s.findings.Add(at, diag.Unmet, message, hint)
}

// news are the Kubernetes Events about the custom resource that are new.
func (s *scene) news() []map[string]any {
	var out []map[string]any
	for _, o := range s.s.Objects() {
		if o["kind"] != "Event" || o["apiVersion"] != "v1" || textOf(o, "involvedObject", "uid") != s.uid {
			continue
		}
		id := nameOf(o) + " " + textOf(o, "metadata", "resourceVersion")
		if !s.heard[id] {
			s.heard[id] = true
			out = append(out, o)
		}
	}
	return out
}

// snapshot is what the cluster holds.
type snapshot struct {
	order   []string
	objects map[string]map[string]any
}

func (p *play) snapshot() snapshot {
	out := snapshot{objects: map[string]map[string]any{}}
	for _, o := range p.s.Objects() {
		id := fmt.Sprint(o["apiVersion"], " ", placeOf(o))
		out.order = append(out.order, id)
		out.objects[id] = o
	}
	return out
}

// same tells whether nothing at all has been written since.
func (s snapshot) same(later snapshot) bool {
	return slices.EqualFunc(s.order, later.order, func(a, b string) bool {
		return a == b && textOf(s.objects[a], "metadata", "resourceVersion") == textOf(later.objects[b], "metadata", "resourceVersion")
	})
}

// changes are what is other in a later snapshot, but for what the operator
// notes for itself.
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
