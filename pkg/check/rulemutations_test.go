package check

import (
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"
)

const (
	sensorName    = "Sensor/memcached"
	sourceName    = "EventSource/memcached"
	reconcileName = "WorkflowTemplate/memcached-reconcile"
	resyncName    = "WorkflowTemplate/memcached-resync"
	firstTrigger  = "spec.triggers[0]"
)

func sensorMutations() []mutation {
	parameters := firstTrigger + ".template.k8s.parameters"
	return []mutation{
		{"EventSource is not there", "no event ever comes", func(f *fixture) { f.sensor.Spec.Dependencies[0].EventSourceName = "other" },
			CodeDependency, sensorName, "spec.dependencies[0].eventSourceName"},
		{"event is not there", "no event ever comes", func(f *fixture) { f.sensor.Spec.Dependencies[0].EventName = "other" },
			CodeDependency, sensorName, "spec.dependencies[0].eventName"},
		{"another bus than the EventSource", "no event ever comes", func(f *fixture) { f.source.Spec.EventBusName = "other" },
			CodeDependency, sensorName, "spec.dependencies[0].eventSourceName"},
		{"another bus than the emitted one", "the pods never start", func(f *fixture) { f.bus.Name = "other" },
			CodeDependency, sensorName, "spec.eventBusName"},
		{"no conditions", "the default waits for all dependencies", func(f *fixture) { f.sensor.Spec.Triggers[0].Template.Conditions = "" },
			CodeConditions, sensorName, firstTrigger + ".template.conditions"},
		{"condition on nothing", "the Sensor fails to start", func(f *fixture) { f.sensor.Spec.Triggers[0].Template.Conditions += " || other" },
			CodeConditions, sensorName, firstTrigger + ".template.conditions"},
		{"dependency that fires nothing", "its events go nowhere", func(f *fixture) { f.sensor.Spec.Triggers[0].Template.Conditions = "memcached" },
			CodeConditions, sensorName, "spec.dependencies[1]"},
		{"parameter of no dependency", "Argo skips it", func(f *fixture) { k8sOf(f).Parameters[0].Src.DependencyName = "other" },
			CodeParameter, sensorName, parameters + "[0].src.dependencyName"},
		{"dependency without a parameter", "its events would act on the empty key", func(f *fixture) { k8sOf(f).Parameters = k8sOf(f).Parameters[:1] },
			CodeParameter, sensorName, parameters + "[0]"},
		{"destination past the end", "the list would be padded with nulls", func(f *fixture) { k8sOf(f).Parameters[0].Dest = "spec.arguments.parameters.1.value" },
			CodeDestination, sensorName, parameters + "[0].dest"},
		{"destination that appends", "one more element for each dependency", func(f *fixture) { k8sOf(f).Parameters[0].Dest = "spec.arguments.parameters.-1" },
			CodeDestination, sensorName, parameters + "[0].dest"},
		{"destination below text", "the text would be replaced", func(f *fixture) { k8sOf(f).Parameters[0].Dest = "metadata.generateName.x" },
			CodeDestination, sensorName, parameters + "[0].dest"},
		{"destination in a list that is not there", "an object with the key 0 comes out", func(f *fixture) { k8sOf(f).Parameters[0].Dest = "spec.tolerations.0" },
			CodeDestination, sensorName, parameters + "[0].dest"},
		{"jq that does not parse", "every event is dropped", func(f *fixture) { f.sensor.Spec.Dependencies[0].Transform.JQ = "{go: " },
			CodeJQ, sensorName, "spec.dependencies[0].transform.jq"},
		{"jq with an unknown function", "every event is dropped", func(f *fixture) { f.sensor.Spec.Dependencies[0].Transform.JQ = "{go: (.body|sha256)}" },
			CodeJQ, sensorName, "spec.dependencies[0].transform.jq"},
		{"jq with input", "the Sensor has none", func(f *fixture) { f.sensor.Spec.Dependencies[0].Transform.JQ = "{go: input}" },
			CodeJQ, sensorName, "spec.dependencies[0].transform.jq"},
		{"jq with the environment", "the Sensor has none", func(f *fixture) { f.sensor.Spec.Dependencies[0].Transform.JQ = "{go: ([1] | map($ENV.HOME))}" },
			CodeJQ, sensorName, "spec.dependencies[0].transform.jq"},
		{"Lua", "it can run programs", func(f *fixture) {
			f.sensor.Spec.Dependencies[0].Transform = &eventsv1.EventDependencyTransformer{Script: "return event"}
		}, CodeJQ, sensorName, "spec.dependencies[0].transform.script"},
		{"Lua filter", "it can run programs", func(f *fixture) { f.sensor.Spec.Dependencies[0].Filters.Script = "return true" },
			CodeJQ, sensorName, "spec.dependencies[0].filters.script"},
		{"filter expression", "a missing field drops the event", func(f *fixture) {
			f.sensor.Spec.Dependencies[0].Filters.Exprs = []eventsv1.ExprFilter{{Expr: "a == 1", Fields: []eventsv1.PayloadField{{Path: "a", Name: "a"}}}}
		}, CodeJQ, sensorName, "spec.dependencies[0].filters.exprs"},
		{"filter on a string", "it is an unanchored regular expression", func(f *fixture) {
			f.sensor.Spec.Dependencies[0].Filters.Data[0].Type = eventsv1.JSONTypeString
		}, CodeJQ, sensorName, "spec.dependencies[0].filters.data[0]"},
		{"filter template", "text templates read the environment", func(f *fixture) { f.sensor.Spec.Dependencies[0].Filters.Data[0].Template = "{{ .Input }}" },
			CodeGoTemplate, sensorName, "spec.dependencies[0].filters.data[0].template"},
		{"text template", "text templates read the environment", func(f *fixture) { k8sOf(f).Parameters[0].Src.DataTemplate = "{{ .Input.key }}" },
			CodeGoTemplate, sensorName, parameters + "[0].src"},
	}
}

func k8sOf(f *fixture) *eventsv1.StandardK8STrigger { return f.sensor.Spec.Triggers[0].Template.K8s }

func ruleMutations() []mutation {
	return []mutation{
		{"afterStart", "drops what exists, what is applied, and deletions", func(f *fixture) { f.source.Spec.Resource["deployment"].Filter.AfterStart = true },
			CodeAfterStart, sourceName, "spec.resource[deployment].filter.afterStart"},
		{"filter on the custom resources", "drops tombstones", func(f *fixture) {
			e := f.source.Spec.Resource["memcached"]
			e.Filter = &eventsv1.ResourceFilter{Prefix: "a"}
			f.source.Spec.Resource["memcached"] = e
		}, CodeParentFilter, sourceName, "spec.resource[memcached].filter"},
		{"filter on an existing kind that is reconciled", "no CRD is emitted for it", func(f *fixture) {
			f.crd = nil
			e := f.source.Spec.Resource["memcached"]
			e.Filter = &eventsv1.ResourceFilter{Prefix: "a"}
			f.source.Spec.Resource["memcached"] = e
		}, CodeParentFilter, sourceName, "spec.resource[memcached].filter"},
		{"no atLeastOnce", "a failure loses the event", func(f *fixture) {
			f.sensor.Spec.Triggers[0].AtLeastOnce, f.sensor.Spec.Triggers[0].DlqTrigger = false, nil
		}, CodeDelivery, sensorName, firstTrigger + ".atLeastOnce"},
		{"no retryStrategy", "one failure loses the event", func(f *fixture) { f.sensor.Spec.Triggers[0].RetryStrategy = nil },
			CodeRetry, sensorName, firstTrigger + ".retryStrategy"},
		{"one step", "one step is no retry", func(f *fixture) { f.sensor.Spec.Triggers[0].RetryStrategy.Steps = 1 },
			CodeRetry, sensorName, firstTrigger + ".retryStrategy"},
		{"quoted factor", "applies cleanly, then every event is dropped", func(f *fixture) {
			f.sensor.Spec.Triggers[0].RetryStrategy.Factor = ptr.To(eventsv1.NewAmount(`"2"`))
		}, CodeRetry, sensorName, firstTrigger + ".retryStrategy.factor"},
		{"no dead-letter trigger", "after the retries the event is gone without a trace", func(f *fixture) { f.sensor.Spec.Triggers[0].DlqTrigger = nil },
			CodeDeadLetter, sensorName, firstTrigger + ".dlqTrigger"},
		{"slow http trigger", "leaks a connection for a minute", func(f *fixture) {
			f.workflow = nil
			t := f.sensor.Spec.Triggers[0].Template
			t.K8s, t.HTTP = nil, &eventsv1.HTTPTrigger{URL: "https://kubernetes.default.svc", Method: "PATCH"}
		}, CodeTimeout, sensorName, firstTrigger + ".template.http.timeout"},
		{"argoWorkflow trigger", "forks a command line", func(f *fixture) {
			t := f.sensor.Spec.Triggers[0].Template
			resource := eventsv1.NewK8SResource(f.workflow)
			f.workflow = nil
			t.ArgoWorkflow = &eventsv1.ArgoWorkflowTrigger{Operation: eventsv1.Submit, Source: &eventsv1.ArtifactLocation{Resource: &resource}}
			t.K8s = nil
		}, CodeTrigger, sensorName, firstTrigger + ".template.argoWorkflow"},
		{"triggered Workflow states more than a reference", "a strict controller refuses it", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["serviceAccountName"] = "memcached-workflow"
		}, CodeTrigger, sensorName, firstTrigger + ".template.k8s.source.resource.spec"},
		{"fixed name of what is created", "the second event fails", func(f *fixture) {
			f.workflow["metadata"] = map[string]any{"name": "memcached", "namespace": ns}
		}, CodeTrigger, sensorName, firstTrigger + ".template.k8s.source.resource.metadata"},
		{"two Sensors without a lease", "two leaders in a rollout", func(f *fixture) { f.sensor.Spec.Replicas = ptr.To[int32](2) },
			CodeDelivery, sensorName, "metadata.annotations"},
		{"no deadline", "a Workflow that hangs holds its mutex", func(f *fixture) { f.template.Spec.ActiveDeadlineSeconds = nil },
			CodeDeadline, reconcileName, "spec.activeDeadlineSeconds"},
		{"no podGC", "pods pile up", func(f *fixture) { f.template.Spec.PodGC = nil }, CodeGarbage, reconcileName, "spec.podGC"},
		{"no ttlStrategy", "Workflows pile up", func(f *fixture) { f.resync.Spec.TTLStrategy = nil }, CodeGarbage, resyncName, "spec.ttlStrategy"},
		{"ttlStrategy without failures", "failed Workflows pile up", func(f *fixture) { f.template.Spec.TTLStrategy.SecondsAfterFailure = nil },
			CodeGarbage, reconcileName, "spec.ttlStrategy"},
		{"no mutex", "two Workflows of one custom resource at once", func(f *fixture) { f.template.Spec.Synchronization = nil },
			CodeMutex, reconcileName, "spec.synchronization"},
		{"one mutex for all", "custom resources wait for each other", func(f *fixture) { f.template.Spec.Synchronization.Mutexes[0].Name = "memcached" },
			CodeMutex, reconcileName, "spec.synchronization.mutexes[0]"},
		{"mutex in both fields", "the Workflow fails", func(f *fixture) {
			f.template.Spec.Synchronization.Mutex = &wfv1.Mutex{Name: "memcached.{{workflow.parameters.key}}"}
		}, CodeMutex, reconcileName, "spec.synchronization"},
		{"no resync", "what the bus loses stays lost", func(f *fixture) { f.cron, f.resync = nil, nil }, CodeResync, sensorName, ""},
		{"resync of something else", "a CronWorkflow alone repairs nothing", func(f *fixture) {
			f.resync.Spec.Templates[0].Container.Args = []string{"report"}
		}, CodeResync, sensorName, ""},
		{"resyncs at once", "everything is submitted twice", func(f *fixture) { f.cron.Spec.ConcurrencyPolicy = wfv1.AllowConcurrent },
			CodeResync, "CronWorkflow/memcached-resync", "spec.concurrencyPolicy"},
		{"suspended resync", "it repairs nothing", func(f *fixture) { f.cron.Spec.Suspend = true },
			CodeResync, "CronWorkflow/memcached-resync", "spec.suspend"},
		{"expression tag", "text of the custom resource is evaluated", func(f *fixture) {
			f.template.Spec.Templates[2].Container.Env[0].Value = "{{=workflow.parameters.key}}"
		}, CodeInjection, reconcileName, "spec.templates[2].container.env[0].value"},
		{"annotation tag", "anyone may write annotations", func(f *fixture) {
			f.template.Spec.Templates[2].Container.Env[0].Value = "{{workflow.annotations.note}}"
		}, CodeInjection, reconcileName, "spec.templates[2].container.env[0].value"},
		{"tag that does not end", "half a tag is completed by what follows", func(f *fixture) {
			f.template.Spec.Templates[2].Container.Env[0].Value = "{{workflow.name"
		}, CodeInjection, reconcileName, "spec.templates[2].container.env[0].value"},
		{"tag in a shell command", "what it becomes is run", func(f *fixture) {
			c := f.template.Spec.Templates[2].Container
			c.Command, c.Args = []string{"sh", "-c"}, []string{"echo {{workflow.name}}"}
		}, CodeInjection, reconcileName, "spec.templates[2]"},
		{"tag in a script", "what it becomes is run", func(f *fixture) {
			t := &f.template.Spec.Templates[2]
			t.Script, t.Container = &wfv1.ScriptTemplate{Container: *t.Container, Source: "print('{{workflow.name}}')"}, nil
		}, CodeInjection, reconcileName, "spec.templates[2].script.source"},
		{"one service account for two roles", "the source could create Workflows", func(f *fixture) {
			f.source.Spec.Template.ServiceAccountName = "memcached-sensor"
		}, CodeSharedAccount, sensorName, "spec.template.serviceAccountName"},
		{"large expressions", "the Sensor's pod never starts", func(f *fixture) {
			f.sensor.Spec.Dependencies[0].Transform.JQ += strings.Repeat(" ", 98_000)
		}, CodeSize, sensorName, "spec"},
		{"large EventSource", "the EventSource's pod never starts", func(f *fixture) {
			f.source.Spec.Resource["deployment"].Filter.Labels[0].Value = strings.Repeat("x", 98_000)
		}, CodeSize, sourceName, "spec"},
		{"large ConfigMap", "the API server refuses it", func(f *fixture) { f.runtime.Data["big"] = strings.Repeat("x", maxConfigMap) },
			CodeSize, "ConfigMap/memcached-runtime", "data"},
		{"large parameter", "it is copied for every step", func(f *fixture) {
			f.template.Spec.Arguments.Parameters[0].Value = wfv1.AnyStringPtr(strings.Repeat("x", maxParameter+1))
		}, CodeSize, reconcileName, "spec.arguments.parameters[0]"},
		{"large annotations", "the API server refuses them", func(f *fixture) {
			f.bus.Annotations = map[string]string{"a": strings.Repeat("x", maxAnnotations)}
		}, CodeSize, "EventBus/default", "metadata.annotations"},
	}
}

func permissionMutations() []mutation {
	drop := func(role *rbacv1.ClusterRole, i int) { role.Rules = append(role.Rules[:i:i], role.Rules[i+1:]...) }
	list := []mutation{
		{"watch for the source", "the informer would retry for ever", func(f *fixture) { f.clusterRoles["source"].Rules[0].Verbs = []string{"list"} },
			CodePermission, sourceName, "spec.resource[memcached]"},
		{"create for the Sensor", "every event would end in the dead letters", func(f *fixture) { f.roles["sensor"].Rules = nil },
			CodePermission, sensorName, firstTrigger},
		{"status for the reconcile", "no status would ever show", func(f *fixture) { drop(f.clusterRoles["workflow"], 1) },
			CodePermission, reconcileName, "spec.templates[0]"},
		{"delete for the reconcile", "children would pile up", func(f *fixture) {
			f.clusterRoles["workflow"].Rules[2].Verbs = []string{"get", "list", "create", "patch"}
		},
			CodePermission, reconcileName, "spec.templates[0]"},
		{"taskresults for the resync", "from Workflows 3.6 on the node fails", func(f *fixture) { f.roles["resync"].Rules = f.roles["resync"].Rules[:1] },
			CodePermission, resyncName, "spec.templates[0]"},
		{"list for the resync", "it would find nothing", func(f *fixture) { drop(f.clusterRoles["resync"], 0) }, CodePermission, resyncName, "spec.templates[0]"},
		{"patch for the finalizer", "nothing would hold the custom resource", func(f *fixture) { f.config["finalizer"] = "cache.example.com/clean" },
			CodePermission, reconcileName, "spec.templates[0]"},
		{"leases for two replicas", "no replica would ever lead", func(f *fixture) {
			f.source.Annotations = map[string]string{leaderElection: "k8s"}
		}, CodePermission, sourceName, "metadata.annotations"},
		{"grant in one namespace for a watch of all", "scopes count", func(f *fixture) {
			f.bindings["source"] = nil
			b := &rbacv1.RoleBinding{TypeMeta: rbac("RoleBinding"), ObjectMeta: meta("memcached-source"),
				RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "memcached-source"},
				Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "memcached-source"}}}
			f.own["source"] = b
		}, CodePermission, sourceName, "spec.resource[memcached]"},
		{"grant for one object by name", "list knows no names", func(f *fixture) { f.clusterRoles["source"].Rules[0].ResourceNames = []string{"a"} },
			CodePermission, sourceName, "spec.resource[memcached]"},
	}
	return append(list, excessMutations()...)
}

func excessMutations() []mutation {
	return []mutation{
		{"get for the source", "an informer never gets", func(f *fixture) { grantToo(f, "source", "get") },
			CodeExcess, "ClusterRole/memcached-source", "rules[0]"},
		{"update for the reconcile", "it patches", func(f *fixture) { grantToo(f, "workflow", "update") },
			CodeExcess, "ClusterRole/memcached-workflow", "rules[0]"},
		{"delete of what is orphaned", "nobody deletes it", func(f *fixture) {
			f.config["children"].([]any)[0].(map[string]any)["onDelete"] = "Orphan"
		}, CodeExcess, "ClusterRole/memcached-workflow", "rules[2]"},
		{"status of a kind without one", "there is no such resource", func(f *fixture) { f.config["parent"].(map[string]any)["status"] = false },
			CodeExcess, "ClusterRole/memcached-workflow", "rules[1]"},
		{"the whole cluster for watched namespaces", "scopes count", func(f *fixture) { f.config["watchNamespaces"] = []any{"team-a"} },
			CodeExcess, "ClusterRole/memcached-workflow", "rules[0]"},
		{"secrets for the Sensor", "a stolen token reads them all", func(f *fixture) {
			f.roles["sensor"].Rules = append(f.roles["sensor"].Rules, rule("", "secrets", "get"))
		}, CodeExcess, "Role/memcached-sensor", "rules[1]"},
		{"URLs", "an operator calls none", func(f *fixture) {
			f.clusterRoles["source"].Rules = append(f.clusterRoles["source"].Rules, rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics"}})
		}, CodeExcess, "ClusterRole/memcached-source", "rules[2].nonResourceURLs"},
		{"wildcard verb", "grants what nobody has looked at", func(f *fixture) { f.roles["sensor"].Rules[0].Verbs = []string{"*"} },
			CodeWildcard, "Role/memcached-sensor", "rules[0]"},
		{"wildcard in a user role", "users too get what is named", func(f *fixture) { f.clusterRoles["view"].Rules[0].Resources = []string{"*"} },
			CodeWildcard, "ClusterRole/memcacheds:view", "rules[0]"},
		{"unknown command of the script", "the pod would fail", func(f *fixture) { f.resync.Spec.Templates[0].Container.Args = []string{"resink"} },
			CodeCall, resyncName, "spec.templates[0]"},
		{"script without its configuration", "the pod would fail", func(f *fixture) { f.config = nil }, CodeCall, reconcileName, "spec.templates[0]"},
		{"http trigger", "nothing here can tell what it calls", func(f *fixture) {
			f.workflow = nil
			t := f.sensor.Spec.Triggers[0].Template
			t.K8s, t.HTTP = nil, &eventsv1.HTTPTrigger{URL: "https://kubernetes.default.svc", Method: "PATCH", Timeout: 2}
		}, CodeCall, sensorName, firstTrigger + ".template"},
		{"plural that Argo Events does not guess", "the trigger calls a URL that is not there", func(f *fixture) {
			f.crd.Spec.Names.Plural, f.crd.Name = "memcached", "memcached.cache.example.com"
			f.workflow = map[string]any{"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": map[string]any{"generateName": "a-"}}
		}, CodeCall, sensorName, firstTrigger + ".template.k8s.source.resource"},
		{"object of a trigger from elsewhere", "nothing here can tell what it is", func(f *fixture) {
			f.workflow = nil
			k8sOf(f).Source.Inline = ptr.To("kind: Workflow")
		}, CodeCall, sensorName, firstTrigger + ".template.k8s.source"},
	}
}

func grantToo(f *fixture, name, verb string) {
	rules := f.clusterRoles[name].Rules
	rules[0].Verbs = append(rules[0].Verbs, verb)
}

func podMutations() []mutation {
	return []mutation{
		{"EventSource without a security context", "a restricted namespace refuses the pod", func(f *fixture) { f.source.Spec.Template.Container = nil },
			CodePodSecurity, sourceName, "spec.template"},
		{"Sensor as root", "a restricted namespace refuses the pod", func(f *fixture) { f.sensor.Spec.Template.SecurityContext = nil },
			CodePodSecurity, sensorName, "spec.template"},
		{"Sensor with a host path", "a restricted namespace refuses the pod", func(f *fixture) {
			f.sensor.Spec.Template.Volumes = []corev1.Volume{{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		}, CodePodSecurity, sensorName, "spec.template"},
		{"container with escalation", "a restricted namespace refuses the pod", func(f *fixture) {
			f.template.Spec.Templates[0].ContainerSet.Containers[1].SecurityContext = nil
		}, CodePodSecurity, reconcileName, "spec.templates[0]"},
		{"init container with capabilities", "a restricted namespace refuses the pod", func(f *fixture) {
			c := goodContainer("read")
			c.Name, c.SecurityContext = "extra", nil
			f.template.Spec.Templates[0].InitContainers = []wfv1.UserContainer{{Container: c}}
		}, CodePodSecurity, reconcileName, "spec.templates[0]"},
		{"sidecar with capabilities", "a restricted namespace refuses the pod", func(f *fixture) {
			c := goodContainer("read")
			c.Name, c.SecurityContext = "extra", nil
			f.template.Spec.Templates[0].Sidecars = []wfv1.UserContainer{{Container: c}}
		}, CodePodSecurity, reconcileName, "spec.templates[0]"},
		{"Argo's own containers as they come", "init and wait have no security context", func(f *fixture) { f.template.Spec.PodSpecPatch = "" },
			CodePodSecurity, reconcileName, "spec.templates[0]"},
		{"patch of a container that is not there", "a container without an image", func(f *fixture) {
			f.resync.Spec.Templates[0].PodSpecPatch = `{"containers":[{"name":"weit"}]}`
		}, CodePodSecurity, resyncName, "spec.templates[0].podSpecPatch"},
		{"patch that is no patch", "the pod is never made", func(f *fixture) { f.resync.Spec.Templates[0].PodSpecPatch = `{"containers": 1}` },
			CodePodSecurity, resyncName, "spec.templates[0].podSpecPatch"},
		{"template's own security context", "it replaces the Workflow's", func(f *fixture) {
			f.resync.Spec.Templates[0].SecurityContext = &corev1.PodSecurityContext{}
		}, CodePodSecurity, resyncName, "spec.templates[0]"},
		{"host network", "a restricted namespace refuses the pod", func(f *fixture) { f.resync.Spec.HostNetwork = ptr.To(true) },
			CodePodSecurity, resyncName, "spec.templates[0]"},
	}
}
