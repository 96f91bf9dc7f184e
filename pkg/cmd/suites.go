package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// testsDir is the directory of tests next to a definition.
const testsDir = "tests"

// group is the set of tests of one definition or of the definitions in one
// directory.
type group struct {
	name    string // of the definition's file or of the directory
	sources []argoperator.Source
	tests   []argoperator.Test
	warns   bool // the definitions have warnings
	broken  bool // a definition or a test has errors, so no test runs
}

// selectedTests are the tests to run, of definitions without errors, and what was read for
// them.
type selectedTests struct {
	suites   []testsuite.Suite
	sources  []argoperator.Source
	findings diag.List
	unrun    []*group // with errors in their definitions or their tests
}

// suiteReader finds tests and the definitions that they test.
type suiteReader struct {
	from     *sourceFlags
	groups   []*group
	seen     map[string]bool // test files
	findings diag.List
	warnings diag.List // of the definitions
	note     func([]manifest.Object)
}

// readSuites reads the selected tests, and calls note with the objects of their operators.
// It counts the warnings of the definitions and leaves them out.
func readSuites(s streams, from *sourceFlags, chosen choice, note func([]manifest.Object)) (selectedTests, error) {
	r := &suiteReader{from: from, seen: map[string]bool{}, note: note}
	var err error
	if r.findings, err = from.readParameters(); err != nil {
		return selectedTests{}, err
	}
	for _, name := range from.names {
		err := r.read(name)
		if err != nil {
			err = unreadable(&r.findings, name, "the path", err)
		}
		if err != nil {
			return selectedTests{}, err
		}
	}
	defer r.countWarnings(s)
	return r.selected(chosen)
}

// countWarnings prints how many warnings the definitions have.
func (r *suiteReader) countWarnings(s streams) {
	with := sourceFlags{}
	for _, g := range r.groups {
		if g.warns {
			with.names = append(with.names, g.name)
		}
	}
	with.countWarnings(s, r.warnings)
}

func (r *suiteReader) read(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return r.readDir(name, true)
	}
	data, err := readFile(name)
	if err != nil {
		return err
	}
	if !definition.Match(data) {
		return r.testFile(name, nil, false)
	}
	sources, err := (&sourceFlags{unlocked: true, parameters: r.from.parameters}).source(name, filepath.Dir(name), data, false)
	if err != nil {
		return err
	}
	own := &group{name: name, sources: sources}
	r.groups = append(r.groups, own)
	if err := r.testFile(name, own, true); err != nil {
		return err
	}
	return r.below(filepath.Join(filepath.Dir(name), testsDir), own)
}

// readDir reads the tests in a directory and in its subdirectory tests.
func (r *suiteReader) readDir(dir string, named bool) error {
	entries, err := visible(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.isDir && named && filepath.Base(e.path) == testsDir:
			err = r.below(e.path, nil)
		case e.isDir && r.from.recursive:
			err = r.readDir(e.path, named)
		case !e.isDir && isYAML(e.path):
			err = r.testFile(e.path, nil, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below reads all tests below a directory, if it exists.
func (r *suiteReader) below(dir string, own *group) error {
	files, err := yamlFiles(dir, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, file := range files {
		if err := r.testFile(file, own, true); err != nil {
			return err
		}
	}
	return err
}

// testFile reads the tests of a file. They belong to the given group, or to the
// nearest definition above.
func (r *suiteReader) testFile(path string, own *group, lenient bool) error {
	if r.seen[filepath.Clean(path)] {
		return nil
	}
	r.seen[filepath.Clean(path)] = true
	data, err := readFile(path)
	if err != nil {
		return err
	}
	if lenient && !mayBeTest.Match(data) {
		return nil
	}
	home := ""
	if own != nil {
		home = filepath.Dir(own.name)
	} else if home, err = definitionAbove(filepath.Dir(path)); err != nil {
		return err
	}
	tests, wrong, err := r.parse(argoperator.Source{Name: filepath.ToSlash(path), Data: data, Lenient: lenient}, home)
	if err != nil || len(tests) == 0 && (!wrong || home == "") {
		return err
	}
	if home == "" {
		r.findings.Add(
			diag.Position{File: filepath.ToSlash(path)},
			diag.NoDefinition,
			"no definition in the directory of the test or above it",
			"move the test to the directory tests next to a definition",
		)
		return nil
	}
	if own == nil {
		if own, err = r.group(home); err != nil {
			return err
		}
	}
	own.tests, own.broken = append(own.tests, tests...), own.broken || wrong
	return nil
}

// parse reads the tests of a file that may refer to files below home. wrong reports whether
// the file has errors.
func (r *suiteReader) parse(source argoperator.Source, home string) (tests []argoperator.Test, wrong bool, err error) {
	base := "."
	if home != "" {
		root, err := os.OpenRoot(home)
		if err != nil {
			return nil, false, fmt.Errorf("opening the definition's directory: %w", err)
		}
		source.Dir = root.FS()
		if base, err = within(filepath.Dir(filepath.FromSlash(source.Name)), home); err != nil {
			return nil, false, err
		}
	}
	tests, found := argoperator.ParseTests(source, base)
	r.findings = append(r.findings, found...)
	return tests, found.HasErrors(), nil
}

// group returns the group of the definitions in a directory.
func (r *suiteReader) group(dir string) (*group, error) {
	i := slices.IndexFunc(r.groups, func(g *group) bool { return g.name == dir })
	if i >= 0 {
		return r.groups[i], nil
	}
	sources, err := (&sourceFlags{unlocked: true, parameters: r.from.parameters}).readOne(dir, nil)
	if err != nil {
		return nil, err
	}
	g := &group{name: dir, sources: sources}
	r.groups = append(r.groups, g)
	return g, nil
}

// Patterns that tell quickly what a file may contain; the parser decides.
var (
	definition = regexp.MustCompile(`(?m)\bkind["']?\s*:\s*["']?Operator["']?\s*(,|}|#.*)?\r?$`)
	mayBeTest  = regexp.MustCompile(`argoperator\.dev/|\bOperatorTest\b`)
)

// definitionAbove returns the directory with the definitions for tests in this one:
// itself, or the nearest parent reached through a directory tests. It returns "" if
// there is none.
func definitionAbove(dir string) (string, error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("looking for a definition: %w", err)
	}
	for {
		if found, err := holdsDefinition(dir, false); err != nil || found {
			return dir, err
		}
		if !slices.Contains(strings.Split(filepath.ToSlash(whole), "/"), testsDir) {
			return "", nil
		}
		dir, whole = filepath.Join(dir, ".."), filepath.Dir(whole)
	}
}

func holdsDefinition(dir string, recursive bool) (bool, error) {
	files, err := yamlFiles(dir, recursive)
	if err != nil {
		return false, err
	}
	for _, file := range files {
		data, err := readFile(file)
		if err != nil {
			return false, err
		}
		if definition.Match(data) {
			return true, nil
		}
	}
	return false, nil
}

// noDefinition reports whether the named directories have no definition.
func (r *suiteReader) noDefinition() bool {
	return !slices.ContainsFunc(r.from.names, func(name string) bool {
		info, err := os.Stat(name)
		if err != nil || !info.IsDir() {
			return true
		}
		found, err := holdsDefinition(name, r.from.recursive)
		return err != nil || found
	})
}

// within returns the path of a directory relative to a parent, resolving links.
func within(dir, parent string) (string, error) {
	whole, err := filepath.Abs(dir)
	if err == nil {
		parent, err = filepath.Abs(parent)
	}
	if err == nil {
		whole, err = filepath.Rel(parent, whole)
	}
	if err != nil {
		return "", fmt.Errorf("finding a test beside its definition: %w", err)
	}
	return filepath.ToSlash(whole), nil
}

// maxHeldSuites limits how many suites keep their checked operators; the others
// generate them again, so that memory use does not grow with the number of suites.
const maxHeldSuites = 16

// next checks the definitions that steps of tests apply. Their programs need consent, too.
func (r *suiteReader) next(out *selectedTests, tests []argoperator.Test) (diag.List, error) {
	for _, t := range tests {
		out.sources = append(out.sources, slices.Collect(maps.Values(t.Next))...)
	}
	return testsuite.CheckNext(tests, func(result argoperator.Result) { r.note(result.Objects()) })
}

// operators generates the operators of a group that has been checked.
func (g *group) operators() ([]argoperator.Operator, error) {
	result, err := argoperator.Generate(g.sources, argoperator.Options{})
	if err == nil && result.Findings.HasErrors() {
		err = fmt.Errorf("%s changed while its tests waited", g.name)
	}
	return result.Operators, err
}

// selected generates the operators of the groups with selected tests.
func (r *suiteReader) selected(chosen choice) (selectedTests, error) {
	var out selectedTests
	var all []string
	for _, g := range r.groups {
		for _, t := range g.tests {
			all = append(all, t.Metadata.Name)
		}
		g.tests = slices.DeleteFunc(g.tests, func(t argoperator.Test) bool { return !chosen.takes(t.Metadata.Name) })
		if len(g.tests) == 0 {
			if g.broken {
				out.unrun = append(out.unrun, g)
			}
			continue
		}
		result, err := argoperator.Generate(g.sources, argoperator.Options{})
		if err != nil {
			return selectedTests{}, err
		}
		out.sources = append(out.sources, g.sources...)
		r.findings = append(r.findings, result.Findings.Only(diag.Error)...)
		warnings := result.Findings.Only(diag.Warning)
		r.warnings, g.warns = append(r.warnings, warnings...), len(warnings) > 0
		suite := testsuite.Suite{Operators: result.Operators, Tests: g.tests}
		if g.broken = g.broken || result.Findings.HasErrors(); !g.broken {
			wrong := testsuite.Check([]testsuite.Suite{suite})
			next, err := r.next(&out, g.tests)
			if err != nil {
				return selectedTests{}, err
			}
			wrong = append(wrong, next...)
			r.findings, g.broken = append(r.findings, wrong...), wrong.HasErrors()
			r.note(result.Objects())
		}
		if g.broken {
			out.unrun = append(out.unrun, g)
			continue
		}
		if len(out.suites) >= maxHeldSuites {
			suite.Operators, suite.Make = nil, g.operators
		}
		out.suites = append(out.suites, suite)
	}
	switch {
	case r.findings.HasErrors():
	case len(all) > 0:
		if unmatched := chosen.unmatched(all); len(unmatched) > 0 {
			r.findings, out.suites = append(r.findings, unmatched...), nil
		}
	case r.noDefinition():
		r.findings.Add(diag.Position{}, diag.NoDefinition, "no definition found", r.from.startHint())
	default:
		r.findings.Add(
			diag.Position{},
			diag.NoTest,
			"no test found",
			"write one in the directory "+testsDir+" next to the definition: "+
				"https://github.com/argoperator/argoperator/blob/main/docs/how-to/test.md",
		)
	}
	out.findings = r.findings.Sorted()
	return out, nil
}
