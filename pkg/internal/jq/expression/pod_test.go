package expression

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// sampled is the input of the expressions of these tests.
const sampled = `{
  "spec": {"size": 3, "name": "web", "on": false, "ratio": 1.5, "list": [3, 1, 2], "text": "a-b-c", "äöü": "ß",
    "items": [{"name": "b", "n": 2}, {"name": "a", "n": 1}, {"name": "b", "n": 3}],
    "labels": {"x": "1", "y": "2"}, "empty": [], "nothing": null, "json": "{\"a\":[1,2]}", "date": "2024-02-29T12:00:00Z"},
  "metadata": {"name": "one", "namespace": "team"}
}`

var podVars = map[string]any{
	"$children": map[string]any{"web": map[string]any{"status": map[string]any{"ready": 2}}, "db": nil},
	"$related":  map[string]any{"spaces": []any{map[string]any{"metadata": map[string]any{"name": "n1"}}, map[string]any{"metadata": map[string]any{"name": "n2"}}}},
	"$item":     map[string]any{"key": "k"}, "$index": 4,
}

// inPods are expressions that a pod must evaluate like a Sensor.
var inPods = []string{
	// Paths.
	".", ".spec.size", `.spec["name"]`, ".spec.none.none", ".spec.list[0]", ".spec.list[-1]", ".spec.list[9]", ".spec.list[1:]", ".spec.list[:-1]",
	".spec.text[2:3]", ".spec.items[].name", "[.spec.items[].name]", ".spec.items[0].name?", "[.spec.size[]?]", `.spec."äöü"`, ".spec[.spec.name]",
	"$children.web.status.ready", "$children.db.status.ready", "[$related.spaces[].metadata.name]", "$item.key", "$index", "[.spec.labels[]]", ".spec.nothing[1:2]",
	`.spec["na" + "me"]`, `.spec."na\("me")"`,
	// Operators.
	".spec.none // 5", ".spec.on // 5", "(.spec.size | .x)? // 6", "[.spec.empty[] // 7]", "1, 2", "[1, 2 + 3]", ".spec.size + 1", ".spec.size - 1.5", ".spec.size * 2",
	"7 / 2", "6 / 2", "7 % 3", "-7 % 3", "5.9 % 3.9", `"a" + "b"`, "[1] + [2]", "[1, 2, 1] - [1]", `{a: 1} + {b: 2}`, `{a: {b: 1}} * {a: {c: 2}}`, "null + 1", `"ab" * 3`, `"x" * 0`, `"x" * -1`, `"x" * 1.9`, `"a,b" / ","`,
	"1 == 1.0", "1 == true", `[1, {"a": 2}] == [1, {"a": 2}]`, "null < false", "false < true", "true < 0", "0 < \"\"", `"b" > "a"`, "[1] < [1, 2]", `{"a": 1} < {"a": 2}`, `{"a": 2} < {"b": 1}`, "[] < {}",
	"true and false", "false or true", "null and error", "true or error", "[(true, false) and (true, false)]", "-(.spec.size)", "[(1, 2) + (10, 20)]",
	// Making.
	"[]", "{}", "[.spec.list[] | . * 2]", `{a: 1, "b c": 2, (.spec.name): 3, "x\(.spec.size)": 4}`, "{metadata}", ".spec.name as $n | {$n}", "{a: (1, 2)}", "[{(\"a\", \"b\"): (1, 2)}]",
	`"\(.spec.name)-\(.spec.size)-\(.spec.on)-\(.spec.list)"`, `"\(1, 2)-\(3, 4)"`, `@base64 "x\(.spec.name)"`, `@json "v=\(.spec.labels)"`, `@uri "\("a b/ü")"`,
	`"<a href='x'>&\"", 1, null, [1, "a'b", null], {a: "<"} | @html, try @sh catch .`, `@sh "echo \(.spec.name)"`,
	`"é\n\t\"" | @json`, ".spec.labels | @text", `"aGk=" | @base64d`, ".spec | @base64",
	// Control.
	"if .spec.size > 2 then \"big\" elif .spec.size == 2 then \"two\" else \"small\" end", "if .spec.on then 1 end", "[if (true, false) then 1 else 2 end]", "if empty then 1 else 2 end",
	"try error catch .", `try error("x") catch .`, `try error({a: 1}) catch .a`, "[.spec.list[] | try (if . == 1 then error(\"no\") else . end) catch 0]", "try (1 | .x)",
	".spec.size as $x | $x + 1", "[.spec.list[] as $x | $x * $x]", "reduce .spec.list[] as $x (0; . + $x)", "reduce empty as $x (3; 4)", "[reduce (1, 2) as $x (0; ., $x)]",
	"def f: . + 1; .spec.size | f", "def f(g): [g, g]; f(.spec.name)", "def f($a; $b): $a + $b; f(1; 2)", "def f($a): a; f(1, 2)", "def f: 1; def f: 2; f", "def f(g): def h: g; h; f(.spec.size)",
	// Numbers, as text and as values: JSON has no .5, 5. and 007.
	".5, 5., 007, 5.e1, -.5, -007, .spec.list[01]", `"x\(1e18)y"`, "1e-7 | tostring", "[1e17, 1e21, 1e-5, 1e-6, 1e-7, 0.1, 1e300, 1e1000, -1e1000] | tojson", "1e1000 - 1e1000 | tostring", "1e1000", "9007199254740993 | tostring, . + 1",
	"9223372036854775807 + 1 | tostring", "[9007199254740993] == [9007199254740992.0]", "-0 | tostring", "(.spec.size - 3) * -1 | tostring", "-(.spec.size - 3) | tostring", `"1.0" | fromjson | tostring, (. + 1 | tostring), -.`, `"1e400" | fromjson | tojson`,
	`.spec.list["1", 0.9, -0.5]?`, ".spec.list[0.5:1.5]", "-1.5 | ceil, round | tostring", "1.5 % 1e300", `"_1", "0x1", "1_0", " 1", ".5", "5.", "+7" | tonumber?`,
	// Texts that are not what they should be.
	`"%%%", "a", "aGk", "aGk=", "a=Gk", "aG\nk" | try @base64d catch .`, `"/w==" | @base64d | length, @base64, explode, tojson`, `"4oI=", "rA==" | @base64d`, `("4oI=" | @base64d) + ("rA==" | @base64d)`, `"\u007f\u0000" | tojson`, `"\u001cx\u0085" | trim | explode`,
	`"2024-02-30T12:00:00Z", "2024-2-3T1:2:3+02:30", "2024-02-29T12:00:60Z" | fromdate`, "1e18, -1e10, 253402300800 | todate", "[2024, 1, 30, 25] | todate", "[1, 1e300] | todate", `"[1,2" | fromjson?`, `"NaN" | try fromjson catch 1`,
	// Order of several values, and which failures count.
	"[.spec.list[(0, 1):(2, 3)]]", "[(.spec.list, [7, 8])[0, 1]]", `[{"x\(1, 2)"}]`, "any(1, error; .)", "[limit(1; 1, error)]", "try limit(-1; 1) catch .", "[last(empty)]", "[.spec.name.x // 6]", ".spec.name.x // 6", "[.spec.list[] | .x]?", ".spec.name.x.y?",
	"[.spec.labels.x.y?]", "reduce (1, 2) as $x (0; empty)", "true | contains(false)", "null | has(0)", `{"a": 1} | join("-")`, `[1, null, "a"] | join(null)`, "[[1, [2]]] | flatten(null)", "[1, 2] | flatten(-1)", "min_by(.x)", `"a" | index("")`, ".spec.list | .[[1]]", "to_entries | length",
	// Variables are of the place where they are written.
	"5 as $x | def f($x; $y): [$x, $y]; f(1; $x)", "def f(g): 2 as $x | g; 1 as $x | f($x)", "1 as $item | [$item]", "def f($item): [$item, $index]; f($item.key)", "1 as $x | {$x, $x: 2}?", `"k" as $x | {$x: 2}`, "1 as $x | reduce (2, 3) as $x ($x; . + $x) | [., $x]?",
	// Functions.
	"[.spec.list[] | select(. > 1)]", ".spec.list | map(. + 1)", ".spec.labels | map_values(tonumber)", ".spec.list | map_values(empty)", "[limit(2; .spec.list[])]", "first(.spec.list[])", ".spec.list | first, last, nth(1)",
	"[isempty(empty), isempty(1), isempty(1, error)]", ".spec.labels | keys", ".spec.list | keys", `.spec | has("size", "none")`, ".spec.list | has(1, 5)", `"size" | in({"size": 1})`,
	".spec.labels | to_entries", ".spec.labels | with_entries(.value |= . )", ".spec.items | map({name, value: .n}) | from_entries", `[{"key": 1, "value": 2}] | from_entries`, ".spec.list | add", ".spec.empty | add", "add(.spec.list[])", ".spec.labels | add",
	`"foobar" | contains("oba")`, `{"a": ["bc"]} | contains({"a": ["b"]})`, `[1, 2] | contains([2])`, `"b" | inside("abc")`, ".spec.list | length", ".spec.text | length", "null | length", "-5 | length", ".spec.labels | length",
	".spec.list | sort", `[null, true, 1, "a", [1], {"a": 1}, false] | sort`, ".spec.items | sort_by(.name, -.n)", ".spec.items | group_by(.name)", "[1, 1.0, 2] | unique", ".spec.items | unique_by(.name)", ".spec.items | min_by(.n), max_by(.n)", "[] | min, max", ".spec.list | min, max",
	".spec.list | reverse", "null | reverse", `"abc" | reverse`, "[[1, [2]], 3] | flatten, flatten(1)", "[range(3)]", "[range(1; 3)]", "[range(0.5; 3)]", "[true, false] | any, all", ".spec.list | any(. > 2), all(. > 0)", "any(.spec.list[]; . == 2)", "all(empty; error)",
	`"a,b, cd" | split(", ")`, `"abc" | split("")`, `"" | split(",")`, `"" | split("")`, `["a", 1, null, true] | join("-")`, "[] | join(\",\")", `"abc" | startswith("a"), endswith("c"), ltrimstr("a"), rtrimstr("c"), ltrimstr(1)`, `"  x " | trim`,
	`"aÉz" | ascii_downcase, ascii_upcase`, `"aü😀" | explode`, `[97, 252, 128512] | implode`, ".spec.labels | tojson", ".spec.json | fromjson", "[1.0, 1.5, 1e3, 100000000000000000000] | tojson", ".spec.list | tostring", `"x" | tostring`, `"12", "1.5" | tonumber`,
	`"abcabc" | index("c")`, "[1, 2, 1] | index(1)", "[1, 2] | index(3)", "null | index(1)", ".spec | type", "[1, \"a\", null, true, [], {}] | map(type)", "1.5 | floor, ceil, round", "-1.5 | floor, ceil, round, abs", "2.5 | round",
	"1709208000 | todate", ".spec.date | fromdate", ".spec.date | fromdateiso8601 | todateiso8601", "[.spec.list[] | IN(1, 2)]", "[1, null, \"a\"] | map(values, nulls, strings, numbers)", "[[], {}, 1] | map(arrays, objects, scalars, iterables)",
	".spec.labels | fingerprint", ".spec | fingerprint", `"" | fingerprint`, "[1.0, 1] | fingerprint",
	`"100m", "64Mi", "1.5Gi", "2", "1e3", 7, "3k", "0.5", "5E", "2Ei", "-1" | quantity`, `"x" | quantity`, `["1.27.3", "v1.27", "1.27.3-rc.1", "1.27.3-rc.2", "1.28.0+build", "1.9", "2"] | sort_by(semver)`,
	`"1.x" | semver`, `"10.1.2.3/16" | cidrhost(5, 0, 65535, 65536, -1)`, `"10.0.0.0/8" | cidrsubnet(8; 0, 3, 255, 256)`, `"10.0.0.0/30" | cidrsubnet(3; 0)`, `"x" | cidrhost(1)`,
	`"😀ü" | fingerprint`, `"", "abc", "😀ü", ("a" * 200) | sha256`, ".spec.list[] | try sha256 catch .", `def sha256: "own"; .spec.name | sha256`, `"/w==" | @base64d | sha256`,
	// Regular expressions.
	`.spec.text | test("b"), test("^b"), test("B"; "i"), test("^a.c$"; null), test("[")?`, `.spec.text | [match("-"), match("[a-c]"; "g"), match("(?<x>b)|(z)")]`,
	`.spec.text | capture("(?<first>.)-(?<second>.)(?<third>z)?"), [scan("[a-z]"), scan("(.)-"), scan("A"; "i")], [splits("-"), splits("B"; "i")], split("-"; null), split("B"; "gi")`,
	`.spec.text | sub("-"; "+"), gsub("-"; "+"), gsub("(?<x>[a-z])"; "\(.x | ascii_upcase)"), [sub("(?<x>[a-c])"; .x, "\(.x)2"; "g")], gsub("z"; "y"), gsub(""; "."), gsub("B"; ""; "i")`,
	`"a\nb", "", "äb" | [match(""; "g").offset], test("^b"), test("(?m)^b"), test("a.b"; "m"), gsub("^|$"; "|"), gsub("\\b"; "|")`,
	`.spec | .list, .size, .nothing | try test("a") catch ., try gsub("a"; "b") catch ., try capture("a"; "i") catch ., try split("a"; "x") catch .`,
	`"a" | try test("("; "i") catch ., try test("a"; "x") catch ., try sub("a"; 1) catch .`,
	`"^[a-z]+" as $p | .spec.text | test($p), test($p + "$"), test("\($p)$"), sub($p | ltrimstr("^"); "x")`,
	`def is($p; f): test($p; f); def part: "[a-z]"; .spec.text | is("A"; "i"), is(part + "-"; null), is(["x", "y"] | join("|"); "g" + "i")`,
	`def all(p): "A" as $a | p; .spec.text | ("b" as $a | all(test($a))), ("b" as $a | "c" as $b | all(test($a + "-" + $b)))`,
	`def test(p): "own"; .spec.text | test("a")`, `[.spec.items[].name | select(test("^a|c$"))]`, `.spec.labels | (to_entries | map(select(.key | test("x"))) | from_entries)`,
	// Errors.
	"try .spec.size.x catch .", "try error(null) catch .", `try ({} - [1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaéé"]) catch .`, `try ([] | has("a")) catch .`, "try (1 / 0) catch .", `try ("a" * 1e10) catch .`, `try ("x" | tonumber) catch .`, "try {(1): 2} catch .",
	".spec.size.x", ".spec.name[0]", ".spec.name[-1]", ".spec.name[9]", ".spec.list.x", "1 / 0", "1 % 0", `"a" - "b"`, "{} + 1", "true | length", `"x" | tonumber`, "[1] | join(1)", "[1, 2] | join(1)", `"x" | fromjson`, `1 | startswith("a")`, "{} | sort", "[{}] | join(\",\")", ".spec.size[]", `error("own")`, "error", "null | keys", "{(1): 2}", `"a" | todate`, `"x" | fromdate`,
}

// outcome of one expression: its values up to the first error, and whether there was one.
type outcome struct {
	Values []any `json:"values"`
	Failed bool  `json:"failed"`
}

const harness = `
import json, sys
sys.path.insert(0, "../../../../templates/runtime")
from expressions import ExpressionError, evaluated
given, names = json.loads(sys.argv[1]), json.loads(sys.argv[2])
answers = []
for node in json.load(sys.stdin):
    values, failed = [], False
    try:
        for value in evaluated(node["expr"], given, names):
            values.append(value)
    except ExpressionError:
        failed = True
    answers.append({"values": values, "failed": failed})
json.dump(answers, sys.stdout)
`

// TestPodAgrees evaluates each expression with gojq and in Python.
func TestPodAgrees(t *testing.T) {
	var nodes []Node
	var kept []string
	for _, source := range inPods {
		node, problems := BareForPod(source)
		if strings.Contains(source, "|=") {
			if len(problems) == 0 {
				t.Errorf("%s: a pod takes it", source)
			}
			continue
		}
		if len(problems) > 0 {
			t.Errorf("%s: %v", source, problems)
			continue
		}
		nodes, kept = append(nodes, node), append(kept, source)
	}
	got := python(t, nodes)
	for i, source := range kept {
		want := sensors(t, source)
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("%s: -Sensor +pod\n%s", source, diff)
		}
	}
}

func python(t *testing.T, nodes []Node) []outcome {
	t.Helper()
	in, err := json.Marshal(nodes)
	if err != nil {
		t.Fatal(err)
	}
	names, err := json.Marshal(podVars)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-B", "-c", harness, sampled, string(names))
	cmd.Stdin = bytes.NewReader(in)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	var answers []outcome
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// withOwn is the expression with the functions that jq does not have.
func withOwn(t *testing.T, source string) string {
	t.Helper()
	query, err := gojq.Parse(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	source, _ = withFunctions("("+source+")", query)
	return source
}

// sensors is what gojq makes of an expression.
func sensors(t *testing.T, source string) outcome {
	t.Helper()
	out, _ := inSensor(t, source, sampled)
	return out
}

// inSensor is what gojq makes of an expression, its first 200 values; true if
// it does not end.
func inSensor(t *testing.T, source, on string) (outcome, bool) {
	t.Helper()
	var input any
	if err := json.Unmarshal([]byte(on), &input); err != nil {
		t.Fatal(err)
	}
	p, err := compile(withOwn(t, source), nil)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	values := make([]any, 0, 4)
	for _, name := range variables() {
		v, err := plain(podVars[name])
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	out := outcome{Values: []any{}}
	query, _, err := parseOwn(p.source)
	if err != nil {
		t.Fatal(err)
	}
	code, err := gojq.Compile(query, gojq.WithVariables(variables()), jq.HashFunction())
	if err != nil {
		t.Fatal(err)
	}
	for iter := code.RunWithContext(ctx, input, values...); len(out.Values) < 200; {
		v, ok := iter.Next()
		if !ok {
			break
		}
		back, err := handedOn(v)
		if err != nil {
			out.Failed = true
			break
		}
		out.Values = append(out.Values, back)
	}
	return out, ctx.Err() != nil
}

// handedOn is a value as it comes out of a Sensor, which writes it as JSON.
func handedOn(v any) (any, error) {
	if err, failed := v.(error); failed {
		return nil, err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var back any
	err = json.Unmarshal(data, &back)
	return back, err
}

func TestForPodRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"${ .spec.size":                          "no closing }",
		"${ }":                                   "empty",
		"${ .spec. }":                            "not jq",
		"${ now }":                               "function now",
		"${ .a |= 1 }":                           "operator |=",
		`${ test(.x) }`:                          "expression and the flags of test cannot be computed",
		"${ del(.a) }":                           "function del",
		"${ .. }":                                "does not know",
		"${ . as [$a] | $a }":                    "only one $name after `as`",
		"${ foreach .a[] as $x (0; 1) }":         "does not know",
		"${ def f: f; f }":                       "calls itself",
		"${ label $out | break $out }":           "does not know",
		"${ @csv }":                              "@csv",
		"${ reduce .a as {b: $x} (0; 1) }":       "only one $name after `as`",
		"${ .a ?// .b as $x | $x }":              "",
		"${ limit(1; 2; 3) }":                    "function limit",
		`${ "unclosed }`:                         "no closing quote",
		"${ path(.a) }":                          "function path",
		"${ env.HOME }":                          "function env",
		"${ getpath([\"a\"]) }":                  "function getpath",
		"${ def f($x): f($x - 1); f(1) }":        "calls itself",
		"${ input }":                             "function input",
		"${ [splits(\"a\"; .f)] }":               "flags of splits cannot be computed",
		"${ @csv \"echo \\(.a)\" }":              "@csv",
		"${ . as {a: $x} | $x }":                 "only one $name after `as`",
		"${ [.[] | recurse] }":                   "function recurse",
		"${ walk(.) }":                           "function walk",
		"${ .x as $x | sub(\"a\" + $x; \"b\") }": "flags of sub cannot be computed",
		`${ test("a", "b") }`:                    "flags of test cannot be computed",
		`${ test(empty) }`:                       "flags of test cannot be computed",
		`${ test(null) }`:                        "flags of test cannot be computed",
		`${ test("a"; 1) }`:                      "flags of test cannot be computed",
		`${ "/w==" | test(@base64d "aGk=/w==\("x")") }`:                    "flags of test cannot be computed",
		`${ test("/w==" | @base64d) }`:                                     "flags of test cannot be computed",
		`${ reduce .a[] as $p (0; test($p)) }`:                             "flags of test cannot be computed",
		`${ def f($p): test($p); f(.a) }`:                                  "flags of test cannot be computed",
		`${ def f(p): test(p); f(.a) }`:                                    "flags of test cannot be computed",
		`${ def p: p; test(p) }`:                                           "flags of test cannot be computed",
		`${ test("(a{1,99}){1,9}" * 3; "\("g", .a)") }`:                    "flags of test cannot be computed",
		"${ " + strings.Repeat(`test("a{0,999}"), `, 12) + "1 }":           "larger than a pod takes",
		"${ $__loc__ }":                                                    "",
		"${ ltrimstr(\"a\") | ascii }":                                     "function ascii",
		"${ getpath([\"a\",\"b\"]) // \"x\"}":                              "function getpath",
		"${ try fromjson catch . }":                                        "error text of fromjson",
		"${ try ([.[] | fromdate]) catch \"no date: \\(.)\" }":             "error text of fromdate",
		"${ " + doubling(40) + " }":                                        "larger than a pod takes",
		"${ " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + " }": "nested deeper",
		"${ " + strings.Repeat("9", 2000) + " }":                           "digits",
	} {
		_, problems := ForPod(map[string]any{"f": map[string]any{"g": text}})
		if want == "" {
			continue
		}
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: got %v, want one problem with %q", text, problems, want)
			continue
		}
		if diff := cmp.Diff([]string{"f", "g"}, problems[0].Path); diff != "" {
			t.Error(diff)
		}
	}
}

// TestForPodTakes: what is refused is no more than has to be.
func TestForPodTakes(t *testing.T) {
	for _, source := range []string{
		"try (try fromjson catch error(1)) catch .", "[.[] | fromjson?] | try .[0].x catch .", `try fromjson catch {a: "none", b: [1]}`, "try (.x // error) catch .",
		"[" + strings.Repeat("1, ", 1000) + "1]", strings.Repeat("[", 150) + strings.Repeat("]", 150), strings.Repeat("9", 900),
	} {
		if _, problems := BareForPod(source); len(problems) > 0 {
			t.Errorf("%s: %v", source, problems)
		}
	}
}

// doubling are functions that each call the one before twice.
func doubling(times int) string {
	var b strings.Builder
	b.WriteString("def f0: 1; ")
	for i := range times {
		fmt.Fprintf(&b, "def f%d: [f%d, f%d]; ", i+1, i, i)
	}
	fmt.Fprintf(&b, "f%d", times)
	return b.String()
}

func FuzzForPod(f *testing.F) {
	f.Add("${ [.5, 5., 007, 1e1000, -.5e3, .a[007]] }")
	f.Add("${ .spec.size // 0 }")
	f.Add(`$${ "\(1)" } ${ if . then 1 end }`)
	f.Add("${ def f(g): g | g; [f(.[])] | map(select(.a > 1)) }")
	f.Fuzz(func(t *testing.T, text string) {
		node, problems := ForPod(map[string]any{"f": text})
		if len(problems) > 0 {
			return
		}
		if _, err := json.Marshal(node); err != nil {
			t.Errorf("%q compiles to what does not encode: %v", text, err)
		}
	})
}

// TestFingerprintInPod tests that the pod computes fingerprints itself wherever they are: its jq
// takes fifty times as long.
func TestFingerprintInPod(t *testing.T) {
	variable, problems := Define("hash", "${ .spec | fingerprint }", Scope{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	scope := Scope{Variables: map[string]*Variable{"hash": variable}}
	for _, text := range []string{"$variables.hash", "[.spec | fingerprint][0]", withOwn(t, ".spec | fingerprint")} {
		node, problems := scope.BareForPod(text)
		tree, err := json.Marshal(node)
		if err != nil || len(problems) > 0 || !strings.Contains(string(tree), `["call","fingerprint/0"`) || strings.Contains(string(tree), "reduce") {
			t.Errorf("%s: %v %v %s", text, err, problems, tree)
		}
	}
	own, _ := BareForPod(`def fingerprint: "own"; .spec | fingerprint`)
	if tree, _ := json.Marshal(own); strings.Contains(string(tree), "fingerprint/0") {
		t.Errorf("got %s", tree)
	}
}
