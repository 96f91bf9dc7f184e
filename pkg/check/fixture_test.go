package check

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

// fixture is a small operator in which nothing is wrong: it keeps a Deployment
// for each Memcached, by a program in a pod.
type fixture struct {
	crd      *apiextensionsv1.CustomResourceDefinition
	bus      *eventsv1.EventBus
	source   *eventsv1.EventSource
	sensor   *eventsv1.Sensor
	template *wfv1.WorkflowTemplate
	resync   *wfv1.WorkflowTemplate
	cron     *wfv1.CronWorkflow
	runtime  *corev1.ConfigMap
	config   map[string]any // becomes config.json of runtime
	workflow map[string]any // becomes the object of the Sensor's trigger

	accounts     map[string]*corev1.ServiceAccount
	clusterRoles map[string]*rbacv1.ClusterRole
	roles        map[string]*rbacv1.Role
	bindings     map[string]*rbacv1.ClusterRoleBinding
	own          map[string]*rbacv1.RoleBinding
	more         []manifest.Object
}

const ns = "operators"

func newFixture() *fixture {
	f := &fixture{
		accounts:     map[string]*corev1.ServiceAccount{},
		clusterRoles: map[string]*rbacv1.ClusterRole{}, roles: map[string]*rbacv1.Role{},
		bindings: map[string]*rbacv1.ClusterRoleBinding{}, own: map[string]*rbacv1.RoleBinding{},
	}
	f.crd = goodCRD()
	f.bus = &eventsv1.EventBus{TypeMeta: argo("EventBus"), ObjectMeta: meta("default"),
		Spec: eventsv1.EventBusSpec{JetStream: &eventsv1.JetStreamBus{Version: "latest", Replicas: ptr.To[int32](3)}}}
	f.source, f.sensor = goodSource(), goodSensor()
	f.workflow = goodWorkflow()
	f.template, f.resync, f.cron = goodTemplate(), goodResync(), goodCron()
	f.runtime = &corev1.ConfigMap{TypeMeta: core("ConfigMap"), ObjectMeta: meta("memcached-runtime"),
		Data: map[string]string{"reconcile.py": "print()"}}
	f.config = goodConfig()
	f.permit()
	return f
}

// objects are the fixture's objects as they would be emitted.
func (f *fixture) objects() []manifest.Object {
	if f.config != nil {
		data, _ := json.Marshal(f.config)
		f.runtime.Data["config.json"] = string(data)
	}
	if f.workflow != nil {
		resource := eventsv1.NewK8SResource(f.workflow)
		f.sensor.Spec.Triggers[0].Template.K8s.Source.Resource = &resource
	}
	out := []manifest.Object{f.crd, f.bus, f.runtime, f.template, f.resync, f.cron, f.source, f.sensor}
	for _, name := range []string{"source", "sensor", "workflow", "resync"} {
		out = append(out, f.accounts[name], f.roles[name], f.own[name], f.clusterRoles[name], f.bindings[name])
	}
	out = append(out, f.clusterRoles["view"])
	var there []manifest.Object
	for _, o := range append(out, f.more...) {
		if !missing(o) {
			there = append(there, o)
		}
	}
	return there
}

func missing(o manifest.Object) bool {
	data, _ := json.Marshal(o)
	return string(data) == "null"
}

func argo(kind string) metav1.TypeMeta {
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
	return &eventsv1.Template{ServiceAccountName: account, SecurityContext: goodPodSecurity(),
		Container: &eventsv1.Container{SecurityContext: goodSecurity()}}
}

func goodPodSecurity() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](8737),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
}

func goodSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
}

func goodSource() *eventsv1.EventSource {
	return &eventsv1.EventSource{TypeMeta: argo("EventSource"), ObjectMeta: meta("memcached"), Spec: eventsv1.EventSourceSpec{
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
					{Key: "app.kubernetes.io/managed-by", Operation: "==", Value: "memcached"}}},
			},
		},
	}}
}

func goodSensor() *eventsv1.Sensor {
	dependency := func(name string) eventsv1.EventDependency {
		return eventsv1.EventDependency{Name: name, EventSourceName: "memcached", EventName: name,
			Transform: &eventsv1.EventDependencyTransformer{JQ: `(.body.Obj // .body) as $new | {go: true, key: ($new.metadata.namespace + "." + $new.metadata.name)}`},
			Filters:   &eventsv1.EventDependencyFilter{Data: []eventsv1.DataFilter{{Path: "go", Type: eventsv1.JSONTypeBool, Value: []string{"true"}}}}}
	}
	key := func(name string) eventsv1.TriggerParameter {
		return eventsv1.TriggerParameter{Src: &eventsv1.TriggerParameterSource{DependencyName: name, DataKey: "key"}, Dest: "spec.arguments.parameters.0.value"}
	}
	return &eventsv1.Sensor{TypeMeta: argo("Sensor"), ObjectMeta: meta("memcached"), Spec: eventsv1.SensorSpec{
		Template:     goodPod("memcached-sensor"),
		Dependencies: []eventsv1.EventDependency{dependency("memcached"), dependency("deployment")},
		Triggers: []eventsv1.Trigger{{
			AtLeastOnce:   true,
			RetryStrategy: &eventsv1.Backoff{Steps: 5, Factor: ptr.To(eventsv1.NewAmount("2")), Duration: ptr.To(eventsv1.FromString("1s"))},
			Template: &eventsv1.TriggerTemplate{Name: "reconcile", Conditions: "memcached || deployment",
				K8s: &eventsv1.StandardK8STrigger{Operation: eventsv1.Create, Source: &eventsv1.ArtifactLocation{},
					Parameters: []eventsv1.TriggerParameter{key("memcached"), key("deployment")}}},
			DlqTrigger: &eventsv1.Trigger{AtLeastOnce: true,
				Template: &eventsv1.TriggerTemplate{Name: "dead-letter", Log: &eventsv1.LogTrigger{}}},
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

func goodSpec(account, entrypoint string) wfv1.WorkflowSpec {
	return wfv1.WorkflowSpec{
		Entrypoint: entrypoint, ServiceAccountName: account, SecurityContext: goodPodSecurity(),
		ActiveDeadlineSeconds: ptr.To[int64](300), PodGC: &wfv1.PodGC{Strategy: wfv1.PodGCOnPodSuccess},
		TTLStrategy: &wfv1.TTLStrategy{SecondsAfterSuccess: ptr.To[int32](60), SecondsAfterFailure: ptr.To[int32](600)},
		PodSpecPatch: `{"initContainers":[{"name":"init","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}],
"containers":[{"name":"wait","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}`,
	}
}

func goodVolumes() []corev1.Volume {
	return []corev1.Volume{{Name: "runtime", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "memcached-runtime"},
		Items:                []corev1.KeyToPath{{Key: "reconcile.py", Path: "reconcile.py"}, {Key: "config.json", Path: "config.json"}}}}}}
}

func goodContainer(command string) corev1.Container {
	return corev1.Container{
		Image: "python:3.13-slim", Command: []string{"python3", "/operator/runtime/reconcile.py"}, Args: []string{command},
		Env:             []corev1.EnvVar{{Name: "ARGOPERATOR_WORKFLOW", Value: "{{workflow.name}}"}},
		SecurityContext: goodSecurity(),
		VolumeMounts:    []corev1.VolumeMount{{Name: "runtime", MountPath: "/operator/runtime"}},
	}
}

func goodTemplate() *wfv1.WorkflowTemplate {
	read, apply, report := goodContainer("read"), goodContainer("apply"), goodContainer("report")
	read.Name, apply.Name = "read", "apply"
	spec := goodSpec("memcached-workflow", "reconcile")
	spec.OnExit = "exit"
	spec.Synchronization = &wfv1.Synchronization{Mutexes: []*wfv1.Mutex{{Name: "memcached.{{workflow.parameters.key}}"}}}
	spec.Arguments = wfv1.Arguments{Parameters: []wfv1.Parameter{{Name: "key"}}}
	spec.Templates = []wfv1.Template{
		{Name: "reconcile", Volumes: goodVolumes(), ContainerSet: &wfv1.ContainerSetTemplate{Containers: []wfv1.ContainerNode{
			{Container: read}, {Container: apply, Dependencies: []string{"read"}}}}},
		{Name: "exit", Steps: []wfv1.ParallelSteps{{Steps: []wfv1.WorkflowStep{
			{Name: "report", Template: "report", When: "{{workflow.status}} != Succeeded"}}}}},
		{Name: "report", Volumes: goodVolumes(), Container: &report},
	}
	return &wfv1.WorkflowTemplate{TypeMeta: argo("WorkflowTemplate"), ObjectMeta: meta("memcached-reconcile"), Spec: spec}
}

func goodResync() *wfv1.WorkflowTemplate {
	container := goodContainer("resync")
	spec := goodSpec("memcached-resync", "resync")
	spec.Templates = []wfv1.Template{{Name: "resync", Volumes: goodVolumes(), Container: &container}}
	return &wfv1.WorkflowTemplate{TypeMeta: argo("WorkflowTemplate"), ObjectMeta: meta("memcached-resync"), Spec: spec}
}

func goodCron() *wfv1.CronWorkflow {
	return &wfv1.CronWorkflow{TypeMeta: argo("CronWorkflow"), ObjectMeta: meta("memcached-resync"), Spec: wfv1.CronWorkflowSpec{
		Schedules: []string{"*/30 * * * *"}, ConcurrencyPolicy: wfv1.ForbidConcurrent,
		WorkflowSpec: wfv1.WorkflowSpec{WorkflowTemplateRef: &wfv1.WorkflowTemplateRef{Name: "memcached-resync"}},
	}}
}

func goodConfig() map[string]any {
	return map[string]any{
		"operator": "memcached", "engine": "workflow", "namespace": ns, "workflowTemplate": "memcached-reconcile",
		"parent": map[string]any{"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "plural": "memcacheds", "namespaced": true, "status": true},
		"children": []any{map[string]any{
			"name": "deployment", "apiVersion": "apps/v1", "kind": "Deployment", "plural": "deployments", "namespaced": true, "onDelete": "Delete"}},
		"watchNamespaces": []any{}, "finalizer": "",
	}
}

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// permit emits the accounts with their roles.
func (f *fixture) permit() {
	const api, memcacheds = "cache.example.com", "memcacheds"
	f.account("source", []rbacv1.PolicyRule{rule(api, memcacheds, "list", "watch"), rule("apps", "deployments", "list", "watch")}, nil)
	f.account("sensor", nil, []rbacv1.PolicyRule{rule("argoproj.io", "workflows", "create")})
	results := rule("argoproj.io", "workflowtaskresults", "create", "patch")
	f.account("workflow", []rbacv1.PolicyRule{
		rule(api, memcacheds, "get"), rule(api, memcacheds+"/status", "patch"),
		rule("apps", "deployments", "get", "list", "create", "patch", "delete"),
	}, []rbacv1.PolicyRule{results})
	f.account("resync", []rbacv1.PolicyRule{rule(api, memcacheds, "list"), rule("apps", "deployments", "list")},
		[]rbacv1.PolicyRule{rule("argoproj.io", "workflows", "create"), results})
	f.clusterRoles["view"] = &rbacv1.ClusterRole{TypeMeta: rbac("ClusterRole"),
		ObjectMeta: metav1.ObjectMeta{Name: "memcacheds:view", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		Rules:      []rbacv1.PolicyRule{rule(api, memcacheds, "get", "list", "watch")}}
}

func (f *fixture) account(name string, cluster, own []rbacv1.PolicyRule) {
	full := "memcached-" + name
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: full}}
	ref := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: full}
	}
	f.accounts[name] = &corev1.ServiceAccount{TypeMeta: core("ServiceAccount"), ObjectMeta: meta(full)}
	if cluster != nil {
		f.clusterRoles[name] = &rbacv1.ClusterRole{TypeMeta: rbac("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: full}, Rules: cluster}
		f.bindings[name] = &rbacv1.ClusterRoleBinding{TypeMeta: rbac("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: full},
			RoleRef: ref("ClusterRole"), Subjects: subjects}
	}
	if own != nil {
		f.roles[name] = &rbacv1.Role{TypeMeta: rbac("Role"), ObjectMeta: meta(full), Rules: own}
		f.own[name] = &rbacv1.RoleBinding{TypeMeta: rbac("RoleBinding"), ObjectMeta: meta(full), RoleRef: ref("Role"), Subjects: subjects}
	}
}
