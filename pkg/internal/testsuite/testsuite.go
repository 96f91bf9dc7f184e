// Package testsuite runs tests of operators without a cluster: each is a life of
// one custom resource, played step by step through the emitted objects on a
// cluster in memory, with what is to come of every step.
//
// The rule of this package: it says what happened beside what was expected, in
// findings about the test's own file, and knows nothing of how an operator
// works. What did not come true is a finding; only the machine's failures are
// errors.
package testsuite

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/simulate"
)

// Suite is tests of operators that live in one cluster.
type Suite struct {
	Operators []argoperator.Operator
	// Make makes the operators when the first test starts that needs them; nil: they
	// are in Operators. Of many suites only those at work are in memory then.
	Make  func() ([]argoperator.Operator, error)
	Tests []*definition.Test
}

// Options of Run. The zero value runs one test after the other, and no program.
type Options struct {
	// Runner of the programs in Workflows; nil: none runs, and a Workflow is an error.
	Runner simulate.Runner
	// Parallel is how many tests run at a time. Default: 1.
	Parallel int
	// Update takes what comes out for what golden files should hold.
	Update bool
	// Now is the clock that durations are taken from; nil: they are 0.
	Now func() time.Time
	// Told hears of each test as soon as it and all before it are done; nil: nobody.
	Told func(Result)
	// Doing hears of what a test does that is not done yet, from any goroutine; nil: nobody.
	Doing func(t *definition.Test, what string)
	// Trace keeps the trace of every step in what Run returns, about a megabyte for
	// each test. Told hears it all the same.
	Trace bool
}

// State is what became of a test or a step.
type State string

// The states.
const (
	Passed  State = "passed"
	Failed  State = "failed"
	Skipped State = "skipped" // a step behind one that failed
)

// Result is what became of a test.
type Result struct {
	Test     *definition.Test
	Steps    []Step
	Duration time.Duration
	// Goldens are files that do not hold what came out, with what did; of Update only.
	Goldens []Golden
}

// Golden is a file that a step compares with.
type Golden struct {
	File string // beside the test
	Data []byte
}

// Step is what became of a step.
type Step struct {
	Name     string
	State    State
	Findings diag.List
	Trace    simulate.Trace // for Told, and with Options.Trace
	Duration time.Duration
}

// State of the test as a whole.
func (r Result) State() State {
	if slices.ContainsFunc(r.Steps, func(s Step) bool { return s.State == Failed }) {
		return Failed
	}
	return Passed
}

// Findings of all steps.
func (r Result) Findings() diag.List {
	var out diag.List
	for _, s := range r.Steps {
		out = append(out, s.Findings...)
	}
	return out
}

// job is a test with what it runs on.
type job struct {
	test      *definition.Test
	operators func() ([]argoperator.Operator, error)
	prepared  *simulate.Prepared
}

// jobs of suites. Tests of the same operators share them, and what they have
// prepared.
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

// chosen is the operator of that name; without a name all of them.
func chosen(operators []argoperator.Operator, name string) argoperator.Result {
	var out argoperator.Result
	for _, o := range operators {
		if name == "" || o.Name == name {
			out.Operators = append(out.Operators, o)
		}
	}
	return out
}

// Run runs all tests and returns what became of them, in their order. An error
// is a failure of the machine; the results are those of the tests before.
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
			all[i] = job{} // what tests share goes with the last of them
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

// gather waits for the tests in their order.
func gather(done []chan outcome, o Options, cancel func()) ([]Result, error) {
	var out []Result
	for _, one := range done {
		got := <-one
		if got.err != nil {
			cancel()
			return out, got.err
		}
		if o.Told != nil {
			o.Told(got.result)
		}
		if !o.Trace {
			for i := range got.result.Steps {
				got.result.Steps[i].Trace = nil
			}
		}
		out = append(out, got.result)
	}
	return out, nil
}

func (j job) run(ctx context.Context, o Options) (Result, error) {
	out := Result{Test: j.test}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	since := stopwatch(o.Now)
	p, wrong, err := newPlay(ctx, j, o)
	if err != nil {
		return out, fmt.Errorf("test %s: %w", j.test.Metadata.Name, err)
	}
	failed := wrong.HasErrors()
	for i, s := range j.test.Spec.Steps {
		step := Step{Name: s.Name, State: Skipped, Findings: wrong}
		if failed {
			if len(wrong) > 0 { // what went wrong before the first step is told with it
				step.State, wrong = Failed, nil
			}
			out.Steps = append(out.Steps, step)
			continue
		}
		p.at = fmt.Sprintf("step %d of %d, %s", i+1, len(j.test.Spec.Steps), s.Name)
		p.tell("")
		if step, err = p.play(i); err != nil {
			return out, fmt.Errorf("test %s, step %s: %w", j.test.Metadata.Name, s.Name, err)
		}
		failed = step.State == Failed
		out.Steps = append(out.Steps, step)
	}
	out.Goldens, out.Duration = p.goldens, since()
	return out, nil
}

// stopwatch returns what measures from now on.
func stopwatch(now func() time.Time) func() time.Duration {
	if now == nil {
		return func() time.Duration { return 0 }
	}
	start := now()
	return func() time.Duration { return now().Sub(start) }
}
