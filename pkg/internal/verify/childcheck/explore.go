package childcheck

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

const (
	// maxTries limits the samples that one template is rendered for.
	maxTries = 512
	// maxBases limits the samples of which every field that the template reads is changed.
	maxBases = 24
)

// exploration is the state of the search for samples that reach every part of a child's
// expressions.
type exploration struct {
	decide []*expression.Program                      // the programs of the child, and of the children that it reads
	reads  [][]string                                 // the fields that they read
	traced map[*expression.Program]*expression.Traced // the programs that have branches
	tried  map[string]bool                            // whether a sample has the child, by the values of reads
	probed map[string]bool                            // the values of reads of the probes that reached nothing new
	having []customResource                           // those of the tried samples that have the child
	fresh  bool                                       // a branch was reached for the first time
	likely bool                                       // a plausible sample has the child
}

// outcome is what a sample did.
type outcome struct {
	wanted bool // it has the child
	fresh  bool // it reached a part of the expressions for the first time
	stop   bool // further samples are pointless: this is an error already, and each would take as long
}

// tryAll tries the template on the plausible samples, on samples with one change after the
// other to them, and on the unlikely ones.
func (t *run) tryAll() {
	s := t.samples
	t.prepare()
	if s.schema == nil {
		tried := []customResource{s.bare()}
		if existing := t.d.Operator.Spec.API.Existing; existing != nil {
			tried = s.bares(existing, t.reads)
		}
		for _, cr := range tried {
			t.likely = t.try(cr, false).wanted || t.likely
		}
		return
	}
	for i, from := range s.plausible {
		last := i == len(s.plausible)-1
		if !last && t.values(from) == t.values(s.full()) { // and full has more to change
			continue
		}
		base, has, stop := t.explore(from)
		if stop {
			return
		}
		t.likely = t.likely || has
		if last && has && base.id != from.id && t.tryEdges(base) {
			return
		}
	}
	if !t.likely {
		if base, has := t.anyWithChild(); has {
			if _, _, stop := t.explore(base); stop {
				return
			}
		}
	}
	for _, cr := range s.unlikely {
		if t.try(cr, false).stop {
			return
		}
	}
	t.tryKeys(s.full())
}

// prepare collects what decides about the child.
func (t *run) prepare() {
	t.exploration = exploration{traced: map[*expression.Program]*expression.Traced{}, tried: map[string]bool{}, probed: map[string]bool{}}
	for _, p := range t.programs() {
		if traced := p.Traced(); traced != nil {
			t.traced[p] = traced
		}
	}
	t.decide = append(t.programs(), t.programsRead()...)
	for _, p := range t.decide {
		t.reads = append(t.reads, p.Reads()...)
	}
	slices.SortFunc(t.reads, slices.Compare)
	t.reads = slices.CompactFunc(t.reads, slices.Equal)
}

// programsRead returns the programs of the children that the child reads.
func (t *run) programsRead() []*expression.Program {
	var out []*expression.Program
	for _, c := range t.p.Children {
		if slices.ContainsFunc(t.programs(), func(p *expression.Program) bool { return p.ReadsChildren()[c.Name] != nil }) {
			out = append(out, programsOf(c)...)
		}
	}
	return out
}

// explore tries a sample and, one change after the other, samples that differ from it in
// a field that the expressions read. It goes on from each that reaches a part of the
// expressions for the first time. It returns the first sample that has the child.
func (t *run) explore(from customResource) (base customResource, has, stop bool) {
	for _, traced := range t.traced {
		traced.Forget()
	}
	queue := []customResource{from}
	try := func(cr customResource, probe bool) bool {
		result := t.try(cr, probe)
		first := result.wanted && !has
		if first {
			base, has = cr, true
		}
		if cr.id != from.id && (first || result.fresh) && len(queue) < maxBases {
			queue = append(queue, cr)
		}
		return result.stop
	}
	if try(from, false) {
		return base, has, true
	}
	for i := 0; i < len(queue); i++ {
		if t.tryAround(queue[i], has, try) {
			return base, has, true
		}
		if i == len(queue)-1 && !has {
			if cr, found := t.withChild(from); found && try(cr, false) {
				return base, has, true
			}
		}
	}
	return base, has, false
}

// tryAround tries the samples that differ from one in a single field.
func (t *run) tryAround(from customResource, has bool, try func(cr customResource, probe bool) (stop bool)) bool {
	s, full := t.samples, t.samples.full()
	for _, cr := range s.conditionSteps(t, from) {
		if try(cr, false) {
			return true
		}
	}
	if !has {
		return false
	}
	for _, cr := range s.steps(s.sensible, from, full, t.decide...) {
		if try(cr, false) {
			return true
		}
	}
	if t.traced[t.child.Object] == nil {
		return false
	}
	for _, cr := range s.steps(s.schema, from, full, t.child.Object) { // also with words in place of the defaults of texts
		if try(cr, true) {
			return true
		}
	}
	return false
}

// tryEdges tries the edges of a sample.
func (t *run) tryEdges(base customResource) (stop bool) {
	for _, edge := range t.samples.sensible.EdgesOf(base.written) {
		if t.try(t.samples.served(edge.Object), false).stop {
			return true
		}
	}
	return false
}

// anyWithChild returns an unlikely sample that has the child, with as few fields as
// possible.
func (t *run) anyWithChild() (customResource, bool) {
	for _, cr := range t.samples.unlikely {
		if t.has(cr) {
			least := t.samples.schema.Shrink(cr.written, func(object map[string]any) bool { return t.has(t.samples.served(object)) })
			return t.samples.served(least), true
		}
	}
	return customResource{}, false
}

// has reports whether a sample has the child.
func (t *run) has(cr customResource) bool {
	return slices.ContainsFunc(t.environments(cr), func(env environment) bool { return t.wanted(cr, env) })
}

// try renders and validates the child for one sample, unless a sample with the same values
// of the fields that it reads was tried before. A probe counts only if it reaches a part
// of the expressions for the first time.
func (t *run) try(cr customResource, probe bool) (result outcome) {
	id := t.values(cr)
	if wanted, known := t.tried[id]; known || probe && t.probed[id] || len(t.tried) >= maxTries {
		return outcome{wanted: wanted}
	}
	t.fresh = false
	environments := t.environments(cr)
	renderings := make([]rendering, len(environments))
	for i, env := range environments {
		renderings[i] = t.render(cr, env)
		result.wanted = result.wanted || renderings[i].wanted
	}
	result.fresh = t.fresh
	if probe && !result.fresh {
		t.probed[id] = true
		return outcome{}
	}
	if t.tried[id] = result.wanted; result.wanted {
		t.having = append(t.having, cr)
	}
	for i, env := range environments {
		if renderings[i].wanted {
			t.count++
		}
		if t.record(cr, env, t.problemsIn(renderings[i])) {
			result.stop = true
			return result
		}
	}
	return result
}

// record adds the problems of a sample to their groups. It returns true if one exceeds a
// limit.
func (t *run) record(cr customResource, env environment, problems []childProblem) (exceeds bool) {
	var counted []*group
	cut := 0
	if slices.ContainsFunc(problems, func(p childProblem) bool { return p.Final }) {
		cut = 1
	}
	t.cut += cut
	for _, problem := range problems {
		i := slices.IndexFunc(t.groups, func(g *group) bool { return g.problem.similar(problem) })
		if i < 0 {
			t.groups = append(t.groups, &group{problem: problem, cr: cr, env: env})
			i = len(t.groups) - 1
		}
		if g := t.groups[i]; !slices.Contains(counted, g) {
			g.count++
			g.cut += cut
			counted = append(counted, g)
		}
		if problem.exceedsLimit {
			return true
		}
	}
	return false
}

// values returns the values of the fields that the child's expressions read, as text.
func (t *run) values(cr customResource) string {
	var out strings.Builder
	for _, path := range t.reads {
		data, err := json.Marshal(schema.ValueAt(cr.served, path...))
		if err != nil {
			return cr.id
		}
		out.Write(data)
		out.WriteByte('\n')
	}
	return out.String()
}

// evaluate runs one of the child's programs.
func (t *run) evaluate(p *expression.Program, cr customResource, vars expression.Vars) (any, error) {
	traced := t.traced[p]
	if traced == nil {
		return p.Run(cr.served, vars)
	}
	value, fresh, err := traced.Run(cr.served, vars)
	t.fresh = t.fresh || fresh
	return value, err
}
