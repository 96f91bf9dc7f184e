// Package explain describes the consequences of a plan for operations: the engine and
// the reasons for it, the cost of each kind of event, the permissions with their
// reasons, and how close the operator is to limits of Argo and Kubernetes.
//
// It makes no decisions. Every number follows from the plan or is measured on the built
// objects. A report is plain data; the printers select what to show.
package explain

import (
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Report describes one operator. Its JSON form is part of the interface.
type Report struct {
	APIVersion    string          `json:"apiVersion"`
	Kind          string          `json:"kind"`
	Operator      string          `json:"operator"`
	Namespace     string          `json:"namespace"` // of the operator itself
	Group         *Group          `json:"group,omitempty"`
	API           API             `json:"api"`
	Engine        Engine          `json:"engine"`
	Comparison    []Comparison    `json:"engines"`
	Events        []Event         `json:"events"`
	Permissions   []Permission    `json:"permissions"`
	Security      []TrustBoundary `json:"security"`
	DataFlow      []Decision      `json:"dataFlow"`
	ObservedState []ObservedState `json:"observedState"`
	Secrets       []Secret        `json:"secrets"`
	Limits        []Limit         `json:"limits"`
	Objects       []Object        `json:"objects"` // in apply order
	Standing      []StandingPods  `json:"standing"`
	Programs      []Program       `json:"-"` // they are in the Sensors
}

// Group is what operators share an EventSource and Sensors, with their service accounts.
type Group struct {
	Name      string   `json:"name"`
	Operators []string `json:"operators"`
	Sensors   int      `json:"sensors"`
	Pods      int      `json:"pods"` // that run all the time
	Workers   []Worker `json:"workers"`
}

// Worker is a worker of a group. Its service account has the same name.
type Worker struct {
	Name      string   `json:"name"`
	Operators []string `json:"operators"`
}

// kind is the kind of a report.
const kind = "Explanation"

// API is the reconciled kind.
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

// New explains an operator from its plan, its definition and its objects.
func New(p *plan.Plan, d *definition.Definition, objects []manifest.Object) Report {
	return Report{
		APIVersion: v1alpha1.APIVersion, Kind: kind,
		Operator: p.Operator.Name, Namespace: p.Shared.Namespace,
		Group: group(p),
		API: API{
			Kind: p.API.Kind.Kind, Resource: resource(p.API.Kind.Plural, p.API.Kind.Group),
			Version: p.API.Kind.Version, Watched: append([]string{}, p.Shared.WatchNamespaces...),
		},
		Engine:        engine(p, d),
		Comparison:    comparison(p, d),
		Events:        events(p),
		Permissions:   permissions(p),
		Security:      security(p, d),
		DataFlow:      dataFlow(p, d),
		ObservedState: observedState(p),
		Secrets:       secrets(p, objects),
		Limits:        limits(p, objects),
		Objects:       named(objects),
		Standing:      standingPods(objects),
		Programs:      explained(p, d),
	}
}

func group(p *plan.Plan) *Group {
	if len(p.Members) == 0 {
		return nil
	}
	g := &Group{Name: p.Shared.Group, Operators: p.Operators(), Sensors: len(p.Sensors)}
	for _, w := range plan.GroupWorkers(p.Shared.Group, p.Members) {
		g.Workers = append(g.Workers, Worker{w.Name, w.Operators})
	}
	g.Pods = int(p.Shared.Replicas) * (1 + g.Sensors + len(g.Workers))
	return g
}

func named(objects []manifest.Object) []Object {
	out := []Object{}
	for _, o := range objects {
		out = append(out, Object{Kind: o.GetObjectKind().GroupVersionKind().Kind, Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	return out
}

// resource returns the name of a resource for kubectl: PLURAL.GROUP[/SUBRESOURCE].
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
