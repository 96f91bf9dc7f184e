package expression

import (
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestOrigins covers the places whose values a result may have.
func TestOrigins(t *testing.T) {
	secret := schema.Any()
	scope := Scope{
		Children: map[string]schema.Type{"one": secret, "each": schema.ListOf(secret)}, Related: map[string]schema.Type{"list": schema.ListOf(secret)},
		Each: true, Item: schema.Any(),
	}
	for _, tt := range []struct{ reason, source, want string }{
		{"a field", "$children.one.data.a", "$children.one.data.a"},
		{"a field in a text", `"a:\($children.one.data.a | @base64d)"`, "$children.one.data.a"},
		{"a fingerprint", "$children.one.data | fingerprint", ""},
		{"a fingerprint of what is computed", "$children.one.data.a | @base64d | [., 1] | fingerprint | .[0:8]", ""},
		{"a fingerprint and the value", "$children.one.data.a | @base64d | . + fingerprint", "$children.one.data.a"},
		{"a value beside a fingerprint", "($children.one.data.a | fingerprint) + $children.one.data.b", "$children.one.data.b"},
		{"a variable is not lost", "$children.one.data.a | @base64d | . as $x | length | tostring + $x", "$children.one.data.a"},
		{"a length", "$children.one.data | tostring | length", ""},
		{"a comparison", "$children.one.data.a != null", ""},
		{"a test of a computed value", `$children.one.data.a | @base64d | . == "x"`, ""},
		{"both of two tests", "$children.one.data.a != null and ($children.one.data.b | length) > 2", ""},
		{"a condition", "if $children.one.data.a then .spec.a else .spec.b end", ".spec.a .spec.b"},
		{"a branch", "if .spec.a then $children.one.data.a else 1 end", "$children.one.data.a"},
		{"a default", `$children.one.data.a // "x"`, "$children.one.data.a"},
		{"the names of keys", "$children.one.data | keys", ""},
		{"keys that are values", "{($children.one.data.a): 1} | keys", "$children.one.data.a"},
		{"another field of an item", "[$related.list[] | .metadata.name]", "$related.list.[].metadata.name"},
		{"a selected item", "[$related.list[] | select(.data.a == \"x\") | .metadata.name]", "$related.list.[].metadata.name"},
		{"all of a list", "$related.list", "$related.list"},
		{"entries", "$children.one.data | to_entries[].value", "$children.one.data"},
		{"a computed key", ".spec.key as $key | $children.one.data[$key]", ".spec.key $children.one.data.[]"},
		{"the item", "$item", "$item"},
		{"a field of the item", "$item.name", "$item.name"},
		{"a length of the own function", "def length: .; $children.one.data.a | @base64d | length", "$children.one.data.a"},
		{"a recursive function", "def f: if . == 1 then 1 else f end; $children.one.data.a | f", ". $children $related $item"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			program, problems := Template("${ ["+tt.source+"] }", scope, schema.Any())
			if program == nil {
				t.Fatal(problems)
			}
			var got []string
			for _, origin := range program.Origins() {
				got = append(got, strings.Join(append([]string{origin.Root}, origin.Path...), "."))
			}
			for i := range got {
				got[i] = strings.Replace(got[i], "..", ".", 1)
			}
			slices.Sort(got)
			want := strings.Fields(tt.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("origins %q, want %q", got, want)
			}
		})
	}
}
