package main

import (
	"fmt"
	"strings"
)

// goal compares argoperator with an alternative.
type goal struct {
	what string // the measurement
	most float64
	unit string // after the number; "× " and the alternative for a ratio
	of   func(measured) (float64, bool)
}

// measured contains all input of the page.
type measured struct {
	programs  []used
	operators []raced
}

// Names of measurements in e2e/bench and TestBench.
const (
	generates = "argoperator generate"
	lints     = "argoperator lint"
	testsNew  = "argoperator test of init"
	direct    = "direct/memcached"
	workflow  = "workflow/memcached-logic"
	worker    = "worker/memcached"
	perCall   = "worker/memcached-logic"
	hook      = "worker/memcached-logic (hook)"
	inGo      = "controller-runtime (as scaffolded)"
	tutorial  = "the tutorial (as published)"
	unchecked = "generate without its checks"
	encoder   = "its encoder"
	floor     = "floor"
	helm      = "helm template"
	argoLint  = "argo lint --offline"
)

// goals in the order of the page.
var goals = []goal{
	{"`generate` of 1 operator, all checks: instructions", 0.5, "× helm template", func(m measured) (float64, bool) {
		return ratio(m.program(generates, 1).Instructions, m.program(helm, 1).Instructions)
	}},
	{"`lint` of 1 operator: instructions", 0.6, "× helm template", func(m measured) (float64, bool) {
		return ratio(m.program(lints, 1).Instructions, m.program(helm, 1).Instructions)
	}},
	{"`test` of a new project: instructions", 400, "M", func(m measured) (float64, bool) {
		return known(m.program(testsNew, 1).Instructions)
	}},
	{"`generate` of 1,000 operators, all checks: processor time", 0.5, "× argo lint --offline", func(m measured) (float64, bool) {
		return ratio(m.program(generates, 1000).Milliseconds, m.program(argoLint, 1000).Milliseconds)
	}},
	{"… without its checks: processor time", 0.5, "× helm template", func(m measured) (float64, bool) {
		return ratio(m.program(unchecked, 1000).Milliseconds, m.program(helm, 1000).Milliseconds)
	}},
	{"… writing YAML: processor time", 0.5, "× sigs.k8s.io/yaml", func(m measured) (float64, bool) {
		return ratio(m.program(encoder, 1000).Milliseconds, m.program(floor, 1000).Milliseconds)
	}},
	{"`generate` of 1,000 operators: memory", 64, "MiB", func(m measured) (float64, bool) {
		return known(m.program(generates, 1000).Memory)
	}},
	{"`generate`, from 100 to 1,000 operators: memory", 1.1, "× that of 100", func(m measured) (float64, bool) {
		return ratio(m.program(generates, 1000).Memory, m.program(generates, 100).Memory)
	}},
	{"`version`: instructions", 5, "M", func(m measured) (float64, bool) {
		return known(m.program("argoperator version", 0).Instructions)
	}},
	{"`generate`, from 100 to 1,000 operators: processor time of each", 1.1, "× that of 100", growth(generates, 100, 1000)},
	{"`lint`, from 100 to 1,000 operators: processor time of each", 1.1, "× that of 100", growth(lints, 100, 1000)},
	{"`test`, from 100 to 1,000 operators: processor time of each", 1.1, "× that of 100", growth("argoperator test", 100, 1000)},
	{"`render`, from 1,000 to 10,000 custom resources: processor time of each", 1.1, "× that of 1,000", growth("argoperator render", 1000, 10000)},
	{"custom resource to child, `direct`: median", 2, "× the operator in Go", func(m measured) (float64, bool) {
		return ratio(m.operator(direct).Median, m.operator(inGo).Median)
	}},
	{"custom resource to child, `direct`: median", 0.001, "× the tutorial", func(m measured) (float64, bool) {
		return ratio(m.operator(direct).Median, m.operator(tutorial).Median)
	}},
	{"custom resource to child, `workflow`: median", 4000, "ms", latency(workflow)},
	{"… `worker` with templates: median", 50, "ms", latency(worker)},
	{"… with a program for each call: median", 100, "ms", latency(perCall)},
	{"… with a hook: median", 60, "ms", latency(hook)},
	{"… with a program for each call: median", 0.04, "× `workflow`", func(m measured) (float64, bool) {
		return ratio(m.operator(perCall).Median, m.operator(workflow).Median)
	}},
	{"1,000 custom resources at once, `worker` with templates: all children", 25000, "ms", allOf(worker, 1000)},
	{"… processor time of its pods for each", 20, "ms", cpu(worker, 1000)},
	{"200 at once, with a program for each call: all children", 13333, "ms", allOf(perCall, 200)},
	{"… processor time of its pods for each", 60, "ms", cpu(perCall, 200)},
	{"200 at once, with a hook: all children", 6667, "ms", allOf(hook, 200)},
	{"pods of a `worker` with a program at rest: memory", 80, "MiB", func(m measured) (float64, bool) {
		return known(m.operator(perCall).Rest)
	}},
	{"1,000 custom resources at once, `direct`: all children", 10000, "ms", allOf(direct, 1000)},
	{"… compared with the operator in Go, as scaffolded", 1, "× the operator in Go", func(m measured) (float64, bool) {
		return ratio(m.burst(direct, 1000).Children, m.burst(inGo, 1000).Children)
	}},
	{"… from 1,000 to 5,000 at once: time for each", 1.1, "× that of 1,000", func(m measured) (float64, bool) {
		return ratio(m.burst(direct, 5000).Children/5, m.burst(direct, 1000).Children)
	}},
}

func (m measured) empty() bool { return len(m.programs)+len(m.operators) == 0 }

func (m measured) program(name string, number int) used {
	for _, u := range m.programs {
		if u.Program == name && u.Number == number {
			return u
		}
	}
	return used{}
}

func (m measured) operator(name string) raced {
	for _, r := range m.operators {
		if r.Operator == name {
			return r
		}
	}
	return raced{}
}

// burst returns what was measured of so many custom resources at once.
func (m measured) burst(operator string, count int) burst {
	for _, x := range m.operator(operator).Bursts {
		if x.Count == count {
			return x
		}
	}
	return burst{}
}

func latency(operator string) func(measured) (float64, bool) {
	return func(m measured) (float64, bool) { return known(m.operator(operator).Median) }
}

// allOf returns the time until all children existed.
func allOf(operator string, count int) func(measured) (float64, bool) {
	return func(m measured) (float64, bool) { return known(m.burst(operator, count).Children) }
}

func cpu(operator string, count int) func(measured) (float64, bool) {
	return func(m measured) (float64, bool) { return known(m.burst(operator, count).CPU) }
}

func growth(program string, from, to int) func(measured) (float64, bool) {
	return func(m measured) (float64, bool) {
		return ratio(m.program(program, to).Milliseconds*float64(from), m.program(program, from).Milliseconds*float64(to))
	}
}

func ratio(a, b float64) (float64, bool) {
	if a == 0 || b == 0 {
		return 0, false
	}
	return a / b, true
}

func known(a float64) (float64, bool) { return a, a != 0 }

// goalsTable lists which goals are reached.
func goalsTable(m measured) string {
	var b strings.Builder
	b.WriteString("| | at most | measured | |\n|---|---|---|---|\n")
	for _, g := range goals {
		was, ok := g.of(m)
		if !ok {
			fmt.Fprintf(&b, "| %s | %s %s | – | not measured |\n", g.what, digits(g.most), g.unit)
			continue
		}
		verdict := "reached"
		if was > g.most {
			verdict = "**missed**"
		}
		fmt.Fprintf(&b, "| %s | %s %s | %s | %s |\n", g.what, digits(g.most), g.unit, digits(was), verdict)
	}
	return b.String()
}

// digits rounds to the significant digits.
func digits(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
