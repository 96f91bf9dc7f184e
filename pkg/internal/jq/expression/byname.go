package expression

import (
	"maps"
	"slices"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// In jq, a list has no names. $children.NAME["disk-0"] of a child with forEach is the object
// of that name all the same: the analyser, which knows the types, finds such an index, and the
// expression gets jq in its place, so that no engine knows of it.

// jq that finds the object of a name, or null; and one at a position, too. In both, .all are the
// objects, and .key is the name or the position.
const (
	chosenByName   = `.key as $key | [.all[] | select(.metadata.name == $key)][0]`
	chosenByEither = `if .key | type == "number" then .all[.key] else ` + chosenByName + ` end`
)

// byName walks $children.NAME[KEY] of a child with forEach, where KEY can be text.
func (a *analyser) byName(v value, key kinds, i *gojq.Index) value {
	choose := chosenByName
	if key&^(str|null) != 0 || len(a.calls) > 0 { // a function may be called with numbers, too
		choose = chosenByEither
	}
	if a.chosen == nil {
		a.chosen = map[*gojq.Index]string{}
	}
	a.chosen[i] = choose
	found := a.item(v)
	a.use(value{from: below(below(found.from, "metadata"), "name")})
	found.kinds |= null
	found.absent = &absence{found.from[0], i, "no object may have this name", true}
	return found
}

// choose replaces each such index by jq that finds the object, and reports whether there is one.
func choose(q *gojq.Query, chosen map[*gojq.Index]string) bool {
	if len(chosen) == 0 {
		return false
	}
	jq.Walk(q, func(node any) bool {
		if t, ok := node.(*gojq.Term); ok {
			chooseIn(t, chosen)
		}
		return true
	})
	return true
}

// choose does so in a query that has not been analysed.
func (s Scope) choose(q *gojq.Query, text string) bool {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(s.Children)), s.lists) {
		return false
	}
	c := &templates{scope: s}
	a := c.analyser(q, text)
	a.query(q, c.input(), nil)
	return choose(q, a.chosen)
}

// chooseIn replaces the last such index of a term; those before it are in the term that it
// then reads.
func chooseIn(t *gojq.Term, chosen map[*gojq.Index]string) {
	for at := len(t.SuffixList) - 1; at >= 0; at-- {
		i := t.SuffixList[at].Index
		choose, ok := chosen[i]
		if !ok {
			continue
		}
		all := *t
		all.SuffixList = t.SuffixList[:at:at]
		replace(t, &all, i, choose, t.SuffixList[at+1:])
		return
	}
	if choose, ok := chosen[t.Index]; ok {
		replace(t, &gojq.Term{Type: gojq.TermTypeIdentity}, t.Index, choose, t.SuffixList)
	}
}

// replace makes of a term ({key: KEY, all: ALL} | CHOOSE), followed by what was after the index.
func replace(t, all *gojq.Term, i *gojq.Index, choose string, after []*gojq.Suffix) {
	key := i.Start
	if i.Str != nil {
		key = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeString, Str: i.Str}}
	}
	parts := &gojq.Object{KeyVals: []*gojq.ObjectKeyVal{
		{Key: "key", Val: inParentheses(key)}, {Key: "all", Val: &gojq.Query{Term: all}},
	}}
	found, _ := parse(choose)
	*t = gojq.Term{
		Type: gojq.TermTypeQuery,
		Query: &gojq.Query{
			Left: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeObject, Object: parts}}, Op: gojq.OpPipe, Right: found,
		},
		SuffixList: after,
	}
}

func inParentheses(q *gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
}
