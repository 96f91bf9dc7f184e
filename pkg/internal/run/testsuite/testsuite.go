// Package testsuite runs tests of operators without a cluster. A test is a list of
// steps for one custom resource; the emitted objects run on an in-memory cluster,
// and each step has expectations.
//
// The rule of this package: it compares observable results with expectations and
// knows nothing about how an operator works. Unmet expectations are findings in the
// test's file; errors are failures of argoperator itself.
package testsuite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// Suite is a set of tests of operators in one cluster.
type Suite struct {
	Operators []argoperator.Operator
	// Make generates the operators when their first test starts; nil: use
	// Operators. With many suites it keeps only the operators of running tests in
	// memory.
	Make  func() ([]argoperator.Operator, error)
	Tests []*definition.Test
}

// Options of Run. The zero value runs one test after the other without running
// programs.
type Options struct {
	// Runner of the programs in Workflows; nil: creating such a Workflow is an
	// error.
	Runner simulate.Runner
	// Parallel is the number of tests to run in parallel. Default: 1.
	Parallel int
	// Update records the actual results as new content of golden files.
	Update bool
	// Now is the clock for durations; nil: durations are 0.
	Now func() time.Time
	// Done is called for each test, in order; nil: not called.
	Done func(Result)
	// Progress is called with the progress of running tests, from any goroutine;
	// nil: not called.
	Progress func(t *definition.Test, what string)
	// Requests is called with each request to the API server in memory, in the goroutine of
	// the test; nil: not called.
	Requests func(t *definition.Test, call cluster.Call)
	// Trace keeps the traces of all steps in the results of Run, about a megabyte
	// for each test. Done gets them in any case.
	Trace bool
}

// State is the result of a test or a step.
type State string

// The states.
const (
	Passed  State = "passed"
	Failed  State = "failed"
	Skipped State = "skipped" // after a failed step
)

// Result is the result of a test.
type Result struct {
	Test     *definition.Test
	Steps    []Step
	Duration time.Duration
	// Goldens are golden files with new content; only with Update.
	Goldens []Golden
	// Operators under test, for Done.
	Operators argoperator.Result
}

// Golden is a golden file.
type Golden struct {
	File string // next to the test
	Data []byte
}

// Step is the result of a step.
type Step struct {
	Name     string
	State    State
	Findings diag.List
	Trace    simulate.Trace // for Done, and with Options.Trace
	Duration time.Duration
}

// State returns the state of the test.
func (r Result) State() State {
	if slices.ContainsFunc(r.Steps, func(s Step) bool { return s.State == Failed }) {
		return Failed
	}
	return Passed
}

// Findings returns the findings of all steps.
func (r Result) Findings() diag.List {
	var out diag.List
	for _, s := range r.Steps {
		out = append(out, s.Findings...)
	}
	return out
}

// job is a test with its operators.
type job struct {
	test      *definition.Test
	operators func() ([]argoperator.Operator, error)
	prepared  *simulate.Prepared
}

// jobs returns the jobs of suites. Tests of the same operators share these and
// their prepared simulation.
func jobs(suites []Suite) []job {
	var out []job
	for _, suite := range suites {
		operators := func() ([]argoperator.Operator, error) { return suite.Operators, nil }
		if suite.Make != nil {
			operators = sync.OnceValues(suite.Make)
		}
		prepared := map[string]*simulate.Prepared{}
		for _, t := range suite.Tests {
			name := t.Spec.Operator
			if prepared[name] == nil {
				prepared[name] = simulate.NewPrepared()
			}
			out = append(out, job{test: t, operators: operators, prepared: prepared[name]})
		}
	}
	return out
}

// selected returns the operator of that name; without a name all of them.
func selected(operators []argoperator.Operator, name string) argoperator.Result {
	var out argoperator.Result
	for _, o := range operators {
		if name == "" || o.Name == name {
			out.Operators = append(out.Operators, o)
		}
	}
	return out
}

// Run runs all tests and returns their results in order. After an error it returns
// the results of the earlier tests.
func Run(ctx context.Context, suites []Suite, o Options) ([]Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := jobs(suites)
	done := make([]chan outcome, len(all))
	for i := range all {
		done[i] = make(chan outcome, 1)
	}
	free := make(chan struct{}, max(1, o.Parallel))
	var group sync.WaitGroup
	defer group.Wait()
	group.Add(1)
	go func() {
		defer group.Done()
		for i, j := range all {
			all[i] = job{} // release shared data after the last test
			free <- struct{}{}
			group.Add(1)
			go func() {
				defer group.Done()
				result, err := j.run(ctx, o)
				done[i] <- outcome{result, err}
				<-free
			}()
		}
	}()
	return gather(done, o, cancel)
}

type outcome struct {
	result Result
	err    error
}

// gather waits for the tests in order.
func gather(done []chan outcome, o Options, cancel func()) ([]Result, error) {
	var out []Result
	for _, one := range done {
		got := <-one
		if got.err != nil {
			cancel()
			return out, got.err
		}
		if o.Done != nil {
			o.Done(got.result)
		}
		got.result.Operators = argoperator.Result{} // so that memory use does not grow with the number of suites
		if !o.Trace {
			for i := range got.result.Steps {
				got.result.Steps[i].Trace = nil
			}
		}
		out = append(out, got.result)
	}
	return out, nil
}

func (j job) run(ctx context.Context, o Options) (out Result, err error) {
	out = Result{Test: j.test}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	since := stopwatch(o.Now)
	p, wrong, err := newTestRun(ctx, j, o)
	if p != nil {
		defer func() { err = errors.Join(err, p.s.Close()) }()
	}
	if err != nil {
		return out, fmt.Errorf("test %s: %w", j.test.Metadata.Name, err)
	}
	out.Operators = p.tested
	failed := wrong.HasErrors()
	for i, s := range j.test.Spec.Steps {
		step := Step{Name: s.Name, State: Skipped, Findings: wrong}
		if failed {
			if len(wrong) > 0 { // report errors of the setup with the first step
				step.State, wrong = Failed, nil
			}
			out.Steps = append(out.Steps, step)
			continue
		}
		p.position = fmt.Sprintf("step %d of %d, %s", i+1, len(j.test.Spec.Steps), s.Name)
		p.report("")
		if step, err = p.runStep(i); err != nil {
			return out, fmt.Errorf("test %s, step %s: %w", j.test.Metadata.Name, s.Name, err)
		}
		failed = step.State == Failed
		out.Steps = append(out.Steps, step)
	}
	out.Goldens, out.Duration = p.goldens, since()
	return out, nil
}

// stopwatch returns a function that returns the elapsed time.
func stopwatch(now func() time.Time) func() time.Duration {
	if now == nil {
		return func() time.Duration { return 0 }
	}
	start := now()
	return func() time.Duration { return now().Sub(start) }
}
