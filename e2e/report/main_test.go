package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestPageIsMadeOfTheResults(t *testing.T) {
	var list []result
	if err := read("../../docs/explanation/guarantees.json", &list); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/explanation/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != render(list) {
		t.Error("docs/explanation/guarantees.md is not made of docs/explanation/guarantees.json: go run ./e2e/report")
	}
}

func TestARunTakesThePlaceOfOlderResults(t *testing.T) {
	kept := []result{
		{Scenario: "guard: a", Operator: "direct/x: afterStart", Passed: true},
		{Scenario: "a", Operator: "direct/x", Passed: true},
		{Scenario: "a", Operator: "tutorial"},
	}
	fresh := []result{{Scenario: "b", Operator: "direct/x", Passed: true}, {Scenario: "a", Operator: "direct/x", Seconds: 1}}
	want := []result{
		{Scenario: "a", Operator: "direct/x", Seconds: 1},
		{Scenario: "a", Operator: "tutorial"},
		{Scenario: "b", Operator: "direct/x", Passed: true},
		{Scenario: "guard: a", Operator: "direct/x: afterStart", Passed: true},
	}
	if got := merge(kept, fresh); !slices.Equal(got, want) {
		t.Errorf("merge = %+v, want %+v", got, want)
	}
}

func TestAFailureShows(t *testing.T) {
	const scenario = "| The EventSource is down: custom resources that are created, edited and deleted meanwhile are reconciled when it is back "
	for _, c := range []struct {
		name string
		list []result
		want string
	}{
		{"no result", nil, scenario + "| – | – | – | – | – |"},
		{"a pass", []result{{Scenario: "source-down", Operator: "direct/memcached", Passed: true}}, scenario + "| pass | – | – | – | – |"},
		{"one of two fails", []result{
			{Scenario: "source-down", Operator: "workflow/a", Passed: true}, {Scenario: "source-down", Operator: "workflow/b"},
		}, scenario + "| – | – | **fails** | – | – |"},
		{"a guard that guards nothing", []result{{Scenario: "guard: source-down", Operator: "direct/memcached: afterStart"}}, "| afterStart | source-down | direct/memcached | **does not fail** |"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if page := render(c.list); !strings.Contains(page, c.want) {
				t.Errorf("no %q in\n%s", c.want, page)
			}
		})
	}
}

func TestThePerformancePageIsMadeOfTheFigures(t *testing.T) {
	m, err := figures("../../docs/explanation")
	if err != nil {
		t.Fatal(err)
	}
	if m.empty() {
		t.Skip("nothing was measured yet")
	}
	page, err := os.ReadFile("../../docs/explanation/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != renderPerformance(m) {
		t.Error("docs/explanation/performance.md is not made of the figures beside it: go run ./e2e/report")
	}
}

func TestTheFirstIsCompared(t *testing.T) {
	page := renderPerformance(measured{[]used{
		{Program: "a", Number: 10, Of: "operators", Milliseconds: 50}, {Program: "b", Number: 10, Of: "operators", Milliseconds: 125},
	}, []raced{{Operator: "direct/a", Singles: 2, Median: 10, P99: 20}, {Operator: "other", Singles: 2, Median: 25, P99: 30}}})
	for _, want := range []string{"| 10 | b |  | 125 | 2.50 | 12.50 |", "| other | – | 2 | 25.0 | 30.0 | 2.50 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func TestAGoalIsReachedMissedOrNotMeasured(t *testing.T) {
	table := goalsTable(measured{[]used{
		{Program: generates, Number: 100, Milliseconds: 100, Memory: 60}, {Program: generates, Number: 1000, Milliseconds: 1050, Memory: 65},
	}, nil})
	for _, want := range []string{
		"memory | 64 MiB | 65 | **missed** |", "memory | 1.1 × that of 100 | 1.08 | reached |",
		"processor time of each | 1.1 × that of 100 | 1.05 | reached |", "`version`: instructions | 5 M | – | not measured |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}
