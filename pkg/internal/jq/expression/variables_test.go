package expression

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestVariables compares expressions that read variables with those that have their values in
// the same places.
func TestVariables(t *testing.T) {
	scope := Scope{Input: schema.Any(), Children: map[string]schema.Type{"c": schema.Any()}, Variables: map[string]*Variable{}}
	for _, v := range []struct {
		name  string
		value any
	}{
		{"name", "${ .metadata.name }-web"},
		{"none", "${ .spec.none }"},
		{"nothing", "${ empty }"},
		{"labels", map[string]any{"app": "${ $variables.name }", "tier": "${ .spec.tier }", "none": "${ .spec.none }", "list": []any{int64(1), "${ .spec.none }"}}},
		{"number", int64(-3)},
		{"and", "${ $children.c.data }"},
	} {
		one, problems := Define(v.name, v.value, scope)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", v.name, problems)
		}
		scope.Variables[v.name] = one
	}
	input := map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{"tier": "x", "items": []any{1.0, 2.0}}}
	vars := Vars{Children: map[string]any{"c": map[string]any{"data": map[string]any{"k": "v"}}}}
	for source, want := range map[string]any{
		`$variables.name`: "a-web",
		`.spec | "\(.tier) \($variables.name) \(.items | map("\(.)\($variables["name"])") | join(","))"`: "x a-web 1a-web,2a-web",
		`$variables.none`:       nil,
		`$variables.nothing`:    nil,
		`$variables.labels`:     map[string]any{"app": "a-web", "tier": "x", "list": []any{1.0, nil}},
		`$variables.labels.app`: "a-web",
		`[$variables.number, $variables.none // "default", $variables.and.k]`:        []any{-3.0, "default", "v"},
		`.spec as $variables | $variables.tier`:                                      "x",
		`def name: $variables.name; [.spec.items[] | name] | length`:                 2.0,
		`if .spec.tier == "x" then $variables.labels | keys else null end # comment`: []any{"app", "list", "tier"},
	} {
		program, problems := Expression(source, scope, "")
		if program == nil {
			t.Errorf("%s: %v", source, problems)
			continue
		}
		got, err := program.Run(input, vars)
		if diff := cmp.Diff(want, normal(t, got)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", source, err, diff)
		}
		if _, problems := scope.BareForPod(source); len(problems) > 0 {
			t.Errorf("%s: %v", source, problems)
		}
	}
}

// TestVariablesGrow has variables of which each reads the one before twice: the program has
// each of them once.
func TestVariablesGrow(t *testing.T) {
	scope := Scope{Input: schema.Any(), Variables: map[string]*Variable{}}
	for i := range 30 {
		value := "${ .spec.list // [] }"
		if i > 0 {
			value = fmt.Sprintf("${ $variables.v%d + $variables.v%[1]d }", i-1)
		}
		name := fmt.Sprintf("v%d", i)
		scope.Variables[name], _ = Define(name, value, scope)
	}
	program, problems := Expression("$variables.v29 + $variables.v29 | length", scope, "")
	if program == nil {
		t.Fatal(problems)
	}
	node, problems := scope.BareForPod("$variables.v29 | length")
	data, err := json.Marshal(node)
	if len(program.Source()) > 4000 || len(data) > 10_000 || len(problems) > 0 || err != nil {
		t.Errorf("%d bytes of jq, %d for the pod; %v %v", len(program.Source()), len(data), problems, err)
	}
	got, err := program.Run(map[string]any{}, Vars{})
	if err != nil || normal(t, got) != 0.0 {
		t.Errorf("%v %v", got, err)
	}
}

// TestFlowOfVariables covers what is known of an expression that reads a variable.
func TestFlowOfVariables(t *testing.T) {
	scope := Scope{
		Input: schema.Any(), Children: map[string]schema.Type{"c": schema.Any()}, Waits: true, Variables: map[string]*Variable{},
	}
	for name, value := range map[string]string{
		"field": "${ .spec.field }", "size": "${ .spec.secret | length }", "child": "${ $children.c }", "port": "${ $children.c.spec.port | tostring }",
		"perhaps": "${ $children.c.status.x // null }",
	} {
		scope.Variables[name], _ = Define(name, value, scope)
	}
	for source, want := range map[string][]string{
		`$variables.field.below`:                       {"reads .spec.field.below", "has .spec.field.below"},
		`"\($variables.size)"`:                         {"reads .spec.secret"},
		`$variables.child.status.y | tostring`:         {"reads $children.c.status.y", "has $children.c.status.y", "waits $children.c"},
		`$variables.port`:                              {"reads $children.c.spec.port", "has $children.c.spec.port", "waits $children.c.spec.port"},
		`$variables.perhaps`:                           {"reads $children.c.status.x", "has $children.c.status.x"},
		`if $variables.field then "a" else "b" end`:    {"reads .spec.field"},
		`if .x then $variables.port else "b" end`:      {"reads .x", "reads $children.c.spec.port", "has $children.c.spec.port", "waits $children.c.spec.port"},
		`$variables.port as $p | $p + $variables.port`: {"reads $children.c.spec.port", "has $children.c.spec.port", "waits $children.c.spec.port"},
	} {
		program, problems := Expression(source, scope, "")
		if program == nil {
			t.Errorf("%s: %v", source, problems)
			continue
		}
		var got []string
		for _, o := range program.AllOrigins() {
			got = append(got, "reads "+o.String())
		}
		for _, o := range program.Origins() {
			got = append(got, "has "+o.String())
		}
		for _, n := range program.Needs() {
			got = append(got, "waits "+n.Text)
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s: %s", source, diff)
		}
	}
}
