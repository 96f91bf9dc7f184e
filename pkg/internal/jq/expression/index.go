package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// index walks v.name, v["name"], v[number] and v[from:to]. The brackets are evaluated
// with the input of the whole term.
func (a *analyser) index(v value, i *gojq.Index, in value, names *env) result {
	switch {
	case i.Name != "":
		return one(a.field(v, i.Name, i))
	case i.IsSlice:
		return a.slice(v, i, in, names)
	}
	var key result
	if i.Str != nil {
		key = a.str(i.Str, in, names)
	} else {
		key = a.query(i.Start, in, names)
		a.wants(i.Start, key.value, anything&^boolean, "a key must be")
	}
	a.use(key.value)
	if key.kinds&str != 0 && len(v.from) == 1 && len(v.from[0].path) == 1 && a.listed(v.from[0]) {
		return key.then(one(a.byName(v, key.kinds, i)))
	}
	if key.text != nil {
		return key.then(one(a.field(v, *key.text, i)))
	}
	if key.kinds&^null == str {
		a.wants(i, v, object|null, "[NAME] needs")
	}
	if key.kinds&^null&^number == 0 {
		a.wants(i, v, array|str|null, "[NUMBER] needs")
	}
	a.count(v) // a computed key may be any key
	found := a.item(v)
	if v.kinds&^null == array && key.kinds&^number == 0 {
		found.kinds |= null // out of range
		if t := i.Start.Term; t != nil && t.Type == gojq.TermTypeNumber && len(t.SuffixList) == 0 {
			found.from = below(v.from, item(t.Number))
		}
		return key.then(one(found))
	}
	return key.then(one(value{kinds: anything, from: found.from}))
}

func (a *analyser) slice(v value, i *gojq.Index, in value, names *env) result {
	r := one(value{kinds: v.kinds & (array | str | null), shape: v.shape, from: below(v.from, each), absent: v.absent})
	for _, bound := range []*gojq.Query{i.Start, i.End} {
		if bound != nil {
			b := a.query(bound, in, names)
			a.use(b.value)
			a.wants(bound, b.value, number|null, "a bound of a slice must be")
			r = b.then(r)
		}
	}
	a.wants(i, v, array|str|null, "[FROM:TO] needs")
	a.use(v)
	return r
}

// field walks v.name. node is the position of the name.
func (a *analyser) field(v value, name string, node any) value {
	if k := v.kinds &^ null; k != 0 && k&object == 0 {
		owner := a.owner(node, v)
		hint := a.ofInput(name, node)
		if owner == "not" {
			hint = "write not after the value: VALUE | not"
		}
		a.misfit(node, fmt.Sprintf("%s is %s and has no field %s", owner, k, name), hint)
		return unknown()
	}
	if child, ok := a.named(v, name, node); ok {
		return child
	}
	found := value{kinds: anything, from: below(v.from, name)}
	if v.absent != nil && !a.guarded(v.absent.read) {
		found.absent = v.absent
	}
	if v.shape == nil || v.kinds&object == 0 {
		return found
	}
	t, known := v.shape.Field(name)
	if !known {
		a.unknownField(v, name, node)
		return value{kinds: anything, from: found.from}
	}
	found.kinds, found.shape = ofType(t), t
	if !v.shape.Required(name) || v.kinds&null != 0 {
		found.kinds |= null
	}
	listed := slices.Contains(v.shape.Fields(), name) || t.Kind() != schema.Unknown
	if found.absent == nil && listed && len(v.from) > 0 && !v.shape.Required(name) && !a.guarded(found.from[0]) {
		found.absent = &absence{found.from[0], node, "it is not required and has no default", found.kinds&^null == object}
	}
	return found
}

// ofInput returns the hint that a field is one of the input, which is . before the first | only;
// "" if it is none.
func (a *analyser) ofInput(name string, node any) string {
	if name != "spec" && name != "metadata" && name != "status" || a.scope.Input == nil || !slices.Contains(a.scope.Input.Fields(), name) {
		return ""
	}
	before, isField := strings.CutSuffix(a.text[:a.spans[node].At], ".")
	if !isField || before != "" && !strings.ContainsAny(before[len(before)-1:], " \n(|;,:[{") { // a field of what is before it
		return ""
	}
	return "after |, . is another value; write . as $it | at the start, and $it." + name + " here"
}

// owner returns how messages name the object that a field is read from.
func (a *analyser) owner(node any, v value) string {
	if len(v.from) == 1 {
		if len(v.from[0].path) == 0 && v.from[0].root == inputRoot && a.scope.Name != "" {
			return a.scope.Name
		}
		return v.from[0].String()
	}
	if s, ok := a.spans[node]; ok {
		if before := strings.TrimRight(a.text[:s.At], ".[ "); before != "" {
			return before
		}
	}
	return "the value"
}

func (a *analyser) unknownField(v value, name string, node any) {
	path := read{inputRoot, []string{name}}
	if len(v.from) == 1 {
		path = below(v.from, name)[0]
	}
	of := a.scope.Name
	if len(v.from) != 1 || v.from[0].root != inputRoot || of == "" {
		of = a.owner(node, v)
	}
	fields := v.shape.Fields()
	spelling := ""
	var what advice
	atRoot := len(v.from) == 1 && v.from[0].root == inputRoot && len(v.from[0].path) == 0
	if atRoot {
		what = a.rootHint(name, node)
	}
	if path.root == inputRoot && slices.Equal(path.path, []string{"metadata", "namespace"}) {
		what = advice{sentence: of + " is cluster-scoped, so it has no namespace"}
	}
	if best := nearest(name, fields); what != (advice{}) {
		// a step is missing, or the field never exists
	} else if best != "" {
		path.path = slices.Clone(path.path)
		right := slices.Concat(path.path[:len(path.path)-1], []string{best})
		if rest, wrong := a.corrected(v.shape, best, a.pathAfter(a.spans[node].End)); wrong {
			right = append(right, rest...)
		}
		what.meant = read{path.root, right}.String()
		if jq.IsName(best) && jq.IsName(name) {
			spelling = best
		}
	} else if hint := a.ofInput(name, node); hint != "" && !atRoot {
		what.sentence = hint
	} else if 0 < len(fields) && len(fields) <= 14 {
		what.sentence = "fields: " + strings.Join(fields, ", ")
	}
	if a.scope.Live && len(v.from) == 1 && v.from[0].root == inputRoot && len(v.from[0].path) < 2 && what.meant == "" {
		what.sentence = ". is " + a.scope.Name + ", not the custom resource; " + what.sentence
	}
	where := path.String()
	if root(strings.SplitN(of, ".", 2)[0]).isNamed() && len(v.from) != 1 {
		where = of + where
	}
	a.report(node, Problem{
		Code: UnknownField, Message: fmt.Sprintf("%s: no such field in %s", where, of),
		Hint: what.hint(), guessed: what.meant != "", spelling: spelling,
	})
}

// corrected returns the names of fields below a field as the schema has them, as far as they
// are known, and whether one of them was misspelled.
func (a *analyser) corrected(t schema.Type, field string, path []string) (right []string, wrong bool) {
	for _, name := range path {
		below, known := t.Field(field)
		if !known || below.Kind() != schema.Object {
			break
		}
		if _, known := below.Field(name); !known {
			best := nearest(name, below.Fields())
			if best == "" {
				break
			}
			name, wrong = best, true
		}
		right = append(right, name)
		t, field = below, name
	}
	return right, wrong
}

// named walks $children.NAME, $related.NAME, $variables.NAME or $parameters.NAME.
func (a *analyser) named(v value, name string, node any) (value, bool) {
	if len(v.from) != 1 || len(v.from[0].path) > 0 {
		return value{}, false
	}
	if of := v.from[0].root; of.isNamed() {
		return a.readVariable(of, name, node), true
	}
	types, one, many, may := a.scope.Children, "child", "children", "the child may not exist yet"
	switch v.from[0].root {
	case childrenRoot:
	case relatedRoot:
		types, one, many, may = a.scope.Related, "related object", "related", "the object may not exist"
	default:
		return value{}, false
	}
	t, ok := types[name]
	if !ok && (v.from[0].root == childrenRoot && a.scope.OpenChildren || v.from[0].root == relatedRoot && a.scope.OpenRelated) {
		return unknown(), true
	}
	if !ok {
		names := slices.Sorted(maps.Keys(types))
		what := advice{sentence: "there are no " + many}
		if best := nearest(name, names); best != "" {
			what.meant = read{v.from[0].root, []string{best}}.String()
		} else if len(names) > 0 {
			what.sentence = many + ": " + strings.Join(names, ", ")
		}
		a.failAdvised(node, UnknownField, fmt.Sprintf("there is no %s %q", one, name), what)
		return unknown(), true
	}
	if t == nil {
		t = schema.Any()
	}
	c := typed(t)
	if always := v.from[0].root == relatedRoot && slices.Contains(a.scope.Always, name); t.Kind() != schema.Array && !always {
		c.kinds |= null
	}
	c.from = below(v.from, name)
	if a.scope.excludes(c.from[0]) {
		may = "its when may leave it out"
	}
	if c.kinds&null != 0 && !a.guarded(c.from[0]) {
		c.absent = &absence{c.from[0], node, may, true}
	}
	return c, true
}

// iterate walks v[].
func (a *analyser) iterate(v value, node any) result {
	if v.kinds&(array|object) == 0 && v.kinds&^null != 0 {
		a.misfit(node, fmt.Sprintf("[] needs an array or an object, and %s is %s", a.called(node, v), v.kinds&^null), "")
	} else {
		a.missing(node, v, "[] fails on null")
	}
	a.count(v)
	item := a.item(v)
	if v.shape != nil && v.kinds&^null == object {
		item = a.entry(v)
	}
	return result{item, 0, 2}
}

// entry returns the value of any field of an object.
func (a *analyser) entry(v value) value {
	entry := unknown()
	if len(v.shape.Fields()) == 0 && v.shape.Open() {
		if t, _ := v.shape.Field(each); t.Kind() != schema.Unknown {
			entry = typed(t)
		}
	}
	entry.from = below(v.from, each)
	return entry
}
