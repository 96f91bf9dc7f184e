// Package scaffold writes new projects: a definition that works at once, with
// samples, tests and the files to build and deliver it.
//
// The rule of this package: a project is a value that sources fill in and Files
// renders. It contains nothing that argoperator refuses, and no existing file is
// overwritten.
package scaffold

import (
	"fmt"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// File is a file of a project.
type File struct {
	Path string // slash-separated, in the project
	Data []byte
}

// Project describes all files of a project. A source, such as New and FromCRD,
// fills it in.
type Project struct {
	Name      string // of the operator
	Namespace string // install.namespace
	API       API
	// Children in the order of the definition. Their files are among Files or Parts.
	Children []Child
	// Logic is nil if templates render the children.
	Logic *Logic
	// Rendered are the objects of the sample, if a chart makes them.
	Rendered []Rendered
	// Finalizer of the custom resources, for children that they cannot own.
	Finalizer bool
	// Status lists fields of the custom resource's status with their expressions.
	Status []Field
	// Kept describes the children in the README, such as "a Deployment".
	Kept string
	// Files are written as they are.
	Files []File
	// Parts are rendered from templates/init.
	Parts []Part
	// Notes for the user about the project.
	Notes []string
	// Tool is the argoperator version that the project installs, such as v1.2.3 or
	// latest.
	Tool string
}

// API is the operator's primary kind.
type API struct {
	Group, Kind, Version string
	Plural               string // empty: derived from Kind
	Cluster              bool   // cluster-scoped
	// CRD is the file with the kind's CustomResourceDefinition. Without one, the
	// definition describes the kind with the following fields.
	CRD          string
	Existing     bool    // others install the kind
	NoSpec       bool    // the fields are at the top level, not in spec
	Spec, Status []Field // the schema, in the short form
	Columns      []Column
	Scale        *Scale
	Rules        []Rule
	// Sample is the name of a first custom resource with all defaults; empty:
	// generate one with all fields.
	Sample string
}

// Rule is a CEL validation rule.
type Rule struct{ Rule, Message string }

// Field is a field with its value: a type in the short form, or an expression. A
// field with subfields has no value.
type Field struct {
	Name, Value string
	Fields      []Field
}

// Column of `kubectl get`.
type Column struct{ Name, Path string }

// Scale contains the paths of the scale subresource.
type Scale struct{ Spec, Status string }

// Child is an entry of spec.children, with a template file or with the kind that
// the logic returns.
type Child struct {
	Name             string
	File             string
	APIVersion, Kind string
	When, ReadyWhen  string // empty: omitted
	OnDelete         string
	// For a kind that is not built in: the file with its CustomResourceDefinition,
	// or its properties.
	CRD, Plural, Scope string
	// Suffix of the child's name after the custom resource's name.
	Suffix string
	// Scaled: the custom resource's replicas are its spec.replicas.
	Scaled bool
	// Expect has fields of the sample's child, for the test.
	Expect map[string]any
}

// Rendered is an object that a chart makes of the sample.
type Rendered struct{ APIVersion, Kind, Name string }

// Logic is the program or the chart that computes the children.
type Logic struct {
	Chart   string // its directory, in place of the other fields
	Random  bool   // the chart has another result for each call
	Image   string
	Command string   // as YAML
	Comment []string // lines before the command
	Files   []string
	Memory  string // limit; empty: the default
}

// Part is a file of a project and its template in templates/init.
type Part struct{ Path, Template string }

// Result is a project as files.
type Result struct {
	Files []File // in reading order
	// Findings about the files, by path. If one is an error, the files are
	// unusable.
	Findings diag.List
	// Notes for the user about the project.
	Notes []string
	// Sample is the path of the first custom resource.
	Sample string
	// Apply is the command that applies the operator's manifests.
	Apply string
	// Programs reports whether the project has custom code.
	Programs bool
}

// Text returns the content of a file; nil if there is none.
func (r Result) Text(name string) []byte {
	i := slices.IndexFunc(r.Files, func(f File) bool { return f.Path == name })
	if i < 0 {
		return nil
	}
	return r.Files[i].Data
}

// page is the data of the templates.
type page struct {
	Project
	Resource string // as kubectl accepts it, such as memcacheds.cache.example.com
	Sample   Sample
	Samples  []Sample
	Others   bool   // there are samples of other versions than the operator's
	Child    string // first child of the sample as KIND/NAME for kubectl
	Apply    string // additional arguments of `kubectl apply`, after a space
}

// Files renders a project.
func Files(p Project) (Result, error) {
	facts := page{Project: p}
	main, err := render(facts, Part{"operator.yaml", "operator.yaml"})
	if err != nil {
		return Result{}, err
	}
	files := append([]File{main}, p.Files...)
	referred, err := renderAll(facts, referredTo(p.Parts))
	if err != nil {
		return Result{}, err
	}
	d, findings, err := validate(append(slices.Clone(files), referred...))
	if err != nil || findings.HasErrors() {
		return Result{Files: append(files, referred...), Findings: findings}, err
	}
	notes, err := facts.learn(d, findings)
	if err != nil {
		return Result{}, err
	}
	notes = append(slices.Clone(p.Notes), notes...)
	rest, err := renderAll(facts, append(p.Parts, common()...))
	if err != nil {
		return Result{}, err
	}
	for _, s := range facts.Samples {
		files = append(files, File{s.File, s.data})
	}
	return Result{
		Files: inOrder(
			append(files, rest...),
		), Findings: findings, Notes: notes, Sample: facts.Sample.File, Apply: "kubectl apply" + facts.Apply,
		Programs: facts.Logic != nil,
	}, nil
}

// common returns the parts of every project.
func common() []Part {
	var out []Part
	for _, name := range []string{"README.md", "Makefile", ".github/workflows/ci.yaml", ".gitignore"} {
		out = append(out, Part{name, name})
	}
	return out
}

// referredTo returns the parts that the definition refers to. The others contain
// the samples, which need the parsed definition.
func referredTo(parts []Part) []Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return strings.HasPrefix(p.Path, "tests/") })
}

// validate parses the definition, which is the first file, and returns the findings
// of `argoperator lint`. The definition is nil after an error.
func validate(files []File) (*definition.Definition, diag.List, error) {
	in := source.Input{Name: files[0].Path, Data: files[0].Data, Dir: Directory(files)}
	result, err := argoperator.Generate([]argoperator.Source{in}, argoperator.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("checking the new project: %w", err)
	}
	if result.Findings.HasErrors() {
		return nil, result.Findings, nil
	}
	definitions, _ := definition.Parse(in) // findings are already known
	return definitions[0], result.Findings, nil
}

// Directory returns the files as a file system.
func Directory(files []File) fstest.MapFS {
	dir := fstest.MapFS{}
	for _, f := range files {
		dir[f.Path] = &fstest.MapFile{Data: f.Data}
	}
	return dir
}
