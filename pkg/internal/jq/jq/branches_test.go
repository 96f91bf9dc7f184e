package jq

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
)

// TestCompileTraced: each input but the last reaches a branch that the inputs before it
// did not reach.
func TestCompileTraced(t *testing.T) {
	object := func(pairs ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1]
		}
		return out
	}
	for _, test := range []struct {
		name, program string
		inputs        []any
	}{
		{"if without else", "if .a then 1 end", []any{object(), object("a", true), object("a", true)}},
		{"elif", `if .a == 1 then "x" elif .a == 2 then "y" else "z" end`, []any{object("a", 1), object("a", 2), object(), object("a", 2)}},
		{"and", ".a and .b and .c", []any{object("a", true), object("a", true, "b", true), object()}},
		{"or", ".a or .b", []any{object(), object("a", true)}},
		{"alternative", `.a // "x"`, []any{object(), object("a", 1)}},
		{"select", "[.a[] | select(. > 1)]", []any{object("a", []any{0}), object("a", []any{2}), object("a", []any{3})}},
		{"catch", `try error("x") catch .`, []any{object(), object("a", 1)}},
		{"reduce", "reduce .a[] as $x (0; . + $x)", []any{object("a", []any{1}), object("a", []any{})}},
		{"path expression", "(if .a then .b else .c end) |= 1", []any{object(), object("a", true), object()}},
		{"alternative as a path", "(.a // .b) |= 1", []any{object(), object("a", 1)}},
		{"own function", "def f: if . then 1 else 2 end; .a | f", []any{object(), object("a", true), object()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plain, err := Compile(parsed(t, test.program))
			if err != nil {
				t.Fatal(err)
			}
			traced, err := CompileTraced(parsed(t, test.program), func(string) bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			for i, input := range test.inputs {
				want, wantErr := plain.Run(context.Background(), input)
				got, err := traced.Run(context.Background(), input)
				if (err == nil) != (wantErr == nil) || !cmp.Equal(got, want) {
					t.Errorf("input %d: got %v and %v, want %v and %v", i, got, err, want, wantErr)
				}
				if fresh := traced.Fresh(); fresh != (i == 0 || i < len(test.inputs)-1) {
					t.Errorf("input %d: a new branch is reached: %t", i, fresh)
				}
			}
			traced.Forget()
			_, _ = traced.Run(context.Background(), test.inputs[0])
			if !traced.Fresh() {
				t.Error("no branch is new after Forget")
			}
		})
	}
}

func TestCompileTracedWithoutBranches(t *testing.T) {
	for _, program := range []string{".a.b", `"\(.a|if . == null then error("a is null") end)"`, "def skipped: if . then 1 else 2 end; .a | skipped"} {
		traced, err := CompileTraced(parsed(t, program), func(function string) bool { return function == "skipped" })
		if err != nil || traced != nil {
			t.Errorf("%s: got %v and %v, want no branches", program, traced, err)
		}
	}
}

func parsed(t *testing.T, program string) *gojq.Query {
	t.Helper()
	query, err := gojq.Parse(program)
	if err != nil {
		t.Fatal(err)
	}
	return query
}
