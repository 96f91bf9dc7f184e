// Package argoperator turns definitions into operators: the whole flow on one
// page. Bytes become definitions, definitions plans, plans objects, and nothing
// leaves that the checks have not passed.
//
// The rule of this package: it joins the others and decides nothing itself.
package argoperator

import (
	"fmt"
	"slices"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/check"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/output"
	"github.com/argoperator/argoperator/pkg/internal/plan"
	"github.com/argoperator/argoperator/pkg/internal/source"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Source is one file that may hold definitions.
type Source = source.Input

// MaxFile is how many bytes of a Source are read.
const MaxFile = source.MaxFile

// Options of Generate. The zero value takes everything from the definitions.
type Options struct {
	// Namespace to install into, instead of install.namespace. It must be a DNS label.
	Namespace string
}

// Operator is one generated operator.
type Operator struct {
	Name    string
	Objects []manifest.Object // in apply order

	definition *definition.Definition // installed where Options say
	plan       *plan.Plan
	documents  []output.Document
}

// Documents are the objects as they were checked, for an [output.Format] that
// appends.
func (o Operator) Documents() []output.Document { return o.documents }

// Result is what became of the sources.
type Result struct {
	// Operators in the order of the sources; empty if any finding is an error.
	Operators []Operator
	// Findings about the sources, sorted by place.
	Findings diag.List
}

// Objects of all operators, in apply order.
func (r Result) Objects() []manifest.Object {
	var all []manifest.Object
	for _, o := range r.Operators {
		all = append(all, o.Objects...)
	}
	return all
}

// Generate turns definitions into operators and checks them. What is wrong with
// the sources is in the findings, all of it at once; an error is a failure of
// argoperator itself.
func Generate(sources []Source, options Options) (Result, error) {
	var result Result
	findings, err := Each(sources, options, func(o Operator) error {
		result.Operators = append(result.Operators, o)
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	if findings.HasErrors() {
		result.Operators = nil
	}
	result.Findings = findings
	return result, nil
}

// Each is Generate for many definitions: it works on several at a time and hands
// out each operator when its turn has come, in the order of the sources, so that
// no more of them are in memory than are worked on. Whoever takes them must not
// use them before Each has returned without an error among the findings: it hands
// out none after the first error, but does before it. An error of use ends it.
func Each(sources []Source, options Options, use func(Operator) error) (diag.List, error) {
	var findings diag.List
	taken := map[string]diag.Position{}
	found := false
	definitions := func(yield func(*definition.Definition) bool) {
		for read := range inOrder(slices.Values(sources), parse) {
			findings = append(findings, read.findings...)
			found = found || len(read.definitions) > 0 || len(read.findings) > 0
			for _, d := range read.definitions {
				if !yield(d) {
					return
				}
			}
		}
	}
	work := func(d *definition.Definition) generated {
		operator, wrong, err := generate(d, options)
		return generated{operator, d, wrong, err}
	}
	for made := range inOrder(definitions, work) {
		if made.err != nil {
			return nil, made.err
		}
		findings = append(findings, claim(made.of, options, taken)...)
		findings = append(findings, made.findings...)
		if findings.HasErrors() {
			continue // the rest is looked at for what is wrong with it
		}
		if err := use(made.Operator); err != nil {
			return nil, err
		}
	}
	if !found {
		findings.Add(diag.Position{}, diag.NoDefinition, "no definition found",
			"name a file or a directory that holds one with -f: apiVersion: argoperator.dev/v1alpha1, kind: Operator")
	}
	return findings.Sorted(), nil
}

// parsed is what became of a source.
type parsed struct {
	definitions []*definition.Definition
	findings    diag.List
}

func parse(source Source) parsed {
	definitions, findings := definition.Parse(source)
	return parsed{definitions, findings}
}

// claim keeps two definitions from installing over each other.
func claim(d *definition.Definition, options Options, taken map[string]diag.Position) diag.List {
	var findings diag.List
	key := namespace(d, options) + "/" + d.Operator.Metadata.Name
	at := d.Position("metadata", "name")
	if first, ok := taken[key]; ok {
		findings.Add(at, diag.DuplicateValue,
			fmt.Sprintf("an operator named %q is already defined at %s:%d:%d", d.Operator.Metadata.Name, first.File, first.Line, first.Column),
			"give each operator a name of its own, or another install.namespace")
	}
	taken[key] = at
	return findings
}

func namespace(d *definition.Definition, options Options) string {
	if options.Namespace != "" {
		return options.Namespace
	}
	return d.Operator.Spec.Install.Namespace
}

// generated is what became of a definition.
type generated struct {
	Operator
	of       *definition.Definition
	findings diag.List
	err      error
}

func generate(d *definition.Definition, options Options) (Operator, diag.List, error) {
	local := *d
	local.Operator.Spec.Install.Namespace = namespace(d, options)
	p, findings := plan.New(&local)
	if findings.HasErrors() {
		return Operator{}, findings, nil
	}
	findings = append(findings, childFindings(d, p, findings)...)
	if findings.HasErrors() {
		return Operator{}, findings, nil // what does not work by itself is not worth a look as a whole
	}
	objects := manifest.Build(p)
	documents, err := output.Documents(objects)
	if err != nil {
		return Operator{}, nil, fmt.Errorf("encoding operator %s: %w", p.Operator.Name, err)
	}
	found, err := findingsOf(d, check.UserInput(documents, d.Operator.Spec.Logic != nil))
	if err != nil {
		return Operator{}, nil, fmt.Errorf("operator %s: %w", p.Operator.Name, err)
	}
	findings = append(findings, found...)
	return Operator{Name: p.Operator.Name, Objects: objects, definition: &local, plan: p, documents: documents}, findings, nil
}
