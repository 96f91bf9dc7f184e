package selfcheck

import (
	"encoding/json"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// fixture is a small valid operator: it manages a Deployment for each Memcached
// with a program in a pod.
type fixture struct {
	crd      *apiextensionsv1.CustomResourceDefinition
	bus      *eventsv1.EventBus
	source   *eventsv1.EventSource
	sensor   *eventsv1.Sensor
	template *wfv1.WorkflowTemplate
	cron     *wfv1.CronWorkflow
	runtime  *corev1.ConfigMap
	config   map[string]any // encoded as config.json in runtime
	workflow map[string]any // encoded as the object of the Sensor's trigger

	accounts            map[string]*corev1.ServiceAccount
	clusterRoles        map[string]*rbacv1.ClusterRole
	roles               map[string]*rbacv1.Role
	clusterRoleBindings map[string]*rbacv1.ClusterRoleBinding
	roleBindings        map[string]*rbacv1.RoleBinding
	extra               []manifest.Object
}

const ns = "operators"

func newFixture() *fixture {
	f := &fixture{
		accounts:     map[string]*corev1.ServiceAccount{},
		clusterRoles: map[string]*rbacv1.ClusterRole{}, roles: map[string]*rbacv1.Role{},
		clusterRoleBindings: map[string]*rbacv1.ClusterRoleBinding{}, roleBindings: map[string]*rbacv1.RoleBinding{},
	}
	f.crd = goodCRD()
	f.bus = &eventsv1.EventBus{
		TypeMeta: argoType("EventBus"), ObjectMeta: meta("default"),
		Spec: eventsv1.EventBusSpec{JetStream: &eventsv1.JetStreamBus{Version: "latest", Replicas: ptr.To[int32](3)}},
	}
	f.source, f.sensor = goodSource(), goodSensor()
	f.workflow = goodWorkflow()
	f.template, f.cron = goodTemplate(), goodCron()
	f.runtime = &corev1.ConfigMap{
		TypeMeta: core("ConfigMap"), ObjectMeta: meta("memcached-runtime"),
		Data: map[string]string{"reconcile.py": "print()"},
	}
	f.config = goodConfig()
	f.addRBAC()
	return f
}

// objects returns the fixture's objects as they would be emitted.
func (f *fixture) objects() []manifest.Object {
	if f.config != nil {
		data, _ := json.Marshal(f.config)
		f.runtime.Data["config.json"] = string(data)
	}
	if f.workflow != nil {
		resource := eventsv1.NewK8SResource(f.workflow)
		f.sensor.Spec.Triggers[0].Template.K8s.Source.Resource = &resource
	}
	out := []manifest.Object{f.crd, f.bus, f.runtime, f.template, f.cron, f.source, f.sensor}
	for _, name := range []string{"source", "sensor", "workflow", "resync"} {
		out = append(out, f.accounts[name], f.roles[name], f.roleBindings[name], f.clusterRoles[name], f.clusterRoleBindings[name])
	}
	out = append(out, f.clusterRoles["view"])
	var present []manifest.Object
	for _, o := range append(out, f.extra...) {
		if !isNil(o) {
			present = append(present, o)
		}
	}
	return present
}

func isNil(o manifest.Object) bool {
	data, _ := json.Marshal(o)
	return string(data) == "null"
}

func argoType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: "argoproj.io/v1alpha1", Kind: kind}
}
func core(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: kind} }
func rbac(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: kind}
}
func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: ns} }

func goodCRD() *apiextensionsv1.CustomResourceDefinition {
	integer := func(min float64) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "integer", Minimum: &min}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "memcacheds.cache.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "cache.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "memcacheds", Kind: "Memcached"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {
						Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": integer(0)},
						XValidations: apiextensionsv1.ValidationRules{{Rule: "self.size < 100"}}, Required: []string{"size"},
					}},
				}},
			}},
		},
	}
}

func goodPod(account string) *eventsv1.Template {
	return &eventsv1.Template{
		ServiceAccountName: account, SecurityContext: goodPodSecurity(),
		Container: &eventsv1.Container{SecurityContext: goodSecurity()},
	}
}

func goodPodSecurity() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](8737),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func goodSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func goodSource() *eventsv1.EventSource {
	return &eventsv1.EventSource{TypeMeta: argoType("EventSource"), ObjectMeta: meta("memcached"), Spec: eventsv1.EventSourceSpec{
		Template: goodPod("memcached-source"),
		Resource: map[string]eventsv1.ResourceEventSource{
			"memcached": {
				GroupVersionResource: metav1.GroupVersionResource{Group: "cache.example.com", Version: "v1alpha1", Resource: "memcacheds"},
				EventTypes:           []eventsv1.ResourceEventType{"ADD", "UPDATE"},
			},
			"deployment": {
				GroupVersionResource: metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
				EventTypes:           []eventsv1.ResourceEventType{"UPDATE", "DELETE"},
				Filter: &eventsv1.ResourceFilter{Labels: []eventsv1.Selector{
					{Key: "app.kubernetes.io/managed-by", Operation: "==", Value: "memcached"},
				}},
			},
		},
	}}
}

func goodSensor() *eventsv1.Sensor {
	dependency := func(name string) eventsv1.EventDependency {
		return eventsv1.EventDependency{
			Name: name, EventSourceName: "memcached", EventName: name,
			Transform: &eventsv1.EventDependencyTransformer{JQ: `(.body.Obj // .body) as $new | {go: true, key: ($new.metadata.namespace + "." + $new.metadata.name)}`},
			Filters:   &eventsv1.EventDependencyFilter{Data: []eventsv1.DataFilter{{Path: "go", Type: eventsv1.JSONTypeBool, Value: []string{"true"}}}},
		}
	}
	key := func(name string) eventsv1.TriggerParameter {
		return eventsv1.TriggerParameter{Src: &eventsv1.TriggerParameterSource{DependencyName: name, DataKey: "key"}, Dest: "spec.arguments.parameters.0.value"}
	}
	return &eventsv1.Sensor{TypeMeta: argoType("Sensor"), ObjectMeta: meta("memcached"), Spec: eventsv1.SensorSpec{
		Template:     goodPod("memcached-sensor"),
		Dependencies: []eventsv1.EventDependency{dependency("memcached"), dependency("deployment")},
		Triggers: []eventsv1.Trigger{{
			AtLeastOnce:   true,
			RetryStrategy: &eventsv1.Backoff{Steps: 5, Factor: ptr.To(eventsv1.NewAmount("2")), Duration: ptr.To(eventsv1.FromString("1s"))},
			Template: &eventsv1.TriggerTemplate{
				Name: "reconcile", Conditions: "memcached || deployment",
				K8s: &eventsv1.StandardK8STrigger{
					Operation: eventsv1.Create, Source: &eventsv1.ArtifactLocation{},
					Parameters: []eventsv1.TriggerParameter{key("memcached"), key("deployment")},
				},
			},
			DlqTrigger: &eventsv1.Trigger{
				AtLeastOnce: true,
				Template:    &eventsv1.TriggerTemplate{Name: "dead-letter", Log: &eventsv1.LogTrigger{}},
			},
		}},
	}}
}

func goodWorkflow() map[string]any {
	return map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
		"metadata": map[string]any{"generateName": "memcached-", "namespace": ns},
		"spec": map[string]any{
			"workflowTemplateRef": map[string]any{"name": "memcached-reconcile"},
			"arguments":           map[string]any{"parameters": []any{map[string]any{"name": "key", "value": ""}}},
		},
	}
}
