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
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/source"
)

// File is a file of a project.
type File struct {
	Path string // in the project, separated by slashes
	Data []byte
}

// Project is everything that a project's files are made of. A source, such as
// New and FromCRD, fills it in.
type Project struct {
	Name      string // of the operator
	Namespace string // install.namespace
	API       API
	// Children in the order of the definition. Their files are among Files or Parts.
	Children []Child
	// Logic is nil where templates do.
	Logic *Logic
	// Status are fields of the custom resource's status and the expressions that compute them.
	Status []Field
	// Kept says in the README what is kept for each custom resource, such as "a Deployment".
	Kept string
	// Files are written as they are.
	Files []File
	// Parts are written as the templates of templates/init make them.
	Parts []Part
	// Engine that carries the operator, and the names that its own objects keep; empty: the default.
	Engine string
	Names  []Field
	// Notes tell what somebody should know about the project.
	Notes []string
	// Tool is the version of argoperator that the project installs, such as v1.2.3 or latest.
	Tool string
}

// API is the kind that the operator works for.
type API struct {
	Group, Kind, Version string
	Plural               string // empty: derived from Kind
	Cluster              bool   // cluster-scoped
	// CRD is the file with the kind's CustomResourceDefinition. Without one, the
	// definition says what the kind looks like: by what follows here.
	CRD          string
	NoSpec       bool    // its fields stand beside metadata, not in spec
	Spec, Status []Field // the schema, in the short form
	Columns      []Column
	Scale        *Scale
	Rules        []Rule
	// Sample is the name of a custom resource that has all defaults, to begin with. Without one, it has all fields.
	Sample string
	// SampleFile is a custom resource to begin with that is there already.
	SampleFile []byte
}

// Rule is one of CEL that a custom resource is held to.
type Rule struct{ Rule, Message string }

// Field is a field with its value: a type of the short form, or an expression.
// One with fields of its own has no value.
type Field struct {
	Name, Value string
	Fields      []Field
}

// Column of `kubectl get`.
type Column struct{ Name, Path string }

// Scale are the paths of the scale subresource.
type Scale struct{ Spec, Status string }

// Child is an entry of spec.children: with a file, or with the kind of what the
// logic returns.
type Child struct {
	Name             string
	File             string
	APIVersion, Kind string
	When, ReadyWhen  string // empty: not written
	OnDelete         string
	// Of a kind that is not built into Kubernetes: the file with its CustomResourceDefinition, or what else is known of it.
	CRD, Plural, Scope string
	// Suffix is what its name has behind that of the custom resource.
	Suffix string
	// Scaled: its spec.replicas is that of the custom resource.
	Scaled bool
	// Called is the name that it has for the sample; empty: that of the sample with the suffix.
	Called string
}

// Logic is the program that computes the children.
type Logic struct {
	Image   string
	Command string   // as YAML
	Comment []string // lines above the command
	Files   []string
	Memory  string // limit; empty: the default
	// Parameters are files whose text the program is given, by the names of its flags.
	Parameters []Parameter
}

// Parameter is a file that is given to a program.
type Parameter struct{ Name, File string }

// Part is a file of a project, and the template in templates/init that makes it.
type Part struct{ Path, Template string }

// Result is a project as files.
type Result struct {
	Files []File // sorted as people read them
	// Findings are about the files, by their paths. With an error among them the files are of no use.
	Findings diag.List
	// Notes tell what somebody should know about the project.
	Notes []string
	// Sample is the path of the custom resource to begin with.
	Sample string
	// Apply is the command that takes the operator's manifests.
	Apply string
}

// page is what the templates know.
type page struct {
	Project
	Resource string // as kubectl takes it, such as memcacheds.cache.example.com
	Sample   Sample
	Samples  []Sample
	Others   bool   // samples of other versions than the operator's are among them
	Child    string // the first child of the sample, as kubectl takes it: KIND/NAME
	Apply    string // what `kubectl apply` needs besides, behind a blank
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
	d, findings, err := judge(append(slices.Clone(files), referred...))
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
		Files: inOrder(append(files, rest...)), Findings: findings, Notes: notes, Sample: facts.Sample.File, Apply: "kubectl apply" + facts.Apply,
	}, nil
}

// common are the parts of every project.
func common() []Part {
	var out []Part
	for _, name := range []string{"README.md", "Makefile", ".github/workflows/ci.yaml", ".gitignore"} {
		out = append(out, Part{name, name})
	}
	return out
}

// referredTo are the parts that the definition refers to. The others know the
// samples, which are made when the definition is read.
func referredTo(parts []Part) []Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return strings.HasPrefix(p.Path, "tests/") })
}

// judge reads the definition among the files, the first of them, and says what
// `argoperator lint` will. The definition is nil where that is an error.
func judge(files []File) (*definition.Definition, diag.List, error) {
	in := source.Input{Name: files[0].Path, Data: files[0].Data, Dir: Directory(files)}
	result, err := argoperator.Generate([]argoperator.Source{in}, argoperator.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("checking the new project: %w", err)
	}
	if result.Findings.HasErrors() {
		return nil, result.Findings, nil
	}
	definitions, _ := definition.Parse(in) // what it finds has been found
	return definitions[0], result.Findings, nil
}

// Directory holds the files as a directory on disk would.
func Directory(files []File) fstest.MapFS {
	dir := fstest.MapFS{}
	for _, f := range files {
		dir[f.Path] = &fstest.MapFile{Data: f.Data}
	}
	return dir
}
