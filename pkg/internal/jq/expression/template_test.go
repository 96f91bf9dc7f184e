package expression

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// memcached is the custom resource of these tests.
const memcached = `
apiVersion: cache.example.com/v1alpha1
kind: Memcached
metadata: {name: sample, namespace: default, uid: u1, generation: 2, labels: {team: "a"}}
spec:
  size: 3
  image: memcached:1.6
  enabled: false
  ports: [11211, 11212]
  shards: [{name: a, weight: 1}, {name: b}]
  text: "say \"hi\" \\(1) {{x}} ${y} é🎉"
`

func decode(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// errors are the problems that are not warnings.
func errorsOf(problems []Problem) (found []Problem) {
	for _, p := range problems {
		if !p.Warning {
			found = append(found, p)
		}
	}
	return found
}

func TestTemplateRuns(t *testing.T) {
	tests := []struct{ name, template, want string }{
		{"whole literal", `{a: 1, b: [true, null, x], c: {d: ""}}`, `{"a":1,"b":[true,null,"x"],"c":{"d":""}}`},
		{"literal text is never jq", `{a: 'say "hi" \(1) {{x}} \n é🎉 <&>'}`, `{"a":"say \"hi\" \\(1) {{x}} \\n é🎉 <&>"}`},
		{"an integer stays one", `{a: "${ .spec.size }"}`, `{"a":3}`},
		{"a list and an object", `{a: "${ .spec.ports }", b: "${ .spec.shards[0] }"}`, `{"a":[11211,11212],"b":{"name":"a","weight":1}}`},
		{"false stays", `{a: "${ .spec.enabled }"}`, `{"a":false}`},
		{"false in a text", `a-${ .spec.enabled }-${ .spec.size }`, `"a-false-3"`},
		{"text in text", `"${ .metadata.name }-config"`, `"sample-config"`},
		{"quotes from the input stay", `"<${ .spec.text }>"`, `"<say \"hi\" \\(1) {{x}} ${y} é🎉>"`},
		{"quotes around an expression stay", `'"\(1)"${ .metadata.name }"\"'`, `"\"\\(1)\"sample\"\\\""`},
		{"a missing key is left out", `{a: "${ .spec.nope }", b: {c: "${ .spec.nope }"}}`, `{"b":{}}`},
		{"a literal null too", `{a: null, b: 1}`, `{"b":1}`},
		{"but not in a list", `["${ .spec.nope }", null, 1]`, `[null,null,1]`},
		{"nothing is null", `{a: "${ empty }", b: "${ .spec.size | select(. > 5) }", c: ["${ empty }"]}`, `{"c":[null]}`},
		{"null within an expression stays", `{a: "${ {b: .spec.nope} }"}`, `{"a":{"b":null}}`},
		{"escape", `"$${ .spec.size } $$ $ {}"`, `"${ .spec.size } $$ $ {}"`},
		{"odd keys", `{"a b": "${ 1 }", "if": "${ 2 }", "$x": "${ 3 }", "": "${ 4 }", "\"": "${ 5 }", 1a: "${ 6 }"}`, `{"":4,"\"":5,"$x":3,"1a":6,"a b":1,"if":2}`},
		{"pipes and commas keep to themselves", `{a: "${ .spec.size | . + 1 }", b: "${ .spec.x // 1 }", c: "${ [1, 2] }"}`, `{"a":4,"b":1,"c":[1,2]}`},
		{"comments and lines", "a: |-\n  ${ .spec.size # the number, }\n  + 1 }\n", `{"a":4}`},
		{"variables", `"${ .spec.size as $n | [range($n)] }"`, `[0,1,2]`},
		{"functions", `"${ def f(x): x + 1; f(.spec.size) }"`, `4`},
		{"interpolation of jq", `"${ \"n-\\(.spec.size)\" }"`, `"n-3"`},
		{"objects in text are JSON", `"${ .spec.ports } ${ .spec.shards[1] }"`, `"[11211,11212] {\"name\":\"b\"}"`},
		{"children", `"${ $children.web.status.ready // 0 }"`, `2`},
		{"items", `"${ $item.name }-${ $index }"`, `"a-1"`},
		{"reduce", `"${ reduce .spec.ports[] as $p (0; . + $p) }"`, `22423`},
		{"negative", `{a: -1, b: "${ -1 }", c: "${ - .spec.size }"}`, `{"a":-1,"b":-1,"c":-3}`},
		{"optional and alternative", `"${ .spec.size.x? // 7 }"`, `7`},
		{"try", `"${ try error(\"x\") catch . }"`, `"x"`},
		{"label", `"${ label $out | if .spec.size > 1 then 1, break $out else 2 end }"`, `1`},
		{"empty containers", `{a: {}, b: []}`, `{"a":{},"b":[]}`},
		{"large and small numbers", `{a: 9007199254740993, b: 1.5e-7}`, `{"a":9007199254740993,"b":1.5e-7}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := Template(decode(t, tt.template), free(), nil)
			if len(errorsOf(problems)) > 0 {
				t.Fatal(problems)
			}
			got, err := p.Run(decode(t, memcached), Vars{
				Children: map[string]any{"web": map[string]any{"status": map[string]any{"ready": 2}}},
				Item:     map[string]any{"name": "a"}, Index: 1,
			})
			if err != nil {
				t.Fatalf("%s: %v", p.Source(), err)
			}
			if diff := cmp.Diff(decode(t, tt.want), decode(t, marshal(t, got))); diff != "" {
				t.Errorf("%s: %s", p.Source(), diff)
			}
		})
	}
}

func free() Scope {
	return Scope{Name: "the input", Children: map[string]schema.Type{"web": nil}, Each: true}
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
