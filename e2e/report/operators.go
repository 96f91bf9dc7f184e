package main

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// played is the result of an operator on the cluster.
type played struct {
	Operator   string `json:"operator"`
	Engine     string `json:"engine"`
	Definition int    `json:"definition"`
	Logic      int    `json:"logic"`
	Workflows  int    `json:"workflows"`
	Pods       int    `json:"pods"`
	Behaviours []struct {
		Name     string  `json:"name"`
		Passed   bool    `json:"passed"`
		Seconds  float64 `json:"seconds"`
		Measured string  `json:"measured"`
	} `json:"behaviours"`
}

// original describes the original of an operator, from its specimen.
type original struct {
	Original      string `json:"original"`
	OriginalLines int    `json:"originalLines"`
}

// readOriginal finds the specimen of an operator or of its base.
func readOriginal(operator string) (original, error) {
	var o original
	data, err := os.ReadFile("e2e/testdata/operators/" + operator + ".yaml")
	if i := strings.LastIndex(operator, "-"); os.IsNotExist(err) && i > 0 {
		return readOriginal(operator[:i])
	}
	if err == nil {
		err = yaml.Unmarshal(data, &o)
	}
	return o, err
}

const operatorsIntro = `# Operators that people really write

<!-- Made by go run ./e2e/report from operators.json, the results of make operators. Do not edit. -->

Operators of books, tutorials and other tools, written again as definitions and played on a cluster: ` + "`make operators`" + `. A
behaviour is something that the original does; it passed if the cluster showed it. Lines are those that are not empty, of the
definition with its templates and of the logic. Pods per event are those of all Workflows that ran meanwhile.

`

// operatorsPage generates docs/explanation/operators.md from the results next to it, if there
// are any.
func operatorsPage() error {
	const kept, page = "docs/explanation/operators.json", "docs/explanation/operators.md"
	var list []played
	if err := readIfThere(kept, &list); err != nil || list == nil {
		return err
	}
	text, err := renderOperators(list)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(text), 0o644) //nolint:gosec // documentation
}

func renderOperators(list []played) (string, error) {
	var b strings.Builder
	b.WriteString(operatorsIntro)
	b.WriteString("| operator | engine | pods per event | definition | logic | original | its lines | behaviours |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range list {
		before, err := readOriginal(p.Operator)
		if err != nil {
			return "", fmt.Errorf("the original of %s: %w", p.Operator, err)
		}
		passed := 0
		for _, one := range p.Behaviours {
			if one.Passed {
				passed++
			}
		}
		verdict := fmt.Sprintf("%d of %d", passed, len(p.Behaviours))
		if passed == len(p.Behaviours) {
			verdict = fmt.Sprintf("all %d", passed)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s | %s | %s |\n", p.Operator, p.Engine, perEvent(p), p.Definition,
			orDash(p.Logic), cell(before.Original), orDash(before.OriginalLines), verdict)
	}
	b.WriteString("\n## What they do\n\n| operator | behaviour | | seconds | |\n|---|---|---|---|---|\n")
	for _, p := range list {
		for _, one := range p.Behaviours {
			fmt.Fprintf(&b, "| %s | %s | %s | %.1f | %s |\n", p.Operator, cell(one.Name), word(one.Passed), one.Seconds, cell(one.Measured))
		}
	}
	return b.String(), nil
}

func perEvent(p played) string {
	if p.Workflows == 0 {
		return "0"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(p.Pods)/float64(p.Workflows)), ".0")
}

func orDash(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
