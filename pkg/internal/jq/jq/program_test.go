package jq_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

func compile(t *testing.T, source string) *jq.Program {
	t.Helper()
	query, err := gojq.Parse(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	before := query.String()
	program, err := jq.Compile(query, "$v")
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	if query.String() != before {
		t.Errorf("compiling changed %s to %s", before, query)
	}
	return program
}

// endless are programs that would not end or would use all memory, with one for each
// way to create a large value from a small one.
var endless = []string{
	`repeat(1) | select(. == 2)`,
	`last(repeat(1))`,
	`[range(infinite)]`,
	`[repeat(.)]`,
	`until(false; .)`,
	`def f: f; f`,
	`def f: [f]; f`,
	`def f: 1 + f; f`,
	`reduce range(1e12) as $i (0; . + 1)`,
	`[limit(1e12; repeat(1))]`,
	`[range(100)] | [., ., ., ., ., .] | [combinations]`,
	`"x" * 1e9`,
	`1e9 * "x"`,
	`. as $x | "x" | . * 1e8`,
	`{a: "x"} | .a *= 1e9`,
	`"x" | . *= 1e9`,
	`[range(1e6) | "x" * 1e6]`,
	`.[536870911] = 1`,
	`.[5e8] |= 1`,
	`.[5e8] += 1`,
	`.a[300000000:300000001][300000000] = 1`,
	`setpath([536870911]; 1)`,
	`setpath(["a", 536870911]; 1)`,
	`pick(.[536870911])`,
	`getpath([536870911]) = 1`,
	`5e8 as $i | .[$i] = 1`,
	`def first: .[500000000]; first = 1`,
	`def path(f): []; .[500000000 + 0] = 1`,
	`def to(f): f = 1; to(.[500000000])`,
	`fromstream([[5e8], 1], [[5e8]])`,
	`reduce range(60) as $i ("x"; . + .)`,
	`reduce range(60) as $i ("x"; "\(.)\(.)")`,
	`reduce range(60) as $i ("x"; . += .)`,
	`reduce range(60) as $i ({a: "x"}; .a += .a)`,
	`reduce range(60) as $i ("x"; [., .] | add)`,
	`reduce range(60) as $i ("x"; [., .] | join(""))`,
	`reduce range(60) as $i ("x"; add(., .))`,
	`reduce range(60) as $i (["x"]; . + .)`,
	`reduce range(60) as $i (["x"]; [., .] | flatten)`,
	`reduce range(60) as $i (7; . * .)`,
	`reduce range(60) as $i (1; [., .])`,
	`reduce range(60) as $i (1; {a: ., b: .}) | tojson`,
	`reduce range(60) as $i (1; [., .]) | tostring`,
	`reduce range(60) as $i (1; [., .]) | @json`,
	`reduce range(60) as $i (1; [., .]) | "\(.)"`,
	`reduce range(60) as $i (1; [., .]) | @base64 "x\(.)"`,
	`reduce range(60) as $i (1; [., .]) | . == (. | reverse)`,
	`reduce range(60) as $i (1; [., .]) | [., .] | sort`,
	`reduce range(60) as $i (1; [., .]) | . as $x | [1, 2] | sort_by([$x, .])`,
	`reduce range(60) as $i (1; [., .]) | contains(reverse)`,
	`reduce range(60) as $i (1; [., .]) | flatten`,
	`reduce range(60) as $i (1; [., .]) | error`,
	`reduce range(60) as $i (1; [., .]) | del(.[1])`,
	`[range(1e5)] | join("x" * 1e6)`,
	`[[range(1e5)], (range(1e5) | [])] | transpose`,
	`("x" * 4e6) | gsub(""; "y")`,
	`"x" * 2e5 | gsub("x"; "y")`,
	`"x" * 2e4 | gsub("x"; "y" * 1e6)`,
	`"x" * 3.5e6 | test("x")`,
	`reduce range(1e6) as $i (1; [.])`,
}

func TestEveryEvaluationEnds(t *testing.T) {
	for _, source := range endless {
		started := time.Now()
		value, err := compile(t, source).Run(t.Context(), nil, nil)
		var limit *jq.LimitError
		if !errors.As(err, &limit) {
			t.Errorf("%s yields %.60v with error %v, want a LimitError", source, value, err)
		} else if limit.Message == "" || limit.Hint == "" {
			t.Errorf("%s: a LimitError without a message or a hint: %+v", source, limit)
		}
		if took := time.Since(started); took > 30*time.Second {
			t.Errorf("%s took %s", source, took)
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.Sys > 8<<30 { // twice what is usual: on a busy machine the meter reads late
		t.Errorf("the evaluations took %d MiB", memory.Sys>>20)
	}
}

func TestNoProgramCatchesALimit(t *testing.T) {
	for _, source := range []string{`try ("x" * 1e9) catch "caught"`, `("x" * 1e9)? // "caught"`, `("x" * 1e9) // "caught"`, `first(("x" * 1e9), 1)`, `try until(false; .) catch 1`} {
		value, err := compile(t, source).Run(t.Context(), nil, nil)
		var limit *jq.LimitError
		if !errors.As(err, &limit) {
			t.Errorf("%s yields %v with error %v, want a LimitError", source, value, err)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := compile(t, `until(false; .)`).Run(ctx, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the error of the context", err)
	}
}

func TestNoValue(t *testing.T) {
	if _, err := compile(t, `empty`).Run(t.Context(), nil, nil); !errors.Is(err, jq.ErrNoValue) {
		t.Errorf("got %v, want ErrNoValue", err)
	}
}

const document = `{"a": {"b": [1, 2.5, "x", null, {"c": true}], "n": 3}, "t": "ab\ncd", "l": ["z", "y", "x"], "m": {"k": "v", "l": "w"}, "rows": [[1, 2], [3]], "big": 12345678901234567890}`

// TestResultsEqualGojq compares the results with gojq without guards.
func TestResultsEqualGojq(t *testing.T) {
	for _, source := range []string{
		`.a.n * 2`, `2 * .t`, `.t * 0`, `.t * -1`, `.t * 0.5`, `.t * 1.5`, `.m * {k: {x: 1}, z: 2}`, `.t * .t`, `null * 1`, `[] * 2`, `.a.n * 9007199254740993`, `4611686018427387904 * 4`,
		`.t * nan`, `nan * .t`, `(1, 2) * (10, 20)`, `[(1, 2) * (10, 20)]`, `[(1, 2) + (10, 20)]`, `[("a", "b") + ("c", "d")]`, `.t + .l[0] + "x"`, `.l + .rows`, `.m + {k: 1}`, `null + .t`, `.t + 1`,
		`[(1, 2) == (1, 2)]`, `[.l[] < .l[1]]`, `.a == .a`, `.a >= .m`, `[.l[] as $x | .t | . != $x]`,
		`.l | join(", ")`, `.m | join("-")`, `[1, null, true, "x"] | join(",")`, `[.l | join("a", "b")]`, `[] | join(1)`, `.rows | join(",")`, `1 | join(",")`, `def join(x): x; .l | join(7)`,
		`.a.n += 1`, `.a.n *= 3`, `.l[] += "!"`, `.l += ["w"]`, `.a.n += (1, 2)`, `[.a.n += (1, 2)]`, `[.a.n *= (1, 2)]`, `[(.a.n, .a.m) += (1, 2)]`, `.x += 1`, `.t += 1`, `.a.n += empty`, `.a.b[1] *= 2`,
		`.m.k *= 2`, `.a.n -= 1`, `.a.n /= 2`, `.a.n %= 2`, `.q //= 5`, `.l[0] |= empty`, `.l |= map(select(. != "y"))`, `.l[] |= empty`, `.m.k = (1, 2)`, `[.m.k = (1, 2)]`, `.m.k |= (1, 2)`,
		`.l[.a.n] = "new"`, `.l[-1] = "last"`, `.l[-9] = 1`, `.l[.a.n - 1] |= ascii_upcase`, `.l[1:] = ["q"]`, `.l[:1] |= []`, `(.l | first) = 1`, `first(.l[]) = 1`, `last(.l[]) |= "z"`, `limit(2; .l[]) |= 1`,
		`(.l[] | select(. == "y")) = 1`, `getpath(["a", "n"]) = 1`, `.. |= .`, `(.a.b[] | numbers) += 1`, `. as $d | .l[$d.a.n] = 1`, `(if .a then .t else .l end) = 1`, `(.t, .a.n) = 1`, `(.x // .t) = 1`,
		`setpath(["a", "z"]; 1)`, `setpath([]; 1)`, `setpath(["l", 5]; 1)`, `setpath(1; 1)`, `pick(.a.n)`, `pick(.l[1])`, `pick(.l[.a.n - 2])`, `del(.a.b[1, 2])`, `del(.l[0], .m)`, `delpaths([["a"], ["l", 0]])`,
		`fromstream(tostream)`, `[tostream]`, `fromstream(1 | truncate_stream([[0], 1], [[1, 0], 2], [[1, 0]], [[1]]))`, `{q: {z: 1, y: {x: 2}}} | del(.q.y.x)`, `to_entries`, `with_entries(.value |= tostring)`,
		`map_values(tostring)`, `map_values(empty)`, `walk(if type == "number" then . + 1 else . end)`, `[paths]`, `.rows | transpose`, `.rows | flatten`, `[[1, [2]]] | flatten(1)`, `.l | sort`, `.l | sort_by(.)`,
		`.l | group_by(. == "y")`, `.l | unique`, `.l | unique_by(length)`, `.l | min`, `.l | max_by(.)`, `.l | index("y")`, `.l | indices("y")`, `.t | index("c")`, `.l | contains(["z"])`, `.m | inside({k: "vv", l: "w"})`,
		`.l | bsearch("y")`, `add(.l[])`, `.l | add`, `.rows | add`, `.m | add`, `[] | add`, `tojson`, `.big | tojson`, `.big + 1`, `.big * 2`, `.big * .big`, `tostring`, `@json`, `@text`, `.t | @base64`, `@base64 "a\(.t)b\(.l)"`,
		`.l | @csv`, `.l | @sh`, `.t | @uri`, `@html "<\(.t)>"`, `"\(.t)"`, `"\(.t)\(.l)"`, `"a\(.t)b\("q")c"`, `"\(1, 2) \(3, 4)"`, `["\(1, 2) \(3, 4)"]`, `"plain"`, `{"\(.t)": 1}`, `{"a\(.t)\(.l[0])": .t}`, `{(.l[]): 1}`,
		`. as {a: {n: $n}, "t": $t} | [$n, $t]`, `. as {"\("t")": $x} | $x`, `. as [$a] ?// {a: $a} | $a`, `.l as [$x, $y] | $x + $y`, `."\("t")"`, `.["l"][0]`, `.l[1:][0]`, `.t[1:3]`, `.a?.b?`, `.t | test("B"; "i")`, `[.t | match("[a-d]"; "g").string]`,
		`.t | gsub("(?<x>[ac])"; "<\(.x)>")`, `.t | sub("b"; "1", "2")`, `[.t | splits("\n")]`, `.t | split("\n")`, `.t | split("\\s"; null)`, `.t | capture("(?<one>.)")`, `[.t | scan("[a-z]")]`, `error`, `error("no")`, `try error({a: 1}) catch .a`,
		`.t | error(length)`, `try (.t * {}) catch .`, `(.t | tonumber)? // "no"`, `reduce .l[] as $x (""; . + $x)`, `foreach .l[] as $x (0; . + 1; [$x, .])`, `label $out | 1, break $out, 2`, `[limit(3; repeat(1))]`, `first(range(10; 0; -1))`,
		`[.[] | type] | IN("a")`, `IN(.t; .l[])`, `INDEX(.l[]; .)`, `[.l | combinations]?`, `[.rows | combinations]`, `def f(x): x * x; f(.a.n)`, `def f: .t + .t; f | length`, `def g(p): p += 1; g(.a.n)`, `def f: def g: 3 * .; g; .a.n | f`,
		`if .a == .m then 1 elif .t == .t then 2 else 3 end`, `-.a.n`, `-(.a.n * 2)`, `[.[]?]`, `$v + .t`, `.v = $v | .v`, `. as $x | [$x.a.n * 2, .t + .t]`, `{$v, t: (.t + .t)}`, `@json "x\(.t)y\(.a)"`, `.l | implode?`,
		`.t | explode | implode`, `ltrimstr("a")`, `[.l[] | ascii_upcase] | join("") | . * 2`, `halt_error?`, `getpath(["a", "b", 0]) * 2`, `any(.l[]; . == "y")`, `all(.l[]; . > "a")`, `isempty(.l[])`, `[.l | to_entries[] | select(.key > 0) | .value]`,
		`path(.a.b[0])`, `[path(..)]`, `[path(.l[] | select(. == "y"))]`, `path(.a | if .n == .n then .b else .n end)`, `try (.a.n *= "x") catch .`, `splits("a")?`, `.t | ascii_downcase | test("a" + "b")`, `env | length`, `now | type`,
		`[.l[] as $x | .rows[] as $y | "\($x)\($y)"]`, `.a.b as [$x, $y] | $x * $y`, `tojson | fromjson | . == . `, `.l as $l | [range($l | length)] | map($l[.] + "x")`, `"\(.a) and \(.l)" | length`, `limit(1; .l[] |= . + .)`, `.a |= with_entries(.key += "_")`,
	} {
		query, err := gojq.Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		code, err := gojq.Compile(query, gojq.WithVariables([]string{"$v"}))
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		want, wantErr := "", ""
		if value, ok := code.Run(read(t, document), "value").Next(); !ok {
			wantErr = jq.ErrNoValue.Error()
		} else if err, failed := value.(error); failed {
			wantErr = err.Error()
		} else {
			want = shown(value)
		}
		got, gotErr := "", ""
		value, err := compile(t, source).Run(t.Context(), read(t, document), "value")
		if err != nil {
			gotErr = err.Error()
		} else {
			got = shown(value)
		}
		if diff := cmp.Diff(want+wantErr, got+gotErr); diff != "" {
			t.Errorf("%s (-gojq +bounded):\n%s", source, diff)
		}
	}
}

func read(t *testing.T, text string) any {
	t.Helper()
	var out any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func shown(value any) string {
	data, err := gojq.Marshal(value)
	if err != nil {
		return fmt.Sprint(value, err)
	}
	return string(data)
}

// TestRunInSeveralGoroutines covers concurrent runs: when gojq deletes, it writes to
// the constants of the code. Without a lock, the process would crash with concurrent
// map writes.
func TestRunInSeveralGoroutines(t *testing.T) {
	var constant strings.Builder
	for i := range 200 {
		fmt.Fprintf(&constant, `k%d: {a: "1", b: {c: "2"}},`, i)
	}
	for _, source := range []string{
		`{x: {` + constant.String() + `}, y: null} | del(.y)`, `{x: {` + constant.String() + `}, y: null} | .y |= empty`,
		`{x: {` + constant.String() + `}, y: null} | delpaths([["y"]])`, `{x: {` + constant.String() + `}, y: {z: 1}} | map_values(select(has("x") | not))`,
		`{x: {` + constant.String() + `}, y: null} | with_entries(select(.value != null)) | del(.x.k0)`,
	} {
		program := compile(t, source)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 50 {
					value, err := program.Run(t.Context(), nil, nil)
					if err != nil {
						t.Error(err)
					}
					_ = shown(value) // like a caller
				}
			})
		}
		group.Wait()
	}
}
