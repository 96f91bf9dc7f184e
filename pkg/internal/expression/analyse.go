package expression

import (
	"fmt"
	"slices"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// result is what an expression yields: the values, and how many of them.
type result struct {
	value
	min, max int // 0, 1 or 2, which is several
}

func one(v value) result { return result{v, 1, 1} }

// then is the result of a step that is taken for each value of the one before.
func (r result) then(next result) result {
	next.min *= r.min
	next.max = min(2, next.max*r.max)
	if next.max == 0 {
		next.kinds = 0
	}
	return next
}

// either is the one result or the other.
func either(a, b result) result {
	return result{join(a.value, b.value), min(a.min, b.min), max(a.max, b.max)}
}

// analyser walks one expression: it infers types, collects what is read and
// reports what cannot work. It never claims what it does not know.
type analyser struct {
	scope    Scope
	text     string
	spans    jq.Spans
	problems []Problem
	reads    reads
	guards   []read      // paths that were tested: they are not missing from here on
	calls    []*function // being entered
	steps    int
	lenient  int // inside ? or try: what fails is caught
	dashes   []dash
	unsaid   int  // inside what is walked only for what it reads
	mentions bool // $children is written: the program needs the variable
	lost     bool // the walk gave up: everything may be read
}

// enough is where the walk gives up: functions that call each other can double
// its length with each of them.
const enough = 20000

// analyse fills in what an expression yields.
func (c *templates) analyse(e *expr) {
	tokens, _, _ := jq.Lex(e.text)
	a := &analyser{scope: c.scope, text: e.text, spans: jq.Positions(e.query, tokens), dashes: dashes(tokens), guards: slices.Clip(c.given)}
	if len(e.query.Imports) > 0 || e.query.Meta != nil {
		a.fail(e.query, BadExpression, "expressions have no modules", "")
	}
	if c.condition {
		a.assigned(e.query)
	}
	e.spans = a.spans
	e.result = a.query(e.query, c.input(), nil)
	a.use(e.value)
	if e.max > 1 && !failed(a.problems) {
		a.fail(e.query, BadExpression, fmt.Sprintf("%s yields several values", a.shown(e.query)), fmt.Sprintf("collect them: [ %s ]", e.text))
	}
	if failed(a.problems) {
		e.value = unknown() // one thing at a time
	}
	if a.lost {
		e.value, e.min = unknown(), 0
		a.reads = append(a.reads, read{root: inputRoot})
	}
	a.wholeChildren()
	c.reads = append(c.reads, a.reads...)
	for _, p := range a.problems {
		p.Path, p.Offset = e.path, p.Offset+e.at
		c.problem(p)
	}
}

// input is what is known of ".".
func (c *templates) input() value {
	v := unknown()
	if c.scope.Input != nil {
		v = typed(c.scope.Input)
	}
	v.from = []read{{root: inputRoot}}
	return v
}

// wholeChildren writes out $children as each of them, also where it is only
// mentioned: the program needs the variable, whatever is made of it.
func (a *analyser) wholeChildren() {
	whole := func(r read) bool { return r.root == childrenRoot && (len(r.path) == 0 || isItem(r.path[0])) }
	all := slices.ContainsFunc(a.reads, whole) || (a.mentions && (a.lost || !a.reads.has(childrenRoot)))
	a.reads = slices.DeleteFunc(a.reads, whole)
	for name := range a.scope.Children {
		if all {
			a.reads = append(a.reads, read{childrenRoot, []string{name}})
		}
	}
}

// use notes that a value is looked at, and not only passed on.
func (a *analyser) use(v value) { a.reads = append(a.reads, v.from...) }

// env is what names mean, the last one first.
type env struct {
	above *env
	name  string
	value *value    // of a variable
	call  *function // of a function
}

// function is one that the expression defines, or an argument of one.
type function struct {
	args []string
	body *gojq.Query
	env  *env
}

func (e *env) variable(name string, v value) *env { return &env{above: e, name: name, value: &v} }

func (e *env) function(name string, f *function) *env { return &env{above: e, name: name, call: f} }

func (a *analyser) query(q *gojq.Query, in value, names *env) result {
	if a.steps++; a.steps > enough {
		a.lost = true
		return result{unknown(), 0, 1}
	}
	for _, def := range q.FuncDefs {
		f := &function{args: def.Args, body: def.Body}
		names = names.function(def.Name, f)
		f.env = names // it may call itself
	}
	switch {
	case q.Term != nil:
		return a.term(q.Term, in, names)
	case q.Op == gojq.OpPipe && len(q.Patterns) > 0:
		return a.bind(q, in, names)
	case q.Op == gojq.OpPipe:
		left := a.query(q.Left, in, names)
		return left.then(a.query(q.Right, left.value, names))
	case q.Op == gojq.OpComma:
		left, right := a.query(q.Left, in, names), a.query(q.Right, in, names)
		return result{join(left.value, right.value), min(2, left.min+right.min), min(2, left.max+right.max)}
	case q.Op == 0:
		a.fail(q, BadExpression, "there is nothing but definitions", "")
		return one(unknown())
	}
	return a.operator(q, in, names)
}

// bind is `left as $x | right`.
func (a *analyser) bind(q *gojq.Query, in value, names *env) result {
	left := a.query(q.Left, in, names)
	for _, p := range q.Patterns {
		names = a.pattern(p, left.value, in, names)
	}
	return left.then(a.query(q.Right, in, names))
}

// pattern gives names to the parts of a value.
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

// item is what an array or an object has in it, without a word about what it is.
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

// leniently walks what ? or try stands around: it may yield nothing.
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

// loop walks what reduce and foreach have in common. What goes round and round
// is not followed: it is used, and unknown from there on.
func (a *analyser) loop(source *gojq.Query, p *gojq.Pattern, first, next *gojq.Query, in value, names *env) (start, update result, inside *env) {
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
	yes := a.query(then, in, names)
	no := one(in) // jq: an absent else is the input
	switch {
	case len(elif) > 0:
		no = a.conditional(elif[0].Cond, elif[0].Then, elif[1:], otherwise, in, names)
	case otherwise != nil:
		no = a.query(otherwise, in, names)
	}
	a.guards = a.guards[:before]
	return test.then(either(yes, no))
}

// tested walks a condition: what it reads is guarded from here on.
func (a *analyser) tested(cond *gojq.Query, in value, names *env) result {
	a.assigned(cond)
	from := len(a.reads)
	test := a.query(cond, in, names)
	a.use(test.value)
	a.guards = append(a.guards, a.reads[from:]...)
	return test
}
