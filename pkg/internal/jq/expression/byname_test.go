package expression

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

func TestByName(t *testing.T) {
	const input = `{"spec": {"name": "b", "any": 1, "disks": [{"name": "a"}, {"name": "z"}]}}`
	const disks = `[{"metadata": {"name": "a", "uid": "1"}, "status": {"x": [7]}}, {"metadata": {"name": "b", "uid": "2"}}]`
	tests := []struct{ text, want string }{
		{`$children.disk["a"].metadata.uid`, `"1"`},
		{`$children["disk"]["b"].metadata.uid`, `"2"`},
		{`$children.disk | .["b"].metadata.uid`, `"2"`},
		{`$children.disk."b".metadata.uid`, `"2"`},
		{`$children.disk[.spec.name].metadata.uid`, `"2"`},
		{`$children.disk[$item].metadata.uid`, `"1"`},
		{`$children.disk["\($item)"].status.x[0]`, `7`},
		{`$children.disk["none"]`, `null`},
		{`$children.disk["none"].metadata.uid`, `null`},
		{`$children.disk["none"]?.metadata.uid // "no"`, `"no"`},
		{`$children.disk[null // "a"].metadata.uid`, `"1"`},
		{`$children.disk[.spec.no | strings // null]`, `null`},
		{`$children.disk[.spec.any].metadata.uid`, `"2"`},
		{`.spec.name as $key | $children.disk[$key].metadata.uid`, `"2"`},
		{`.spec.disks | map({name, uid: $children.disk[.name].metadata.uid})`, `[{"name":"a","uid":"1"},{"name":"z","uid":null}]`},
		{`[$children.disk["a", "b"].metadata.uid]`, `["1","2"]`},
		{`$children.disk[$children.disk["b"].metadata.name].metadata.uid`, `"2"`},
		{`def f($k): $children.disk[$k].metadata.uid; [f("a"), f(1)]`, `["1","2"]`},
		{`def f($k): $children.disk[$k].metadata.uid; [f(0), f("b")]`, `["1","2"]`},
		{`$children.disk[1].metadata.uid`, `"2"`},
		{`"x" as $all | $children.disk["a"].metadata.uid | fingerprint | length`, `16`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			scope := Scope{Children: map[string]schema.Type{"disk": schema.ListOf(schema.Any())}, Each: true}
			program, problems := Expression(tt.text, scope, "")
			if program == nil {
				t.Fatal(problems)
			}
			var list any
			if err := json.Unmarshal([]byte(disks), &list); err != nil {
				t.Fatal(err)
			}
			got, err := program.Run(decode(t, input), Vars{Children: map[string]any{"disk": list}, Item: "a"})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(text)); diff != "" {
				t.Errorf("%s\n%s", program.Source(), diff)
			}
		})
	}
}

// TestByNameOfOneObject tests that what is no list has no objects by name.
func TestByNameOfOneObject(t *testing.T) {
	scope := Scope{Children: map[string]schema.Type{"one": builtinType(t, "apps/v1", "Deployment")}}
	if program, problems := Expression(`$children.one["a"]`, scope, ""); program != nil || len(problems) != 1 {
		t.Errorf("got %v", problems)
	}
}
