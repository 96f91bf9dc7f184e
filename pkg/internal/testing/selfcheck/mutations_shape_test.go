package selfcheck

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func shapeMutations() []mutation {
	return []mutation{
		{"unknown field in a triggered Workflow", "the Sensor's type keeps the object raw", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["entryPoint"] = "main"
		}, codeSchema, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec"},
		{
			"trigger object without a kind", "the Sensor would fail on every event", func(f *fixture) { delete(f.workflow, "kind") },
			codeSchema, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource",
		},
		{"unexpected kind", "operators use few kinds", func(f *fixture) {
			f.extra = append(f.extra, &corev1.Pod{TypeMeta: core("Pod"), ObjectMeta: meta("stray")})
		}, codeUnknownKind, "Pod/stray", ""},
		{
			"object without its kind", "Go literals often omit TypeMeta", func(f *fixture) { f.cron.TypeMeta = metav1.TypeMeta{} },
			codeUnknownKind, "/memcached-resync", "",
		},
		{
			"duplicate object", "the second would overwrite the first", func(f *fixture) { f.extra = append(f.extra, f.runtime.DeepCopy()) },
			codeDuplicate, "ConfigMap/memcached-runtime", "",
		},
		{
			"no namespace", "it would depend on kubectl's namespace", func(f *fixture) { f.accounts["resync"].Namespace = "" },
			codeNamespace, "ServiceAccount/memcached-resync", "metadata.namespace",
		},
		{
			"cluster-scoped object in a namespace", "the API server refuses it", func(f *fixture) { f.clusterRoles["view"].Namespace = ns },
			codeNamespace, "ClusterRole/memcacheds:view", "metadata.namespace",
		},
		{
			"dot in the name of a Sensor", "the bus would refuse the bucket name", func(f *fixture) { f.sensor.Name = "memcached.v1" },
			codeName, "Sensor/memcached.v1", "metadata.name",
		},
		{"dot in the name of an event", "it would split the subject", func(f *fixture) {
			f.source.Spec.Resource["a.b"] = f.source.Spec.Resource["deployment"]
		}, codeName, "EventSource/memcached", "spec.resource[a.b]"},
		{
			"dot in the name of a dependency", "it becomes part of a consumer's name", func(f *fixture) { f.sensor.Spec.Dependencies[0].Name = "a.b" },
			codeName, "Sensor/memcached", "spec.dependencies[0].name",
		},
		{
			"dot in the name of a trigger", "it becomes a label value", func(f *fixture) { f.sensor.Spec.Triggers[0].Template.Name = "a.b" },
			codeName, "Sensor/memcached", "spec.triggers[0].template.name",
		},
		{
			"duplicate dependency", "Argo does not report it", func(f *fixture) { f.sensor.Spec.Dependencies[1].Name = "memcached" },
			codeDuplicate, "Sensor/memcached", "spec.dependencies[1].name",
		},
		{
			"invalid name of a ConfigMap", "the API server refuses it", func(f *fixture) { f.runtime.Name = "Memcached_Runtime" },
			codeName, "ConfigMap/Memcached_Runtime", "metadata.name",
		},
		{
			"bus with two servers", "it has no quorum", func(f *fixture) { f.bus.Spec.JetStream.Replicas = ptr.To[int32](2) },
			codeEventBus, "EventBus/default", "spec",
		},
		{
			"bus with one server and no streamConfig", "the stream would never start", func(f *fixture) { f.bus.Spec.JetStream.Replicas = ptr.To[int32](1) },
			codeEventBus, "EventBus/default", "spec.jetstream.streamConfig",
		},
		{"event type in lower case", "Argo accepts it and the pod fails", func(f *fixture) {
			f.source.Spec.Resource["memcached"].EventTypes[0] = "add"
		}, codeEventType, "EventSource/memcached", "spec.resource[memcached].eventTypes[0]"},
		{"duplicate event type", "each event would arrive twice", func(f *fixture) {
			f.source.Spec.Resource["memcached"].EventTypes[1] = "ADD"
		}, codeEventType, "EventSource/memcached", "spec.resource[memcached].eventTypes[1]"},
		{"no event types", "no events would be published", func(f *fixture) {
			e := f.source.Spec.Resource["memcached"]
			e.EventTypes = nil
			f.source.Spec.Resource["memcached"] = e
		}, codeEventType, "EventSource/memcached", "spec.resource[memcached].eventTypes"},
		{"no version", "Argo refuses it", func(f *fixture) {
			e := f.source.Spec.Resource["memcached"]
			e.Version = ""
			f.source.Spec.Resource["memcached"] = e
		}, codeEventSource, "EventSource/memcached", "spec.resource[memcached].version"},
		{"no resource", "Argo refuses it", func(f *fixture) {
			e := f.source.Spec.Resource["memcached"]
			e.Resource = ""
			f.source.Spec.Resource["memcached"] = e
		}, codeEventSource, "EventSource/memcached", "spec.resource[memcached].resource"},
		{
			"no entries", "it would watch nothing", func(f *fixture) { f.source.Spec.Resource = nil },
			codeEventSource, "EventSource/memcached", "spec.resource",
		},
		{"unknown operator of a label filter", "the list call would fail in the pod", func(f *fixture) {
			f.source.Spec.Resource["deployment"].Filter.Labels[0].Operation = "~="
		}, codeEventSource, "EventSource/memcached", "spec.resource[deployment].filter.labels[0]"},
		{"unknown operator of a field filter", "it would drop every event", func(f *fixture) {
			f.source.Spec.Resource["deployment"].Filter.Fields = []eventsv1.Selector{{Key: "metadata.name", Operation: "in"}}
		}, codeEventSource, "EventSource/memcached", "spec.resource[deployment].filter.fields[0].operation"},
		{"webhook", "anyone could send events", func(f *fixture) {
			f.source.Spec.Webhook = map[string]eventsv1.WebhookEventSource{"hook": {}}
		}, codeEventSource, "EventSource/memcached", "spec.webhook"},
		{"duplicate trigger", "Argo refuses it", func(f *fixture) {
			f.sensor.Spec.Triggers = append(f.sensor.Spec.Triggers, f.sensor.Spec.Triggers[0])
		}, codeSensor, "Sensor/memcached", "spec"},
		{"trigger without a template", "Argo refuses it", func(f *fixture) {
			f.sensor.Spec.Triggers = append(f.sensor.Spec.Triggers, eventsv1.Trigger{})
		}, codeSensor, "Sensor/memcached", "spec"},
	}
}
