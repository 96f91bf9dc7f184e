package scaffold

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/definition"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/schema"
)

// FromManifests is the project of a kind of one's own whose children are objects
// that there are already. What their users would set is lifted into the kind's
// fields, with what they have now as the default: a custom resource that says
// nothing becomes the same objects under its own name. Findings are about the
// manifests, by their names.
func FromManifests(o Options, manifests []definition.Input) (Project, diag.List) {
	o = o.withDefaults()
	m := &manifest{cluster: o.Scope == "Cluster"}
	for _, in := range manifests {
		m.read(in)
	}
	if len(m.kept) == 0 && !m.found.HasErrors() {
		name := ""
		if len(manifests) > 0 {
			name = manifests[0].Name
		}
		m.found.Add(diag.Position{File: name}, diag.LeftOut, "there is no object in it that an operator could keep",
			"such as a Deployment, as kubectl get -o yaml prints it")
	}
	if m.found.HasErrors() {
		return Project{}, m.found.Sorted()
	}
	p := Project{
		Name: o.Name, Namespace: o.Namespace, Tool: o.Tool,
		API: API{Group: o.Group, Kind: o.Kind, Version: o.Version, Plural: o.Plural, Cluster: m.cluster},
	}
	m.name()
	m.refer()
	m.label()
	m.lift(&p)
	m.fill(&p)
	return p, m.found.Sorted()
}

// manifest is objects on their way into a project.
type manifest struct {
	kept    []*piece
	crds    []definition.Object
	base    string // what all names begin with
	release string // what the label of instances says on all
	cluster bool   // the custom resources have no namespace
	found   diag.List
}

// piece is an object that becomes a child. Values of its fields that are no
// plain values any more are of the type expr.
type piece struct {
	definition.Object
	kind, name, namespace string
	suffix                string // of the name, behind that of the custom resource
	port                  bool   // others name the Service's port in text
	scaled                bool   // its replicas are those of the custom resource
	fields                map[string]any
}

// expr is text with expressions in it, as a template holds it.
type expr string

// ownName is the custom resource's name.
const ownName = "${ .metadata.name }"

func (m *manifest) warn(pos diag.Position, code, message, hint string) {
	m.found.Warn(pos, code, message, hint)
}

// read takes the objects of a file.
func (m *manifest) read(in definition.Input) {
	objects, found := definition.Objects(in, definition.NotEmpty)
	for i := range found {
		if found[i].Code == diag.YAMLSyntax && bytes.Contains(in.Data, []byte("{{")) {
			found[i].Hint = "if this is a chart's template, render it first: helm template NAME CHART | argoperator init … --from-manifest -"
		}
	}
	m.found = append(m.found, found...)
	for _, o := range objects {
		m.take(o)
	}
}

// take keeps an object, or says why not.
func (m *manifest) take(o definition.Object) {
	kind, name := o.Text("kind"), o.Text("metadata", "name")
	if o.Text("apiVersion") == "" || kind == "" {
		m.warn(o.Position("kind"), diag.LeftOut, "a document without apiVersion and kind is left out", "")
		return
	}
	if why, hint := leftOut(o); why != "" {
		m.warn(o.Position("kind"), diag.LeftOut, fmt.Sprintf("%s is left out: %s", called(kind, name), why), hint)
		if kind == "CustomResourceDefinition" {
			m.crds = append(m.crds, o)
		}
		return
	}
	if before := m.find(kind, name); before != nil {
		m.warn(o.Position("metadata.name"), diag.LeftOut, fmt.Sprintf("%s is left out: there is one of that name already", called(kind, name)),
			"all children stand in the namespace of their custom resource")
		return
	}
	p := &piece{Object: o, kind: kind, name: name, namespace: o.Text("metadata", "namespace")}
	p.fields, _ = plain(o.Fields).(map[string]any)
	withoutServerMade(p.fields)
	m.portsOfNodes(p)
	if kind == "Job" || kind == "Pod" {
		m.warn(o.Position("kind"), diag.Changed, fmt.Sprintf("Kubernetes lets nobody change the containers of %s: another value of their fields will be refused", called(kind, name)),
			"a Deployment or a CronJob can be changed; or write immutable=true to these fields")
	}
	m.kept = append(m.kept, p)
}

func called(kind, name string) string { return strings.TrimSpace(kind + " " + name) }

// find is the piece of a kind and a name; nil if there is none.
func (m *manifest) find(kind, name string) *piece {
	i := slices.IndexFunc(m.kept, func(p *piece) bool { return p.kind == kind && p.name == name })
	if i < 0 {
		return nil
	}
	return m.kept[i]
}

// plain is a copy of a value without what is null, which to kubectl is the same
// as not written.
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

// fill makes the files of the children.
func (m *manifest) fill(p *Project) {
	taken := map[string]int{}
	for _, piece := range m.kept {
		taken[strings.ToLower(piece.kind)]++
	}
	var kinds []string
	used, files := map[string]bool{}, map[string]bool{}
	for _, piece := range m.kept {
		name, file := strings.ToLower(piece.kind), strings.ToLower(piece.kind)
		if taken[name] > 1 {
			name, file = camel(withKind(piece.suffix, piece.kind), piece.kind), strings.ToLower(withKind(piece.suffix, piece.kind))
		}
		child := fresh(name, used)
		file = "children/" + fresh(file, files) + ".yaml"
		c := Child{Name: child, File: file, APIVersion: piece.Text("apiVersion"), Kind: piece.kind, Suffix: piece.suffix, Scaled: piece.scaled}
		m.foreign(p, piece, &c)
		p.Children = append(p.Children, c)
		p.Files = append(p.Files, File{file, m.template(piece)})
		kinds = append(kinds, piece.kind)
	}
	p.Kept = counted(kinds)
	p.Parts = append(p.Parts, Part{"tests/first-steps.yaml", "tests/children.yaml"})
	if p.API.Sample = m.base; !goodName.MatchString(m.base) {
		p.API.Sample = "sample"
	}
}

// foreign says of a kind that is not built into Kubernetes what must be known of it.
func (m *manifest) foreign(p *Project, piece *piece, c *Child) {
	if _, known := schema.FindBuiltin(c.APIVersion, c.Kind); known {
		return
	}
	for _, crd := range m.crds {
		group, _ := definition.SplitAPIVersion(c.APIVersion)
		if crd.Text("spec", "names", "kind") != c.Kind || crd.Text("spec", "group") != group || crd.Text("apiVersion") != "apiextensions.k8s.io/v1" {
			continue
		}
		c.CRD = "crds/" + strings.ToLower(c.Kind) + ".yaml"
		if !slices.ContainsFunc(p.Files, func(f File) bool { return f.Path == c.CRD }) {
			p.Files = append(p.Files, File{c.CRD, encoded(write(crd.Fields, crd.Node(), false))})
		}
		return
	}
	c.Plural, c.Scope = definition.Plural(c.Kind), "Namespaced"
	m.warn(piece.Position("kind"), diag.Changed, fmt.Sprintf("of the kind %s no CustomResourceDefinition is there: its plural is guessed, %s", c.Kind, c.Plural),
		"read its CustomResourceDefinition with the manifests, and its objects are checked by it, too")
}

// counted says how many there are of each kind: a Deployment and two Services.
func counted(kinds []string) string {
	var order, said []string
	count := map[string]int{}
	for _, kind := range kinds {
		if count[kind]++; count[kind] == 1 {
			order = append(order, kind)
		}
	}
	for _, kind := range order {
		switch n := count[kind]; {
		case n > 1:
			said = append(said, fmt.Sprintf("%d of kind %s", n, kind))
		case strings.ContainsAny(kind[:1], "AEIO"):
			said = append(said, "an "+kind)
		default:
			said = append(said, "a "+kind)
		}
	}
	if last := len(said) - 1; last > 0 {
		return strings.Join(said[:last], ", ") + " and " + said[last]
	}
	return strings.Join(said, "")
}

const head = "# What stands between ${ and } is jq over the custom resource. A key whose value comes out null is left out.\n"

// template is the file of a child.
func (m *manifest) template(p *piece) []byte {
	metadata, _ := p.fields["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		p.fields["metadata"] = metadata
	}
	metadata["name"] = p.named()
	if builtin, known := schema.FindBuiltin(p.Text("apiVersion"), p.kind); m.cluster && (builtin.Namespaced() || !known) {
		metadata["namespace"] = m.ownNamespace(p)
	}
	braces := !strings.HasPrefix(p.Text("apiVersion"), "argoproj.io/")
	return append([]byte(head), encoded(write(p.fields, p.Node(), braces))...)
}

// encoded is a document as text.
func encoded(node *yaml.Node) []byte {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(node); err != nil {
		panic(err) // a tree that was made here, written to memory
	}
	return out.Bytes()
}
