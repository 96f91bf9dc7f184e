package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/place"
	"github.com/argoperator/argoperator/pkg/internal/run/page"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// devProject is the files that the page of dev shows and writes. It implements page.Project.
type devProject struct {
	s      streams
	from   *sourceFlags
	runner simulate.Runner
}

// definitions returns the files with definitions.
func (p *devProject) definitions() ([]argoperator.Source, error) {
	sources, _, err := p.from.read(p.s.in)
	return slices.DeleteFunc(sources, func(s argoperator.Source) bool { return !argoperator.Defines(s) }), err
}

// defines reports whether there is a definition, valid or not.
func (p *devProject) defines() bool {
	sources, err := p.definitions()
	return err == nil && len(sources) > 0
}

// has returns an error if there is no test of a name; empty: none is wanted.
func (p *devProject) has(test string) error {
	if test == "" {
		return nil
	}
	tests, err := p.Tests()
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tests {
		if t.Name == test {
			return nil
		}
		names = append(names, t.Name)
	}
	return usagef("no test is named %q; the tests are: %s", test, cmp.Or(strings.Join(names, ", "), "none"))
}

// Files implements page.Project.
func (p *devProject) Files() ([]page.File, error) {
	sources, err := p.definitions()
	var out []page.File
	for _, s := range sources {
		out = append(out, page.File{Name: s.Name, Content: string(s.Data), Editable: true})
	}
	return out, err
}

// Check implements page.Project.
func (p *devProject) Check(name, content string) (diag.List, error) {
	sources, _, err := p.from.read(p.s.in)
	if err != nil {
		return nil, err
	}
	for i := range sources {
		if sources[i].Name == name {
			sources[i].Data = []byte(content)
		}
	}
	result, err := argoperator.Generate(sources, argoperator.Options{})
	return result.Findings, err
}

// Save implements page.Project. It writes only files with definitions.
func (p *devProject) Save(name, content, was string) error {
	sources, err := p.definitions()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(sources, func(s argoperator.Source) bool { return s.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("%s is not a file of the definition", name)
	case string(sources[i].Data) != was:
		return fmt.Errorf("%s changed on disk: load it again", name)
	}
	return place.Replace(filepath.FromSlash(name), []byte(content))
}

// Samples implements page.Project: the files in the directory samples, and generated ones.
func (p *devProject) Samples() ([]page.Sample, error) {
	sources, _, err := p.from.read(p.s.in)
	if err != nil {
		return nil, err
	}
	result, err := argoperator.Generate(sources, argoperator.Options{})
	if err != nil {
		return nil, err
	}
	var out []page.Sample
	for _, o := range result.Operators {
		one := argoperator.Result{Operators: []argoperator.Operator{o}}
		for _, kind := range []argoperator.SampleKind{argoperator.Minimal, argoperator.Full} {
			texts, err := one.Samples(argoperator.SampleOptions{Kind: kind})
			if errors.Is(err, argoperator.ErrNoSchema) {
				break
			}
			if err != nil {
				return nil, err
			}
			out = append(out, page.Sample{Operator: o.Name, Name: string(kind), YAML: string(argoperator.Stream(texts))})
		}
	}
	return append(p.written(result), out...), nil
}

// written returns the custom resources in the directories samples.
func (p *devProject) written(result argoperator.Result) []page.Sample {
	var out []page.Sample
	sources, err := p.definitions()
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, s := range sources {
		dir := filepath.Join(filepath.Dir(filepath.FromSlash(s.Name)), "samples")
		files, err := yamlFiles(dir, false)
		if err != nil || seen[dir] {
			continue // there is none
		}
		seen[dir] = true
		for _, file := range files {
			data, err := readFile(file)
			if err != nil {
				continue
			}
			found, wrong, err := result.Resources([]argoperator.Source{{Name: file, Data: data, Lenient: true}}, nil)
			if err != nil || wrong.HasErrors() || len(found) == 0 {
				continue
			}
			out = append(out, page.Sample{Operator: operatorOf(result, found[0].Object), Name: filepath.ToSlash(file), YAML: string(data)})
		}
	}
	return out
}

// operatorOf returns the name of the operator of a custom resource.
func operatorOf(result argoperator.Result, cr map[string]any) string {
	for _, o := range result.Operators {
		if o.Kind().Kind == cr["kind"] {
			return o.Name
		}
	}
	return ""
}

// tests reads the tests of the definitions.
func (p *devProject) tests(name string) (selectedTests, error) {
	chosen, err := chooseTests("", nil)
	if name != "" {
		chosen.names = []string{name}
	}
	if err != nil {
		return selectedTests{}, err
	}
	return readSuites(streams{in: p.s.in, err: io.Discard}, p.from, chosen, func([]manifest.Object) {})
}

// Tests implements page.Project.
func (p *devProject) Tests() ([]page.Test, error) {
	read, err := p.tests("")
	var out []page.Test
	add := func(tests []argoperator.Test) {
		for _, t := range tests {
			at := t.Position("metadata", "name")
			out = append(out, page.Test{Name: t.Metadata.Name, File: at.File, Line: at.Line})
		}
	}
	for _, suite := range read.suites {
		add(suite.Tests)
	}
	for _, g := range read.unrun {
		add(g.tests)
	}
	return out, err
}

// RunTests implements page.Project.
func (p *devProject) RunTests(ctx context.Context, name string) ([]testsuite.Result, error) {
	read, err := p.tests(name)
	if err != nil {
		return nil, err
	}
	if len(read.findings) > 0 {
		return nil, fmt.Errorf("%s:%d: %s", read.findings[0].File, read.findings[0].Line, read.findings[0].Message)
	}
	return testsuite.Run(ctx, read.suites, testsuite.Options{Runner: p.runner, Parallel: runtime.NumCPU(), Now: time.Now, Trace: true})
}

// SaveTest implements page.Project.
func (p *devProject) SaveTest(name string, data []byte) (string, error) {
	sources, err := p.definitions()
	if err != nil {
		return "", err
	}
	if len(sources) == 0 {
		return "", errors.New("there is no definition")
	}
	path := filepath.Join(filepath.Dir(filepath.FromSlash(sources[0].Name)), testsDir, name+".yaml")
	err = place.Create(path, data)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s exists: choose another name", filepath.ToSlash(path))
	}
	return filepath.ToSlash(path), err
}
