// Package argoperator generates operators from definitions: it parses sources into
// definitions, plans them, builds their objects and checks these.
//
// The rule of this package: it is a facade that combines the internal packages and
// decides nothing itself.
package argoperator

import (
	"fmt"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/verify/childcheck"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Source is one file that may contain definitions.
type Source = source.Input

// MaxFile limits the size of a Source in bytes.
const MaxFile = source.MaxFile

// Options of Generate. The zero value uses the definitions as they are.
type Options struct {
	// Namespace to install into, instead of install.namespace. It must be a DNS label.
	Namespace string

	earlier bool // the definitions may lack parameters that have values
}

// Bundle is objects that are written together.
type Bundle struct {
	Name    string            // of the operator or group
	Objects []manifest.Object // in apply order

	plan      *plan.Plan
	documents []output.Document
}

// Documents returns the encoded objects as they were checked, for an
// [output.Format] that appends.
func (b Bundle) Documents() []output.Document { return b.documents }

// Operator is one generated operator, without the objects that its group shares.
type Operator struct {
	Bundle

	definition *definition.Definition // with Options applied
}

// Group is what the operators of one install.group share.
type Group struct{ Bundle }

// Kind returns the kind of the operator's custom resources, in the version that it watches.
func (o Operator) Kind() schema.GroupVersionKind {
	k := o.plan.API.Kind
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// Namespaced reports whether the operator's custom resources are in namespaces.
func (o Operator) Namespaced() bool { return o.plan.API.Kind.Namespaced }

// Observing returns the kinds whose custom resources hold the observed state of their children,
// in status.children.
func (r Result) Observing() map[schema.GroupKind]bool {
	out := map[schema.GroupKind]bool{}
	for _, o := range r.Operators {
		if o.plan.Reconcile.Execution.ObservedOnParent && o.plan.Reconcile.StateLocation != plan.InAnnotations {
			out[o.Kind().GroupKind()] = true
		}
	}
	return out
}

// Engine returns the name of the operator's engine and what it runs.
func (o Operator) Engine() string {
	return fmt.Sprintf("%s (%s)", o.plan.Reconcile.Engine, o.plan.Reconcile.Execution.Summary)
}

// Result is the result of Generate.
type Result struct {
	// Operators in the order of the sources; empty if any finding is an error.
	Operators []Operator
	// Groups has what the operators of each install.group share.
	Groups []Group
	// Findings about the sources, sorted by position.
	Findings diag.List
}

// Objects returns the objects of all operators in apply order.
func (r Result) Objects() []manifest.Object {
	var all []manifest.Object
	for _, b := range r.Bundles() {
		all = append(all, b.Objects...)
	}
	return all
}

// Bundles returns the objects of the operators, and then those that groups of them share.
func (r Result) Bundles() []Bundle {
	var out []Bundle
	for _, o := range r.Operators {
		out = append(out, o.Bundle)
	}
	for _, g := range r.groups() {
		out = append(out, g.Bundle)
	}
	return out
}

// groups returns the groups, also those of some operators of a result.
func (r Result) groups() []Group {
	if r.Groups != nil {
		return r.Groups
	}
	var all groups
	for _, o := range r.Operators {
		all.add(o)
	}
	var out []Group
	for _, members := range all {
		if group, _, err := generateGroup(members, nil); err == nil {
			out = append(out, group)
		}
	}
	return out
}

// Generate generates and checks the operators of the definitions. It reports all
// errors in the sources as findings; the error is a failure of argoperator itself.
func Generate(sources []Source, options Options) (Result, error) {
	var result Result
	var err error
	result.Groups, result.Findings, err = Each(sources, options, func(o Operator) error {
		result.Operators = append(result.Operators, o)
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	if result.Findings.HasErrors() {
		result.Operators = nil
	}
	return result, nil
}

// Each is Generate for many definitions. It processes several definitions in
// parallel and passes each operator to use in source order, so memory use does not
// grow with the number of definitions. It returns what the operators of each
// install.group share. It stops calling use after the first error
// finding, but operators may have been passed before. Callers must therefore not
// act on them until Each has returned without an error finding. Each stops if use
// returns an error.
func Each(sources []Source, options Options, use func(Operator) error) ([]Group, diag.List, error) {
	var findings diag.List
	taken := map[string]diag.Position{}
	found := false
	var groups groups
	var endless cycles
	var positions []diag.Position
	declared := map[string]bool{}
	definitions := func(yield func(*definition.Definition) bool) {
		for read := range inOrder(slices.Values(sources), parser(sources)) {
			findings = append(findings, read.findings...)
			found = found || len(read.definitions) > 0 || len(read.findings) > 0
			positions = append(positions, read.positions...)
			for _, d := range read.definitions {
				for name := range d.Parameters {
					declared[name] = true
				}
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
			return nil, nil, made.err
		}
		again := claim(made.definition, options, taken)
		if !again.HasErrors() {
			again = claimObjects(made.Operator, made.definition, taken)
		}
		findings = append(findings, again...)
		findings = append(findings, made.findings...)
		if findings.HasErrors() {
			continue // keep collecting findings
		}
		groups.add(made.Operator)
		endless.add(made.Operator)
		if err := use(made.Operator); err != nil {
			return nil, nil, err
		}
	}
	findings = append(findings, endless.findings(sources)...)
	if !options.earlier && !findings.HasErrors() {
		findings = append(findings, undeclared(sources, declared)...)
	}
	var shared []Group
	for _, members := range groups {
		group, wrong, err := generateGroup(members, taken)
		if err != nil {
			return nil, nil, err
		}
		findings, shared = append(findings, wrong...), append(shared, group)
	}
	if findings.HasErrors() {
		shared = nil
	}
	if !found {
		findings.Add(
			diag.Position{},
			diag.NoDefinition,
			"no definition found",
			"use -f with a file or directory that contains one (apiVersion: argoperator.dev/v1alpha1, kind: Operator), or create a "+
				"project with argoperator init NAME",
		)
	}
	return shared, withoutAccepted(sources, positions, findings).Sorted().Grouped(), nil
}

// parsed is the result of parsing a source.
type parsed struct {
	definitions []*definition.Definition
	positions   []diag.Position // of these, and of those that have errors
	findings    diag.List
}

// parser parses one of the sources.
func parser(sources []Source) func(Source) parsed {
	kinds := definedKinds(sources)
	return func(s Source) parsed {
		definitions, broken, findings := definition.ParseAmong(s, kinds)
		var positions []diag.Position
		for _, d := range definitions {
			positions = append(positions, d.Position())
		}
		for _, d := range broken {
			positions = append(positions, d.Position())
			findings = append(findings, draft(d, findings)...)
		}
		return parsed{definitions, positions, source.WithoutFollowing(findings)}
	}
}

// draft returns the findings about the expressions and templates of a definition that has
// errors, as far as it is understood.
func draft(d *definition.Definition, known diag.List) diag.List {
	p, findings := plan.Draft(d)
	return append(findings, childcheck.Draft(d, p, slices.Concat(known, findings))...)
}

// definedKinds returns the kinds that the definitions define. They are read again when one
// is asked for, which few definitions do.
func definedKinds(sources []Source) definition.Kinds {
	read := sync.OnceValue(func() map[string]*apiextensionsv1.CustomResourceDefinition {
		all := map[string]*apiextensionsv1.CustomResourceDefinition{}
		for _, s := range sources {
			for _, crd := range definition.KindsIn(s) {
				all[crd.Spec.Group+"/"+crd.Spec.Names.Kind] = crd
			}
		}
		return all
	})
	return func(group, kind string) *apiextensionsv1.CustomResourceDefinition { return read()[group+"/"+kind] }
}

// claim reports a second definition with the same name and namespace, because both
// would install the same objects.
func claim(d *definition.Definition, options Options, taken map[string]diag.Position) diag.List {
	var findings diag.List
	key := namespace(d, options) + "/" + d.Operator.Metadata.Name
	at := d.Position("metadata", "name")
	if first, ok := taken[key]; ok {
		findings.Add(
			at,
			diag.DuplicateValue,
			fmt.Sprintf(
				"an operator named %q is already defined at %s:%d:%d",
				d.Operator.Metadata.Name,
				first.File,
				first.Line,
				first.Column,
			),
			"use another metadata.name or install.namespace",
		)
	}
	taken[key] = at
	return findings
}

// claimed are the kinds of objects that belong to one operator.
var claimed = []string{"ConfigMap", "EventSource", "Sensor", "WorkflowTemplate", "CronWorkflow"}

// claimObjects reports an object that an operator before has, too: whichever is applied last
// replaces it, and the program of one operator would run with the rights of the other.
func claimObjects(o Operator, d *definition.Definition, taken map[string]diag.Position) diag.List {
	var findings diag.List
	at := d.Position("metadata", "name")
	for _, object := range o.Objects {
		kind := object.GetObjectKind().GroupVersionKind().Kind
		if !slices.Contains(claimed, kind) {
			continue
		}
		what := kind + " " + object.GetNamespace() + "/" + object.GetName()
		if first, ok := taken[what]; ok {
			findings.Add(
				at,
				diag.DuplicateValue,
				fmt.Sprintf("the %s is also one of the operator at %s:%d:%d", what, first.File, first.Line, first.Column),
				"use another metadata.name or install.namespace, or other names in install.names",
			)
			return findings // the others have the same cause
		}
		taken[what] = at
	}
	return findings
}

func namespace(d *definition.Definition, options Options) string {
	if options.Namespace != "" {
		return options.Namespace
	}
	return d.Operator.Spec.Install.Namespace
}

// generated is the result of generating one operator.
type generated struct {
	Operator
	definition *definition.Definition
	findings   diag.List
	err        error
}

func generate(d *definition.Definition, options Options) (Operator, diag.List, error) {
	local := *d
	local.Operator.Spec.Install.Namespace = namespace(d, options)
	p, findings := plan.New(&local)
	if findings.HasErrors() {
		rest, _ := plan.Draft(&local)
		return Operator{}, append(findings, childcheck.Draft(d, rest, findings)...), nil
	}
	checked, costs := childcheck.Findings(d, p, findings)
	findings = append(findings, checked...)
	if findings.HasErrors() {
		return Operator{}, findings, nil // the checks of the whole operator would repeat these errors
	}
	build := manifest.Build
	if p.Shared.Group != "" {
		build = manifest.BuildMember
	}
	bundle, err := bundled(p, build(p))
	if err != nil {
		return Operator{}, nil, err
	}
	found, err := findingsOf(d, childcheck.Emitted(argo.Read(bundle.documents), d.Operator.Spec.Logic != nil))
	if err != nil {
		return Operator{}, nil, fmt.Errorf("operator %s: %w", p.Operator.Name, err)
	}
	findings = append(findings, found...)
	if !findings.HasErrors() {
		findings = append(findings, costs()...)
	}
	return Operator{bundle, &local}, findings, nil
}

// bundled encodes the objects of a plan.
func bundled(p *plan.Plan, objects []manifest.Object) (Bundle, error) {
	documents, err := output.Documents(objects)
	if err != nil {
		return Bundle{}, fmt.Errorf("encoding the objects of %s: %w", p.Operator.Name, err)
	}
	return Bundle{p.Operator.Name, objects, p, documents}, nil
}
