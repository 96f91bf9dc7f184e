package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/jq/jqhint"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// call is a function, an argument of one, or a variable.
func (a *analyser) call(f *gojq.Func, in value, names *env) result {
	if f.Name[0] == '$' {
		return a.variable(f, f.Name, names)
	}
	for e := names; e != nil; e = e.above {
		if e.call != nil && e.name == f.Name && len(e.call.args) == len(f.Args) {
			return a.enter(e.call, f.Args, in, names)
		}
	}
	if why, refused := impure[f.Name]; refused {
		a.fail(f, BadExpression, fmt.Sprintf("%s cannot be used: %s", f.Name, why), "")
		return one(unknown())
	}
	if losesAll(f, names) {
		from := len(a.reads)
		r := a.losing(func() result { return a.known(f, in, names) })
		switch f.Name {
		case "keys":
			a.keyed = append(a.keyed, [2]int{from, len(a.reads)})
		case fingerprint, jq.Hash:
			a.digested = append(a.digested, [2]int{from, len(a.reads)})
		}
		return r
	}
	return a.known(f, in, names)
}

// known walks a function of jq.
func (a *analyser) known(f *gojq.Func, in value, names *env) result {
	if special, ok := a.special(f, in, names); ok {
		return special
	}
	if b, ok := builtins()[fmt.Sprintf("%s/%d", f.Name, len(f.Args))]; ok {
		return a.builtin(f, b, in, names)
	}
	a.unknownFunction(f)
	return one(unknown())
}

// impure are the functions whose result does not only depend on the input, or that a
// Sensor does not have.
var impure = map[string]string{
	"now":               "its value changes without an event, so every event would look like a change",
	"localtime":         "it depends on where it runs",
	"strflocaltime":     "it depends on where it runs",
	"env":               "a Sensor passes no environment variables to expressions",
	"input":             "a Sensor has one input",
	"inputs":            "a Sensor has one input",
	"input_line_number": "a Sensor reads no lines",
	"input_filename":    "a Sensor reads no file",
	"debug":             "a Sensor has no standard error to write to",
	"stderr":            "a Sensor has no standard error to write to",
	"halt":              "it would stop the evaluation of the whole object",
	"halt_error":        "it would stop the evaluation of the whole object",
	"modulemeta":        "a Sensor has no modules",
	"get_search_list":   "a Sensor has no modules",
	"builtins":          "it depends on the version of the Sensor",
}

func (a *analyser) variable(node any, name string, names *env) result {
	for e := names; e != nil; e = e.above {
		if e.value != nil && e.name == name {
			return one(a.sure(*e.value))
		}
	}
	switch {
	case name == "$children" && a.scope.Children != nil:
		a.usesChildren = true
		return one(value{kinds: object, from: []read{{root: childrenRoot}}})
	case root(name).isNamed() && a.scope.named(root(name)) != nil:
		return one(value{kinds: object, from: []read{{root: root(name)}}})
	case name == "$related" && (a.scope.Related != nil || a.scope.OpenRelated):
		r := one(value{kinds: object, from: []read{{root: relatedRoot}}})
		a.look(r.value)
		return r
	case name == "$item" && a.scope.Each:
		r := one(unknown())
		if a.scope.Item != nil {
			r.value = typed(a.scope.Item)
		}
		r.from = []read{{root: itemRoot}}
		a.look(r.value)
		return r
	case name == "$index" && a.scope.Each:
		r := one(some(integer))
		a.use(value{from: []read{{root: indexRoot}}})
		return r
	}
	a.noVariable(node, name, names)
	return one(unknown())
}

func (a *analyser) noVariable(node any, name string, names *env) {
	message := fmt.Sprintf("unknown variable %s", name)
	var what advice
	var known []string
	for e := names; e != nil; e = e.above {
		if e.value != nil {
			known = append(known, e.name)
		}
	}
	if a.scope.Children != nil {
		known = append(known, "$children")
	}
	if a.scope.Related != nil {
		known = append(known, "$related")
	}
	for _, of := range []root{variablesRoot, parametersRoot} {
		if len(a.scope.named(of)) > 0 {
			known = append(known, string(of))
		}
	}
	if a.scope.Each {
		known = append(known, "$item", "$index")
	}
	switch best := nearest(name, known); {
	case name == "$children":
		message, what.sentence = "$children cannot be used here", a.scope.NoChildren
	case name == "$related":
		message = "$related cannot be used here"
		what.sentence = "list the objects under spec.related; templates, when, forEach and status can read them"
	case root(name).isNamed():
		message, what.sentence = name+" cannot be used here", a.scope.NoChildren
	case name == "$item" || name == "$index":
		message = name + " exists only in the template of a child with forEach"
		what.sentence = "write forEach: LIST in the child; $item is then an entry of the list"
	case a.scope.Variables[name[1:]] != nil:
		what.meant = "$variables." + name[1:]
	case a.scope.Parameters[name[1:]] != nil:
		what.meant = "$parameters." + name[1:]
	case name == "$ENV":
		message = "$ENV cannot be used: " + impure["env"]
	case best != "":
		what.meant = best
	case len(known) > 0:
		what.sentence = "variables: " + strings.Join(known, ", ")
	}
	a.failAdvised(node, BadExpression, message, what)
}

// unknownFunction reports a function that does not exist, or the wrong number of
// arguments.
func (a *analyser) unknownFunction(f *gojq.Func) {
	if right := arities(f.Name); right != "" {
		p := Problem{
			Code:    BadExpression,
			Message: fmt.Sprintf("%s takes %s, not %s", f.Name, takes(f.Name), counted(len(f.Args))),
			Hint:    "write " + right,
		}
		if len(f.Args) == 1 && isFunction(f.Name, 0) {
			p.Fix, p.Hint = "("+a.source(f.Args[0])+" | "+f.Name+")", ""
		}
		a.report(f, p)
		return
	}
	var all []string
	for key := range builtins() {
		name, _, _ := strings.Cut(key, "/")
		all = append(all, name)
	}
	slices.Sort(all)
	a.failAdvised(f, BadExpression, a.unknownName(f), a.noFunction(f, slices.Compact(all)))
}

// unknownName returns the message about a name that is no function.
func (a *analyser) unknownName(f *gojq.Func) string {
	_, isChild := a.scope.Children[f.Name]
	switch path := a.pathAfter(a.spans[f].End); {
	case len(f.Args) > 0 || len(path) == 0:
	case isChild:
		return fmt.Sprintf("%s is not a function of jq; the child is $children.%s", f.Name, f.Name)
	case slices.Contains(jqhint.Inputs(), f.Name):
		return fmt.Sprintf("%s is not a function of jq; %s is .", f.Name, a.input())
	}
	return "unknown function " + f.Name
}

// enter walks the body of a function of the expression, or an argument, at the place of
// the call. It aborts at a recursive function.
func (a *analyser) enter(f *function, args []*gojq.Query, in value, names *env) result {
	if slices.Contains(a.calls, f) || len(a.calls) > 50 {
		a.aborted = true
		return result{unknown(), 0, 1}
	}
	a.calls = append(a.calls, f)
	defer func() { a.calls = a.calls[:len(a.calls)-1] }()
	inside, all := f.env, one(value{})
	for i, name := range f.args {
		if name[0] != '$' {
			inside = inside.function(name, &function{body: args[i], env: names})
			continue
		}
		v := a.query(args[i], in, names)
		a.use(v.value)
		all = all.then(v)
		inside = inside.variable(name, v.value).function(name[1:], &function{body: args[i], env: names})
	}
	return all.then(a.query(f.body, in, inside))
}

// special walks the functions that pass on their input, or whose arguments are not just
// values.
func (a *analyser) special(f *gojq.Func, in value, names *env) (result, bool) {
	switch fmt.Sprintf("%s/%d", f.Name, len(f.Args)) {
	case "empty/0":
		return result{}, true
	case "error/0":
		a.use(in)
		return result{}, true
	case "error/1":
		a.use(a.query(f.Args[0], in, names).value)
		return result{}, true
	case "not/0":
		a.use(in)
		return one(some(boolean)), true
	case "select/1":
		a.look(in)
		r := a.tested(f.Args[0], in, names).then(one(in))
		r.min = 0
		return r, true
	case "map/1":
		items := a.iterate(in, f)
		items.max = 1
		return one(a.collected(f.Args[0], a.query(f.Args[0], items.value, names).value)), true
	case "first/1", "last/1":
		r := a.query(f.Args[0], in, names)
		return result{r.value, r.min, min(1, r.max)}, true
	case "limit/2", "skip/2", "nth/2":
		return a.part(f, in, names), true
	case "first/0", "last/0":
		a.wants(f, in, array|null|str, f.Name+" takes")
		a.count(in)
		return one(join(a.item(in), some(null))), true
	case "getpath/1":
		return a.getpath(f, in)
	case "has/1":
		return a.has(f, in, names), true
	}
	return a.kept(f, in)
}

// kept walks the functions that pass on their input if it is of a kind.
func (a *analyser) kept(f *gojq.Func, in value) (result, bool) {
	if len(f.Args) > 0 {
		return result{}, false
	}
	keep, ok := map[string]kinds{
		"values": anything &^ null, "nulls": null, "booleans": boolean, "numbers": number, "strings": str, "arrays": array,
		"objects": object, "iterables": array | object, "scalars": anything &^ (array | object), "finites": number, "normals": number,
	}[f.Name]
	if !ok {
		return result{}, false
	}
	a.look(in)
	if keep&null == 0 {
		in = in.present()
	}
	in.kinds &= keep
	return result{in, 0, 1}, true
}

// part walks limit, skip and nth.
func (a *analyser) part(f *gojq.Func, in value, names *env) result {
	n := a.query(f.Args[0], in, names)
	a.use(n.value)
	a.wants(f.Args[0], n.value, number, "the count of "+f.Name+" must be")
	a.settled(f, []value{n.value, unknown()})
	r := a.query(f.Args[1], in, names)
	r.min = 0
	text := strings.Trim(a.shown(f.Args[0]), "() ")
	if f.Name == "nth" || (f.Name == "limit" && (text == "1" || text == "0")) {
		r.max = min(1, r.max)
	}
	return n.then(r)
}

// getpath follows a constant path.
func (a *analyser) getpath(f *gojq.Func, in value) (result, bool) {
	keys, ok := plainKeys(f.Args[0])
	if !ok {
		return result{}, false
	}
	v := in
	for _, key := range keys {
		v = a.field(v, key, f.Args[0])
	}
	return one(v), true
}

// plainKeys returns the strings of a constant array like ["a","b"].
func plainKeys(q *gojq.Query) ([]string, bool) {
	if q.Term == nil || q.Term.Type != gojq.TermTypeArray || len(q.Term.SuffixList) > 0 {
		return nil, false
	}
	var keys []string
	for q = q.Term.Array.Query; q != nil; q = q.Right {
		last := q
		if q.Op == gojq.OpComma && q.Left != nil {
			last = q.Left
		}
		t := last.Term
		if t == nil || t.Type != gojq.TermTypeString || t.Str.Queries != nil || len(t.SuffixList) > 0 || len(keys) > 20 {
			return nil, false
		}
		keys = append(keys, t.Str.Str)
	}
	return keys, true
}

// has guards the field that it tests.
func (a *analyser) has(f *gojq.Func, in value, names *env) result {
	key := a.query(f.Args[0], in, names)
	a.use(key.value)
	a.use(in)
	if len(in.from) == 1 && len(in.from[0].path) == 0 && len(key.from) == 1 && len(key.from[0].path) > 0 {
		a.failWith(
			f,
			fmt.Sprintf("has takes the name of a field, and %s is the value of a field", a.shown(f.Args[0])),
			a.source(f.Args[0])+" != null",
		)
	}
	a.wants(f, in, array|object|null, "has takes")
	if key.text != nil {
		a.hasUnknown(f, in, *key.text)
		a.reads = append(a.reads, below(in.from, *key.text)...)
	}
	return key.then(one(some(boolean)))
}

// hasUnknown reports a name that the fields of an object do not include.
func (a *analyser) hasUnknown(f *gojq.Func, in value, name string) {
	if in.shape == nil || in.kinds&^null != object {
		return
	}
	if _, known := in.shape.Field(name); known {
		return
	}
	p := Problem{Code: UnknownField, Message: fmt.Sprintf("has(%q) is always false: no such field in %s", name, a.owner(f, in))}
	best, inside := nearest(name, in.shape.Fields()), a.fieldInside(name)
	switch {
	case best != "":
		p.Fix = jq.Quote(best)
	case inside != "" && len(in.from) == 1 && len(in.from[0].path) == 0 && in.from[0].root == inputRoot:
		p.Hint = "write " + inside + " != null"
	}
	a.report(f.Args[0], p)
}

// fieldInside returns the path of a field one level below the input, or "".
func (a *analyser) fieldInside(name string) string {
	for _, part := range []string{"spec", "metadata", "status"} {
		if field := a.fieldOf(part, func(field string) bool { return field == name }); field != "" {
			return read{inputRoot, []string{part, field}}.String()
		}
	}
	return ""
}

// builtin walks a function of jq whose arguments are evaluated as the table describes.
func (a *analyser) builtin(f *gojq.Func, b builtin, in value, names *env) result {
	switch {
	case b.ignoresInput:
	case slices.Contains([]string{"length", "any", "all"}, f.Name):
		a.count(in)
	default:
		a.use(in)
	}
	if b.takes != 0 {
		a.wants(f, in, b.takes, f.Name+" takes")
	}
	if slices.Contains([]string{"join", "add"}, f.Name) {
		a.waitsForItems(in.items)
	}
	r := a.arguments(f, b, in, names)
	made := value{kinds: b.makes}
	switch {
	case b.same && in.kinds&^null == array:
		made.shape, made.items, made.of = in.shape, in.items, in.of
		if len(in.from) > 0 {
			made.of = below(in.from, each)
		}
	case b.of != schema.Unknown:
		made.shape = schema.ListOf(schema.Of(b.of))
	}
	if b.item && in.shape != nil && in.kinds&^null == array {
		made = typed(in.shape.Item())
		made.kinds |= null
	}
	return r.then(result{made, b.min, b.max})
}

// arguments walks the arguments of a builtin function and returns the number of
// combinations of values that it is called with.
func (a *analyser) arguments(f *gojq.Func, b builtin, in value, names *env) result {
	r, first := one(value{}), unknown()
	values := make([]value, len(f.Args))
	for i, arg := range f.Args {
		to := map[subject]value{asValue: in, toInput: in, toItem: a.item(in), toFirst: first, toAnything: unknown()}[b.args[i].to]
		v := a.query(arg, to, names)
		a.use(v.value)
		if b.args[i].takes != 0 {
			a.wants(arg, v.value, b.args[i].takes, fmt.Sprintf("argument %d of %s must be", i+1, f.Name))
		}
		if b.args[i].to == asValue {
			r, values[i] = v.then(r), v.value
		}
		if i == 0 {
			first = v.value
		}
	}
	a.settled(f, values)
	return r
}

func (a *analyser) format(t *gojq.Term, in value, names *env) result {
	if !slices.Contains(formats(), t.Format) {
		a.fail(t, BadExpression, "unknown format "+t.Format, formatsHint())
		return one(unknown())
	}
	if t.Str != nil {
		return a.str(t.Str, in, names)
	}
	a.use(in)
	switch t.Format {
	case "@csv", "@tsv":
		a.wants(t, in, array, t.Format+" takes")
	case "@json":
	case "@base64", "@base64d", "@uri", "@urid", "@html", "@text":
		a.missing(t, in, "null becomes the string \"null\"")
	case "@sh":
		a.wants(t, in, anything&^object&^null, t.Format+" takes")
	}
	return one(some(str))
}

// formats are those of jq that a Sensor has.
func formats() []string {
	return []string{"@base64", "@base64d", "@csv", "@html", "@json", "@sh", "@text", "@tsv", "@uri", "@urid"}
}

// formatsHint returns what to write instead of another format.
func formatsHint() string { return "formats: " + strings.Join(formats(), ", ") }
