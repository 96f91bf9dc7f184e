package expression

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomInput has values for which evaluators differ.
const randomInput = `{"spec": {
  "size": 3, "name": "web", "on": false, "ratio": 1.5, "zero": 0, "minus": -7, "half": -0.5, "huge": 1e18, "vast": 1.5e300, "tiny": 1e-7, "exact": 9007199254740991,
  "list": [3, 1, 2, 1], "mixed": [null, true, -1.5, "é", [0], {"b": 1, "a": null}, false, "", 0], "text": "a-b-c", "äöü": "ß", "odd": "\u007f\u0001\"\\é😀\u2028",
  "items": [{"name": "b", "n": 2}, {"name": "a", "n": 1}, {"name": "b", "n": 3}], "pairs": [{"key": "k", "value": false}, {"name": "n", "Value": 1}],
  "labels": {"x": "1", "y": "2"}, "empty": [], "none": {}, "nothing": null, "json": "{\"a\":[1,2.50,\"\\ud800\"]}", "date": "2024-02-29T12:00:00Z",
  "when": [2024, 1, 30, 25, -1, 59.9], "code": "w6k=", "bytes": "/+LC"},
  "metadata": {"name": "one", "namespace": "team"}}`

var (
	randomValues = strings.Fields(`. .spec .spec.size .spec.name .spec.on .spec.ratio .spec.zero .spec.minus .spec.half .spec.huge .spec.vast .spec.tiny .spec.exact .spec.list
		.spec.list[] .spec.mixed .spec.mixed[] .spec.text .spec.odd .spec.items .spec.items[].name .spec.items[]? .spec.pairs .spec.labels .spec.labels[] .spec.empty .spec.none
		.spec.nothing .spec.json .spec.date .spec.when .spec.code .spec.bytes .spec."äöü" .spec.absent .metadata .metadata.name? $children $children.web $related.spaces $item $index
		.spec.list[0] .spec.list[-1]? .spec.name[1:]? .spec.mixed[1:-1][] .spec[.spec.name]? .spec.labels["x","y"] .spec.json[.absent]?
		0 1 2 -1 3 1.5 -0 .5 5. 007 -0.5 -1.5 2.5 1e3 1e-7 0.00001 1e15 1e16 1e17 1e18 1e21 1e300 -1e300 1e1000 0.1 9007199254740993 4294967296 123456789012 100000000000000000000
		null true false empty [] {} [1,2,3] [[1],[2,[3]]] [null] [0,false,null,""] {"a":1,"b":null} {"start":1,"end":2} ["b","a"] error
		"" "a" "a-b" "é😀" "\u0000" "12" "1_0" "nan" "NaN" "-Infinity" "0x1" "1e5" "1.0" ".5" "+7" "-" "-0" "aGk=" "aGk" "aG" "a" "%%%" "a===" "/w==" "4oKs" "4oI=" "rA==" "[1,2" "[1]" "1e400" "1.50"
		"2024-02-30T12:00:00Z" "2024-2-3T1:2:3+02:00" "0001-01-01T00:00:00Z" "-0044-03-15T12:00:60-0130" "[1.0,-0,1e2]" "\"\\ud83d\\ude00\\ud800\"" "\u00a0x\u2003\n" "İı" "\u001cx" "aGk=\n"`)
	randomCalls = strings.Fields(`abs add ascii_downcase ascii_upcase ceil floor round explode implode fingerprint sha256 flatten fromdateiso8601 todateiso8601 todate fromdate fromjson tojson keys length
		max min reverse sort unique tonumber tostring trim type any all to_entries from_entries not @text @json @base64 @base64d @html @sh @uri first last values nulls strings numbers booleans arrays objects
		scalars iterables .[] .[0] .[-1] .[1.7] .[-0.5] .[1:] .[:-1] .[0.5:2.5] .[0:2] .a .name .key.a? .[]? isempty(.) error empty @uri"é\(.)" @base64d"\(.)" @json"x\(.)" abs|tostring todate|fromdate
		tojson|fromjson @base64d|@base64 @base64d|explode @base64d|length -(.) +(.) .[{"start":0,"end":1}] .[[1]] .a.b? .a[.b]?
		test("[a-z]") match("a|-";"g") capture("(?<a>[a-z])(?<b>\\d)?") scan("[a-z]+") scan("(.)-?") splits("-") split("B";"i") sub("(?<a>.)";.a+"x") gsub("";"-") gsub("(?<a>a)|b";.a,1) test("(")`)
	randomOperators = strings.Fields(`+ - * / % == != < <= > >= and or // , |`)
	randomFilters   = strings.Fields(`map map_values select sort_by group_by unique_by min_by max_by any all has contains inside startswith endswith ltrimstr rtrimstr split join index flatten in IN
		error first last isempty with_entries add nth`)
)

// randomly returns an expression of the given depth.
func randomly(r *rand.Rand, levels int) string {
	pick := func(from []string) string { return from[r.Intn(len(from))] }
	if levels <= 0 || r.Intn(9) == 0 {
		value := pick(randomValues)
		if strings.HasPrefix(value, ".") && r.Intn(3) > 0 && len(value) > 1 {
			return "$root" + value
		}
		return value
	}
	next := func() string { return randomly(r, levels-1) }
	switch r.Intn(17) {
	case 0, 1, 2, 3:
		return "(" + next() + " | " + pick(randomCalls) + ")"
	case 4, 5, 6:
		return "(" + next() + " " + pick(randomOperators) + " " + next() + ")"
	case 7, 8, 9:
		return "(" + next() + " | " + pick(randomFilters) + "(" + next() + "))"
	case 10:
		return "[" + next() + "]"
	case 11:
		return "{a: " + next() + ", (" + next() + " | tostring): " + next() + `, "x\(` + next() + `)", (` + next() + "): 1}"
	case 12:
		return "(if " + next() + " then " + next() + " elif " + next() + " then " + next() + " end)"
	case 13:
		return "(try " + next() + " catch " + pick([]string{".", ".", "tostring", next()}) + ")"
	case 14:
		return `"x\(` + next() + `)y\(` + next() + `)"`
	case 15:
		return pick([]string{"limit(9; range(" + next() + "))", "limit(9; range(" + next() + "; " + next() + "))", "limit(" + next() + "; " + next() + ")"})
	}
	return randomBinding(r, next, pick)
}

func randomBinding(r *rand.Rand, next func() string, pick func([]string) string) string {
	switch r.Intn(6) {
	case 0:
		return "(reduce " + next() + " as $x (" + next() + "; " + pick([]string{". + $x", "empty", "., $x", "$x | " + next()}) + "))"
	case 1:
		return "(" + next() + " as $x | " + next() + " + $x)"
	case 2:
		return "(" + next() + ")[" + next() + "]" + pick([]string{"", "?"})
	case 3:
		return "(" + next() + ")[" + next() + ":" + next() + "]" + pick([]string{"", "?", ".a?"})
	case 4:
		return "(1 as $x | def f($x; $y; g): [$x, $y, g, " + next() + "]; f(" + next() + "; $x; " + next() + " as $x | $x))"
	}
	return "(" + next() + " as $k | {$k, $item, a: $k" + pick([]string{"", ", $k: 2"}) + "})"
}

const randomHarness = `
import json, sys
sys.path.insert(0, "../../../../templates/runtime")
import expressions, values as limits
limits.STEPS = 1_000_000
given, names = json.loads(sys.argv[1]), json.loads(sys.argv[2])
for line in sys.stdin:
    values, failed, limit, crash = [], False, False, ""
    try:
        for value in expressions.evaluated(json.loads(line), given, names):
            values.append(value)
            if len(values) >= 200: break
        json.dumps(values, allow_nan=False)
    except limits.ExpressionError as error:
        failed, cause = True, error.__cause__
        limit = isinstance(cause, (limits.Exceeded, RecursionError, MemoryError))
        crash = "" if limit or cause is None else repr(cause)
    except BaseException as error:
        crash = repr(error)
    steps = limits.STEPS - limits.BUDGET.left
    print(json.dumps({"values": values, "failed": failed, "limit": limit, "crash": crash, "steps": steps}))
`

type randomOutcome struct {
	outcome
	Limit bool   `json:"limit"` // the expression exceeds the limits of the pod
	Crash string `json:"crash"`
	Steps int    `json:"steps"`
}

// TestPodAgreesRandomly is TestPodAgrees with random expressions. POD_EXPRESSIONS sets
// their number, POD_SEED the seed.
func TestPodAgreesRandomly(t *testing.T) {
	const batch = 1000
	count := fromEnvironment("POD_EXPRESSIONS", 4000)
	seed := fromEnvironment("POD_SEED", 1)
	var tally struct{ refused, compared, failing, limits, late int }
	for start := 0; start < count; start += batch {
		r := rand.New(rand.NewSource(int64(seed + start/batch)))
		var sources []string
		var nodes bytes.Buffer
		for len(sources) < min(batch, count-start) {
			source := ". as $root | " + randomly(r, 1+r.Intn(5))
			node, problems := BareForPod(source)
			if len(problems) > 0 {
				tally.refused++
				continue
			}
			if err := json.NewEncoder(&nodes).Encode(node["expr"]); err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			sources = append(sources, source)
		}
		got := pythonAll(t, &nodes)
		for i, source := range sources {
			want, late := inSensor(t, source, randomInput)
			switch {
			case late:
				tally.late++
				continue
			case got[i].Limit:
				tally.limits++
				continue
			case want.Failed:
				tally.failing++
			}
			tally.compared++
			if got[i].Crash != "" {
				t.Errorf("%s: uncaught %s", source, got[i].Crash)
			} else if diff := cmp.Diff(want, got[i].outcome); diff != "" {
				t.Errorf("%s: -Sensor +pod\n%s", source, diff)
			}
		}
	}
	t.Logf("compared %d (%d of them fail), refused %d, too slow for gojq %d, beyond the limits of a pod %d",
		tally.compared, tally.failing, tally.refused, tally.late, tally.limits)
	if tally.limits*200 > count {
		t.Errorf("%d of %d expressions are beyond the limits of a pod", tally.limits, count)
	}
}

func fromEnvironment(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

func pythonAll(t *testing.T, nodes *bytes.Buffer) []randomOutcome {
	t.Helper()
	names, err := json.Marshal(podVars)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-B", "-c", randomHarness, randomInput, string(names))
	cmd.Stdin = nodes
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	var answers []randomOutcome
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var answer randomOutcome
		if err := decoder.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	return answers
}
