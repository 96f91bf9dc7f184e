package jq

import (
	"slices"
	"testing"

	"github.com/itchyny/gojq"
)

func TestLex(t *testing.T) {
	for _, test := range []struct {
		reason, source string
		want           []string
		end            int
		whole          bool
	}{
		{"space and comments are no tokens", ".a # b\n| c", []string{".a", "|", "c"}, 10, true},
		{"an interpolation has tokens of its own", `"x\(.a)y"`, []string{`"x\(`, ".a", `)y"`}, 9, true},
		{"it ends at a brace that closes nothing", "{a: 1}}", []string{"{", "a", ":", "1", "}"}, 6, true},
		{"the longest operator counts", ".a//=1", []string{".a", "//=", "1"}, 6, true},
		{"a string is not closed", `"a`, []string{`"a`}, 2, false},
	} {
		tokens, end, whole := Lex(test.source)
		var texts []string
		for _, token := range tokens {
			texts = append(texts, token.Text)
		}
		if !slices.Equal(texts, test.want) || end != test.end || whole != test.whole {
			t.Errorf("%s: Lex(%q) = %q, %d, %t, want %q, %d, %t", test.reason, test.source, texts, end, whole, test.want, test.end, test.whole)
		}
	}
}

// everywhere has a field and a function in every construct of jq.
const everywhere = `def d(f): f0; f1 as [$x, {$y, (f2): $z}] | .a[f3:f4].b[f5]? | {a: f6, "\(f7)": f8, (f9): f10} |
	[f11] | if f12 then f13 elif f14 then f15 else f16 end | try f17 catch f18 | reduce f19 as $i (f20; f21) |
	foreach f22 as $i (f23; f24; f25) | label $l | -f26 | f27(f28) | @text "\(f29)" | f30 // f31`

func TestWalkAndPositionsReachEveryConstruct(t *testing.T) {
	query, err := gojq.Parse(everywhere)
	if err != nil {
		t.Fatal(err)
	}
	tokens, _, _ := Lex(everywhere)
	spans, found := Positions(query, tokens), map[string]bool{}
	Walk(query, func(node any) bool {
		if f, ok := node.(*gojq.Func); ok && f.Name[0] == 'f' {
			found[f.Name] = true
			if s := spans[f]; everywhere[s.At:s.End] != f.Name {
				t.Errorf("%s is at %q", f.Name, everywhere[s.At:s.End])
			}
		}
		return true
	})
	if len(found) != 32 {
		t.Errorf("found %d functions, want 32: %v", len(found), found)
	}
}

func TestWalkStopsWhereToldTo(t *testing.T) {
	query, err := gojq.Parse("{a: {b: 1}} | {c: 2}")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	Walk(query, func(node any) bool {
		_, object := node.(*gojq.Object)
		if object {
			n++
		}
		return !object
	})
	if n != 2 {
		t.Errorf("visited %d objects, want the 2 outer ones", n)
	}
}

func TestUnwrap(t *testing.T) {
	for source, want := range map[string]string{"((.a))": ".a", "(.a)[]": "(.a)[]", "(.a | .b)": ".a | .b"} {
		query, err := gojq.Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		if got := Unwrap(query).String(); got != want {
			t.Errorf("Unwrap(%s) = %s, want %s", source, got, want)
		}
	}
}
