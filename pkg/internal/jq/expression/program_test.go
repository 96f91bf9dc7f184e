package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

func TestSource(t *testing.T) {
	tests := []struct{ name, where, text, want string }{
		{"what is known to be there needs no guard", "metadata.name", "${ .metadata.name }-web", `{apiVersion:"apps/v1",kind:"Deployment",metadata:{name:"\(.metadata.name)-web"}}`},
		{"what may be missing is left out", "spec.replicas", "${ .spec.replicas }", `{apiVersion:"apps/v1",kind:"Deployment",spec:({replicas:.spec.replicas}|del(.[]|nulls))}`},
		{"a text with null fails", "metadata.name", "x-${ .spec.suffix }", `{apiVersion:"apps/v1",kind:"Deployment",metadata:{name:"x-\(.spec.suffix|if.==null then error(".spec.suffix is null inside a text")end)"}}`},
		{"nothing is null", "metadata.annotations.a", "${ .spec.image | select(. != \"\") }", `{apiVersion:"apps/v1",kind:"Deployment",metadata:{annotations:({a:[.spec.image|select(.!="")][0]}|del(.[]|nulls))}}`},
		{"space and comments go", "when", ".spec.size # number\n  >  3 and .spec.enabled", `(.spec.size>3 and .spec.enabled)`},
		{"a question mark keeps its distance", "when", ".spec.tls.mode? // \"x\" | . == \"x\"", `(.spec.tls.mode? //"x"|.=="x")`},
		{"terms stay bare", "when", ".spec.enabled", `.spec.enabled`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := in(t, tt.where, tt.text)
			if p == nil {
				t.Fatal(problems)
			}
			if diff := cmp.Diff(tt.want, p.Source()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNullInAText(t *testing.T) {
	p, _ := in(t, "metadata.name", "x-${ .spec.suffix }")
	_, err := p.Run(decode(t, memcached), Vars{})
	if err == nil || !strings.Contains(err.Error(), ".spec.suffix is null inside a text") {
		t.Errorf("got %v", err)
	}
	if _, err := p.Run(map[string]any{"spec": 3}, Vars{}); err == nil || !strings.Contains(err.Error(), "expected an object") {
		t.Errorf("got %v", err)
	}
}

func TestReads(t *testing.T) {
	tests := []struct {
		expr     string
		reads    string
		children string
		item     bool
	}{
		{"1", "null", "{}", false},
		{".", "[[]]", "{}", false},
		{".spec.size", `[["spec","size"]]`, "{}", false},
		{".spec | .size + 1", `[["spec","size"]]`, "{}", false},
		{".spec as $s | [$s.size, $s.image]", `[["spec","image"],["spec","size"]]`, "{}", false},
		{".spec as {size: $n} | $n", `[["spec"]]`, "{}", false},
		{`.spec["size"] // .spec.replicas`, `[["spec","replicas"],["spec","size"]]`, "{}", false},
		{"if .spec.enabled then .spec.size else 1 end", `[["spec","enabled"],["spec","size"]]`, "{}", false},
		{"[.spec.shards[].name]", `[["spec","shards"]]`, "{}", false},
		{".spec.ports[0]", `[["spec","ports"]]`, "{}", false},
		{".spec[.metadata.name]", `[["metadata","name"],["spec"]]`, "{}", false},
		{"[.spec, .spec.size]", `[["spec"]]`, "{}", false},
		{"[..]", "[[]]", "{}", false},
		{"del(.spec)", "[[]]", "{}", false},
		{".spec.size = 1", "[[]]", "{}", false},
		{"[paths]", "[[]]", "{}", false},
		{`getpath(["spec","size"])`, `[["spec","size"]]`, "{}", false},
		{`getpath(["spec",.x])`, `[[]]`, "{}", false},
		{"def f: .size; .spec | f", `[["spec","size"]]`, "{}", false},
		{"def f: if . > 3 then . - 1 | f else . end; .spec.size | f", `[[]]`, "{}", false},
		{"reduce .spec.ports[] as $p (.spec.size; . + $p)", `[["spec","ports"],["spec","size"]]`, "{}", false},
		{`.spec | has("size")`, `[["spec"]]`, "{}", false},
		{"$children.web.status.readyReplicas", "null", `{"web":[["status","readyReplicas"]]}`, false},
		{"[$children.web.status, $children.web.status.x, $children.db.metadata]", "null", `{"db":[["metadata"]],"web":[["status"]]}`, false},
		{"[$children[]]", "null", `{"db":[[]],"web":[[]]}`, false},
		{"$children | length", "null", `{"db":[[]],"web":[[]]}`, false},
		{"$children.web | 1", "null", `{"db":[[]],"web":[[]]}`, false},
		{"[$children.web.x, ($children | length)]", "null", `{"db":[[]],"web":[[]]}`, false},
		{"any(.spec.shards[]; .name == $item.name)", `[["spec","shards"]]`, "{}", true},
		{"$item.name", "null", "{}", true},
		{"$index", "null", "{}", true},
		{"$item | 1", "null", "{}", true},
		{"1 as $item | $item", "null", "{}", false},
	}
	for _, tt := range tests {
		p, problems := Expression(tt.expr, Scope{Children: map[string]schema.Type{"web": nil, "db": nil}, Each: true}, "")
		if p == nil {
			t.Errorf("%s: %v", tt.expr, problems)
			continue
		}
		if got := marshal(t, p.Reads()); got != tt.reads {
			t.Errorf("%s reads %s, want %s", tt.expr, got, tt.reads)
		}
		if got := marshal(t, p.ReadsChildren()); got != tt.children {
			t.Errorf("%s reads children %s, want %s", tt.expr, got, tt.children)
		}
		if p.UsesItem() != tt.item {
			t.Errorf("%s uses the item: %v", tt.expr, p.UsesItem())
		}
	}
}

func TestConst(t *testing.T) {
	for text, want := range map[string]string{
		"plain": `"plain"`, "${ 1 + 2 }": "3", "a${ 1 }": `"a1"`, "${ .x }": "", "${ $item }": "", "${ $children.web }": "",
		"${ [range(3)] }": "[0,1,2]", "${ error(\"x\") }": "", "${ last(repeat(1)) }": "",
	} {
		p, problems := Template(text, free(), nil)
		if p == nil {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		v, ok := p.Const()
		if ok != (want != "") || (ok && marshal(t, v) != want) {
			t.Errorf("%s: got %v, %v; want %s", text, v, ok, want)
		}
	}
}

func TestInputIsNotChanged(t *testing.T) {
	input := map[string]any{"spec": map[string]any{"size": int64(3), "list": []any{1, json.Number("2")}}}
	before := marshal(t, input)
	p, _ := Expression(".spec.size |= . + 1 | .spec.list[0] = 5", Scope{}, "")
	if _, err := p.Run(input, Vars{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, marshal(t, input)); diff != "" {
		t.Error(diff)
	}
}

// TestBuiltins: the table knows every function that gojq has, and no other.
func TestBuiltins(t *testing.T) {
	query, err := gojq.Parse("builtins")
	if err != nil {
		t.Fatal(err)
	}
	v, _ := query.Run(nil).Next()
	has := map[string]bool{}
	for _, f := range v.([]any) {
		has[f.(string)] = true
		name, arity, _ := strings.Cut(f.(string), "/")
		if _, refused := impure[name]; refused {
			continue
		}
		args := map[string]string{"0": "", "1": "(.)", "2": "(.; .)", "3": "(.; .; .)", "4": "(.; .; .; .)"}[arity]
		_, problems := Expression("["+name+args+"]", Scope{}, "")
		if len(problems) > 0 {
			t.Errorf("%s: %v", f, problems)
		}
	}
	for f := range builtins() {
		name, _, _ := strings.Cut(f, "/")
		if !has[f] && name != jq.Hash && !slices.ContainsFunc(ownFunctions, func(own ownFunction) bool { return own.name == name }) {
			t.Errorf("gojq has no %s", f)
		}
	}
}

// TestSound runs what the tables have over inputs with and without what is
// optional: values have the inferred types, and depend only on the fields that the
// analysis reports.
func TestSound(t *testing.T) {
	mistakes, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, line := range append(fine(), strings.Split(string(mistakes), "\n")...) {
		where, text, ok := strings.Cut(line, ": ")
		if !ok || strings.HasPrefix(line, " ") {
			continue
		}
		p, _ := in(t, where, text)
		if p == nil {
			continue
		}
		for _, input := range inputs(t) {
			ran++
			sound(t, line, p, input)
		}
	}
	if ran < 200 {
		t.Errorf("only %d runs", ran)
	}
}

func inputs(t testing.TB) []any {
	full := decode(t, memcached)
	more := decode(t, `{metadata: {name: n, namespace: d, labels: {app: x}}, status: {readyReplicas: 2, conditions: [{type: Available, status: "True"}]},
		spec: {size: 1, image: "a:b", enabled: true, debug: false, replicas: 4, suffix: z, tag: t, ratio: 1.5, port: http, ports: [1], hosts: [h], shards: [], tls: {mode: strict}, labels: {a: b}}}`)
	return []any{full, more, map[string]any{}}
}

func vars() Vars {
	return Vars{
		Children: map[string]any{"web": map[string]any{"status": map[string]any{"readyReplicas": 3}, "metadata": map[string]any{"name": "w"}}},
		Item:     map[string]any{"name": "i", "weight": 2}, Index: 1,
	}
}

// sound compares a run with one over an input that has only what is read, and
// with gojq on the source inside an object.
func sound(t *testing.T, name string, p *Program, input any) {
	t.Helper()
	got, err := p.Run(input, vars())
	var limit *jq.LimitError
	if errors.As(err, &limit) {
		return
	}
	less := vars()
	less.Children = map[string]any{}
	for child, paths := range p.ReadsChildren() {
		if of, ok := vars().Children[child]; ok {
			less.Children[child] = prune(of, paths)
		}
	}
	if !p.UsesItem() {
		less.Item, less.Index = nil, nil
	}
	again, failed := p.Run(prune(input, p.Reads()), less)
	if !errors.As(failed, &limit) && ((err == nil) != (failed == nil) || (err == nil && !cmp.Equal(text(got), text(again)))) {
		t.Errorf("%s: %v %v; with %v only: %v %v", name, got, err, p.Reads(), again, failed)
	}
	query, parseErr := gojq.Parse("{go:true,x:" + p.Source() + "}")
	if parseErr != nil {
		t.Fatalf("%s: %s: %v", name, p.Source(), parseErr)
	}
	code, compileErr := jq.Compile(query, variables()...)
	if compileErr != nil {
		t.Fatalf("%s: %s: %v", name, p.Source(), compileErr)
	}
	whole := &Program{code: code}
	inside, err2 := whole.Run(input, vars())
	if !errors.As(err2, &limit) && ((err == nil) != (err2 == nil) || (err == nil && !cmp.Equal(text(inside), text(map[string]any{"go": true, "x": got})))) {
		t.Errorf("%s: %v %v; inside: %v %v", name, got, err, inside, err2)
	}
}

// text is a value to compare; NaN is not equal to itself, and has no JSON.
func text(v any) string { return fmt.Sprint(v) }

// prune keeps what is at the paths.
func prune(v any, paths [][]string) any {
	if slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 }) {
		return v
	}
	fields, ok := v.(map[string]any)
	if !ok {
		if len(paths) > 0 {
			return v // what is no object fails in the same way
		}
		return nil
	}
	below := map[string][][]string{}
	for _, p := range paths {
		below[p[0]] = append(below[p[0]], p[1:])
	}
	kept := map[string]any{}
	for name := range maps.Keys(below) {
		if value, ok := fields[name]; ok {
			kept[name] = prune(value, below[name])
		}
	}
	return kept
}

// heavy is what a fuzzer can fill the memory with.
var heavy = regexp.MustCompile(`\d{4}|\d[eE]|repeat|range|infinite|while|until|exp|pow|combinations|recurse|ldexp|scalb|\*.*\*|(?s)def.*def.*def`)

func FuzzTemplate(f *testing.F) {
	mistakes, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range append(fine(), strings.Split(string(mistakes), "\n")...) {
		if _, text, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, " ") {
			f.Add(text)
		}
	}
	f.Add(`${ "\("\(1)")" } $${ ${ {a: "}"} | .a } #`)
	f.Add("${ def f($a; b): $a + a + b; f(1; 2) }")
	f.Add("${ try error catch . } ${ label $x | 1, break $x } ${ . as [$a, {b: $c}] ?// $d | $d }")
	f.Fuzz(func(t *testing.T, text string) {
		typedScope := Scope{Input: memcachedType(t), Name: "Memcached", Children: map[string]schema.Type{"web": builtinType(t, "apps/v1", "Deployment")}, Each: true}
		for _, scope := range []Scope{free(), typedScope} {
			for _, value := range []any{text, map[string]any{"a": text, "b": []any{text, text}}} {
				p, problems := Template(value, scope, nil)
				check(t, text, p, problems)
			}
			p, problems := Expression(text, scope, "")
			check(t, text, p, problems)
		}
	})
}

func check(t *testing.T, source string, p *Program, problems []Problem) {
	t.Helper()
	for _, problem := range problems {
		if problem.Offset < 0 || problem.Length < 0 || problem.Offset+problem.Length > len(source) || problem.Code == "" {
			t.Errorf("%q: %+v points outside", source, problem)
		}
	}
	switch {
	case p == nil && len(errorsOf(problems)) == 0:
		t.Errorf("%q: neither a program nor a problem", source)
	case p != nil && !heavy.MatchString(source):
		for _, input := range inputs(t) {
			sound(t, source, p, input)
		}
	}
}

func BenchmarkTemplate(b *testing.B) {
	template := decode(b, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: "${ .metadata.name }", namespace: "${ .metadata.namespace }", labels: {app: "${ .metadata.name }"}}
spec:
  replicas: ${ .spec.size }
  selector: {matchLabels: {app: "${ .metadata.name }"}}
  template:
    metadata: {labels: {app: "${ .metadata.name }"}}
    spec:
      containers:
      - {name: memcached, image: "${ .spec.image }:${ .spec.tag }", args: ["-m=64"], ports: [{containerPort: 11211, name: memcached}],
         env: "${ .spec.labels // {} | to_entries | map({name: .key, value: .value}) }"}
`)
	scope := Scope{Input: memcachedType(b), Name: "Memcached"}
	want := builtinType(b, "apps/v1", "Deployment")
	b.ReportAllocs()
	var p *Program
	for b.Loop() {
		var problems []Problem
		if p, problems = Template(template, scope, want); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
	b.ReportMetric(float64(len(p.Source())), "bytes")
}

// TestMayEqual covers that two texts count as different only if no input makes them equal.
func TestMayEqual(t *testing.T) {
	item := schema.Of(schema.String)
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"${ .metadata.name }", "${ .metadata.name }", true},
		{"${ .metadata.name }", "${ .metadata.name }-x", false},
		{"x-${ .metadata.name }", "y-${ .metadata.name }", false},
		{"${ .metadata.name }-x", "${ .metadata.name }-y", false},
		{"a${ .metadata.name }", "${ .metadata.name }a", true}, // the name aa
		{"a${ .metadata.name }", "${ .metadata.name }", false},
		{"${ .metadata.name }", "${ .spec.image }", true},
		{"${ .metadata.name }-x", "${ .spec.image }", true},
		{"${ .metadata.name }-x", "${ .spec.image }-y", false},
		{"a-${ .spec.image }", "a-b", true},
		{"a-${ .spec.image }", "a", false},
		{"${ .spec.image }-${ .metadata.name }", "${ .metadata.name }-${ .spec.image }", true},
		{"${ $item }", "${ $item }-x", true}, // of two lists
		{"${ $item }-y", "${ $item }-x", false},
		{"${ .metadata.name | .[:3] }", "${ .metadata.name }", true},
	} {
		scope := Scope{Input: memcachedType(t), Item: item, Each: true}
		a, problems := Template(tt.a, scope, schema.Any())
		b, more := Template(tt.b, scope, schema.Any())
		if a == nil || b == nil {
			t.Fatal(tt.a, tt.b, problems, more)
		}
		if a.MayEqual(b) != tt.want || b.MayEqual(a) != tt.want {
			t.Errorf("%s and %s: got %v and %v, want %v", tt.a, tt.b, a.MayEqual(b), b.MayEqual(a), tt.want)
		}
	}
}

// TestMayEqualOf covers that names count as different only if no two custom resources of a namespace have one.
func TestMayEqualOf(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"${ .metadata.name }", "${ .metadata.name }", false},
		{"x-${ .metadata.name }-y", "x-${ .metadata.name }-y", false},
		{"${ .metadata.namespace }.${ .metadata.name }", "${ .metadata.namespace }.${ .metadata.name }", false},
		{"${ .metadata.namespace }", "${ .metadata.namespace }", true},
		{"${ .metadata.name }", "${ .metadata.name }-x", true}, // of a-x, and of a
		{"x-${ .metadata.name }", "${ .metadata.name }", true},
		{"x-${ .metadata.name }", "y-${ .metadata.name }", false},
		{"${ .metadata.name }-x", "${ .metadata.name }-y", false},
		{"${ .metadata.name }-${ .spec.image }", "${ .metadata.name }-${ .spec.image }", true},       // a-b and c, a and b-c
		{"${ .metadata.name }-${ .metadata.name }", "${ .metadata.name }-${ .metadata.name }", true}, // not recognized
		{"${ .metadata.name | .[:3] }", "${ .metadata.name | .[:3] }", true},
		{"${ .spec.image }", "${ .spec.image }", true},
		{"x-${ .spec.image }", "y-${ .metadata.name }", false},
		{"${ .metadata.name }-${ $item }", "${ .metadata.name }-${ $item }", true},
	} {
		scope := Scope{Input: memcachedType(t), Item: schema.Of(schema.String), Each: true}
		a, problems := Template(tt.a, scope, schema.Any())
		b, more := Template(tt.b, scope, schema.Any())
		if a == nil || b == nil {
			t.Fatal(tt.a, tt.b, problems, more)
		}
		one, other := a.MayEqualOf(b, ".metadata.name", ".metadata.namespace"), b.MayEqualOf(a, ".metadata.name", ".metadata.namespace")
		if one != tt.want || other != tt.want {
			t.Errorf("%s and %s: got %v and %v, want %v", tt.a, tt.b, one, other, tt.want)
		}
	}
}
