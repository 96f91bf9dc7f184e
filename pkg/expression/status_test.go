package expression

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompileStatus(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"literal", "plain", `{"value":"plain"}`},
		{"escape", "$${ .x }", `{"value":"${ .x }"}`},
		{"field", "${ .spec.size }", `{"expr":["get",["get",["cr"],"spec"],"size"]}`},
		{"quoted key", `${ .metadata.labels["a.b/c"] }`, `{"expr":["get",["get",["get",["cr"],"metadata"],"labels"],"a.b/c"]}`},
		{"child with default", "${ $children.web.status.readyReplicas // 0 }", `{"expr":["alt",["get",["get",["child","web"],"status"],"readyReplicas"],["lit",0]]}`},
		{"interpolation", "${ .spec.a } of ${ .spec.b }", `{"concat":[["get",["get",["cr"],"spec"],"a"],["lit"," of "],["get",["get",["cr"],"spec"],"b"]]}`},
		{"comparison", `${ .spec.a == "x" and (.spec.b | not) }`, `{"expr":["and",["eq",["get",["get",["cr"],"spec"],"a"],["lit","x"]],["not",["get",["get",["cr"],"spec"],"b"]]]}`},
		{"condition", `${ if .spec.a > 1 then "many" elif .spec.a == 1 then "one" else null end }`, `{"expr":["if",["gt",["get",["get",["cr"],"spec"],"a"],["lit",1]],["lit","many"],["if",["eq",["get",["get",["cr"],"spec"],"a"],["lit",1]],["lit","one"],["lit",null]]]}`},
		{"index", "${ .spec.list[0].name? }", `{"expr":["get",["index",["get",["get",["cr"],"spec"],"list"],0],"name"]}`},
		{"length", "${ .spec.list | length }", `{"expr":["length",["get",["get",["cr"],"spec"],"list"]]}`},
		{"brace in a string", `${ "}" }x`, `{"concat":[["lit","}"],["lit","x"]]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			node, problems := CompileStatus(map[string]any{"f": tt.text}, []string{"web"})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got, err := json.Marshal(node["object"].(map[string]any)["f"])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompileStatusRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"${ .spec.size":               "not closed",
		"${ }":                        "empty",
		"${ .spec. }":                 "not jq",
		"${ $children.nope.status }":  `no child "nope"`,
		"${ $children }":              "followed by the name",
		"${ .spec.list[] }":           "cannot iterate",
		"${ .spec.list[1:] }":         "cannot slice",
		"${ now }":                    "do not know",
		"${ .spec | keys }":           "into not and length only",
		"${ .a / 2 }":                 "no operator /",
		"${ def f: 1; f }":            "defines names",
		"${ env.HOME }":               "do not know",
		`${ "a\(.spec.x)" }`:          "do not know",
		`${ "unclosed }`:              "not closed",
		"${ reduce .a as $x (0; 1) }": "",
	} {
		_, problems := CompileStatus(map[string]any{"f": map[string]any{"g": text}}, []string{"web"})
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: got %v, want one problem with %q", text, problems, want)
			continue
		}
		if diff := cmp.Diff([]string{"f", "g"}, problems[0].Path); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzCompileStatus(f *testing.F) {
	f.Add("${ .spec.size // 0 }")
	f.Add(`$${ "\(1)" } ${ if . then 1 end }`)
	f.Fuzz(func(t *testing.T, text string) {
		node, problems := CompileStatus(map[string]any{"f": text}, []string{"web"})
		if len(problems) > 0 {
			return
		}
		if _, err := json.Marshal(node); err != nil {
			t.Errorf("%q compiles to what does not encode: %v", text, err)
		}
	})
}
