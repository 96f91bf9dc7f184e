package resource

import (
	"math"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// pattern is a regular expression that can also generate matching texts.
type pattern struct {
	*regexp.Regexp
	tree *syntax.Regexp
}

// newPattern returns nil for an expression that Go does not support.
func newPattern(text string) *pattern {
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	return &pattern{Regexp: compiled, tree: tree}
}

// text generates a text that probably matches. more is how often an unbounded
// repetition repeats beyond its minimum. Word boundaries are not considered.
func (p *pattern) text(r *rand.Rand, more int) string { return p.textUpTo(r, more, math.MaxInt) }

// textUpTo is text that ends its repetitions once it has a number of bytes.
func (p *pattern) textUpTo(r *rand.Rand, more, most int) string {
	var out strings.Builder
	w := patternWriter{out: &out, r: r, more: more, most: most}
	w.write(p.tree)
	return out.String()
}

type patternWriter struct {
	out  *strings.Builder
	r    *rand.Rand
	more int
	most int
}

func (w patternWriter) write(t *syntax.Regexp) {
	switch t.Op {
	case syntax.OpLiteral:
		w.out.WriteString(string(t.Rune))
	case syntax.OpCharClass:
		w.out.WriteRune(w.oneOf(t.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.out.WriteRune('a' + rune(w.r.IntN(26)))
	case syntax.OpStar:
		w.repeat(t.Sub[0], 0, -1)
	case syntax.OpPlus:
		w.repeat(t.Sub[0], 1, -1)
	case syntax.OpQuest:
		w.repeat(t.Sub[0], 0, 1)
	case syntax.OpRepeat:
		w.repeat(t.Sub[0], t.Min, t.Max)
	case syntax.OpAlternate:
		w.write(t.Sub[w.r.IntN(len(t.Sub))])
	default: // concatenations, groups, and empty matches
		for _, sub := range t.Sub {
			w.write(sub)
		}
	}
}

func (w patternWriter) repeat(t *syntax.Regexp, low, high int) {
	count := low
	if w.more > 0 {
		count += w.r.IntN(w.more + 1)
	}
	if high >= 0 {
		count = min(count, high)
	}
	for i := range min(count, 4096) {
		if i >= low && w.out.Len() >= w.most {
			return
		}
		w.write(t)
	}
}

// oneOf returns a character of the ranges, a readable one if possible.
func (w patternWriter) oneOf(ranges []rune) rune {
	if len(ranges) == 0 {
		return 0
	}
	for _, wanted := range []func(rune) bool{unicode.IsLower, unicode.IsDigit, unicode.IsUpper, unicode.IsPrint} {
		var found []rune
		for i := 0; i < len(ranges); i += 2 {
			for c := ranges[i]; c <= min(ranges[i+1], unicode.MaxASCII); c++ {
				if wanted(c) {
					found = append(found, c)
				}
			}
		}
		// Sometimes use the next class of characters, if there is one.
		if len(found) > 0 && w.r.IntN(4) > 0 {
			return found[w.r.IntN(len(found))]
		}
	}
	i := 2 * w.r.IntN(len(ranges)/2)
	return ranges[i] + rune(w.r.IntN(int(ranges[i+1]-ranges[i])+1))
}
