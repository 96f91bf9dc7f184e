// Command bench measures argoperator beside what one would use instead, on the
// same operators, all in one run:
//
//	bench -argoperator bin/argoperator -parts bin/parts -floor bin/floor -argolint bin/argolint -helm bin/helm -kustomize bin/kustomize
//
// It prints a table, and writes the figures to the file of -results. What is
// compared is the processor time, of which the least of several runs counts, and
// the memory at its height; instructions are counted by valgrind where that is
// installed, as they are the same on every machine. It is a module of its own, so
// that argoperator does not depend on what it is compared with.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// figure is a measurement of a command.
type figure struct {
	Program      string  `json:"program"`
	Does         string  `json:"does"`
	Number       int     `json:"number"`
	Of           string  `json:"of"`                     // operators or custom resources
	Milliseconds float64 `json:"milliseconds"`           // CPU time
	Memory       float64 `json:"memory"`                 // MiB
	Instructions float64 `json:"instructions,omitempty"` // millions
}

// Units of the counts.
const (
	operators       = "operators"
	customResources = "custom resources"
)

// programs are the paths of the programs.
type programs struct{ argoperator, parts, floor, argolint, helm, kustomize string }

func main() {
	var p programs
	flag.StringVar(&p.argoperator, "argoperator", "bin/argoperator", "program to measure")
	flag.StringVar(&p.parts, "parts", "bin/parts", "program of pkg/internal/testing/parts")
	flag.StringVar(&p.floor, "floor", "bin/floor", "program of e2e/bench/floor")
	flag.StringVar(&p.argolint, "argolint", "bin/argolint", "program of e2e/tools/argolint")
	flag.StringVar(&p.helm, "helm", "bin/helm", "helm")
	flag.StringVar(&p.kustomize, "kustomize", "bin/kustomize", "kustomize")
	definition := flag.String("f", "examples/memcached/operator.yaml", "definition whose copies are generated")
	results := flag.String("results", "", "file for the figures, as JSON")
	counts := flag.String("counts", "1,10,100,1000", "numbers of operators")
	resources := flag.String("resources", "10,100,1000,10000", "numbers of custom resources")
	flag.Parse()
	if err := run(p, *definition, *results, strings.Split(*counts, ","), *resources); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(p programs, definition, results string, counts []string, resources string) error {
	var all []figure
	show := func(figures []figure) error {
		for _, f := range figures {
			line := fmt.Sprintf("%5d  %-28s %10.1f ms %8.0f MiB", f.Number, f.Program, f.Milliseconds, f.Memory)
			if f.Instructions > 0 {
				line += fmt.Sprintf(" %8.0f M instructions", f.Instructions)
			}
			fmt.Println(line)
		}
		all = append(all, figures...)
		return keep(all, results)
	}
	starts, err := startUp(p)
	if err != nil {
		return err
	}
	if err := show(starts); err != nil {
		return err
	}
	for _, text := range counts {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		figures, err := compare(p, definition, n)
		if err != nil {
			return err
		}
		if err := show(figures); err != nil {
			return err
		}
	}
	for _, text := range strings.Split(resources, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		figures, err := rendering(p, definition, n)
		if err != nil {
			return err
		}
		if err := show(figures); err != nil {
			return err
		}
	}
	return nil
}

// keep writes the figures after each measurement, because a run is slow.
func keep(figures []figure, file string) error {
	if file == "" {
		return nil
	}
	data, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644) //nolint:gosec // documentation
}

// startUp measures the programs without work.
func startUp(p programs) ([]figure, error) {
	return measure(0, operators, []command{
		{"argoperator version", "start", []string{p.argoperator, "version"}},
		{"helm version", "start", []string{p.helm, "version"}},
		{"kustomize version", "start", []string{p.kustomize, "version"}},
	})
}

type command struct {
	name, does string
	args       []string
}

// compare creates n operators in each format and measures the commands that render
// or check their manifests.
func compare(p programs, definition string, n int) ([]figure, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := copies(definition, at("definitions"), n); err != nil {
		return nil, err
	}
	if err := projects(filepath.Dir(definition), at("projects"), n); err != nil {
		return nil, err
	}
	for _, format := range []string{"kustomize", "helm"} {
		if err := exec.Command(p.argoperator, "generate", "-f", at("definitions"), "-o", format, "--output-dir", at(format)).Run(); err != nil { //nolint:gosec // it is told which
			return nil, fmt.Errorf("generate -o %s: %w", format, err)
		}
	}
	if err := umbrella(at("helm"), at("umbrella")); err != nil {
		return nil, err
	}
	for file, from := range map[string]string{"all.yaml": at("definitions"), "one.yaml": definition} {
		if err := into(at(file), p.argoperator, "generate", "-f", from); err != nil {
			return nil, err
		}
	}
	list := []command{
		{"argoperator generate", "manifests, checked", []string{p.argoperator, "generate", "-f", at("definitions")}},
		{"argoperator lint", "checks", []string{p.argoperator, "lint", "-f", at("definitions")}},
		{"argoperator test", "tests", []string{p.argoperator, "test", "-R", "--run-logic", "-f", at("projects")}},
		{"generate without its checks", "manifests", []string{p.parts, "unchecked", at("definitions")}},
		{"its encoder", "manifests, of objects", []string{p.parts, "encode", definition, strconv.Itoa(n)}},
		{"floor", "manifests, of objects", []string{p.floor, at("one.yaml"), strconv.Itoa(n)}},
		{"argo lint --offline", "checks, of Workflows", []string{p.argolint, at("all.yaml")}},
		{"helm template", "manifests", []string{p.helm, "template", "bench", at("umbrella")}},
	}
	if n == 1 {
		if err := exec.Command(p.argoperator, "init", "guestbook", "--dir", at("new"), "--group", "example.com", "--kind", "Guestbook").Run(); err != nil { //nolint:gosec // it is told which
			return nil, fmt.Errorf("init: %w", err)
		}
		list = append(list, command{"argoperator test of init", "tests", []string{p.argoperator, "test", "-f", at("new")}})
	}
	if n <= maxKustomize {
		list = append(list, command{"kustomize build", "manifests", []string{p.kustomize, "build", at("kustomize")}})
	}
	return measure(n, operators, list)
}

// rendering renders n custom resources of one operator and validates them.
func rendering(p programs, definition string, n int) ([]figure, error) {
	sample, err := exec.Command(p.argoperator, "sample", "-f", definition).Output() //nolint:gosec // it is told which
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	name := regexp.MustCompile(`(?m)^  name: .*$`)
	var all strings.Builder
	for i := range n {
		all.WriteString(name.ReplaceAllString(string(sample), fmt.Sprintf("  name: sample-%d", i)))
		all.WriteString("\n---\n")
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "all.yaml")
	if err := os.WriteFile(file, []byte(all.String()), 0o600); err != nil {
		return nil, err
	}
	return measure(n, customResources, []command{
		{"argoperator render", "children", []string{p.argoperator, "render", "-f", definition, file}},
		{"argoperator validate", "checks", []string{p.argoperator, "validate", "-f", definition, file}},
	})
}

// maxKustomize is the largest number of operators that kustomize builds in minutes.
const maxKustomize = 100

// into runs a command with its output redirected to a file. The memory of this
// process counts for its children until they exec.
func into(file string, args ...string) (err error) {
	out, err := os.Create(file) //nolint:gosec // it is told which
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	cmd := exec.Command(args[0], args[1:]...) //nolint:gosec // it is told which
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// copies writes copies of a definition with different names, groups and kinds.
func copies(definition, dir string, n int) error {
	data, err := os.ReadFile(definition) //nolint:gosec // it is told which
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	name := regexp.MustCompile(`(?m)^  name: (.*)$`)
	group := regexp.MustCompile(`(?m)^    group: (.*)$`)
	for i := range n {
		text := name.ReplaceAllString(string(data), fmt.Sprintf("  name: $1-%d", i))
		text = group.ReplaceAllString(text, fmt.Sprintf("    group: g%d.$1", i))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// projects copies a definition with its neighbouring files, such as tests, for
// different groups.
func projects(from, dir string, n int) error {
	group := regexp.MustCompile(`[a-z.]+\.example\.com`)
	for i := range n {
		err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			inside, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			to := filepath.Join(dir, strconv.Itoa(i), inside)
			if entry.IsDir() {
				return os.MkdirAll(to, 0o750)
			}
			data, err := os.ReadFile(path) //nolint:gosec // it is told which
			if err != nil {
				return err
			}
			text := group.ReplaceAllString(string(data), fmt.Sprintf("g%d.$0", i))
			return os.WriteFile(to, []byte(text), 0o600)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// umbrella writes a chart of charts, because Helm accepts only one chart.
func umbrella(charts, dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte("apiVersion: v2\nname: umbrella\nversion: 0.1.0\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(charts, filepath.Join(dir, "charts"))
}

// runs returns how often to run each command; the shortest time counts. Large
// counts take minutes, which averages out disturbances.
func runs(n int) int {
	switch {
	case n < 100:
		return 5
	case n < 1000:
		return 2
	}
	return 1
}

// measure alternates between the commands, so that disturbances affect all of them.
func measure(n int, of string, list []command) ([]figure, error) {
	out := make([]figure, len(list))
	for range runs(n) {
		for i, c := range list {
			spent, memory, err := once(c.args)
			if err != nil {
				return nil, err
			}
			if out[i].Program == "" || spent < out[i].Milliseconds {
				out[i] = figure{Program: c.name, Does: c.does, Number: n, Of: of, Milliseconds: spent, Memory: memory}
			}
		}
	}
	for i, c := range list {
		if n <= 1 {
			out[i].Instructions = instructions(c.args)
		}
	}
	return out, nil
}

func once(args []string) (milliseconds, memory float64, err error) {
	cmd := exec.Command(args[0], args[1:]...) //nolint:gosec // it is told which
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0, fmt.Errorf("%s: this system does not tell what it used", args[0])
	}
	spent := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return float64(spent) / float64(time.Millisecond), float64(usage.Maxrss) / 1024, nil
}

var counted = regexp.MustCompile(`Collected : (\d+)`)

// instructions counts instructions with a single thread and without garbage
// collection, which vary between runs; 0 without valgrind.
func instructions(args []string) float64 {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		return 0
	}
	cmd := exec.Command(valgrind, append([]string{"--tool=callgrind", "--callgrind-out-file=/dev/null"}, args...)...) //nolint:gosec // it is told which
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return 0
	}
	found := counted.FindStringSubmatch(said.String())
	if found == nil {
		return 0
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return 0
	}
	return n / 1e6
}
