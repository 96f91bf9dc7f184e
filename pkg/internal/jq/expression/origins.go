package expression

import (
	"slices"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// Each is the element of a path that stands for any item of a list, or any key.
const Each = each

// Origin is a place whose value may become a part of a result.
type Origin struct {
	Root string   // ".", "$children", "$related" or "$item"
	Path []string // below it; an element of a list, or of an object by a computed key, is "[]"
}

// String formats the origin as jq.
func (o Origin) String() string { return read{root(o.Root), o.Path}.String() }

// Origins lists the places whose values may become a part of the result, possibly with more:
// not those of which the result has only a fingerprint, a length or a boolean.
func (p *Program) Origins() []Origin { return p.carried.origins() }

// Origins lists the places whose values may become a part of the value.
func (p Part) Origins() []Origin { return p.carried.origins() }

// Choices lists the places whose values, or the keys of which, may become a part of the
// result. Whoever writes them chooses it.
func (p *Program) Choices() []Origin { return p.chosen.origins() }

// Choices lists the places whose values, or the keys of which, may become a part of the value.
func (p Part) Choices() []Origin { return p.chosen.origins() }

// AllOrigins lists the places that the program reads, also those that only decide between values.
func (p *Program) AllOrigins() []Origin { return p.reads.origins() }

// AllOrigins lists the places that the expressions read; see Program.AllOrigins.
func (p Part) AllOrigins() []Origin { return p.reads.origins() }

// Is returns the places of which a whole value is one, apart from constants; none if it is computed.
func (p Part) Is() []Origin { return exact(p.from, p.chosen) }

// ItemsAre returns the places of which each item of a list is one; none if they are computed.
func (p Part) ItemsAre() []Origin {
	if is := exact(p.from, p.chosen); is != nil {
		return reads(below(p.from, each)).origins()
	}
	return exact(p.of, p.chosen)
}

// exact returns places if a value that comes from them has nothing else in it.
func exact(from, chosen reads) []Origin {
	other := func(flow read) bool {
		return !slices.ContainsFunc(from, func(one read) bool { return one.covers(flow) })
	}
	if len(from) == 0 || slices.ContainsFunc(chosen, other) {
		return nil
	}
	return reads(from).origins()
}

func (r reads) origins() []Origin {
	var out []Origin
	for i, one := range r {
		covered := func(other read) bool { return other.covers(one) }
		if slices.ContainsFunc(r[:i], covered) || slices.ContainsFunc(r[i+1:], func(o read) bool { return covered(o) && !one.covers(o) }) {
			continue
		}
		path := slices.Clone(one.path)
		for i, step := range path {
			if isItem(step) {
				path[i] = each
			}
		}
		out = append(out, Origin{string(one.root), path})
	}
	return out
}

// carriedReads returns the reads of values that may become a part of the result.
func (a *analyser) carriedReads() reads {
	var out reads
	if a.aborted {
		for _, root := range []root{inputRoot, childrenRoot, relatedRoot, itemRoot} {
			out = append(out, read{root: root})
		}
		return out
	}
	return a.readsOutside(slices.Concat(a.tests, a.lost))
}

// untested returns the reads that do more than decide between values.
func (a *analyser) untested() reads {
	if a.aborted {
		return a.reads
	}
	return a.readsOutside(a.tests)
}

// readsOutside returns the reads that are in none of some ranges.
func (a *analyser) readsOutside(ranges [][2]int) reads {
	var out reads
	for i, one := range a.reads {
		if !slices.ContainsFunc(ranges, func(r [2]int) bool { return r[0] <= i && i < r[1] }) {
			out = append(out, one)
		}
	}
	return out
}

// shownReads returns the reads of values whose change the result shows: those that may become
// a part of it, or of its fingerprint.
func (a *analyser) shownReads() reads {
	if a.aborted {
		return a.reads
	}
	out := a.carriedReads()
	for _, r := range a.digested {
		within := func(tests [2]int) bool { return tests[0] <= r[0] && r[1] <= tests[1] }
		other := func(lost [2]int) bool { return within(lost) && lost != r }
		if !slices.ContainsFunc(a.tests, within) && !slices.ContainsFunc(a.lost, other) {
			out = append(out, a.reads[r[0]:r[1]]...)
		}
	}
	return out
}

// Shown returns the program as if it read only the values whose change its result shows: not
// those that only decide between values.
func (p *Program) Shown() *Program {
	shown := *p
	shown.reads = p.shown
	return &shown
}

// keyedReads returns the reads of values whose keys may become a part of the result.
func (a *analyser) keyedReads() reads {
	var out reads
	for _, r := range a.keyed {
		out = append(out, a.reads[r[0]:r[1]]...)
	}
	return out
}

// losing walks an expression whose result does not have the values that it reads.
func (a *analyser) losing(walk func() result) result {
	from := len(a.reads)
	r := walk()
	a.lost = append(a.lost, [2]int{from, len(a.reads)})
	return r
}

// hashes are the functions whose result tells that their input changed, but not what it is.
var hashes = []string{fingerprint, jq.Hash}

// losingFunctions are those whose result does not have the values of their input and
// arguments.
var losingFunctions = append([]string{
	"length", "utf8bytelength", "type", "keys", "not", "has", "in", "any", "all", "isempty", "IN",
	"contains", "inside", "test", "startswith", "endswith",
}, hashes...)

// loses reports whether a filter yields nothing of its input.
func loses(q *gojq.Query, names *env) bool {
	switch {
	case len(q.FuncDefs) > 0 || len(q.Patterns) > 0:
		return false
	case q.Op == gojq.OpPipe:
		return loses(q.Left, names) || loses(q.Right, names)
	case q.Op == gojq.OpAnd || q.Op == gojq.OpOr || isComparison(q.Op):
		return true
	case q.Term == nil:
		return false
	case q.Term.Type == gojq.TermTypeQuery:
		return loses(q.Term.Query, names)
	}
	// the keys of an object that the filter before makes can be values
	return q.Term.Type == gojq.TermTypeFunc && losesAll(q.Term.Func, names) && q.Term.Func.Name != "keys"
}

// digests reports whether a filter yields a fingerprint, or another hash, of its input.
func digests(q *gojq.Query, names *env) bool {
	switch {
	case len(q.FuncDefs) > 0 || len(q.Patterns) > 0:
		return false
	case q.Op == gojq.OpPipe:
		return digests(q.Left, names) || !loses(q.Left, names) && digests(q.Right, names)
	case q.Term == nil:
		return false
	case q.Term.Type == gojq.TermTypeQuery:
		return digests(q.Term.Query, names)
	}
	return q.Term.Type == gojq.TermTypeFunc && slices.Contains(hashes, q.Term.Func.Name) && losesAll(q.Term.Func, names)
}

// losesAll reports whether a function is one of losingFunctions, and not one that the
// expression defines.
func losesAll(f *gojq.Func, names *env) bool {
	for e := names; e != nil; e = e.above {
		if e.call != nil && e.name == f.Name {
			return false
		}
	}
	return slices.Contains(losingFunctions, f.Name)
}

func isComparison(op gojq.Operator) bool {
	return slices.Contains([]gojq.Operator{gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe}, op)
}
