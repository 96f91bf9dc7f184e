package expression

import (
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// result describes what an expression yields: the values, and how many.
type result struct {
	value
	min, max int // 0, 1 or 2, where 2 stands for several
}

func one(v value) result { return result{v, 1, 1} }

// then returns the result of a step that runs for each value of the previous one.
func (r result) then(next result) result {
	next.min *= r.min
	next.max = min(2, next.max*r.max)
	if next.max == 0 {
		next.kinds = 0
	}
	return next
}

// either returns the result of an expression that yields one result or the other.
func either(a, b result) result {
	return result{join(a.value, b.value), min(a.min, b.min), max(a.max, b.max)}
}

// analyser walks one expression: it infers types, collects the paths that are read and
// reports expressions that cannot work. It reports only what is certain.
type analyser struct {
	scope        Scope
	text         string
	spans        jq.Spans
	problems     []Problem
	reads        reads
	tests        [][2]int      // from where to where the reads only decide between values
	lost         [][2]int      // from where to where the values are not in the result
	digested     [][2]int      // and of which of these it has a fingerprint
	keyed        [][2]int      // from where to where it has the keys of the values
	guards       []read        // paths that were tested, so they are not missing from here on
	pending      []*gojq.Query // the right operands of the `and` whose left one is walked
	calls        []*function   // the functions that are being expanded
	steps        int
	lenient      int // > 0 inside ? or try, where errors are caught
	branches     int // > 0 inside parts that may not be evaluated
	defaulted    int // > 0 left of //, where errors are caught, too; wrong types are reported there nevertheless
	needs        reads
	waits        []Need // those of variables
	variables    []*Variable
	dashes       []dash
	chosen       map[*gojq.Index]string // those that are the name of an object, and jq that finds it
	pathsOnly    int                    // > 0 inside parts that are walked only for the paths they read
	usesChildren bool                   // $children occurs, so the program needs the variable
	aborted      bool                   // the walk was aborted: everything may be read
}

// maxSteps is the number of steps after which the walk is aborted. Functions that call
// each other can double the number with each of them.
const maxSteps = 20000

// analyse infers what an expression yields.
func (c *templates) analyse(e *expr) {
	a := c.analyser(e.query, e.text)
	if len(e.query.Imports) > 0 || e.query.Meta != nil {
		a.fail(e.query, BadExpression, "an expression cannot import modules", "define the function in the expression: def name: …;")
	}
	if c.condition {
		a.assigned(e.query)
	}
	e.spans = a.spans
	e.result = a.query(e.query, c.input(), nil)
	if choose(e.query, a.chosen) {
		e.source, e.defines = withFunctions(e.query.String(), e.query)
	}
	if c.forPod {
		c.flows = append(c.flows, a.flow())
	}
	a.use(e.value)
	a.wholeVariables(e.query)
	if e.max > 1 && !failed(a.problems) {
		a.severalValues(e.query, e.kinds&^null == boolean)
	}
	if failed(a.problems) {
		e.value = unknown() // do not report errors that follow from this one
	}
	if a.aborted {
		e.value, e.min = unknown(), 0
		a.reads = append(a.reads, read{root: inputRoot})
	}
	e.carried = a.carriedReads()
	e.chosen = append(a.keyedReads(), e.carried...)
	c.shown = append(c.shown, a.shownReads()...)
	c.carried, c.chosen = append(c.carried, e.carried...), append(c.chosen, e.chosen...)
	a.wholeChildren()
	c.reads = append(c.reads, a.reads...)
	e.reads, e.variables = a.reads, a.variables
	c.variables = within(c.variables, a.variables...)
	c.need(e, a)
	for _, p := range a.problems {
		p.Path, p.Offset, p.FixAt, p.FixEnd = e.path, p.Offset+e.at, p.FixAt+e.at, p.FixEnd+e.at
		c.problem(p)
	}
}

// analyser returns one for a query, of which the text is known.
func (c *templates) analyser(q *gojq.Query, text string) *analyser {
	tokens, _, _ := jq.Lex(text)
	return &analyser{scope: c.scope, text: text, spans: jq.Positions(q, tokens), dashes: dashes(tokens), guards: slices.Clip(c.given)}
}

// severalValues reports an expression that yields more than one value.
func (a *analyser) severalValues(q *gojq.Query, conditions bool) {
	p := Problem{
		Code: BadExpression, Message: a.shown(q) + " yields several values", Hint: "write one value, or a list: [VALUE, VALUE]",
		Fix: "[" + a.text + "]", otherFixes: []string{"first(" + a.text + ")"},
	}
	if conditions {
		p.otherFixes = []string{"[" + a.text + "] | any"}
	}
	if q.Op == gojq.OpComma {
		left, right := a.source(q.Left), a.source(q.Right)
		p.otherFixes = []string{left + " and " + right}
		if strings.Contains(a.text, `"`) {
			p.otherFixes = append(p.otherFixes, left+" + "+right)
		}
	}
	a.report(q, p)
}

// input returns the type of ".".
func (c *templates) input() value {
	v := unknown()
	if c.scope.Input != nil {
		v = typed(c.scope.Input)
	}
	v.from = []read{{root: inputRoot}}
	return v
}

// wholeChildren expands $children to each of the children, even if the expression does
// not use the value, because the program needs the variable.
func (a *analyser) wholeChildren() {
	whole := func(r read) bool { return r.root == childrenRoot && (len(r.path) == 0 || isItem(r.path[0])) }
	all := slices.ContainsFunc(a.reads, whole) || (a.usesChildren && (a.aborted || !a.reads.has(childrenRoot)))
	a.reads = slices.DeleteFunc(a.reads, whole)
	for name := range a.scope.Children {
		if all {
			a.reads = append(a.reads, read{childrenRoot, []string{name}})
		}
	}
}

// use records that the expression uses a value instead of only passing it on.
func (a *analyser) use(v value) { a.reads = append(a.reads, v.from...) }

// look records that the expression reads whether there is a value. Any field of the
// objects of a child with forEach shows that.
func (a *analyser) look(v value) { a.lookUpTo(2, v) }

// count records that the expression reads how many elements a value has.
func (a *analyser) count(v value) { a.lookUpTo(1, v) }

func (a *analyser) lookUpTo(depth int, v value) {
	from := len(a.reads)
	defer func() { a.lost = append(a.lost, [2]int{from, len(a.reads)}) }()
	for _, r := range v.from {
		if len(r.path) <= depth && a.listed(r) {
			r = read{childrenRoot, []string{r.path[0], each, "kind"}}
		}
		a.reads = append(a.reads, r)
	}
}

// listed reports whether a path is the list of the objects of a child with forEach, or
// one of them.
func (a *analyser) listed(r read) bool {
	if r.root != childrenRoot || len(r.path) == 0 || len(r.path) > 2 || len(r.path) == 2 && !isItem(r.path[1]) {
		return false
	}
	return a.scope.lists(r.path[0])
}

// collected returns the array of the values of a filter. One of objects of a child with
// forEach is a part of their list, and used where its elements are.
func (a *analyser) collected(q *gojq.Query, item value) value {
	list := listOf(item)
	list.of = item.from
	if item.kinds&null != 0 && isPath(q) {
		list.items = item.from
	}
	for _, r := range item.from {
		if len(r.path) < 2 || !a.listed(r) {
			a.use(item)
			return list
		}
		list.from = append(list.from, read{childrenRoot, r.path[:1]})
	}
	return list
}

// env maps names to their meaning, innermost first.
type env struct {
	above *env
	name  string
	value *value    // of a variable
	call  *function // of a function
}

// function is a function that the expression defines, or an argument of one.
type function struct {
	args []string
	body *gojq.Query
	env  *env
}

func (e *env) variable(name string, v value) *env { return &env{above: e, name: name, value: &v} }

func (e *env) function(name string, f *function) *env { return &env{above: e, name: name, call: f} }

func (a *analyser) query(q *gojq.Query, in value, names *env) result {
	if a.steps++; a.steps > maxSteps {
		a.aborted = true
		return result{unknown(), 0, 1}
	}
	for _, def := range q.FuncDefs {
		f := &function{args: def.Args, body: def.Body}
		names = names.function(def.Name, f)
		f.env = names // it may be recursive
	}
	switch {
	case q.Term != nil:
		return a.term(q.Term, in, names)
	case q.Op == gojq.OpPipe && len(q.Patterns) > 0:
		return a.bind(q, in, names)
	case q.Op == gojq.OpPipe:
		from := len(a.reads)
		left := a.query(q.Left, in, names)
		if loses(q.Right, names) {
			a.lost = append(a.lost, [2]int{from, len(a.reads)})
		}
		if digests(q.Right, names) {
			a.digested = append(a.digested, [2]int{from, len(a.reads)})
		}
		return left.then(a.query(q.Right, left.value, names))
	case q.Op == gojq.OpComma:
		left, right := a.query(q.Left, in, names), a.query(q.Right, in, names)
		return result{join(left.value, right.value), min(2, left.min+right.min), min(2, left.max+right.max)}
	case q.Op == 0:
		a.fail(q, BadExpression, "the expression defines functions and yields no value", "write the value after the definitions")
		return one(unknown())
	}
	return a.operator(q, in, names)
}

// bind walks `left as $x | right`.
func (a *analyser) bind(q *gojq.Query, in value, names *env) result {
	left := a.query(q.Left, in, names)
	for _, p := range q.Patterns {
		names = a.pattern(p, left.value, in, names)
	}
	return left.then(a.query(q.Right, in, names))
}

// pattern binds the variables of a destructuring pattern.
func (a *analyser) pattern(p *gojq.Pattern, v, in value, names *env) *env {
	if p.Name != "" {
		return names.variable(p.Name, v)
	}
	for _, item := range p.Array {
		names = a.pattern(item, a.item(v), in, names)
	}
	for _, kv := range p.Object {
		a.use(v)
		if kv.KeyQuery != nil {
			a.use(a.query(kv.KeyQuery, in, names).value)
		}
		if len(kv.Key) > 0 && kv.Key[0] == '$' {
			names = names.variable(kv.Key, unknown())
		}
		if kv.Val != nil {
			names = a.pattern(kv.Val, unknown(), in, names)
		}
	}
	return names
}

// item returns an element of an array or a field value of an object, without checking
// the type.
func (a *analyser) item(v value) value {
	item := unknown()
	if v.shape != nil && v.kinds&^null == array {
		item = typed(v.shape.Item())
	}
	item.from = below(v.from, each)
	return item
}

func (a *analyser) term(t *gojq.Term, in value, names *env) result {
	suffixes := t.SuffixList
	optional := len(suffixes) > 0 && suffixes[0].Optional
	r := a.leniently(optional, func() result { return a.primary(t, in, names) })
	for i, s := range suffixes {
		if s.Optional {
			continue
		}
		optional = i+1 < len(suffixes) && suffixes[i+1].Optional
		base := r
		r = a.leniently(optional, func() result {
			if s.Iter {
				return base.then(a.iterate(base.value, s))
			}
			return base.then(a.index(base.value, s.Index, in, names))
		})
	}
	return r
}

// leniently walks the operand of ? or try, which may yield nothing.
func (a *analyser) leniently(optional bool, walk func() result) result {
	if !optional {
		return walk()
	}
	a.lenient++
	r := walk()
	a.lenient--
	a.use(r.value)
	r.min = 0
	return r
}

func (a *analyser) primary(t *gojq.Term, in value, names *env) result {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return one(a.sure(in))
	case gojq.TermTypeRecurse:
		a.use(in)
		return result{unknown(), 1, 2}
	case gojq.TermTypeNull:
		return one(some(null))
	case gojq.TermTypeTrue, gojq.TermTypeFalse:
		return one(some(boolean))
	case gojq.TermTypeIndex:
		return a.index(in, t.Index, in, names)
	case gojq.TermTypeFunc:
		return a.call(t.Func, in, names)
	case gojq.TermTypeObject:
		return a.object(t.Object, in, names)
	case gojq.TermTypeArray:
		return a.array(t.Array, in, names)
	case gojq.TermTypeNumber:
		return one(some(ofNumber(t.Number)))
	case gojq.TermTypeUnary:
		return a.unary(t.Unary, in, names)
	case gojq.TermTypeFormat:
		return a.format(t, in, names)
	case gojq.TermTypeString:
		return a.str(t.Str, in, names)
	case gojq.TermTypeQuery:
		return a.query(t.Query, in, names)
	}
	return a.statement(t, in, names)
}

func (a *analyser) statement(t *gojq.Term, in value, names *env) result {
	switch t.Type {
	case gojq.TermTypeIf:
		return a.conditional(t.If.Cond, t.If.Then, t.If.Elif, t.If.Else, in, names)
	case gojq.TermTypeTry:
		body := a.leniently(true, func() result { return a.query(t.Try.Body, in, names) })
		if t.Try.Catch == nil {
			return body
		}
		return either(body, a.query(t.Try.Catch, unknown(), names))
	case gojq.TermTypeReduce:
		r := t.Reduce
		start, update, _ := a.loop(r.Query, r.Pattern, r.Start, r.Update, in, names)
		return result{unknown(), min(start.min, update.min), start.max}
	case gojq.TermTypeForeach:
		f := t.Foreach
		start, update, names := a.loop(f.Query, f.Pattern, f.Start, f.Update, in, names)
		out := result{unknown(), 0, 2}
		if f.Extract != nil {
			a.use(a.query(f.Extract, unknown(), names).value)
		}
		out.max = min(2, 2*start.max*update.max)
		return out
	case gojq.TermTypeLabel:
		r := a.query(t.Label.Body, in, names)
		r.min = 0
		return r
	}
	return result{} // break
}

// loop walks reduce and foreach. The state of the loop is not tracked: it counts as
// used, and is unknown from then on.
func (a *analyser) loop(
	source *gojq.Query,
	p *gojq.Pattern,
	first, next *gojq.Query,
	in value,
	names *env,
) (start, update result, inside *env) {
	items := a.query(source, in, names)
	a.use(items.value)
	start = a.query(first, in, names)
	a.use(start.value)
	inside = a.pattern(p, items.value, in, names)
	update = a.query(next, unknown(), inside)
	a.use(update.value)
	return start, update, inside
}

func (a *analyser) conditional(cond, then *gojq.Query, elif []*gojq.IfElif, otherwise *gojq.Query, in value, names *env) result {
	before := len(a.guards)
	test := a.tested(cond, in, names)
	a.branches++
	yes := a.query(then, in, names)
	no := one(in) // jq: an absent else is the input
	switch {
	case len(elif) > 0:
		no = a.conditional(elif[0].Cond, elif[0].Then, elif[1:], otherwise, in, names)
	case otherwise != nil:
		no = a.query(otherwise, in, names)
	}
	a.branches--
	a.guards = a.guards[:before]
	return test.then(either(yes, no))
}

// tested walks a condition. The paths it reads are guarded from there on.
func (a *analyser) tested(cond *gojq.Query, in value, names *env) result {
	a.assigned(cond)
	from := len(a.reads)
	test := a.query(cond, in, names)
	a.use(test.value)
	a.tests = append(a.tests, [2]int{from, len(a.reads)})
	a.guards = append(a.guards, a.reads[from:]...)
	return test
}
