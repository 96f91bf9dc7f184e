package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// used is the resource usage of a program; e2e/bench writes it.
type used struct {
	Program      string  `json:"program"`
	Does         string  `json:"does"`
	Number       int     `json:"number"`
	Of           string  `json:"of"`
	Milliseconds float64 `json:"milliseconds"`
	Memory       float64 `json:"memory"`
	Instructions float64 `json:"instructions"`
}

// raced is a measurement of an operator on the cluster; TestBench writes it.
type raced struct {
	Operator string  `json:"operator"`
	Singles  int     `json:"singles"`
	Median   float64 `json:"median"`
	P99      float64 `json:"p99"`
	Bursts   []struct {
		Count    int                `json:"count"`
		Existing int                `json:"existing"`
		Made     float64            `json:"made"`
		Children float64            `json:"children"`
		Ready    float64            `json:"ready"`
		CPU      float64            `json:"cpu"`
		Parts    map[string]float64 `json:"parts"`
		Memory   float64            `json:"memory"`
		Calls    float64            `json:"calls"`
		Pods     float64            `json:"pods"`
		After    float64            `json:"after"`
	} `json:"bursts"`
}

const performanceIntro = `# Performance

<!-- Made by go run ./e2e/report from performance-generator.json and performance-operators.json. Do not edit. -->

Everything in a table was measured in one run on one machine with two cores. Machines differ, and one machine from hour to
hour: compare within a table, and on your own machine by the same commands.

## What it is to reach

Where the time goes that a missed goal would have to save, and what was tried, is in [speed.md](../contributing/speed.md).

`

const generatorIntro = `## The generator

` + "`make bench`" + ` measures argoperator beside what one would use instead, on the same operators: copies of examples/memcached, as
definitions, as a kustomize base and as charts of one umbrella chart. argoperator checks all that it prints; Helm and kustomize
check nothing, ` + "`argo lint`" + ` looks at Workflows only, and the floor marshals the same objects in their real types by
sigs.k8s.io/yaml, unchecked. [pkg/internal/parts](../../pkg/internal/parts) does what ` + "`generate`" + ` does without its checks,
and what its encoder does with the objects of the floor; argoperator itself always checks. The time is that of the processor
(user and system), the least of several runs; instructions are counted by valgrind in one thread without the garbage collector,
start included.

`

const operatorsRunIntro = `## The operators

` + "`make bench-cluster`" + ` measures operators for the same custom resource one after the other on one cluster. A custom resource asks
for a Deployment without replicas: what is measured is the operator, not the kubelet. The operator in Go is
[e2e/reference](../../e2e/reference), a process beside the cluster that needs no pod; "as scaffolded" is with the defaults of
controller-runtime (one worker, no limit of requests). Times are milliseconds. The latency is from the request that creates the
custom resource to the watch event of its child.

`

// performancePage generates docs/explanation/performance.md from the figures next to it, if
// there are any.
func performancePage(out io.Writer) error {
	m, err := figures("docs/explanation")
	if err != nil || m.empty() {
		return err
	}
	const page = "docs/explanation/performance.md"
	if err := os.WriteFile(page, []byte(renderPerformance(m)), 0o644); err != nil { //nolint:gosec // documentation
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%s", page, goalsTable(m))
	return err
}

// figures reads the figures in a directory.
func figures(dir string) (m measured, err error) {
	err = errors.Join(
		readIfThere(filepath.Join(dir, "performance-generator.json"), &m.programs),
		readIfThere(filepath.Join(dir, "performance-operators.json"), &m.operators))
	return m, err
}

func renderPerformance(m measured) string {
	var b strings.Builder
	b.WriteString(performanceIntro + goalsTable(m) + "\n")
	if len(m.programs) > 0 {
		b.WriteString(generatorIntro)
		generatorTable(&b, m.programs)
	}
	if len(m.operators) > 0 {
		b.WriteString(operatorsRunIntro)
		latencyTable(&b, m.operators)
		burstTable(&b, m.operators)
	}
	return b.String()
}

// generatorTable compares other programs with argoperator at the same number.
func generatorTable(b *strings.Builder, list []used) {
	const operators = "operators"
	for _, of := range []string{operators, "custom resources"} {
		fmt.Fprintf(b, "| %s | program | does | CPU, ms | to the first | ms each | memory, MiB | instructions, M |\n|---|---|---|---|---|---|---|---|\n", of)
		first := map[int]float64{}
		for _, u := range list {
			if u.Of != of {
				continue
			}
			if _, known := first[u.Number]; !known {
				first[u.Number] = u.Milliseconds
			}
			each, instructions := "", ""
			if u.Number > 0 {
				each = fmt.Sprintf("%.2f", u.Milliseconds/float64(u.Number))
			}
			if u.Instructions > 0 {
				instructions = fmt.Sprintf("%.0f", u.Instructions)
			}
			fmt.Fprintf(b, "| %d | %s | %s | %.0f | %.2f | %s | %.0f | %s |\n", u.Number, u.Program, u.Does, u.Milliseconds,
				u.Milliseconds/first[u.Number], each, u.Memory, instructions)
		}
		b.WriteString("\n")
		if of == operators {
			b.WriteString("What custom resources of one operator take: all that it makes of them, and what is wrong with them.\n\n")
		}
	}
}

func latencyTable(b *strings.Builder, list []raced) {
	b.WriteString("### One at a time\n\n| operator | custom resources | median | p99 | to the first |\n|---|---|---|---|---|\n")
	for _, r := range list {
		fmt.Fprintf(b, "| %s | %d | %.1f | %.1f | %.2f |\n", r.Operator, r.Singles, r.Median, r.P99, r.Median/list[0].Median)
	}
	b.WriteString("\n")
}

// tenth formats a figure, or a dash if it was not measured.
func tenth(x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", x)
}

func burstTable(b *strings.Builder, list []raced) {
	b.WriteString("### Many at once\n\nAll made by ten clients. What is spent is for each custom resource, until all are ready: CPU in milliseconds, of the\noperator's own pods or process and of the parts of the cluster; requests to the API server; pods of Workflows. The kubelet\ncounts the CPU of pods about every ten seconds: of bursts that are shorter it may not say. The last column is the median\nlatency of ten more when all these are there. A dash is what was not measured.\n\n" +
		"| operator | existing | new | made after | children after | all ready after | children a second | CPU | of the cluster | memory, MiB | requests | pods | one more |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range list {
		for _, x := range r.Bursts {
			var parts []string
			for name, cpu := range x.Parts {
				parts = append(parts, fmt.Sprintf("%s %.1f", name, cpu))
			}
			slices.Sort(parts)
			fmt.Fprintf(b, "| %s | %d | %d | %.0f | %.0f | %.0f | %.0f | %s | %s | %.0f | %.1f | %.2g | %s |\n", r.Operator, x.Existing, x.Count,
				x.Made, x.Children, x.Ready, float64(x.Count)/x.Children*1000, tenth(x.CPU), strings.Join(parts, ", "), x.Memory, x.Calls, x.Pods, tenth(x.After))
		}
	}
	b.WriteString("\n")
}
