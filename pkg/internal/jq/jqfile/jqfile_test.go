package jqfile

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

func TestProgram(t *testing.T) {
	const prelude = `
# a comment
def unused: hole::nothing;
def once: $new.a;
def twice: .b | .c;
def filters(f; key): {(key): f};
def value($v): $v + $v;
def countdown: if . > 0 then . - 1 | countdown else . end;
`
	on, off := Holes{"option::x": Bool(true)}, Holes{"option::x": Bool(false)}
	for _, tt := range []struct {
		name, reason, program string
		holes                 Holes
		want                  string
	}{
		{"comments", "the Sensor need not read them", ". # why\n| .a", nil, ".a"},
		{"text", "it is a constant", "hole::a", Holes{"hole::a": String(`x"\(1)` + "\u2028\ufeff<")}, `"x\"\\(1)\u2028\ufeff<"`},
		{"key", "a constant needs no parentheses", "{(hole::a): 1}", Holes{"hole::a": String("x")}, `{"x": 1}`},
		{"raw", "it is emitted as it is", "1 + hole::a", Holes{"hole::a": Raw("(.a|.b)")}, "1 + (.a|.b)"},
		{"list", "it needs parentheses here", "first(hole::a) + hole::a", Holes{"hole::a": RawList("1, 2")}, "first(1, 2) + (1, 2)"},
		{"option on", "the other branch costs", "if option::x then 1 else hole::a end", on, "1"},
		{"option off", "its hole need not be filled", "if option::x then hole::a else 2 end", off, "2"},
		{"option in elif", "so does this", "if . then 1 elif option::x then 2 else 3 end", off, "if . then 1 else 3 end"},
		{"last option in elif", "the rest is out of reach", "if . then 1 elif option::x then 2 else 3 end", on, "if . then 1 else 2 end"},
		{"option in and", "it is a condition", ".a and option::x and .b", on, ".a and .b"},
		{"option in or", "it is a condition", ".a or option::x and .b", off, ".a"},
		{"negated option", "it is a condition", "(option::x | not) or .b", on, ".b"},
		{"option in a sum", "objects are joined", "{a: 1} + (if option::x then {b: 2} else {} end) + {c: 3}", on, "{a: 1, b: 2, c: 3}"},
		{"option off in a sum", "an empty object adds nothing", ".m + {a: 1} + .n + (if option::x then {b: 2} else {} end)", off, ".m + {a: 1} + .n"},
		{"sum of input", "null + {} is {}", ". + (if option::x then {b: 2} else {} end)", off, ". + {}"},
		{"same key", "the last one counts", "{a: 1} + {a: 2}", nil, "{a: 1} + {a: 2}"},
		{"texts", "constants are joined", `.a + ("/" + hole::a + "/" + .b)`, Holes{"hole::a": String("x")}, `.a + "/x/" + .b`},
		{"sum of numbers", "they are not texts", "1 + (2 + .a)", nil, "1 + (2 + .a)"},
		{"variable of an option", "nothing reads it", "(if option::x then .a else {} end) as $y | if option::x then $y else 1 end", off, "1"},
		{"definition called once", "a call costs", "1 as $new | once", nil, "1 as $new | $new.a"},
		{"suffix of a call", "the body is a term", "twice.d", nil, "(.b | .c).d"},
		{"definition called twice", "it is smaller", "[twice, twice]", nil, "def twice: .b | .c; [twice, twice]"},
		{"filters", "each call is another", `[filters(.a, .b; "x"), filters(1; "y")]`, nil, `[{"x": (.a, .b)}, {"y": 1}]`},
		{"value", "it is evaluated once", "value(.a)", nil, "def value($v): $v + $v; value(.a)"},
		{"recursion", "it cannot be inlined", "countdown", nil, "def countdown: if . > 0 then . - 1 | countdown else . end; countdown"},
		{"pipes", "they need no parentheses", "((1 as $x | $x) | .a) | .b", nil, "1 as $x | $x | .a | .b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Parse(fstest.MapFS{"prelude.jq": {Data: []byte(prelude)}, "p.jq": {Data: []byte(tt.program)}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Join(strings.Fields(set.Program("p", tt.holes)), " ")); diff != "" {
				t.Errorf("%s\n%s", tt.reason, diff)
			}
		})
	}
}

// TestMeaning covers that the generated program has the meaning of the file.
func TestMeaning(t *testing.T) {
	long := strings.Repeat(" + 1", 80)
	for _, source := range []string{
		"1 - (2 - 3)", "1 - 2 - 3", "(1, 2) * 3", "[(1, 2) + (10, 20)]", "[.a // 1 | . + 1]", "(.a // null) // 2", ".a // (null // 2)",
		"(1 == 1) == true", "-(1 + 2)", "-.n", "[.[]?]", ".s[1:3]", ".l[-1]", `.l[:-1] | join("-")`, "12345678901234567890", "1.0e3", "0.1",
		`"a\(1 + 2)b\("c\(3)")"`, `@base64 "x\(.n)"`, ".n as [$a] ?// $a | $a", ". as {n: $x, l: [$y]} | $x + $y", ". as {$n} | $n", "{n}", "{\"n\"}", `{"a\(1)": 2}`, "{(\"x\", \"y\"): 1}",
		"reduce .l[] as $x (0; . + $x)", "[foreach .l[] as $x (0; . + $x; [$x, .])]", "label $out | .l[] | if . > 1 then ., break $out else empty end",
		"try error(\"x\") catch .", "(try error(\"x\") catch .) + \"y\"", "[try error(\"x\")]", "[.l[] | try (if . > 1 then error else . end)]",
		"def f(g): g | g; 1 | f(. + 1)", "[limit(2; .l[] | def f: . + 1; f)]", ".a = 1 | .n |= . + 1", ".l |= map(. * 2)", "(.a, .b) = (1, 2)", "[..]", "[.. | numbers]",
		"if .n > 1 and (.a | not) or false then \"x\" else 1 end", "true as $x | $x and (false or true)", `.["n"]`, `."n"`, `.l | .[0], .[1]`, "[1, (2 | . + 1), 3]", "{a: (1, 2)}", "{a: (1 | . + 1)}", "{a: (.n as $x | $x)}",
		"1" + long, "[1" + strings.Repeat(", 1", 90) + "] | length", "{a: {b: {c: \"" + strings.Repeat("x", 150) + "\"}}, d: [1" + strings.Repeat(", 2", 60) + "]}",
		"if .n == 1 then \"" + strings.Repeat("x", 190) + "\" elif .n == 2 then (1" + long + ") else 2 end", "\"\\u0000\\u001f\\u007f\\u0085\U0001F600\\ud800\"",
	} {
		query, err := gojq.Parse(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		folded := (&rewriter{query: fold}).of(query)
		emitted := printed(folded)
		again, err := gojq.Parse(emitted)
		if err != nil {
			t.Errorf("%s\nbecomes\n%s\n%v", source, emitted, err)
			continue
		}
		if diff := cmp.Diff(values(t, query), values(t, again)); diff != "" {
			t.Errorf("%s\nbecomes\n%s\n%s", source, emitted, diff)
		}
	}
}

func values(t *testing.T, query *gojq.Query) string {
	t.Helper()
	all := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeArray, Array: &gojq.Array{Query: query}}}
	program, err := jq.Compile(all)
	if err != nil {
		t.Fatal(err)
	}
	value, err := program.Run(context.Background(), map[string]any{"n": 2, "s": "text", "l": []any{1, 2, 3}})
	if err != nil {
		return err.Error()
	}
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
