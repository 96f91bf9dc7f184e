package argo

import (
	"encoding/json"
	"reflect"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// NewObject returns an empty object of a kind's Go type; nil for a kind that
// operators do not use.
func NewObject(kind schema.GroupVersionKind) manifest.Object {
	switch kind.GroupVersion().String() + " " + kind.Kind {
	case "apiextensions.k8s.io/v1 CustomResourceDefinition":
		return &apiextensionsv1.CustomResourceDefinition{}
	case "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy":
		return &admissionregistrationv1.ValidatingAdmissionPolicy{}
	case "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding":
		return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
	case Group + "/v1alpha1 EventBus":
		return &eventsv1.EventBus{}
	case Group + "/v1alpha1 EventSource":
		return &eventsv1.EventSource{}
	case Group + "/v1alpha1 Sensor":
		return &eventsv1.Sensor{}
	case Group + "/v1alpha1 Workflow":
		return &wfv1.Workflow{}
	case Group + "/v1alpha1 WorkflowTemplate":
		return &wfv1.WorkflowTemplate{}
	case Group + "/v1alpha1 ClusterWorkflowTemplate":
		return &wfv1.ClusterWorkflowTemplate{}
	case Group + "/v1alpha1 CronWorkflow":
		return &wfv1.CronWorkflow{}
	case Group + "/v1alpha1 WorkflowEventBinding":
		return &wfv1.WorkflowEventBinding{}
	case "monitoring.coreos.com/v1 PodMonitor":
		return &monitoringv1.PodMonitor{}
	case "monitoring.coreos.com/v1 PrometheusRule":
		return &monitoringv1.PrometheusRule{}
	case "v1 ConfigMap":
		return &corev1.ConfigMap{}
	case "v1 Namespace":
		return &corev1.Namespace{}
	case "v1 Secret":
		return &corev1.Secret{}
	case "v1 Service":
		return &corev1.Service{}
	case "apps/v1 Deployment":
		return &appsv1.Deployment{}
	case "v1 ServiceAccount":
		return &corev1.ServiceAccount{}
	case "rbac.authorization.k8s.io/v1 ClusterRole":
		return &rbacv1.ClusterRole{}
	case "rbac.authorization.k8s.io/v1 ClusterRoleBinding":
		return &rbacv1.ClusterRoleBinding{}
	case "rbac.authorization.k8s.io/v1 Role":
		return &rbacv1.Role{}
	case "rbac.authorization.k8s.io/v1 RoleBinding":
		return &rbacv1.RoleBinding{}
	case "networking.k8s.io/v1 NetworkPolicy":
		return &networkingv1.NetworkPolicy{}
	case "policy/v1 PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	}
	return nil
}

// Read returns the objects of documents as they were built, without decoding what
// was written.
func Read(documents []output.Document) Objects {
	var list []manifest.Object
	fields := map[manifest.Object]map[string]any{}
	for _, d := range documents {
		list = append(list, d.Object)
		fields[d.Object] = d.Fields
	}
	out := NewObjects(list)
	out.fields = fields
	return out
}

// DecodeStrict is DecodeFields for JSON.
func DecodeStrict(data []byte, into any, r *problem.Report, base *field.Path) bool {
	var value any
	if err := utiljson.Unmarshal(data, &value); err != nil {
		r.Add(base, diag.BadValue, "", "%v", err)
		return false
	}
	return DecodeFields(value, into, r, base)
}

// DecodeFields decodes a JSON value as the API server does, case-sensitively. It reports unknown
// fields as diag.UnknownField, and returns false if nothing could be decoded.
func DecodeFields(value, into any, r *problem.Report, base *field.Path) bool {
	before := len(r.Problems)
	target := reflect.ValueOf(into).Elem()
	Shape(r, "", base, target.Type(), value)
	flawed := len(r.Problems) > before
	if !flawed && Fill(target, value) == nil {
		return true
	}
	target.SetZero()
	unmarshal := json.Unmarshal
	if flawed { // encoding/json ignores the case of keys
		unmarshal = utiljson.Unmarshal
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = unmarshal(data, into)
	}
	if err != nil && !flawed {
		r.Add(base, diag.BadValue, "", "%v", err)
	}
	return err == nil
}
