package adopt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/chart"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// chartDir is the directory of the chart in a project.
const chartDir = "chart"

// FromChart creates a project for a new kind whose spec are the values of a chart. name is
// the file or directory of the chart, for findings. manifest is what Helm renders with the
// default values, for a release with the name of the operator.
func FromChart(o scaffold.Options, name string, c chart.Chart, manifest []byte) (scaffold.Project, diag.List) {
	o = o.WithDefaults()
	p := scaffold.Project{
		Name: o.Name, Namespace: o.Namespace, Tool: o.Tool,
		API: scaffold.API{
			Group: o.Group, Kind: o.Kind, Version: o.Version, Plural: o.Plural, Cluster: o.Scope == "Cluster", Sample: o.Name,
			Columns: scaffold.ColumnsBehind(),
		},
	}
	uses := c.Uses()
	m := chartProject{p: &p, name: name}
	for _, f := range c.Files {
		p.Files = append(p.Files, scaffold.File{Path: chartDir + "/" + f.Path, Data: f.Data})
	}
	m.rendered(manifest)
	for _, k := range uses.Kinds {
		m.optional(k)
	}
	m.values(c)
	if m.found.HasErrors() {
		return p, m.found.Sorted()
	}
	var kinds []string
	for _, child := range p.Children {
		kinds = append(kinds, child.Kind)
	}
	p.Kept = "the objects of a Helm chart: " + counted(kinds)
	p.Logic = &scaffold.Logic{Chart: "./" + chartDir, Random: len(uses.Random) > 0}
	p.Parts = append(p.Parts, scaffold.Part{Path: "tests/first-steps.yaml", Template: "tests/chart.yaml"})
	return p, m.found.Sorted()
}

// chartProject fills in the project of a chart.
type chartProject struct {
	p     *scaffold.Project
	name  string // of the chart, for findings
	found diag.List
}

// rendered adds the objects that Helm renders, less hooks.
func (m *chartProject) rendered(manifest []byte) {
	objects, found := source.Objects(source.Input{Name: m.name, Data: manifest}, source.NotEmpty)
	m.found = append(m.found, found...)
	for _, o := range objects {
		kind, apiVersion := o.Text("kind"), o.Text("apiVersion")
		if kind == "" || apiVersion == "" || o.Text("metadata", "annotations", "helm.sh/hook") != "" {
			continue
		}
		m.child(apiVersion, kind)
		m.p.Rendered = append(m.p.Rendered, scaffold.Rendered{APIVersion: apiVersion, Kind: kind, Name: o.Text("metadata", "name")})
	}
	if len(m.p.Rendered) == 0 && !m.found.HasErrors() {
		m.found.Add(diag.Position{File: m.name}, diag.NotImported, "the chart renders no object with its default values",
			"write defaults into values.yaml with which it has objects")
	}
}

// optional adds a kind that only a template names, for other values.
func (m *chartProject) optional(k chart.Kind) {
	if slices.ContainsFunc(m.p.Children, func(c scaffold.Child) bool { return c.Kind == k.What }) || k.What == "List" {
		return
	}
	version := k.APIVersion
	if known, ok := schema.FindBuiltinSpelled(k.What); version == "" && ok && known.Kind == k.What {
		version = known.APIVersion()
	}
	if version == "" {
		m.found.Warn(diag.Position{File: m.name}, diag.NotImported,
			fmt.Sprintf("%s:%d: the kind %s is left out: the default values render none, and its apiVersion is computed",
				k.File, k.Line, k.What),
			fmt.Sprintf("if users need it, add it to children: {name: %s, apiVersion: GROUP/VERSION, kind: %s}",
				strings.ToLower(k.What), k.What))
		return
	}
	m.child(version, k.What)
}

// child declares a kind, once.
func (m *chartProject) child(apiVersion, kind string) {
	p := m.p
	name := strings.ToLower(kind)
	for _, c := range p.Children {
		if c.APIVersion == apiVersion && c.Kind == kind {
			return
		}
		if c.Name == name {
			name += "-" + strings.NewReplacer("/", "-", ".", "-").Replace(strings.ToLower(apiVersion))
		}
	}
	c := scaffold.Child{Name: camel(name, kind), APIVersion: apiVersion, Kind: kind}
	builtin, known := schema.FindBuiltin(apiVersion, kind)
	if !known {
		c.Plural, c.Scope = definition.Plural(kind), "Namespaced"
		m.found.Warn(diag.Position{File: m.name}, diag.ChangedOnImport,
			fmt.Sprintf("the plural of %s, %s, and its scope, Namespaced, are a guess", kind, c.Plural),
			"compare them with kubectl api-resources, or write crd: {file: FILE} with its CustomResourceDefinition")
	}
	if known && !builtin.Namespaced() && !p.API.Cluster {
		p.Finalizer = true // without an owner, the garbage collector does not delete it
	}
	p.Children = append(p.Children, c)
}
