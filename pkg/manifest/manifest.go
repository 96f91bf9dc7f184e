// Package manifest builds the emitted objects from a plan: one file and one function
// per kind, each a literal of the real Argo or Kubernetes type.
//
// It reads only the plan and cannot fail. Package plan has made every decision and
// computed every name and permission.
package manifest

import (
	"maps"
	"slices"

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
	kinds       []string // of the objects
	own, shared bool     // in a group, each operator has it for itself, or all have it together
}{
	{customResourceDefinitions, []string{"CustomResourceDefinition"}, true, false},
	{serviceAccounts, []string{"ServiceAccount"}, false, true},
	{tokenSecrets, []string{"Secret"}, false, true},
	{clusterRoles, []string{"ClusterRole"}, false, true},
	{userRoles, []string{"ClusterRole"}, true, false},
	{clusterRoleBindings, []string{"ClusterRoleBinding"}, false, true},
	{roles, []string{"Role"}, false, true},
	{roleBindings, []string{"RoleBinding"}, false, true},
	{admissionPolicies, []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}, true, true},
	{networkPolicies, []string{"NetworkPolicy"}, false, true},
	{eventBuses, []string{"EventBus"}, false, true},
	{configMaps, []string{"ConfigMap"}, false, true},
	{workflowTemplates, []string{"WorkflowTemplate"}, false, true},
	{cronWorkflows, []string{"CronWorkflow"}, false, true},
	{workerServices, []string{"Service"}, false, true},
	{workers, []string{"Deployment"}, false, true},
	{eventSources, []string{"EventSource"}, false, true},
	{sensors, []string{"Sensor"}, false, true},
	{podMonitors, []string{"PodMonitor"}, false, true},
	{prometheusRules, []string{"PrometheusRule"}, false, true},
}

// Position returns the place of an object's kind in apply order, from 1. It does not depend on
// the other objects.
func Position(o Object) int {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	for i, b := range builders {
		if slices.Contains(b.kinds, kind) {
			return i + 1
		}
	}
	return len(builders) + 1
}

// Positions is the number of places.
func Positions() int { return len(builders) }

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
