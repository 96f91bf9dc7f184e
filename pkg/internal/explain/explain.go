// Package explain says what a plan means for those who will run the operator:
// which engine carries it and why, what each kind of event costs, who may do
// what for which reason, and how near it is to the limits of Argo and Kubernetes.
//
// The rule of this package: it decides nothing and judges nothing. Every number
// follows from the plan or is measured on the built objects; a report is plain
// data, and the printers beside it choose what to show of it.
package explain

import (
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Report is everything that there is to say about one operator. Its shape in
// JSON is part of the interface.
type Report struct {
	APIVersion  string       `json:"apiVersion"`
	Kind        string       `json:"kind"`
	Operator    string       `json:"operator"`
	Namespace   string       `json:"namespace"` // of the operator itself
	API         API          `json:"api"`
	Engine      Engine       `json:"engine"`
	Events      []Event      `json:"events"`
	Permissions []Permission `json:"permissions"`
	Security    []Trust      `json:"security"`
	Memory      []Memory     `json:"observedState"`
	Secrets     []Secret     `json:"secrets"`
	Limits      []Limit      `json:"limits"`
	Objects     []Object     `json:"objects"` // in apply order
}

// kind is that of a report.
const kind = "Explanation"

// API is the kind that is reconciled.
type API struct {
	Kind     string   `json:"kind"`
	Resource string   `json:"resource"` // PLURAL.GROUP
	Version  string   `json:"version"`
	Watched  []string `json:"watchNamespaces"` // empty: the whole cluster
}

// Object is an emitted object.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// New explains an operator: its plan, the definition that it was made of and
// the objects that were built from it.
func New(p *plan.Plan, d *definition.Definition, objects []manifest.Object) Report {
	return Report{
		APIVersion: v1alpha1.APIVersion, Kind: kind,
		Operator: p.Operator.Name, Namespace: p.Install.Namespace,
		API: API{
			Kind: p.API.Kind.Kind, Resource: resource(p.API.Kind.Plural, p.API.Kind.Group),
			Version: p.API.Kind.Version, Watched: append([]string{}, p.Install.WatchNamespaces...),
		},
		Engine:      engine(p, d),
		Events:      events(p),
		Permissions: permissions(p),
		Security:    security(p, d),
		Memory:      memory(p),
		Secrets:     secrets(p, objects),
		Limits:      limits(p, objects),
		Objects:     named(objects),
	}
}

func named(objects []manifest.Object) []Object {
	out := []Object{}
	for _, o := range objects {
		out = append(out, Object{Kind: o.GetObjectKind().GroupVersionKind().Kind, Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	return out
}

// resource is how kubectl names a resource: PLURAL.GROUP[/SUBRESOURCE].
func resource(plural, group string) string {
	plural, sub, _ := strings.Cut(plural, "/")
	if group != "" {
		plural += "." + group
	}
	if sub != "" {
		plural += "/" + sub
	}
	return plural
}
