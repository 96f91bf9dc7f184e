// Package manifest builds the emitted objects from a plan: one file and one function
// per kind, each a literal of the real Argo or Kubernetes type.
//
// It reads only the plan and cannot fail. Package plan has made every decision and
// computed every name and permission.
package manifest

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Object is an emitted object.
type Object interface {
	metav1.Object
	runtime.Object
}

// builders in apply order: referenced objects first, the Sensor last, and monitoring
// after it. To emit another kind, write its builder and add a line
// here and in argo.NewObject.
var builders = []struct {
	build       func(*plan.Plan) []Object
	own, shared bool // in a group, each operator has it for itself, or all have it together
}{
	{customResourceDefinitions, true, false},
	{serviceAccounts, false, true},
	{tokenSecrets, false, true},
	{clusterRoles, false, true},
	{userRoles, true, false},
	{clusterRoleBindings, false, true},
	{roles, false, true},
	{roleBindings, false, true},
	{admissionPolicies, true, true},
	{networkPolicies, false, true},
	{eventBuses, false, true},
	{configMaps, false, true},
	{workflowTemplates, false, true},
	{cronWorkflows, false, true},
	{workerServices, false, true},
	{workers, false, true},
	{eventSources, false, true},
	{sensors, false, true},
	{podMonitors, false, true},
	{prometheusRules, false, true},
}

// Build returns the objects of an operator in apply order. A builder returns no object
// if the plan needs none.
func Build(p *plan.Plan) []Object {
	return build(p, true, true)
}

// BuildMember returns the objects that an operator of a group has for itself.
func BuildMember(p *plan.Plan) []Object { return build(p, true, false) }

// BuildGroup returns the objects that the operators of a group share.
func BuildGroup(p *plan.Plan) []Object { return build(p, false, true) }

func build(p *plan.Plan, own, shared bool) []Object {
	var objects []Object
	for _, b := range builders {
		if b.own && own || b.shared && shared {
			objects = append(objects, b.build(p)...)
		}
	}
	return objects
}

// clusterMeta returns the metadata of a cluster-scoped object.
func clusterMeta(p *plan.Plan, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:        name,
		Labels:      maps.Clone(p.Operator.Labels),
		Annotations: maps.Clone(p.Operator.Annotations),
	}
}

// meta returns the metadata of an object in the operator's own namespace.
func meta(p *plan.Plan, name string) metav1.ObjectMeta {
	m := clusterMeta(p, name)
	m.Namespace = p.Shared.Namespace
	return m
}
