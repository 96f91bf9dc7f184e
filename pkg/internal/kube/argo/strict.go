package argo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
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

// Decode decodes every object strictly from the emitted JSON and reports unknown
// fields, so that the checks see what a cluster would see.
func Decode(emitted []output.Document) (Objects, []problem.Problem, error) {
	var list []manifest.Object
	var problems []problem.Problem
	written := map[manifest.Object]map[string]any{}
	for _, d := range emitted {
		data, err := json.Marshal(d.Fields)
		if err != nil {
			return Objects{}, nil, fmt.Errorf("checking %s: %w", problem.Reference(d.Object), err)
		}
		decoded, r := decodeObject(d, data)
		problems = append(problems, r.Problems...)
		if decoded != nil {
			list = append(list, decoded)
			written[decoded] = d.Fields
		}
	}
	out := NewObjects(list)
	out.fields = written
	return out, problems, nil
}

func decodeObject(d output.Document, data []byte) (manifest.Object, *problem.Report) {
	r := problem.About(d.Object)
	kind := d.Object.GetObjectKind().GroupVersionKind()
	decoded := NewObject(kind)
	if decoded == nil {
		r.Add(nil, problem.CodeUnknownKind, "", "argoperator does not generate objects of kind %s in %q", kind.Kind, kind.GroupVersion())
		return nil, r
	}
	if !readAs(decoded, d.Fields, data, r, nil) {
		return nil, asSchema(r)
	}
	if sensor, ok := decoded.(*eventsv1.Sensor); ok {
		strictResources(r, sensor)
	}
	return decoded, asSchema(r)
}

// asSchema gives the problems of decoding the code of emitted objects.
func asSchema(r *problem.Report) *problem.Report {
	for i := range r.Problems {
		r.Problems[i].Code = problem.CodeSchema
		r.Problems[i].Hint = cmp.Or(r.Problems[i].Hint, "the API server drops or rejects it")
	}
	return r
}

// DecodeStrict decodes JSON as the API server does, case-sensitively. It reports unknown
// fields as diag.UnknownField, and returns false if nothing could be decoded.
func DecodeStrict(data []byte, into any, r *problem.Report, base *field.Path) bool {
	var value any
	if err := utiljson.Unmarshal(data, &value); err != nil {
		r.Add(base, diag.BadValue, "", "%v", err)
		return false
	}
	return readAs(into, value, data, r, base)
}

// readAs is DecodeStrict for a decoded value. It checks the fields by reflection
// and decodes with encoding/json, which has the type cached from encoding; another
// decoder would analyze the type again.
func readAs(into, value any, data []byte, r *problem.Report, base *field.Path) bool {
	before := len(r.Problems)
	Shape(r, "", base, reflect.TypeOf(into).Elem(), value)
	flawed := len(r.Problems) > before
	unmarshal := json.Unmarshal
	if flawed { // encoding/json ignores the case of keys
		unmarshal = utiljson.Unmarshal
	}
	err := unmarshal(data, into)
	if err != nil && !flawed {
		r.Add(base, diag.BadValue, "", "%v", err)
	}
	return err == nil
}

// strictResources decodes the objects in a Sensor's triggers, which the Sensor's
// type keeps as raw bytes.
func strictResources(r *problem.Report, sensor *eventsv1.Sensor) {
	for _, t := range Triggers(sensor) {
		if t.Resource() == nil || t.Parts() != nil {
			continue // computed at run time
		}
		var meta struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := json.Unmarshal(t.Resource(), &meta); err != nil || meta.Kind == "" || meta.APIVersion == "" {
			r.Add(t.ResourcePath(), problem.CodeSchema, "", "the object has no apiVersion and kind")
			continue
		}
		object := NewObject(schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind))
		if object != nil {
			DecodeStrict(t.Resource(), object, r, t.ResourcePath())
		}
	}
}
