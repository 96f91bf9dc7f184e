package adopt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// FromManifests creates a project for a new kind whose children are existing
// objects. Values that users are likely to change become fields of the kind with
// the current values as defaults, so an empty custom resource renders the same
// objects under its own name. Findings refer to the manifests by name.
func FromManifests(o scaffold.Options, manifests []source.Input) (scaffold.Project, diag.List) {
	o = o.WithDefaults()
	m := &Manifest{cluster: o.Scope == "Cluster"}
	for _, in := range manifests {
		m.Read(in)
	}
	if len(m.Kept) == 0 && !m.found.HasErrors() {
		(&lifter{Manifest: m}).leaveSecrets()
		name := ""
		if len(manifests) > 0 {
			name = manifests[0].Name
		}
		m.found.Add(diag.Position{File: name}, diag.NotImported, "the manifests contain no object that can become a child",
			"pass a Deployment or another namespaced object, as kubectl get -o yaml prints it")
	}
	if m.found.HasErrors() {
		return scaffold.Project{}, m.found.Sorted()
	}
	p := scaffold.Project{
		Name: o.Name, Namespace: o.Namespace, Tool: o.Tool,
		API: scaffold.API{Group: o.Group, Kind: o.Kind, Version: o.Version, Plural: o.Plural, Cluster: m.cluster},
	}
	m.Name()
	m.Refer()
	m.label()
	m.lift(&p)
	m.fill(&p)
	return p, m.found.Sorted()
}

// Manifest is a set of objects to convert into a project.
type Manifest struct {
	Kept    []*piece
	crds    []source.Object
	left    []source.Object // Secrets, which are left out
	base    string          // common prefix of all names
	release string          // common value of the instance label
	cluster bool            // the custom resources are cluster-scoped
	values  map[Expr]any    // of expressions, for a custom resource with the defaults
	found   diag.List
}

// piece is an object that becomes a child. Values of its fields that contain
// expressions are of type Expr.
type piece struct {
	source.Object
	kind, name, namespace string
	suffix                string // of the name, after the custom resource's name
	port                  bool   // other objects mention the Service's port in text
	scaled                bool   // its replicas are a field of the custom resource
	Fields                map[string]any
}

// Expr is text that contains expressions, as in a template.
type Expr string

// OwnName is the expression for the custom resource's name.
const OwnName = "${ .metadata.name }"

func (m *Manifest) warn(pos diag.Position, code, message, hint string) {
	m.found.Warn(pos, code, message, hint)
}

// Read adds the objects of a file.
func (m *Manifest) Read(in source.Input) {
	objects, found := source.Objects(in, source.NotEmpty)
	for i := range found {
		if found[i].Code == diag.YAMLSyntax && bytes.Contains(in.Data, []byte("{{")) {
			found[i].Hint = "render a chart first: helm template NAME CHART | argoperator init … --from-manifest -"
		}
	}
	m.found = append(m.found, found...)
	for _, o := range objects {
		m.take(o)
	}
}

// take adds an object, or reports why it is left out.
func (m *Manifest) take(o source.Object) {
	kind, name := o.Text("kind"), o.Text("metadata", "name")
	if o.Text("apiVersion") == "" || kind == "" {
		m.warn(o.Position("kind"), diag.NotImported, "a document without apiVersion and kind is left out", "")
		return
	}
	if isSecret(o) {
		m.left = append(m.left, o)
		return
	}
	if why, hint := leftOut(o); why != "" {
		m.warn(o.Position("kind"), diag.NotImported, fmt.Sprintf("%s is left out: %s", called(kind, name), why), hint)
		if kind == "CustomResourceDefinition" {
			m.crds = append(m.crds, o)
		}
		return
	}
	if before := m.find(kind, name); before != nil {
		m.warn(
			o.Position("metadata.name"),
			diag.NotImported,
			fmt.Sprintf("%s is left out: another one has the same name", called(kind, name)),
			"all children are in the namespace of their custom resource",
		)
		return
	}
	p := &piece{Object: o, kind: kind, name: name, namespace: o.Text("metadata", "namespace")}
	p.Fields, _ = plain(o.Fields).(map[string]any)
	removeServerMetadata(p.Fields)
	m.dropNodePorts(p)
	if kind == "Job" || kind == "Pod" {
		m.warn(
			o.Position("kind"),
			diag.ChangedOnImport,
			fmt.Sprintf("the API server rejects changes to the containers of %s", called(kind, name)),
			"use a Deployment or a CronJob, or add immutable=true to the fields that its containers use",
		)
	}
	m.Kept = append(m.Kept, p)
}

func called(kind, name string) string { return strings.TrimSpace(kind + " " + name) }

// find returns the piece of a kind and name; nil if there is none.
func (m *Manifest) find(kind, name string) *piece {
	i := slices.IndexFunc(m.Kept, func(p *piece) bool { return p.kind == kind && p.name == name })
	if i < 0 {
		return nil
	}
	return m.Kept[i]
}

// plain returns a copy of a value without nulls, which kubectl treats as absent.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if inner != nil {
				out[key] = plain(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = plain(inner)
		}
		return out
	}
	return value
}

// fill creates the template files of the children.
func (m *Manifest) fill(p *scaffold.Project) {
	taken := map[string]int{}
	for _, piece := range m.Kept {
		taken[strings.ToLower(piece.kind)]++
	}
	var kinds []string
	used, files := map[string]bool{}, map[string]bool{}
	for _, piece := range m.Kept {
		name, file := strings.ToLower(piece.kind), strings.ToLower(piece.kind)
		if taken[name] > 1 {
			name, file = camel(withKind(piece.suffix, piece.kind), piece.kind), strings.ToLower(withKind(piece.suffix, piece.kind))
		}
		child := unused(name, used)
		file = "children/" + unused(file, files) + ".yaml"
		c := scaffold.Child{
			Name:       child,
			File:       file,
			APIVersion: piece.Text("apiVersion"),
			Kind:       piece.kind,
			Suffix:     piece.suffix,
			Scaled:     piece.scaled,
			Expect:     m.expect(piece),
		}
		m.customKind(p, piece, &c)
		p.Children = append(p.Children, c)
		p.Files = append(p.Files, scaffold.File{Path: file, Data: m.template(piece)})
		kinds = append(kinds, piece.kind)
	}
	p.Kept = counted(kinds)
	p.Parts = append(p.Parts, scaffold.Part{Path: "tests/first-steps.yaml", Template: "tests/children.yaml"})
	if p.API.Sample = m.base; !goodName().MatchString(m.base) {
		p.API.Sample = "sample"
	}
}

// customKind reports what the definition must state about a kind that is not built
// in.
func (m *Manifest) customKind(p *scaffold.Project, piece *piece, c *scaffold.Child) {
	if _, known := schema.FindBuiltin(c.APIVersion, c.Kind); known {
		return
	}
	for _, crd := range m.crds {
		group, _ := source.SplitAPIVersion(c.APIVersion)
		if crd.Text("spec", "names", "kind") != c.Kind || crd.Text("spec", "group") != group ||
			crd.Text("apiVersion") != "apiextensions.k8s.io/v1" {
			continue
		}
		c.CRD = "crds/" + strings.ToLower(c.Kind) + ".yaml"
		if !slices.ContainsFunc(p.Files, func(f scaffold.File) bool { return f.Path == c.CRD }) {
			p.Files = append(p.Files, scaffold.File{Path: c.CRD, Data: encoded(write(crd.Fields, crd.Node(), false))})
		}
		return
	}
	c.Plural, c.Scope = definition.Plural(c.Kind), "Namespaced"
	m.warn(
		piece.Position("kind"),
		diag.ChangedOnImport,
		fmt.Sprintf("the manifests have no CustomResourceDefinition of %s: its plural, %s, is a guess", c.Kind, c.Plural),
		"pass its CustomResourceDefinition with the manifests; argoperator then checks the objects of this kind, too",
	)
}

// counted lists kinds with their numbers: a Deployment and two Services.
func counted(kinds []string) string {
	var order, said []string
	count := map[string]int{}
	for _, kind := range kinds {
		if count[kind]++; count[kind] == 1 {
			order = append(order, kind)
		}
	}
	for _, kind := range order {
		if n := count[kind]; n > 1 {
			said = append(said, fmt.Sprintf("%d of kind %s", n, kind))
		} else {
			said = append(said, article.With(kind))
		}
	}
	if last := len(said) - 1; last > 0 {
		return strings.Join(said[:last], ", ") + " and " + said[last]
	}
	return strings.Join(said, "")
}

const head = "# Text between ${ and } is jq over the custom resource. A key whose value is null is omitted.\n"

// template returns the template file of a child.
func (m *Manifest) template(p *piece) []byte {
	metadata, _ := p.Fields["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		p.Fields["metadata"] = metadata
	}
	metadata["name"] = p.named()
	if builtin, known := schema.FindBuiltin(p.Text("apiVersion"), p.kind); m.cluster && (builtin.Namespaced() || !known) {
		metadata["namespace"] = m.ownNamespace(p)
	}
	braces := !strings.HasPrefix(p.Text("apiVersion"), schema.ArgoGroup+"/")
	return append([]byte(head), encoded(write(p.Fields, p.Node(), braces))...)
}

// encoded encodes a document.
func encoded(node *yaml.Node) []byte {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(node); err != nil {
		panic(err) // encoding a generated tree to memory cannot fail
	}
	return out.Bytes()
}
