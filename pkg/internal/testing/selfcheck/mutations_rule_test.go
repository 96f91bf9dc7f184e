package selfcheck

import (
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

func ruleMutations() []mutation {
	return []mutation{
		{
			"afterStart", "it drops existing objects and deletions", func(f *fixture) { f.source.Spec.Resource["deployment"].Filter.AfterStart = true },
			codeAfterStart, sourceName, "spec.resource[deployment].filter.afterStart",
		},
		{"filter on the custom resources", "it drops late deletions", func(f *fixture) {
			e := f.source.Spec.Resource["memcached"]
			e.Filter = &eventsv1.ResourceFilter{Prefix: "a"}
			f.source.Spec.Resource["memcached"] = e
		}, codeCustomResourceFilter, sourceName, "spec.resource[memcached].filter"},
		{"filter on an existing kind that is reconciled", "no CRD is emitted for it", func(f *fixture) {
			f.crd = nil
			e := f.source.Spec.Resource["memcached"]
			e.Filter = &eventsv1.ResourceFilter{Prefix: "a"}
			f.source.Spec.Resource["memcached"] = e
		}, codeCustomResourceFilter, sourceName, "spec.resource[memcached].filter"},
		{"cluster-scoped kind watched in a namespace", "the list would be empty", func(f *fixture) {
			f.config["children"].([]any)[0].(map[string]any)["namespaced"] = false
			e := f.source.Spec.Resource["deployment"]
			e.Namespace = "team-a"
			f.source.Spec.Resource["deployment"] = e
		}, codeNamespace, sourceName, "spec.resource[deployment].namespace"},
		{"no atLeastOnce", "a failure would lose the event", func(f *fixture) {
			f.sensor.Spec.Triggers[0].AtLeastOnce, f.sensor.Spec.Triggers[0].DlqTrigger = false, nil
		}, codeDelivery, sensorName, firstTrigger + ".atLeastOnce"},
		{
			"no retryStrategy", "one failure would lose the event", func(f *fixture) { f.sensor.Spec.Triggers[0].RetryStrategy = nil },
			codeRetry, sensorName, firstTrigger + ".retryStrategy",
		},
		{
			"one step", "one step means no retry", func(f *fixture) { f.sensor.Spec.Triggers[0].RetryStrategy.Steps = 1 },
			codeRetry, sensorName, firstTrigger + ".retryStrategy",
		},
		{"quoted factor", "Argo accepts it and drops every event", func(f *fixture) {
			f.sensor.Spec.Triggers[0].RetryStrategy.Factor = ptr.To(eventsv1.NewAmount(`"2"`))
		}, codeRetry, sensorName, firstTrigger + ".retryStrategy.factor"},
		{
			"no dead-letter trigger", "the event would be lost after the retries", func(f *fixture) { f.sensor.Spec.Triggers[0].DlqTrigger = nil },
			codeDeadLetter, sensorName, firstTrigger + ".dlqTrigger",
		},
		{"slow http trigger", "it leaks a connection for a minute", func(f *fixture) {
			f.workflow = nil
			t := f.sensor.Spec.Triggers[0].Template
			t.K8s, t.HTTP = nil, &eventsv1.HTTPTrigger{URL: "https://kubernetes.default.svc", Method: "PATCH"}
		}, codeTimeout, sensorName, firstTrigger + ".template.http.timeout"},
		{"argoWorkflow trigger", "it runs a command line", func(f *fixture) {
			t := f.sensor.Spec.Triggers[0].Template
			resource := eventsv1.NewK8SResource(f.workflow)
			f.workflow = nil
			t.ArgoWorkflow = &eventsv1.ArgoWorkflowTrigger{Operation: eventsv1.Submit, Source: &eventsv1.ArtifactLocation{Resource: &resource}}
			t.K8s = nil
		}, codeTriggerType, sensorName, firstTrigger + ".template.argoWorkflow"},
		{"other fields in a triggered Workflow", "a strict controller refuses it", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["serviceAccountName"] = "memcached-workflow"
		}, codeTriggerType, sensorName, firstTrigger + ".template.k8s.source.resource.spec"},
		{"fixed name of a created object", "the second event would fail", func(f *fixture) {
			f.workflow["metadata"] = map[string]any{"name": "memcached", "namespace": ns}
		}, codeTriggerType, sensorName, firstTrigger + ".template.k8s.source.resource.metadata"},
		{
			"two Sensors without a lease", "two replicas could lead during a rollout", func(f *fixture) { f.sensor.Spec.Replicas = ptr.To[int32](2) },
			codeDelivery, sensorName, "metadata.annotations",
		},
	}
}

func lifecycleMutations() []mutation {
	return []mutation{
		{
			"no deadline", "a hanging Workflow would hold its mutex", func(f *fixture) { f.template.Spec.ActiveDeadlineSeconds = nil },
			codeDeadline, reconcileName, "spec.activeDeadlineSeconds",
		},
		{"no podGC", "pods would accumulate", func(f *fixture) { f.template.Spec.PodGC = nil }, codeGarbageCollection, reconcileName, "spec.podGC"},
		{"no ttlStrategy", "Workflows would accumulate", func(f *fixture) { f.cron.Spec.WorkflowSpec.TTLStrategy = nil }, codeGarbageCollection, resyncName, "spec.workflowSpec.ttlStrategy"},
		{
			"ttlStrategy without failures", "failed Workflows would accumulate", func(f *fixture) { f.template.Spec.TTLStrategy.SecondsAfterFailure = nil },
			codeGarbageCollection, reconcileName, "spec.ttlStrategy",
		},
		{
			"no mutex", "Workflows of a custom resource would run concurrently", func(f *fixture) { f.template.Spec.Synchronization = nil },
			codeMutex, reconcileName, "spec.synchronization",
		},
		{
			"one mutex for all custom resources", "custom resources would wait for each other", func(f *fixture) { f.template.Spec.Synchronization.Mutexes[0].Name = "memcached" },
			codeMutex, reconcileName, "spec.synchronization.mutexes[0]",
		},
		{"mutex in both fields", "the Workflow would fail", func(f *fixture) {
			f.template.Spec.Synchronization.Mutex = &wfv1.Mutex{Name: "memcached.{{workflow.parameters.key}}"}
		}, codeMutex, reconcileName, "spec.synchronization"},
		{"no resync", "lost events would not be recovered", func(f *fixture) { f.cron = nil }, codeResync, sensorName, ""},
		{"CronWorkflow without a resync", "it would recover nothing", func(f *fixture) {
			f.cron.Spec.WorkflowSpec.Templates[0].Container.Args = []string{"report"}
		}, codeResync, sensorName, ""},
		{
			"concurrent resyncs", "everything would be submitted twice", func(f *fixture) { f.cron.Spec.ConcurrencyPolicy = wfv1.AllowConcurrent },
			codeResync, "CronWorkflow/memcached-resync", "spec.concurrencyPolicy",
		},
		{
			"suspended resync", "it would recover nothing", func(f *fixture) { f.cron.Spec.Suspend = true },
			codeResync, "CronWorkflow/memcached-resync", "spec.suspend",
		},
		{"expression tag", "text of the custom resource would be evaluated", func(f *fixture) {
			f.template.Spec.Templates[2].Container.Env[0].Value = "{{=workflow.parameters.key}}"
		}, problem.CodeInjection, reconcileName, "spec.templates[2].container.env[0].value"},
		{"annotation tag", "anyone can write annotations", func(f *fixture) {
			f.template.Spec.Templates[2].Container.Env[0].Value = "{{workflow.annotations.note}}"
		}, problem.CodeInjection, reconcileName, "spec.templates[2].container.env[0].value"},
		{"incomplete tag", "later text could complete it", func(f *fixture) {
			f.template.Spec.Templates[2].Container.Env[0].Value = "{{workflow.name"
		}, problem.CodeInjection, reconcileName, "spec.templates[2].container.env[0].value"},
		{"tag in a shell command", "the substituted text would run", func(f *fixture) {
			c := f.template.Spec.Templates[2].Container
			c.Command, c.Args = []string{"sh", "-c"}, []string{"echo {{workflow.name}}"}
		}, problem.CodeInjection, reconcileName, "spec.templates[2]"},
		{"tag in a script", "the substituted text would run", func(f *fixture) {
			t := &f.template.Spec.Templates[2]
			t.Script, t.Container = &wfv1.ScriptTemplate{Container: *t.Container, Source: "print('{{workflow.name}}')"}, nil
		}, problem.CodeInjection, reconcileName, "spec.templates[2].script.source"},
		{"one service account for two roles", "the EventSource could create Workflows", func(f *fixture) {
			f.source.Spec.Template.ServiceAccountName = "memcached-sensor"
		}, codeSharedServiceAccount, sensorName, "spec.template.serviceAccountName"},
		{"large expressions", "the Sensor's pod would never start", func(f *fixture) {
			f.sensor.Spec.Dependencies[0].Transform.JQ += strings.Repeat(" ", 98_000)
		}, problem.CodeSize, sensorName, "spec"},
		{"large EventSource", "the EventSource's pod would never start", func(f *fixture) {
			f.source.Spec.Resource["deployment"].Filter.Labels[0].Value = strings.Repeat("x", 98_000)
		}, problem.CodeSize, sourceName, "spec"},
		{
			"large ConfigMap", "the API server refuses it", func(f *fixture) { f.runtime.Data["big"] = strings.Repeat("x", admission.MaxConfigMap) },
			problem.CodeSize, "ConfigMap/memcached-runtime", "data",
		},
		{"large parameter", "it is copied to every step", func(f *fixture) {
			f.template.Spec.Arguments.Parameters[0].Value = wfv1.AnyStringPtr(strings.Repeat("x", admission.MaxParameter+1))
		}, problem.CodeSize, reconcileName, "spec.arguments.parameters[0]"},
		{"large annotations", "the API server refuses them", func(f *fixture) {
			f.bus.Annotations = map[string]string{"a": strings.Repeat("x", admission.MaxAnnotations)}
		}, problem.CodeSize, "EventBus/default", "metadata.annotations"},
	}
}
