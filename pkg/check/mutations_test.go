package check

import (
	"fmt"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// mutation is one thing done wrong to a good operator.
type mutation struct {
	name   string
	reason string
	do     func(*fixture)
	code   string
	object string // where the problem is reported
	path   string // the start of its path
}

func TestObjectsFindsEveryMutation(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			f := newFixture()
			m.do(f)
			problems, err := Objects(f.objects())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				if p.Code == m.code && p.Object == m.object && strings.HasPrefix(p.Path, m.path) && p.Message != "" {
					return
				}
			}
			t.Errorf("%s: no %s on %s at %q\ngot %v", m.reason, m.code, m.object, m.path, lines(problems))
		})
	}
}

func lines(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "\n%s %s %s: %s", p.Code, p.Object, p.Path, p.Message)
	}
	return b.String()
}

func mutations() []mutation {
	var all []mutation
	all = append(all, shapeMutations()...)
	all = append(all, referenceMutations()...)
	all = append(all, sensorMutations()...)
	all = append(all, ruleMutations()...)
	all = append(all, permissionMutations()...)
	return append(all, podMutations()...)
}

func shapeMutations() []mutation {
	return []mutation{
		{"unknown field in a triggered Workflow", "the Sensor's type keeps the object raw", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["entryPoint"] = "main"
		}, CodeStrict, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec"},
		{"trigger object without a kind", "the Sensor would fail on every event", func(f *fixture) { delete(f.workflow, "kind") },
			CodeStrict, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource"},
		{"kind nobody asked for", "an operator consists of a few kinds", func(f *fixture) {
			f.more = append(f.more, &corev1.Pod{TypeMeta: core("Pod"), ObjectMeta: meta("stray")})
		}, CodeUnknownKind, "Pod/stray", ""},
		{"object without its kind", "typed literals forget TypeMeta easily", func(f *fixture) { f.cron.TypeMeta = metav1.TypeMeta{} },
			CodeUnknownKind, "/memcached-resync", ""},
		{"object twice", "the second overwrites the first", func(f *fixture) { f.more = append(f.more, f.runtime.DeepCopy()) },
			CodeDuplicate, "ConfigMap/memcached-runtime", ""},
		{"no namespace", "it lands where kubectl points", func(f *fixture) { f.accounts["resync"].Namespace = "" },
			CodeNamespace, "ServiceAccount/memcached-resync", "metadata.namespace"},
		{"cluster-scoped object in a namespace", "the API server refuses it", func(f *fixture) { f.clusterRoles["view"].Namespace = ns },
			CodeNamespace, "ClusterRole/memcacheds:view", "metadata.namespace"},
		{"dot in the name of a Sensor", "an invalid bucket name in the bus", func(f *fixture) { f.sensor.Name = "memcached.v1" },
			CodeName, "Sensor/memcached.v1", "metadata.name"},
		{"dot in the name of an event", "the subject gets a part too many", func(f *fixture) {
			f.source.Spec.Resource["a.b"] = f.source.Spec.Resource["deployment"]
		}, CodeName, "EventSource/memcached", "spec.resource[a.b]"},
		{"dot in the name of a dependency", "it becomes part of a consumer's name", func(f *fixture) { f.sensor.Spec.Dependencies[0].Name = "a.b" },
			CodeName, "Sensor/memcached", "spec.dependencies[0].name"},
		{"dot in the name of a trigger", "it becomes a label value", func(f *fixture) { f.sensor.Spec.Triggers[0].Template.Name = "a.b" },
			CodeName, "Sensor/memcached", "spec.triggers[0].template.name"},
		{"dependency twice", "Argo does not look", func(f *fixture) { f.sensor.Spec.Dependencies[1].Name = "memcached" },
			CodeDuplicate, "Sensor/memcached", "spec.dependencies[1].name"},
		{"bad name of a ConfigMap", "the API server refuses it", func(f *fixture) { f.runtime.Name = "Memcached_Runtime" },
			CodeName, "ConfigMap/Memcached_Runtime", "metadata.name"},
		{"bus with two servers", "no quorum", func(f *fixture) { f.bus.Spec.JetStream.Replicas = ptr.To[int32](2) },
			CodeEventBus, "EventBus/default", "spec"},
		{"bus with one server and no streamConfig", "the stream never starts", func(f *fixture) { f.bus.Spec.JetStream.Replicas = ptr.To[int32](1) },
			CodeEventBus, "EventBus/default", "spec.jetstream.streamConfig"},
		{"event type in lower case", "Argo takes it and the pod fails", func(f *fixture) {
			f.source.Spec.Resource["memcached"].EventTypes[0] = "add"
		}, CodeEventType, "EventSource/memcached", "spec.resource[memcached].eventTypes[0]"},
		{"event type twice", "handlers run twice", func(f *fixture) {
			f.source.Spec.Resource["memcached"].EventTypes[1] = "ADD"
		}, CodeEventType, "EventSource/memcached", "spec.resource[memcached].eventTypes[1]"},
		{"no event types", "nothing is reported", func(f *fixture) {
			e := f.source.Spec.Resource["memcached"]
			e.EventTypes = nil
			f.source.Spec.Resource["memcached"] = e
		}, CodeEventType, "EventSource/memcached", "spec.resource[memcached].eventTypes"},
		{"no version", "Argo's own rule", func(f *fixture) {
			e := f.source.Spec.Resource["memcached"]
			e.Version = ""
			f.source.Spec.Resource["memcached"] = e
		}, CodeEventSource, "EventSource/memcached", "spec.resource[memcached].version"},
		{"no resource", "Argo's own rule", func(f *fixture) {
			e := f.source.Spec.Resource["memcached"]
			e.Resource = ""
			f.source.Spec.Resource["memcached"] = e
		}, CodeEventSource, "EventSource/memcached", "spec.resource[memcached].resource"},
		{"no entries", "an EventSource of nothing", func(f *fixture) { f.source.Spec.Resource = nil },
			CodeEventSource, "EventSource/memcached", "spec.resource"},
		{"unknown operator of a label filter", "the list call fails in the pod", func(f *fixture) {
			f.source.Spec.Resource["deployment"].Filter.Labels[0].Operation = "~="
		}, CodeEventSource, "EventSource/memcached", "spec.resource[deployment].filter.labels[0]"},
		{"unknown operator of a field filter", "nothing passes", func(f *fixture) {
			f.source.Spec.Resource["deployment"].Filter.Fields = []eventsv1.Selector{{Key: "metadata.name", Operation: "in"}}
		}, CodeEventSource, "EventSource/memcached", "spec.resource[deployment].filter.fields[0].operation"},
		{"calendar", "a resync over the bus that it is to heal", func(f *fixture) {
			f.source.Spec.Calendar = map[string]eventsv1.CalendarEventSource{"resync": {Interval: "1h"}}
		}, CodeEventSource, "EventSource/memcached", "spec.calendar"},
		{"trigger twice", "Argo's own rule", func(f *fixture) {
			f.sensor.Spec.Triggers = append(f.sensor.Spec.Triggers, f.sensor.Spec.Triggers[0])
		}, CodeSensor, "Sensor/memcached", "spec"},
		{"trigger without a template", "Argo's own rule", func(f *fixture) {
			f.sensor.Spec.Triggers = append(f.sensor.Spec.Triggers, eventsv1.Trigger{})
		}, CodeSensor, "Sensor/memcached", "spec"},
		{"tag that does not resolve", "Argo's own rule", func(f *fixture) {
			f.template.Spec.Templates[2].Container.Env[0].Value = "{{inputs.parameters.key}}"
		}, CodeWorkflowTemplate, "WorkflowTemplate/memcached-reconcile", "spec"},
		{"entrypoint that is not there", "Argo's own rule", func(f *fixture) { f.template.Spec.Entrypoint = "reconcil" },
			CodeWorkflowTemplate, "WorkflowTemplate/memcached-reconcile", "spec"},
		{"exit handler that is not there", "Argo's own rule", func(f *fixture) { f.template.Spec.OnExit = "bye" },
			CodeWorkflowTemplate, "WorkflowTemplate/memcached-reconcile", "spec"},
		{"schedule that does not parse", "Argo's own rule", func(f *fixture) { f.cron.Spec.Schedules = []string{"*/30 * *"} },
			CodeCronWorkflow, "CronWorkflow/memcached-resync", "spec"},
		{"no schedule", "Argo takes it", func(f *fixture) { f.cron.Spec.Schedules = nil },
			CodeCronWorkflow, "CronWorkflow/memcached-resync", "spec.schedules"},
		{"triggered Workflow without its argument", "Argo's own rule, with the emitted template", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["arguments"] = map[string]any{}
		}, CodeTriggeredWorkflow, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource"},
		{"schema that is not structural", "the API server refuses it", func(f *fixture) {
			schemaOf(f).Properties["free"] = apiextensionsv1.JSONSchemaProps{}
		}, CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.validation.openAPIV3Schema.properties[free].type"},
		{"CEL that does not compile", "the API server refuses it", func(f *fixture) { specOf(f).XValidations[0].Rule = "self.sizee < 1" },
			CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"},
		{"CEL that costs too much", "the API server refuses it", func(f *fixture) {
			s := specOf(f)
			s.Properties["names"] = apiextensionsv1.JSONSchemaProps{Type: "array",
				Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}}
			s.XValidations[0].Rule = "self.names.all(x, self.names.all(y, x.contains(y)))"
		}, CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"},
		{"default of the wrong type", "the API server refuses it", func(f *fixture) {
			size := specOf(f).Properties["size"]
			size.Default = &apiextensionsv1.JSON{Raw: []byte(`"three"`)}
			specOf(f).Properties["size"] = size
		}, CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.validation.openAPIV3Schema.properties[spec].properties[size].default"},
		{"name that is not plural.group", "the API server refuses it", func(f *fixture) { f.crd.Name = "memcached.cache.example.com" },
			CodeCRD, "CustomResourceDefinition/memcached.cache.example.com", "metadata.name"},
		{"two storage versions", "the API server refuses it", func(f *fixture) {
			v := f.crd.Spec.Versions[0].DeepCopy()
			v.Name = "v1"
			f.crd.Spec.Versions = append(f.crd.Spec.Versions, *v)
		}, CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.versions"},
	}
}

func schemaOf(f *fixture) *apiextensionsv1.JSONSchemaProps {
	return f.crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// specOf makes the schema of .spec writable in place.
func specOf(f *fixture) *apiextensionsv1.JSONSchemaProps {
	spec := schemaOf(f).Properties["spec"]
	rules := append(apiextensionsv1.ValidationRules(nil), spec.XValidations...)
	spec.XValidations = rules
	schemaOf(f).Properties["spec"] = spec
	return &spec
}

func referenceMutations() []mutation {
	return []mutation{
		{"service account of the Sensor is not emitted", "the pod never starts", func(f *fixture) { f.sensor.Spec.Template.ServiceAccountName = "sensor" },
			CodeServiceAccount, "Sensor/memcached", "spec.template.serviceAccountName"},
		{"service account of a template is not emitted", "the pod never starts", func(f *fixture) { f.template.Spec.Templates[2].ServiceAccountName = "reporter" },
			CodeServiceAccount, "WorkflowTemplate/memcached-reconcile", "spec.templates[2]"},
		{"executor's service account is not emitted", "the Workflow fails", func(f *fixture) {
			f.template.Spec.Executor = &wfv1.ExecutorConfig{ServiceAccountName: "executor"}
		}, CodeServiceAccount, "WorkflowTemplate/memcached-reconcile", "spec.templates[0].executor"},
		{"service account that nobody uses", "it only widens what can be stolen", func(f *fixture) { f.account("spare", nil, nil); f.more = append(f.more, f.accounts["spare"]) },
			CodeServiceAccountUse, "ServiceAccount/memcached-spare", ""},
		{"binding to a role that is not there", "nothing is granted", func(f *fixture) { f.own["sensor"].RoleRef.Name = "sensor" },
			CodeBinding, "RoleBinding/memcached-sensor", "roleRef"},
		{"binding for a service account that is not there", "someone else may take the name", func(f *fixture) { f.own["sensor"].Subjects[0].Name = "sensor" },
			CodeBinding, "RoleBinding/memcached-sensor", "subjects[0]"},
		{"binding for a group", "operators have service accounts", func(f *fixture) {
			f.bindings["source"].Subjects = []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:authenticated"}}
		}, CodeBinding, "ClusterRoleBinding/memcached-source", "subjects[0]"},
		{"binding of nobody", "forgotten subjects", func(f *fixture) { f.own["sensor"].Subjects = nil },
			CodeBinding, "RoleBinding/memcached-sensor", "subjects"},
		{"role without a binding", "it does nothing, until someone binds it", func(f *fixture) { f.own["sensor"] = nil },
			CodeRoleUnbound, "Role/memcached-sensor", ""},
		{"cluster role without a binding", "only user roles need none", func(f *fixture) { f.clusterRoles["view"].Labels = nil },
			CodeRoleUnbound, "ClusterRole/memcacheds:view", ""},
		{"ConfigMap is not emitted", "the pod never starts", func(f *fixture) { f.resync.Spec.Templates[0].Volumes[0].ConfigMap.Name = "runtime" },
			CodeConfigMap, "WorkflowTemplate/memcached-resync", "spec.templates[0]"},
		{"key is not in the ConfigMap", "the pod never starts", func(f *fixture) { delete(f.runtime.Data, "reconcile.py") },
			CodeConfigMap, "WorkflowTemplate/memcached-reconcile", "spec.templates[0]"},
		{"volume is not stated", "Argo fails the step", func(f *fixture) { f.template.Spec.Templates[2].Container.VolumeMounts[0].Name = "run" },
			CodeVolume, "WorkflowTemplate/memcached-reconcile", "spec.templates[2]"},
		{"volume of the Workflow in a set of containers", "Argo does not look into them", func(f *fixture) {
			f.template.Spec.Volumes, f.template.Spec.Templates[0].Volumes = goodVolumes(), nil
		}, CodeVolume, "WorkflowTemplate/memcached-reconcile", "spec.templates[0]"},
		{"WorkflowTemplate of the Sensor is not emitted", "every event would fail", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["workflowTemplateRef"] = map[string]any{"name": "other"}
		}, CodeTemplateRef, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec.workflowTemplateRef"},
		{"WorkflowTemplate of the CronWorkflow is not emitted", "every resync would fail", func(f *fixture) { f.cron.Spec.WorkflowSpec.WorkflowTemplateRef.Name = "other" },
			CodeTemplateRef, "CronWorkflow/memcached-resync", "spec.workflowSpec.workflowTemplateRef"},
		{"WorkflowTemplate that the script submits is not emitted", "the resync would repair nothing", func(f *fixture) { f.config["workflowTemplate"] = "other" },
			CodeTemplateRef, "WorkflowTemplate/memcached-resync", "spec.templates[0].workflowTemplateRef"},
		{"WorkflowTemplate that nobody starts", "left over", func(f *fixture) {
			t := goodTemplate()
			t.Name = "memcached-old"
			f.more = append(f.more, t)
		}, CodeTemplateUnused, "WorkflowTemplate/memcached-old", ""},
		{"argument that the template does not declare", "Argo takes it", func(f *fixture) { giveToo(f, "name") },
			CodeArgument, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec.arguments.parameters[1]"},
		{"argument that nobody gives", "the script gives the key only", func(f *fixture) {
			f.template.Spec.Arguments.Parameters = append(f.template.Spec.Arguments.Parameters, wfv1.Parameter{Name: "mode"})
			giveToo(f, "mode")
		}, CodeArgument, "WorkflowTemplate/memcached-resync", "spec.templates[0].arguments.parameters"},
		{"step's argument without an input", "Argo takes it", func(f *fixture) {
			f.template.Spec.Templates[1].Steps[0].Steps[0].Arguments.Parameters = []wfv1.Parameter{{Name: "x", Value: wfv1.AnyStringPtr("1")}}
		}, CodeArgument, "WorkflowTemplate/memcached-reconcile", "spec.templates[1].steps[0][0].arguments"},
	}
}

func giveToo(f *fixture, name string) {
	arguments := f.workflow["spec"].(map[string]any)["arguments"].(map[string]any)
	arguments["parameters"] = append(arguments["parameters"].([]any), map[string]any{"name": name, "value": ""})
}
