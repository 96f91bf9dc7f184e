package cmd

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/verify/lint"
)

const rulesIntroduction = `[argoperator lint](../how-to/lint.md) checks manifests and live objects of Argo Events and Argo Workflows, and the roles, ConfigMaps and
CustomResourceDefinitions that belong to them. This page lists its rules.

- An **error** means that something does not work, loses events, or is a security hole. The exit code is 1.
- A **warning** means that it works now, and causes trouble later. The exit code is 0.
- **since** is the first release of argoperator with the rule.
- **--fix** means that ` + "`argoperator lint --fix`" + ` corrects what has only one correction.

An object that is not among the checked objects may exist in the cluster. It is reported as missing only if the checked objects
include one that fits and that nothing uses.

The examples show the lines that matter, and ` + "`# …`" + ` for others. The links lead to the whole files.
`

// rulesReference lists the rules, each with a bad and a good example, which TestRules of
// pkg/internal/verify/lint checks.
func rulesReference(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Rules\n\n" + generatedNote + rulesIntroduction)
	for _, g := range lint.Groups() {
		fmt.Fprintf(&b, "\n**%s**\n\n| rule | severity | since | --fix | finds |\n|---|---|---|---|---|\n", g.Name)
		for _, r := range g.Rules {
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s | %s |\n", r.Code, r.Code, severityOf(r.Warning), cmp.Or(r.Since, "0.1.0"), yesOf(r.Fixable()), cell(r.Summary))
		}
	}
	for _, g := range lint.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", g.Name)
		for _, r := range g.Rules {
			fmt.Fprintf(&b, "\n### %s\n\n%s %s\n\nFix: %s.\n", r.Code, r.Summary, r.Why, r.Fix)
			if r.Argo != (lint.Version{}) {
				fmt.Fprintf(&b, "\nThe rule applies to Argo Workflows %s and later. `targets` in the [configuration](../how-to/lint.md#accept-a-finding) sets\nyour version.\n", r.Argo)
			}
			if r.Code == "too-large-for-pod" {
				b.WriteString("\nThere is no example, because it would have 100 kB.\n")
				continue
			}
			b.WriteString(ruleExamples(t, r.Code))
		}
	}
	return b.String()
}

func yesOf(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func severityOf(warning bool) string {
	if warning {
		return "warning"
	}
	return "error"
}

// ruleExamples returns the parts in which the two examples of a rule differ, and the
// finding.
func ruleExamples(t *testing.T, code string) string {
	t.Helper()
	read := func(suffix string) string {
		data, err := os.ReadFile(filepath.Join(repository, "testdata", "lint", code+suffix))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(data), "\n")
	}
	bad, good, said := strings.Split(read(".yaml"), "\n"), strings.Split(read(".good.yaml"), "\n"), read(".out")
	inBad, inGood, same := differences(bad, good)
	for _, found := range regexp.MustCompile(`(?m)^`+code+`\.yaml:(\d+):`).FindAllStringSubmatch(said, -1) {
		line, _ := strconv.Atoi(found[1])
		inBad[line-1] = true
	}
	for i, j := range same { // what one shows the other shows too
		inBad[i], inGood[j] = inBad[i] || inGood[j], inBad[i] || inGood[j]
	}
	first := regexp.MustCompile(`(?m)^\S+: ((error|warning): .*)$`).FindStringSubmatch(said)
	return fmt.Sprintf("\nBad ([file](../../testdata/lint/%s.yaml)):\n\n```yaml\n%s```\n\n```text\n%s\n```\n\nGood ([file](../../testdata/lint/%s.good.yaml)):\n\n```yaml\n%s```\n",
		code, excerptOf(bad, inBad), first[1], code, excerptOf(good, inGood))
}

// differences returns the lines in which two texts differ with the lines before them, and
// which lines are the same.
func differences(a, b []string) (inA, inB map[int]bool, same map[int]int) {
	length := make([][]int, len(a)+1) // of the longest common subsequence of a[i:] and b[j:]
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	inA, inB, same = map[int]bool{}, map[int]bool{}, map[int]int{}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			same[i] = j
			i, j = i+1, j+1
			continue
		}
		inA[i-1], inB[j-1] = true, true
		if j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1] {
			inA[i] = true
			i++
		} else {
			inB[j] = true
			j++
		}
	}
	return inA, inB, same
}

// excerptOf returns lines of YAML with the lines that they are below, and with the kind
// of their objects.
func excerptOf(lines []string, wanted map[int]bool) string {
	keep := map[int]bool{}
	for n := range lines {
		if !wanted[n] || lines[n] == "---" {
			continue
		}
		for at := n; at >= 0; at = parentOf(lines, at) {
			keep[at] = true
		}
		start := n
		for start > 0 && lines[start-1] != "---" {
			start--
		}
		kind := slices.IndexFunc(lines[start:], func(line string) bool { return strings.HasPrefix(line, "kind: ") })
		keep[start+kind] = true
	}
	var b strings.Builder
	for n, line := range lines {
		switch {
		case keep[n]:
			b.WriteString(line + "\n")
		case line == "---" && b.Len() > 0 && slices.ContainsFunc(slices.Collect(maps.Keys(keep)), func(k int) bool { return k > n }):
			b.WriteString("---\n")
		case n > 0 && keep[n-1] && (indent(line) > indent(lines[n-1]) || strings.HasSuffix(lines[n-1], ":")):
			b.WriteString(strings.Repeat(" ", indent(line)) + "# …\n")
		}
	}
	return b.String()
}

// parentOf returns the line of the key that a line of YAML is below; -1 if there is none.
func parentOf(lines []string, n int) int {
	item := strings.HasPrefix(strings.TrimSpace(lines[n]), "- ")
	for at := n - 1; at >= 0 && lines[at] != "---"; at-- {
		isItem := strings.HasPrefix(strings.TrimSpace(lines[at]), "- ")
		if indent(lines[at]) < indent(lines[n]) || item && !isItem && indent(lines[at]) == indent(lines[n]) {
			return at
		}
	}
	return -1
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
