package expression

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

func TestNeeds(t *testing.T) {
	tests := []struct {
		name, text, reason string
		want               []string
	}{
		{"a field", "${ $children.a.status.arn }", "it may be missing", []string{"$children.a.status.arn"}},
		{"a field of a related object", "${ $related.r.data.x }", "it may be missing", []string{"$related.r.data.x"}},
		{"a default", `${ $children.a.status.arn // "x" }`, "the value is never null", nil},
		{"an optional field", "${ $children.a.status.arn // null }", "the author wants the key to go", nil},
		{"an optional default", "${ .spec.arn // $children.a.status.arn // null }", "the same", nil},
		{"a default with a question mark", "${ .spec.arn // $children.a.status.arn? }", "the same", nil},
		{"a default with a branch that is null", "${ .spec.arn // if .spec.on then $children.a.status.arn else null end }", "the same", nil},
		{"a question mark", "${ $children.a.status.arn? }", "the same", nil},
		{"a question mark inside", "${ $children.a.status?.arn }", "the field itself is needed", []string{"$children.a.status?.arn"}},
		{"optional at the end of a pipe", "${ .spec | $children.a.status.arn // empty }", "the same", nil},
		{"a branch that is null", "${ if .spec.on then $children.a.status.arn else null end }", "the same", nil},
		{"no branch that is null", `${ if .spec.on then $children.a.status.arn else "x" end }`, "the field is needed", []string{`if .spec.on then $children.a.status.arn else "x" end`}},
		{"a branch with a field of the custom resource", `${ if $related.r.data.x == "a" then "on" else .spec.note end }`, "its user left it out", nil},
		{"a field of the custom resource that a condition selects", `${ .spec.note | select($children.a.status.arn == "a") }`, "there is none before", []string{`.spec.note | select($children.a.status.arn == "a")`}},
		{"a default of two", "${ $children.a.status.arn // $children.a.status.id }", "both may be missing", []string{"$children.a.status.arn // $children.a.status.id"}},
		{"a text", "arn ${ $children.a.status.arn }", "a null in it is an error", []string{"$children.a.status.arn"}},
		{"a text of jq", `${ "\($children.a.status.arn)/*" }`, "a null in it is the text null", []string{"$children.a.status.arn"}},
		{"a sum", `${ $children.a.status.arn + "/*" }`, "null + x is x", []string{"$children.a.status.arn"}},
		{"a sum in a branch", `${ if .spec.on then $children.a.status.arn + "/*" else "" end }`, "it is not always evaluated", nil},
		{"a sum of two", `${ ($children.a.status.arn + $children.b.status.id) | ltrimstr("x") }`, "both are needed", []string{"$children.a.status.arn", "$children.b.status.id"}},
		{"a list", "${ [$children.list[] | .status.x] }", "each item is needed", []string{"$children.list[].status.x"}},
		{"a list by map", "${ $children.list | map(.status.x) }", "the same", []string{"$children.list[].status.x"}},
		{"a list of related objects", `${ [$related.l[].data["a-b"]] | sort }`, "the same", []string{`$related.l[].data["a-b"]`}},
		{"a list in a text", `${ $children.list | map(.status.x) | join(",") }`, "a null in it is nothing", []string{"$children.list[].status.x"}},
		{"a sum of a list", `${ [$children.list[].status.x] | add }`, "the same", []string{"$children.list[].status.x", "[$children.list[].status.x] | add"}},
		{"a list of names", "${ [$children.list[].metadata.name] }", "they are there when the objects are", nil},
		{"a list of optional fields", "${ [$children.list[] | .status.x?] }", "the author wants null", nil},
		{"a list with defaults", `${ [$children.list[] | .status.x // ""] }`, "no item is null", nil},
		{"a list of values", "${ [$children.list[] | .status.x | values] }", "it is shorter without them", nil},
		{"a list of some", `${ [$children.list[] | select(.status.x == "a") | .metadata.name] }`, "a condition reads it", nil},
		{"a list of decisions", `${ [$children.list[] | if .status.x then "a" else "b" end] }`, "a condition reads it", nil},
		{"how many", "${ $children.list | length }", "it does not read the items", nil},
		{"whole objects", "${ $children.list | map(.status) | length }", "it only counts them", nil},
		{"an object by name", `${ $children.list["x"].status.x }`, "it may be missing", []string{`$children.list["x"].status.x`}},
		{"an item by its position", `${ $children.list[$index].status.x }`, "the items differ", []string{"$children.list[].status.x"}},
		{"an object by the name of an item", `${ $children.list[$item].status.x }`, "the items differ", []string{"$children.list[].status.x"}},
		{"a field by item", "${ $children.a.status.map[$item.key] }", "the items differ", []string{"$children.a.status.map"}},
		{"the custom resource", "${ .spec.arn }", "its user changes it", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			scope := Scope{
				Children: map[string]schema.Type{"a": schema.Any(), "b": schema.Any(), "list": schema.ListOf(schema.Any())},
				Related:  map[string]schema.Type{"r": schema.Any(), "l": schema.ListOf(schema.Any())}, Each: true, Waits: true,
			}
			program, problems := Template(map[string]any{"data": map[string]any{"x": tt.text}}, scope, nil)
			if program == nil {
				t.Fatal(problems)
			}
			var got []string
			for _, n := range program.Needs() {
				got = append(got, n.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s\n%s", tt.reason, diff)
			}
			scope.Waits = false
			if program, _ := Template(map[string]any{"x": tt.text}, scope, nil); len(program.Needs()) > 0 {
				t.Errorf("without Waits it needs %v", program.Needs())
			}
		})
	}
}

// TestNeedsAreNoProblem covers values that null would damage and that are waited for.
func TestNeedsAreNoProblem(t *testing.T) {
	for _, text := range []string{
		`${ $children.a.status.arn + "/*" }`, "arn ${ $children.a.status.arn }", `${ $children.a.status.arn | split(":") | .[0] }`, "${ $children.a.metadata.name }",
		`${ [$children.a.status.list[] | .x] }`,
	} {
		scope := Scope{Children: map[string]schema.Type{"a": schema.Any()}, Waits: true}
		if _, problems := Template(map[string]any{"x": text}, scope, nil); len(problems) > 0 {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
