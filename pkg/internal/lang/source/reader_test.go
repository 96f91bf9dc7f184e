package source

import (
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
)

// In every style, a mark of the value is found at the position of the same character in
// the source, and no two marks have the same position.
func TestPositionsOfScalarMarks(t *testing.T) {
	for _, tt := range []struct{ yaml, reason string }{
		{"a: plain ${ .x } text # no part of it\n", "plain"},
		{"a: plain ${ .x }\n  and a\n\n  third line # no part\nb: 1\n", "plain, several lines"},
		{"a: 'it''s ${ .x }\n   and ''quoted''\n\n   on'\n", "single quotes, several lines"},
		{"a: \"é ${ .x } ß\"\n", "letters of two bytes"},
		{"a: \"one\n  two\\\n  \\  three\n\n  four\"\n", "double quotes, several lines, a line continued"},
		{"a: |\n  #!/bin/sh\n  echo ${ .x }\n\n    indented\n  last\n", "a literal block"},
		{"a: |2-\n    two of four blanks are the value's\n  x\n", "an indentation that is written"},
		{"a: |+ # a comment\n\n\n  after blank lines\n\n", "blank lines before and behind"},
		{"a: >\n  folded\n  into one ${ .x }\n\n  new\n    kept\n  end\n", "a folded block"},
		{"a: !!str &anchor\n  value of anchor\n", "a tag, an anchor and a line before it"},
		{"a: &a |\n  anchored\n", "an anchored block"},
		{"- a: [x, {b: 'in flow\n     style'}]\n", "in flow style"},
		{"a: |\r\n  carriage\r\n  return\r\n", "CRLF"},
		{"a:\n- - |\n    deep\n", "in lists"},
	} {
		docs, found := Load("x", []byte(tt.yaml), func([]byte) bool { return true })
		if len(docs) != 1 {
			t.Fatalf("%s: %v", tt.reason, found)
		}
		marksAt(t, tt.reason, docs[0])
	}
}

// marksAt compares every mark of the longest scalar of a document with the source.
func marksAt(t *testing.T, reason string, doc Document) {
	t.Helper()
	n := longest(doc.Root)
	seen := map[diag.Position]bool{}
	for offset, c := range n.Value {
		if isSpace(c) {
			continue
		}
		at := doc.Inside(n, offset)
		line := doc.lines[at.Line-1]
		got, _ := utf8.DecodeRuneInString(line[diag.Offset(line, at.Column):])
		if got != c || seen[at] {
			t.Errorf("%s: byte %d of %q is %q; at %d:%d stands %q", reason, offset, n.Value, c, at.Line, at.Column, got)
		}
		seen[at] = true
	}
	if len(seen) == 0 {
		t.Errorf("%s: no marks in %q", reason, n.Value)
	}
}

func longest(n *yaml.Node) *yaml.Node {
	best := n
	for _, child := range n.Content {
		if found := longest(child); len(found.Value) > len(best.Value) {
			best = found
		}
	}
	return best
}

func TestPositionsOfWhiteSpace(t *testing.T) {
	for _, tt := range []struct {
		yaml         string
		offset       int
		line, column int
		reason       string
	}{
		{"a: b  c", 1, 1, 5, "a blank"},
		{"a: b  c", 2, 1, 6, "the second blank"},
		{"a: 'b  '", 3, 1, 8, "the end, behind blanks"},
		{"a: b", 1, 1, 5, "the end"},
		{"a: b", 99, 1, 5, "behind the end"},
		{"a: b", -1, 1, 4, "before the beginning"},
		{"a: ''", 0, 1, 5, "an empty text"},
		{"a: \"\\x41\\u00e4\\n\\\"b\"", 5, 1, 19, "behind escapes"},
		{"a: \"\\U0001F600\\N\\_b\"", 8, 1, 19, "escapes of several bytes"},
		{"a: \"\\tb\"", 1, 1, 7, "an escaped tab"},
		{"a: |\n  b\n  c\n", 1, 2, 4, "the end of a line in a block"},
	} {
		docs, found := Load("x", []byte(tt.yaml), func([]byte) bool { return true })
		if len(docs) != 1 {
			t.Fatalf("%s: %v", tt.reason, found)
		}
		at := docs[0].Inside(docs[0].Root.Content[1], tt.offset)
		if at.Line != tt.line || at.Column != tt.column {
			t.Errorf("%s: at %d:%d, want %d:%d", tt.reason, at.Line, at.Column, tt.line, tt.column)
		}
	}
}
