package expression

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/schema"
)

func TestNeeds(t *testing.T) {
	tests := []struct {
		name, text, reason string
		want               []string
	}{
		{"a field", "${ $children.a.status.arn }", "it may be missing", []string{"$children.a.status.arn"}},
		{"a default", `${ $children.a.status.arn // "x" }`, "the value is never null", nil},
		{"an optional field", "${ $children.a.status.arn // null }", "the author wants the key to go", nil},
		{"optional at the end of a pipe", "${ .spec | $children.a.status.arn // empty }", "the same", nil},
		{"a default of two", "${ $children.a.status.arn // $children.a.status.id }", "both may be missing", []string{"$children.a.status.arn // $children.a.status.id"}},
		{"a text", "arn ${ $children.a.status.arn }", "a null in it is an error", nil},
		{"the custom resource", "${ .spec.arn }", "its user changes it", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			scope := Scope{Children: map[string]schema.Type{"a": schema.Any()}}
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
		})
	}
}
