package expression

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Parts of random regular expressions and of the texts in which they search: letters that differ only in their
// case, also three of a kind (K, k and the Kelvin sign), words, lines and what is not UTF-8.
var (
	textLetters = strings.Split("a a b b c A k s K ß é É σ ς Σ ǆ ǅ 😀 _ 1 . \n \n \t \x7f \uFFFD ſ K ab abc \xff \xe4\xbd \xe2\x82 \xe2 \xac \xed\xa0\x80", " ")
	regexpSets  = strings.Fields(`. . . . [abc] [^a] [a-c] [A-Z_] [^\n] [k-s] [^a-zé] [[:alpha:]] [^[:space:]] \d \w \W \s \S \D \pL \PL \p{Greek} \p{Lu}
		\n \t \x41 \x{fffd} \. \* \Qa.b\E [\x{d7ff}-\x{e000}]`)
	regexpEdges   = strings.Fields(`^ $ \A \z \b \B \b ^ $`)
	regexpRepeats = strings.Fields(`* + ? *? +? ?? {2} {0,2} {1,3}? {2,} {0} {1,2} {0,}?`)
	regexpGroups  = strings.Fields(`( ( (?: (?i: (?s: (?m: (?U: (?-i: (?ims:`)
	regexpStarts  = strings.Fields(`(?i) (?m) (?s) (?U) (?im) ^ \A \b`)
	regexpFlags   = []string{`null`, `null`, `""`, `"g"`, `"g"`, `"i"`, `"m"`, `"gi"`, `"gim"`, `"ig"`, `"gg"`, `"x"`, `"gn"`}
	regexpInvalid = []string{`(`, `a**`, `[b-a]`, `\`, `a{2000}`, `(?=a)`, `\1`, `[`, `(?<n>a)(?<n>b)`, `x{3,1}`, `\pX`, `*`}
	replacements  = []string{
		`"-"`, `""`, `"<\(.x)>"`, `.x`, `.y // "y"`, `"1", "2"`, `empty`, `null`, `1`, `.x | ascii_upcase`, `if .x then "x", .y else empty end`,
		`tojson`, `(.x, "z") | select(. != null)`, `"/w==" | @base64d`, `"rA==" | @base64d`, `error("own")`,
	}
	regexpInputs = []string{`null`, `1`, `["a"]`, `{}`, `.spec.name`, `.spec.odd`, `.spec.text`, `.spec.date`}
)

// randomRegexp writes regular expressions and texts of a few letters. The groups have the names x and y, if any.
type randomRegexp struct {
	*rand.Rand
	letters []string
	names   []string
}

func (r *randomRegexp) pick(from []string) string { return from[r.Intn(len(from))] }

func (r *randomRegexp) pattern() string {
	if r.Intn(40) == 0 {
		return r.pick(regexpInvalid)
	}
	r.names = []string{"x", "y"}
	start := ""
	if r.Intn(4) == 0 {
		start = r.pick(regexpStarts)
	}
	return start + r.alternatives(1+r.Intn(4))
}

func (r *randomRegexp) alternatives(levels int) string {
	out := r.sequence(levels)
	for r.Intn(4) == 0 {
		out += "|" + r.sequence(levels)
	}
	return out
}

func (r *randomRegexp) sequence(levels int) string {
	var out strings.Builder
	for range r.Intn(4) {
		out.WriteString(r.repeated(levels))
	}
	return out.String()
}

func (r *randomRegexp) repeated(levels int) string {
	if r.Intn(8) == 0 {
		return r.pick(regexpEdges)
	}
	one := r.pick(regexpSets)
	if letter := r.pick(r.letters); r.Intn(3) > 0 && utf8.ValidString(letter) {
		one = regexp.QuoteMeta(letter)
	}
	if levels > 0 && r.Intn(2) == 0 {
		begin := r.pick(regexpGroups)
		if len(r.names) > 0 && r.Intn(3) == 0 {
			begin, r.names = r.pick([]string{"(?<", "(?P<"})+r.names[0]+">", r.names[1:]
		}
		one = begin + r.alternatives(levels-1) + ")"
	}
	if r.Intn(3) == 0 {
		one += r.pick(regexpRepeats)
	}
	return one
}

// text returns a text as an expression.
func (r *randomRegexp) text() string {
	if r.Intn(25) == 0 {
		return r.pick(regexpInputs)
	}
	var out strings.Builder
	for range r.Intn(12) {
		out.WriteString(r.pick(r.letters))
	}
	return `("` + base64.StdEncoding.EncodeToString([]byte(out.String())) + `" | @base64d)`
}

// call returns a call of a function with a regular expression.
func (r *randomRegexp) call() string {
	text := r.pattern()
	pattern, flags := jq.Quote(text), r.pick(regexpFlags)
	name := r.pick([]string{"test", "match", "capture", "scan", "splits", "split", "sub", "gsub", "gsub"})
	call := func(pattern, flags string) string {
		arguments := []string{pattern}
		if strings.HasSuffix(name, "sub") {
			arguments = append(arguments, r.pick(replacements))
		}
		if name == "split" || r.Intn(2) == 0 {
			arguments = append(arguments, flags)
		}
		return name + "(" + strings.Join(arguments, "; ") + ")"
	}
	switch r.Intn(12) {
	case 0:
		half := r.Intn(len(text) + 1)
		for !utf8.ValidString(text[:half]) {
			half--
		}
		return call(jq.Quote(text[:half])+" + "+jq.Quote(text[half:]), flags)
	case 1:
		return `("own" as $p | ` + pattern + " as $p | " + flags + " as $f | " + call("$p", "$f") + ")"
	case 2:
		return "def p: " + pattern + "; " + call(`"\(p)"`, "("+flags+")")
	case 3:
		return "def f($p; f): (1 as $q | " + call("$p", "f") + "); f(" + pattern + "; " + flags + ")"
	case 4:
		return "def f(p; $f): (" + jq.Quote("own") + " as $q | " + call("p", "$f") + "); " + pattern + " as $q | f($q; " + flags + ")"
	case 5:
		return call("["+pattern+`, ""] | join("") | select(. != null) // "x"`, flags)
	}
	return call(pattern, flags)
}

// TestRegexpInPodAgreesRandomly compares gojq with the pod for random regular expressions and texts. POD_REGEXPS sets
// their number, POD_SEED the seed.
func TestRegexpInPodAgreesRandomly(t *testing.T) {
	r := &randomRegexp{Rand: rand.New(rand.NewSource(int64(fromEnvironment("POD_SEED", 1))))}
	var sources []string
	var nodes bytes.Buffer
	for len(sources) < fromEnvironment("POD_REGEXPS", 20_000) {
		r.letters = []string{r.pick(textLetters), r.pick(textLetters), r.pick(textLetters)}
		source := r.text() + " | try (" + r.call() + ") catch {error: .}"
		node, problems := BareForPod(source)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", source, problems)
		}
		if err := json.NewEncoder(&nodes).Encode(node["expr"]); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		sources = append(sources, source)
	}
	empty, failing, differ := 0, 0, 0
	for i, got := range pythonAll(t, &nodes) {
		want, _ := inSensor(t, sources[i], randomInput)
		if len(want.Values) == 0 {
			empty++
		} else if caught, ok := want.Values[0].(map[string]any); ok && caught["error"] != nil {
			failing++
		}
		if got.Crash != "" || got.Limit {
			t.Errorf("%s: %+v", sources[i], got)
		} else if diff := cmp.Diff(want, got.outcome); diff != "" {
			t.Errorf("%s: -Sensor +pod\n%s", sources[i], diff)
		} else {
			continue
		}
		if differ++; differ == 20 {
			t.Fatal("and perhaps more")
		}
	}
	t.Logf("compared %d: %d without a value, %d with an error", len(sources), empty, failing)
}

// TestRegexpOfVariables tests which variables of the definition a regular expression may be.
func TestRegexpOfVariables(t *testing.T) {
	scope := Scope{Variables: map[string]*Variable{}, Parameters: map[string]*Variable{
		"region": Parameter("region", schema.Of(schema.String), `("ImV1Ig=="|@base64d|fromjson)`, false),
	}}
	for _, one := range [][2]string{
		{"part", "[a-z]+"},
		{"read", "${ .spec.name }"},
		{"given", "${ $parameters.region }"},
		{"whole", "^${ $variables.part }$"},
		{"beside", "${ $variables.part + .spec.name }"},
		{"broken", "a["},
		{"parameterised", "[${ $parameters.region }"},
	} {
		variable, problems := Define(one[0], one[1], scope)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		scope.Variables[one[0]] = variable
	}
	for source, fixed := range map[string]bool{
		`test($variables.part)`: true, `test($variables.whole; "i")`: true, `.spec | gsub("\($variables.part)."; $variables.read)`: true,
		`$variables.part as $p | test($p)`: true, `{part: .spec.name} as $variables | test($variables.part)`: false,
		`test($variables.read)`: false, `test($variables.beside)`: false, `test($variables.given)`: false, `test($parameters.region)`: false,
	} {
		node, problems := scope.BareForPod(source)
		tree, _ := json.Marshal(node)
		if (len(problems) == 0) != fixed || fixed && !strings.Contains(string(tree), `[a-z]+`) {
			t.Errorf("%s: %v %s", source, problems, tree)
		}
	}
	for source, broken := range map[string]bool{
		`test($variables.broken)`: true, `test("(\($variables.part)"; "i")`: true, `test($variables.part)`: false,
		`test($variables.parameterised)`: false, `test($variables.read)`: false, `{broken: "b"} as $variables | test($variables.broken)`: false,
	} {
		if _, problems := Expression(".spec.name | "+source, scope, "boolean"); len(errorsOf(problems)) > 0 != broken {
			t.Errorf("%s: %v", source, problems)
		}
	}
}

// TestRegexpOfUnfitVariable tests that a problem names the variable that has it.
func TestRegexpOfUnfitVariable(t *testing.T) {
	scope := Scope{Variables: map[string]*Variable{}}
	for _, one := range [][2]string{{"part", "a"}, {"fits", "${ .x | test($variables.part) }"}, {"unfit", "${ .x | test(.) or $variables.fits }"}} {
		scope.Variables[one[0]], _ = Define(one[0], one[1], scope)
	}
	_, problems := scope.BareForPod("$variables.unfit")
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Message, "$variables.unfit: in a pod, ") {
		t.Errorf("got %v", problems)
	}
}

// TestRegexpInPodIsLinear tests that the steps of a search grow with the text alone, where an evaluator that goes back
// would need a step for each way to divide the text.
func TestRegexpInPodIsLinear(t *testing.T) {
	const letters = 5000
	for _, pattern := range []string{`(a*)*b`, `(a|a?)+b`, `(a|aa)+$b`, `(.*a){12}b`, `^(([a-z])+.)+[A-Z]([a-z])+$`, `(?:a?){20}a{20}b`} {
		node, problems := BareForPod(fmt.Sprintf(`"a" * %d | test(%s)`, letters, jq.Quote(pattern)))
		if len(problems) > 0 {
			t.Fatalf("%s: %v", pattern, problems)
		}
		var nodes bytes.Buffer
		if err := json.NewEncoder(&nodes).Encode(node["expr"]); err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		instructions, err := syntax.Compile(program.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		got := pythonAll(t, &nodes)[0]
		if most := letters*len(instructions.Inst) + 100; got.Failed || got.Steps > most || got.Steps < letters {
			t.Errorf("%s: %+v, and %d steps are allowed", pattern, got, most)
		}
	}
}
