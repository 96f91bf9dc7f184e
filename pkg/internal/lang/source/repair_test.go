package source

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestQuotedItems requires that a line with expressions that YAML does not accept is repaired
// to what is meant: each item that its author put in quotes is one text.
func TestQuotedItems(t *testing.T) {
	expressions := []string{
		`${ .a // "b" }`, `${ .a // "" }`, `${ .a // "b, c" }`, `${ [.a, "b"] | join(",") }`, `${ {k: .a, l: "}"} | tojson }`, `${ "\(.a): b" }`,
		`${ if .a == "x" then "y" else "z" end }`,
	}
	texts := func(e string) []string {
		return []string{e, "x-" + e, e + "-y", "x " + e, e + " y", "a: " + e, e + ", " + e, e + "-" + e, e + " " + e, "it's " + e}
	}
	shapes := []string{
		`{a: %s}`, `{a: %s, b: c}`, `{b: c, a: %s}`, `{b: "c", a: %s, d: 'e f'}`, `{b: {a: %s}, c: [d]}`, `[%s]`, `[a, %s, b]`, `{b: ["c", %s]}`,
		`{b: "${ .d }", a: %s}`, `{b: '${ .d // "e" }', a: %s}`, `{b: c d, a: %s} # a comment`,
	}
	for _, e := range expressions {
		for _, text := range texts(e) {
			for _, shape := range shapes {
				line := "key: " + fmt.Sprintf(shape, `"`+text+`"`)
				var want any
				if err := yaml.Unmarshal([]byte("key: "+fmt.Sprintf(shape, quoted(text))), &want); err != nil {
					t.Fatal(err)
				}
				var got any
				if yaml.Unmarshal([]byte(line), &got) == nil {
					continue // YAML reads it, perhaps as something else
				}
				fix, ok := repaired([]string{line}, 0)
				if !ok {
					t.Errorf("%s: no repair", line)
					continue
				}
				if err := yaml.Unmarshal([]byte(fix.line), &got); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s\nis repaired to %s\nwant %v", line, fix.line, want)
				}
			}
		}
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
