package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Options describe a new project. Name, Group and Kind are required; with an
// existing CustomResourceDefinition only Name is.
type Options struct {
	Name      string // of the operator
	Group     string
	Kind      string
	Plural    string // default: derived from Kind
	Version   string // default: v1alpha1
	Scope     string // Namespaced, the default, or Cluster
	Namespace string // installation namespace; default: argo-events
	Child     string // one of Children; default: the first
	Logic     string // one of Languages; default: none, a template is used
	Own       bool   // a given CustomResourceDefinition is a part of the operator; otherwise others install it
	Tool      string // version of argoperator that the project installs; default: latest
}

// Children returns the kinds of child that a project can start with.
func Children() []string { return []string{deployment, ConfigMap} }

// Kinds of child.
const (
	deployment = "deployment"
	ConfigMap  = "configmap"
)

// Scopes returns the values of Options.Scope.
func Scopes() []string { return []string{"Namespaced", "Cluster"} }

// WithDefaults sets the defaults of empty options.
func (o Options) WithDefaults() Options {
	o.Version = cmp.Or(o.Version, "v1alpha1")
	o.Scope = cmp.Or(o.Scope, Scopes()[0])
	o.Namespace = cmp.Or(o.Namespace, "argo-events")
	o.Child = cmp.Or(o.Child, Children()[0])
	o.Tool = cmp.Or(o.Tool, "latest")
	return o
}

// Problem is an invalid option.
type Problem struct {
	Option  string // name of the field, such as Group
	Message string
	Hint    string // may be empty
	Fix     string // what to write, with which Hint begins after the word "write"; may be empty
}

// Problems returns the invalid options, by the rules of the definition that
// contains them. Empty options are valid.
func (o Options) Problems() []Problem {
	out := o.unknown()
	o = o.WithDefaults()
	lines := []struct{ option, text string }{
		{"", "apiVersion: argoperator.dev/v1alpha1"},
		{"", "kind: Operator"},
		{"Name", "metadata: {name: " + strconv.Quote(cmp.Or(o.Name, "name")) + "}"},
		{"", "spec:"},
		{"", "  api:"},
		{"Group", "    group: " + strconv.Quote(cmp.Or(o.Group, "example.com"))},
		{"Kind", "    kind: " + strconv.Quote(cmp.Or(o.Kind, "Kind"))},
		{"Plural", "    plural: " + strconv.Quote(cmp.Or(o.Plural, "kinds"))},
		{"Version", "    versions: [{schema: {spec: {field: string}}, name: " + strconv.Quote(o.Version) + "}]"},
		{"", "  children: [{name: child, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }'}}}]"},
		{"Namespace", "  install: {namespace: " + strconv.Quote(o.Namespace) + "}"},
	}
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.text + "\n")
	}
	_, findings := definition.Parse(source.Input{Name: "options", Data: []byte(text.String())})
	for _, f := range findings {
		at := max(f.Line, 1) - 1
		out = append(out, Problem{
			Option:  lines[min(at, len(lines)-1)].option,
			Message: cmp.Or(f.Problem, f.Message), // the option already says where
			Hint:    f.Hint, Fix: f.Fix,
		})
	}
	return out
}

// unknown returns the options whose value is not in the list of allowed ones.
func (o Options) unknown() []Problem {
	var out []Problem
	for _, word := range []struct {
		option, value string
		known         []string
	}{{"Scope", o.Scope, Scopes()}, {"Child", o.Child, Children()}, {"Logic", o.Logic, Languages()}} {
		if word.value != "" && !slices.Contains(word.known, word.value) {
			out = append(
				out,
				Problem{Option: word.option, Message: fmt.Sprintf("%q is not one of %s", word.value, strings.Join(word.known, ", "))},
			)
		}
	}
	return out
}

// New creates a project for a new kind with one child, from a template or a
// program.
func New(o Options) Project {
	o = o.WithDefaults()
	p := Project{
		Name: o.Name, Namespace: o.Namespace, Tool: o.Tool,
		API: API{
			Group: o.Group, Kind: o.Kind, Version: o.Version, Plural: o.Plural, Cluster: o.Scope == "Cluster",
		},
	}
	if o.Child == ConfigMap {
		p.describeConfigMap()
	} else {
		p.describeDeployment()
	}
	p.Keep(o.Child, o.Logic)
	return p
}

// ColumnsBehind appends the default columns to a kind's own.
func ColumnsBehind(own ...Column) []Column {
	return append(own,
		Column{"Ready", `.status.conditions[?(@.type=="Ready")].status`},
		Column{"Age", ".metadata.creationTimestamp"})
}

// describeDeployment sets the API for a Deployment as the child.
func (p *Project) describeDeployment() {
	p.API.Spec = []Field{
		{Name: "replicas", Value: `integer | default=1 minimum=0 maximum=100 description="Number of pods"`},
		{
			Name: "image",
			Value: `string | default="docker.io/nginxinc/nginx-unprivileged:1.29-alpine" minLength=1 description="Image of the pods; it ` +
				`listens on port 8080"`,
		},
	}
	p.API.Status = []Field{{Name: "readyReplicas", Value: "integer"}}
	p.API.Columns = ColumnsBehind(Column{"Replicas", ".spec.replicas"}, Column{"Ready replicas", ".status.readyReplicas"})
	p.API.Scale = &Scale{Spec: ".spec.replicas", Status: ".status.readyReplicas"}
	p.Status = []Field{{Name: "readyReplicas", Value: "${ $children.deployment.status.readyReplicas // 0 }"}}
}

// describeConfigMap sets the API for a ConfigMap as the child.
func (p *Project) describeConfigMap() {
	p.API.Spec = []Field{{Name: "message", Value: `string | default="hello" maxLength=1000 description="Message in the ConfigMap"`}}
	p.API.Columns = ColumnsBehind(Column{"Message", ".spec.message"})
}

// Keep adds the child, its template or program, and a test.
func (p *Project) Keep(child, logic string) {
	kept := map[string]Child{
		deployment: {Name: deployment, APIVersion: "apps/v1", Kind: "Deployment"},
		ConfigMap:  {Name: ConfigMap, APIVersion: "v1", Kind: "ConfigMap"},
	}[child]
	p.Kept = "a " + kept.Kind
	if logic != "" {
		p.program(logic, child)
	} else {
		kept.File = "children/" + child + ".yaml"
		p.Parts = append(p.Parts, Part{kept.File, kept.File})
	}
	p.Children = append(p.Children, kept)
	p.Parts = append(p.Parts, Part{"tests/first-steps.yaml", "tests/" + child + ".yaml"})
}
