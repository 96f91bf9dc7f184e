package differential

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// The kinds of differences.
const (
	FalseError   = "false-error"   // lint reports an error, but a custom resource works
	Failure      = "failure"       // lint reports nothing, but a custom resource fails
	Engines      = "engines"       // the engines disagree
	Model        = "model"         // the cluster is not as the expressions say
	NotConverged = "not-converged" // a second pass writes
	LeftBehind   = "left-behind"   // something stays after the deletion
	Forbidden    = "forbidden"     // the operator has no right to do what it does
	Crash        = "crash"         // argoperator fails
)

// Difference is a defect that a case shows.
type Difference struct {
	Kind   string
	Engine plan.Engine
	Step   string // of the life
	Detail string
}

func (d *Difference) String() string {
	return fmt.Sprintf("%s, engine %s, %s:\n%s", d.Kind, d.Engine, d.Step, d.Detail)
}

// Verdict is the result of a case.
type Verdict struct {
	Difference *Difference // nil: none
	Refused    []string    // the codes of the errors of a definition that cannot be built
	Findings   diag.List   // of lint
	Engines    []plan.Engine
	Steps      int // played
}

// engines are those that are compared.
var engines = [...]plan.Engine{plan.Direct, plan.Workflow, plan.Worker}

// Play plays a case and returns the first difference.
func Play(c *Case, runner simulate.Runner) (verdict Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			verdict.Difference = &Difference{Crash, "", "panic", fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	result, err := argoperator.Generate([]argoperator.Source{c.Source("")}, argoperator.Options{})
	if err != nil {
		return Verdict{Difference: &Difference{Crash, "", "generate", err.Error()}}, nil
	}
	j := &player{c: c, runner: runner, claims: isSilent(result.Findings) && !c.trusting && at(c.spec, "reconcile", "forceConflicts") == nil}
	j.verdict.Findings = result.Findings
	var operators []operator
	for _, engine := range engines {
		o, findings := c.planned(engine)
		if findings.HasErrors() {
			j.refuse(findings)
			continue
		}
		operators = append(operators, o)
		j.verdict.Engines = append(j.verdict.Engines, engine)
	}
	if len(operators) == 0 {
		return j.verdict, nil
	}
	j.verdict.Refused = nil
	if result.Findings.HasErrors() {
		return j.verdict, j.falseError(operators, result.Findings.Only(diag.Error))
	}
	return j.verdict, j.life(operators)
}

// aside are the codes of warnings about what the API server in memory does not enforce.
var aside = []string{diag.PrivilegeEscalation, diag.UnrestrictedTarget, diag.NoAdmissionPolicy, diag.Unsupported, diag.SecretExposed}

// isSilent reports whether lint reports nothing about what the API server in memory enforces.
func isSilent(findings diag.List) bool {
	return !slices.ContainsFunc(findings, func(f diag.Finding) bool { return !slices.Contains(aside, f.Code) })
}

// player plays one case.
type player struct {
	c       *Case
	runner  simulate.Runner
	claims  bool // lint reports nothing: every custom resource has to work
	worlds  []*world
	verdict Verdict
}

func (j *player) refuse(findings diag.List) {
	for _, f := range findings {
		if f.Severity == diag.Error && !slices.Contains(j.verdict.Refused, f.Code) {
			j.verdict.Refused = append(j.verdict.Refused, f.Code)
		}
	}
}

// report keeps the first difference.
func (j *player) report(kind string, w *world, step, detail string) {
	if j.verdict.Difference == nil {
		j.verdict.Difference = &Difference{Kind: kind, Step: step, Detail: detail}
		if w != nil {
			j.verdict.Difference.Engine = w.engine
		}
	}
}

// notSimulated are errors about what the API server in memory does not enforce.
var notSimulated = []string{diag.PrivilegeEscalation, diag.UnrestrictedTarget, diag.StatusNotWritten, diag.SecretExposed}

// falseError plays custom resources on an operator that lint rejects: none may work.
func (j *player) falseError(operators []operator, wrong diag.List) (err error) {
	defer func() { err = errors.Join(err, j.close()) }()
	codes := []string{}
	for _, f := range wrong {
		if slices.Contains(notSimulated, f.Code) {
			return nil
		}
		codes = append(codes, f.Code+": "+f.Message)
	}
	for _, n := range []string{"cr.0", "cr.1", "cr.2"} {
		cr, err := j.c.customResource(n, first)
		if err != nil {
			return err
		}
		w, err := operators[0].begin(j.c, j.runner)
		if err != nil {
			return err
		}
		j.worlds = append(j.worlds, w)
		if err := w.create(cr); err != nil {
			continue // the API server rejects it
		}
		if err := errors.Join(w.settle(), w.ready()); err != nil || len(w.failures()) > 0 {
			continue
		}
		m, err := newModel(w)
		if err != nil {
			return err
		}
		if len(m.differences()) == 0 && m.complete() && w.isReady() {
			j.report(FalseError, w, "create", fmt.Sprintf("lint reports an error for every custom resource:\n%s\nbut this one works:\n%s",
				strings.Join(codes, "\n"), text(cr)))
			return nil
		}
	}
	return nil
}

// complete reports whether every child can be computed, and at least one object is there.
func (m *model) complete() bool {
	made := 0
	for _, c := range m.w.plan.Children {
		for index, item := range m.items(c) {
			if _, err := m.run(c.Object, item, index); err != nil {
				return false
			}
			made++
		}
	}
	return made > 0 && len(m.w.own()) > 0
}

// isReady reports whether the condition Ready is True, or there is none.
func (w *world) isReady() bool {
	cr, err := w.Get(w.cr)
	if err != nil || cr == nil {
		return false
	}
	reason, _ := simulate.NotReady(cr)
	return reason == ""
}

// showsReady reports whether there is a condition Ready, which shows failures.
func (w *world) showsReady() bool {
	cr, err := w.Get(w.cr)
	conditions, _ := at(cr, "status", "conditions").([]any)
	return err == nil && slices.ContainsFunc(conditions, func(c any) bool { return at(c, "type") == "Ready" })
}

// life plays the life of a custom resource on all engines.
func (j *player) life(operators []operator) (err error) {
	defer func() { err = errors.Join(err, j.close()) }()
	for _, o := range operators {
		w, err := o.begin(j.c, j.runner)
		if err != nil {
			return j.failed(&world{engine: o.plan.Reconcile.Engine}, "before the custom resource exists", err)
		}
		j.worlds = append(j.worlds, w)
	}
	if j.c.hasSecond() {
		cr, err := j.c.customResource("second", second)
		if err != nil {
			return err
		}
		for _, w := range j.worlds {
			if err := errors.Join(w.Apply(cr), w.settle()); err != nil {
				return j.failed(w, "create the second", err)
			}
			w.failures()
		}
	}
	cr, err := j.c.customResource("cr.0", first)
	if err != nil {
		return err
	}
	if err := j.begin(cr); err != nil || j.done() {
		return err
	}
	for i, w := range j.worlds {
		if err := j.rendered(operators[i], w, cr); err != nil || j.done() {
			return err
		}
	}
	for i := range lifeSteps {
		if err := j.move(fmt.Sprintf("life.%d", i)); err != nil || j.done() {
			return err
		}
	}
	if err := j.settled("the end"); err != nil || j.done() {
		return err
	}
	if j.c.rarely("delete.paused", 4) {
		if err := j.deletedWhilePaused(); err != nil || j.done() {
			return err
		}
	}
	return j.deletion()
}

// begin creates the custom resource. One that is paused has no children before it is resumed.
func (j *player) begin(cr map[string]any) error {
	if !j.c.rarely("create.paused", 6) {
		return j.step("create", normal, func(w *world) error { return w.create(cr) })
	}
	if err := j.step("create paused", normal, func(w *world) error { return w.create(paused(cr, "true")) }); err != nil || j.done() {
		return err
	}
	for _, w := range j.worlds {
		if own := w.own(); len(own) > 0 {
			j.report(Written, w, "create paused", "it has made "+placeOf(own[0]))
			return nil
		}
	}
	return j.step("resume", normal, func(w *world) error { return w.edit(cr) })
}

// close ends the workers of all worlds.
func (j *player) close() error {
	var errs []error
	for _, w := range j.worlds {
		errs = append(errs, w.Close())
	}
	return errors.Join(errs...)
}

// hasSecond reports whether there is another custom resource before the one that lives. None
// refers to others that it does not watch.
func (c *Case) hasSecond() bool {
	return c.rarely("second", 4) && c.spec["patches"] == nil && !c.unwatched
}

// lifeSteps is the number of moves between the creation and the deletion.
const lifeSteps = 5

func (j *player) done() bool { return j.verdict.Difference != nil }

// failed reports an error of a world as a difference.
func (j *player) failed(w *world, step string, err error) error {
	kind := Crash
	if notConverged := (*simulate.NotConvergedError)(nil); errors.As(err, &notConverged) {
		kind = NotConverged
	}
	j.report(kind, w, step, err.Error())
	return nil
}

// mode is how the events of a step arrive.
type mode int

const (
	normal mode = iota
	twice
	late
	lost
	shuffled
	refused
	modes
)

// modeNames are the modes in messages.
var modeNames = []string{"", ", events twice", ", events late", ", events lost", ", events shuffled", ", writes refused"}

// step does the same in all worlds, runs the operators, and compares.
func (j *player) step(name string, how mode, act func(*world) error) error {
	if err := j.play(name, how, act); err != nil || j.done() {
		return err
	}
	j.compare(name + modeNames[how])
	return nil
}

// play does the same in all worlds, and runs the operators.
func (j *player) play(name string, how mode, act func(*world) error) error {
	j.verdict.Steps++
	name += modeNames[how]
	for _, w := range j.worlds {
		before := len(w.Trace())
		w.late = w.late || how == late || how == lost
		if how == refused {
			w.refuse(1+j.c.pick("refused.times", 3), oneOf(j.c.drawing, "refused.code", 500, 403, 409, 422, 429, 503))
		}
		if err := act(w); err != nil {
			return j.failed(w, name, err)
		}
		if err := j.deliver(w, how, before); err != nil {
			return j.failed(w, name, err)
		}
		failures := w.failures()
		w.failed = w.failed || len(failures) > 0 && (how == normal || !w.showsReady())
		if how == normal && j.claims && len(failures) > 0 {
			j.report(Failure, w, name, strings.Join(failures, "\n"))
			return nil
		}
		if how == normal || len(failures) == 0 {
			if change, err := w.rewritten(); err != nil {
				return j.failed(w, name, err)
			} else if change != "" {
				j.report(NotConverged, w, name, "every object is delivered once more, and then changes:\n"+change)
				return nil
			}
			w.failures()
		}
	}
	return nil
}

// deliver runs the operator, with the events of the pending changes as the mode says.
func (j *player) deliver(w *world, how mode, before int) error {
	switch how {
	case lost:
		w.Cluster().TakeChanges()
		return w.resync()
	case shuffled:
		events := w.events()
		r := rand.New(rand.NewPCG(j.c.seed, 1))
		r.Shuffle(len(events), func(a, b int) { events[a], events[b] = events[b], events[a] })
		return errors.Join(w.publish(events), w.resync())
	}
	if err := w.settle(); err != nil {
		return err
	}
	switch how {
	case twice:
		return w.publish(w.published(before))
	case late:
		events := w.published(0)
		if n := len(events); n > 12 {
			events = append(events[:4:4], events[n-8:]...)
		}
		return errors.Join(w.publish(events), w.resync())
	case refused:
		w.Intercept(nil)
		return w.resync()
	}
	return nil
}

// compare compares the engines.
func (j *player) compare(step string) {
	for _, w := range j.worlds {
		if len(w.forbidden) > 0 {
			j.report(Forbidden, w, step, strings.Join(w.forbidden, "\n"))
			return
		}
		if why := w.tooEarly(); why != "" {
			j.report(Model, w, step, why)
			return
		}
	}
	unsettled := map[string]bool{}
	for _, w := range j.worlds {
		for _, name := range w.unsettled() {
			unsettled[name] = true
		}
	}
	var essences []map[string]any
	for _, w := range j.worlds {
		essence := maps.Clone(w.snapshot().essence)
		for _, o := range w.own() {
			if unsettled[textAt(o, "metadata", "labels", "argoperator.dev/child")] {
				delete(essence, placeOf(o))
			}
		}
		if w.late && len(unsettled) > 0 && !w.isReady() {
			place := placeOf(w.cr)
			essence[place] = withoutStatus(essence[place])
		}
		essences = append(essences, essence)
	}
	for i, w := range j.worlds[1:] {
		if diff := difference(essences[0], essences[i+1]); diff != "" {
			j.report(Engines, nil, step, fmt.Sprintf("-%s +%s\n%s", j.worlds[0].engine, w.engine, diff))
			return
		}
	}
}

// withoutStatus returns a custom resource with no status but its conditions. An old event of an
// object that was deleted may show it again, and while its template is rejected, no write corrects
// what the status reads of it.
func withoutStatus(essence any) any {
	cr, ok := essence.(map[string]any)
	if !ok {
		return essence
	}
	cr = maps.Clone(cr)
	cr["status"] = map[string]any{"conditions": at(cr, "status", "conditions")}
	return cr
}

// unsettled returns the names of children that wait for others: an engine may have changed one before
// it had to wait. A late event may have made a child an earlier one again that cannot be made the latest.
// The operator may have made one before it saw that its dependency changes, or is gone.
func (w *world) unsettled() []string {
	m, err := newModel(w)
	if err != nil || m == nil {
		return nil
	}
	var out []string
	for _, c := range w.plan.Children {
		if m.waits(c) || m.changing(c.DependsOn) || w.late && !w.isReady() && len(m.childDifferences(c)) > 0 {
			out = append(out, c.Name)
		}
	}
	return out
}

// difference returns the entries that differ between two mappings; empty: none.
func difference(a, b map[string]any) string {
	var out strings.Builder
	keys := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, both := a[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if diff := cmp.Diff(a[key], b[key]); diff != "" {
			fmt.Fprintf(&out, "%s:\n%s", key, diff)
		}
	}
	return out.String()
}

// settled makes all children ready and compares with the expressions.
func (j *player) settled(step string) error {
	for _, w := range j.worlds {
		if err := w.ready(); err != nil {
			return j.failed(w, step, err)
		}
		w.wasReady = true
		failures := w.failures()
		w.failed = w.failed || len(failures) > 0 && !w.showsReady()
		if j.claims && len(failures) > 0 {
			j.report(Failure, w, step, strings.Join(failures, "\n"))
			return nil
		}
		m, err := newModel(w)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if found := m.differences(); len(found) > 0 && w.isReady() && !w.failed {
			j.report(Model, w, step, strings.Join(found, "\n"))
			return nil
		}
		if j.claims && !w.isReady() && !m.lacksRelated() {
			cr, err := w.Get(w.cr)
			reason, message := simulate.NotReady(cr)
			j.report(Failure, w, step, fmt.Sprintf("Ready is False: %s: %s", reason, message))
			return err
		}
	}
	j.compare(step + ", all children ready")
	return nil
}

// deletion deletes the custom resource: nothing may stay.
func (j *player) deletion() error {
	for _, w := range j.worlds {
		before, err := w.Get(w.cr)
		if err != nil {
			return j.failed(w, "delete", err)
		}
		if err := w.Delete(w.cr); err != nil && !isNotFound(err) { // it was deleted while it was paused
			return j.failed(w, "delete", err)
		}
		if err := errors.Join(w.settle(), w.resync()); err != nil {
			return j.failed(w, "delete", err)
		}
		if there, err := w.Get(w.cr); err != nil || there != nil {
			j.report(LeftBehind, w, "delete", "the custom resource stays:\n"+string(text(there)))
			return err
		}
		for _, o := range w.own() {
			name := textAt(o, "metadata", "labels", "argoperator.dev/child")
			i := slices.IndexFunc(w.plan.Children, func(c plan.Child) bool { return c.Name == name })
			if i < 0 || !outlives(w.plan.Children[i], before) {
				j.report(LeftBehind, w, "delete", placeOf(o)+" stays:\n"+string(text(o)))
				return nil
			}
		}
	}
	j.compare("delete")
	return nil
}

// outlives reports whether the objects of a child stay when their custom resource is deleted. One
// that was deleted while it was paused is not known any more.
func outlives(c plan.Child, cr map[string]any) bool {
	if c.Policy == nil || cr == nil {
		return c.Orphan
	}
	policy, err := c.Policy.Run(cr, expression.Vars{})
	return err == nil && policy == "Orphan"
}
