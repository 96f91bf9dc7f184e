package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/operator/rights"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Permission is a permission of an account, and the reason for it.
type Permission struct {
	Account        string   `json:"account"` // its role
	ServiceAccount string   `json:"serviceAccount"`
	Verbs          []string `json:"verbs"`
	Resource       string   `json:"resource"`        // PLURAL.GROUP[/SUBRESOURCE]
	Names          []string `json:"names,omitempty"` // of the objects; empty: all
	Namespaces     []string `json:"namespaces"`      // empty: the whole cluster
	Held           bool     `json:"held,omitempty"`  // no request needs it: the account holds it to grant it, or by install.permissions
	Why            string   `json:"reason"`
	Danger         string   `json:"danger,omitempty"` // what the account can do with it in addition
	rank           int
}

func permissions(p *plan.Plan) []Permission {
	out := []Permission{}
	for _, g := range p.Grants {
		namespaces := []string{p.Shared.Namespace}
		if g.InWatchedNamespaces {
			namespaces = append([]string{}, p.Shared.WatchNamespaces...)
		}
		if g.Namespace != "" {
			namespaces = []string{g.Namespace}
		}
		rank, danger := rights.Danger(rbacv1.PolicyRule{
			APIGroups: []string{g.Group}, Resources: []string{g.Resource}, ResourceNames: g.Names, Verbs: g.Verbs,
		})
		out = append(out, Permission{
			Account: string(g.Account.Kind()), ServiceAccount: p.ServiceAccount(g.Account),
			Verbs: slices.Clone(g.Verbs), Resource: resource(g.Resource, g.Group), Names: slices.Clone(g.Names),
			Namespaces: namespaces, Held: g.Held, Why: g.Reason, Danger: danger, rank: rank,
		})
	}
	return out
}

// ObservedState is the observed state of a child, which the operator keeps between two events.
type ObservedState struct {
	Child  string   `json:"child"`
	Place  string   `json:"location"` // on the custom resource
	Fields []string `json:"fields"`
	Live   []string `json:"childFields"` // fields of the child that expressions read
}

// observedState returns the state that the direct engine stores. A Workflow reads the
// cluster each time and stores nothing.
func observedState(p *plan.Plan) []ObservedState {
	out := []ObservedState{}
	if !p.Reconcile.Execution.ObservedOnParent {
		return out
	}
	for _, c := range p.Children {
		m := ObservedState{
			Child: c.Name, Place: "status.children." + c.Name, Live: live(p, c),
			Fields: []string{"uid", "generation", "ready", "message", "drift", "failed"},
		}
		if p.Reconcile.StateLocation == plan.InAnnotations {
			m.Place = "annotation " + p.ObservedAnnotation(c.Name)
		}
		out = append(out, m)
	}
	return out
}

// live returns the fields of a child that the status and other children read.
func live(p *plan.Plan, c plan.Child) []string {
	paths := slices.Clone(p.Status.ChildPaths[c.Name])
	for _, other := range p.Children {
		for _, e := range programs(other) {
			paths = append(paths, e.ReadsChildren()[c.Name]...)
		}
	}
	out := []string{}
	for _, path := range paths {
		out = append(out, "."+strings.Join(path, "."))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Secret is a Secret that the operator uses.
type Secret struct {
	Name string `json:"name"`
	Made bool   `json:"generated"` // it is among the objects; otherwise the user creates it
	Why  string `json:"reason"`
}

func secrets(p *plan.Plan, objects []manifest.Object) []Secret {
	out := []Secret{}
	for _, o := range objects {
		if s, ok := o.(*corev1.Secret); ok {
			why := "created with the operator"
			switch {
			case s.Type == corev1.SecretTypeServiceAccountToken:
				why = fmt.Sprintf(
					"the token of %s; it does not expire (an http trigger reads it only from a Secret)",
					s.Annotations[corev1.ServiceAccountNameKey],
				)
			case p.RotatesToken():
				why = fmt.Sprintf(
					"the token of %s, which %s replaces every %dh",
					p.Names.SensorServiceAccount,
					p.TokenRotationName(),
					p.Install.TokenHours,
				)
			}
			out = append(out, Secret{Name: s.Name, Made: true, Why: why})
		}
	}
	for _, e := range p.Logic.Env {
		if e.Secret != "" {
			out = append(out, Secret{Name: e.Secret, Why: fmt.Sprintf("the logic reads its key %s from $%s", e.Key, e.Name)})
		}
	}
	return out
}
