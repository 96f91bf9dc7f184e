package expression

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// A pod matches regular expressions with the instructions that Go's own parser and compiler make of
// them, so that both engines agree. The program in the pod runs them: templates/runtime/regexp.py.

// search is a function of jq that matches a regular expression, its first argument.
type search struct {
	flags int  // the argument with the flags; 0: it has none
	every bool // it finds all matches, whatever the flags are
}

var searches = map[string]search{
	"test/1": {}, "test/2": {flags: 1}, "match/1": {}, "match/2": {flags: 1}, "capture/1": {}, "capture/2": {flags: 1},
	"scan/1": {every: true}, "scan/2": {flags: 1, every: true},
	"splits/1": {every: true}, "splits/2": {flags: 1, every: true}, "split/2": {flags: 1, every: true},
	"sub/2": {}, "sub/3": {flags: 2}, "gsub/2": {every: true}, "gsub/3": {flags: 2, every: true},
}

// The operations of a pod that match a regular expression.
const searchForm, replaceForm = "search", "replace"

// Searches reports whether JSON with expressions for the pod may have a regular expression.
func Searches(nodes []byte) bool {
	return bytes.Contains(nodes, []byte(`["`+searchForm+`",`)) || bytes.Contains(nodes, []byte(`["`+replaceForm+`",`))
}

// search compiles a function of searches.
func (c *podCompiler) search(s search, f *gojq.Func, known *names) (any, error) {
	pattern, flags, ok := c.arguments(s, f, known)
	if !ok {
		return nil, &refused{
			"in a pod, the regular expression and the flags of " + f.Name + " cannot be computed from data",
			`write them as texts, such as "^[a-z]+$"; startswith, endswith, contains, index and split(TEXT) take any text`,
		}
	}
	program, err := c.regexp(pattern, flags)
	if err != nil {
		return nil, err
	}
	switch f.Name {
	case "test", "split":
		return []any{searchForm, f.Name, pattern, flags, program}, nil
	case "sub", "gsub":
		replacement, err := c.query(f.Args[1], known)
		return []any{replaceForm, replacement, pattern, flags, program}, err
	}
	return []any{"each", []any{searchForm, strings.TrimSuffix(f.Name, "s"), pattern, flags, program}}, nil // splits is split
}

// arguments returns the regular expression and the flags, which are null or a text; false if they are not fixed.
func (c *podCompiler) arguments(s search, f *gojq.Func, known *names) (pattern string, flags any, ok bool) {
	value, fixed := c.fixed(f.Args[0], known)
	if pattern, ok = value.(string); !ok || !fixed {
		return "", nil, false
	}
	if s.flags > 0 {
		flags, fixed = c.fixed(f.Args[s.flags], known)
	}
	text, isText := flags.(string)
	ok = fixed && (isText || flags == nil)
	if s.every {
		flags = text + "g"
	}
	return pattern, flags, ok
}

// regexp returns the instructions of a regular expression for the pod. An invalid one is an error when
// it is evaluated, as in gojq.
func (c *podCompiler) regexp(pattern string, flags any) (Node, error) {
	if err := jq.RegexpError(pattern, flags); err != nil {
		return Node{"invalid": err.Error()}, nil
	}
	text, _ := flags.(string)
	if strings.Contains(text, "i") {
		pattern = "(?i)" + pattern
	}
	if strings.Contains(text, "m") {
		pattern = "(?s)" + pattern
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err // unreachable: gojq has compiled it
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err // unreachable
	}
	t := &table{program: program}
	node := t.node()
	if c.size += len(program.Inst) + t.size; c.size > maxSize {
		return nil, fmt.Errorf("with its functions and regular expressions written out, the expression is larger than a pod takes")
	}
	groups := make([]any, tree.MaxCap())
	for i, name := range tree.CapNames()[1:] {
		if name != "" {
			groups[i] = name
		}
	}
	node["groups"] = groups
	return node, nil
}

// table turns a program of regexp/syntax into data.
type table struct {
	program *syntax.Prog
	sets    []any
	places  map[string]int // of the sets
	size    int            // of all sets
}

func (t *table) node() Node {
	t.sets, t.places = []any{}, map[string]int{}
	code := make([]any, len(t.program.Inst))
	for i := range t.program.Inst {
		code[i] = t.step(&t.program.Inst[i])
	}
	prefix, _ := t.program.Prefix()
	return Node{
		"code": code, "sets": t.sets, "start": t.target(uint32(t.program.Start)), "prefix": prefix,
		"anchored": t.program.StartCond()&syntax.EmptyBeginText != 0,
	}
}

// target returns the place of an instruction, after those that do nothing.
func (t *table) target(pc uint32) int {
	for t.program.Inst[pc].Op == syntax.InstNop {
		pc = t.program.Inst[pc].Out
	}
	return int(pc)
}

// step returns an instruction: its name, the place of the next one, and an argument.
func (t *table) step(i *syntax.Inst) []any {
	switch i.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return []any{"either", t.target(i.Out), t.target(i.Arg)}
	case syntax.InstCapture:
		return []any{"note", t.target(i.Out), int(i.Arg)}
	case syntax.InstEmptyWidth:
		return []any{"at", t.target(i.Out), int(i.Arg)}
	case syntax.InstMatch:
		return []any{"match"}
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return []any{"in", t.target(i.Out), t.set(limits(i))}
	}
	return []any{"fail"} // also for those that do nothing, which no other leads to
}

// set returns the place of a set of letters. The pod has each set once.
func (t *table) set(limits []int) int {
	key := fmt.Sprint(limits)
	at, ok := t.places[key]
	if !ok {
		at = len(t.sets)
		t.places[key], t.sets, t.size = at, append(t.sets, limits), t.size+len(limits)
	}
	return at
}

// limits returns the letters that an instruction takes, as the sorted code points at which they begin and end:
// [97, 123] are the letters from a to z.
func limits(i *syntax.Inst) []int {
	var pairs []rune
	switch i.Op {
	case syntax.InstRuneAny:
		pairs = []rune{0, utf8.MaxRune}
	case syntax.InstRuneAnyNotNL:
		pairs = []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	default:
		if pairs = i.Rune; len(pairs) == 1 {
			pairs = alike(pairs[0], syntax.Flags(i.Arg)&syntax.FoldCase != 0)
		}
	}
	out := []int{}
	for at := 0; at < len(pairs); at += 2 {
		out = append(out, int(pairs[at]), int(pairs[at+1])+1)
	}
	return out
}

// alike returns pairs of a letter and, if the case does not count, of those that differ only in their case.
func alike(letter rune, folded bool) []rune {
	letters := []rune{letter}
	for other := unicode.SimpleFold(letter); folded && other != letter; other = unicode.SimpleFold(other) {
		letters = append(letters, other)
	}
	slices.Sort(letters)
	pairs := make([]rune, 0, 2*len(letters))
	for _, one := range letters {
		pairs = append(pairs, one, one)
	}
	return pairs
}
