package selfcheck

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// The locations of the problems in a direct operator.
const (
	webSensor = "Sensor/web"
	webHTTP   = firstTrigger + ".template.http"
	webEnv    = "spec.template.container.env"
	webJQ     = "spec.dependencies[0].transform.jq"
	webRole   = "ClusterRole/argo-events:web-sensor"
	webToken  = "Secret/web-sensor-token"
)

func directMutations() []directMutation {
	return slices.Concat(templateTextMutations(), tokenMutations(), rotationMutations(), requestMutations(), sampleMutations(), callMutations(), responseMutations(), livenessMutations(), relistMutations(), eventMutations(), workerMutations())
}

func templateTextMutations() []directMutation {
	return []directMutation{
		{name: "unknown text template in a URL", reason: "the event would choose the recipient of the token", mutate: func(d *direct) {
			d.parameter("url").Src.DataTemplate = "https://{{ .Input.call.host }}{{ .Input.call.path }}"
		}, code: codeGoTemplate, object: webSensor, path: webHTTP + ".parameters"},
		{name: "unknown tag in a URL", reason: "the event would choose the recipient of the token", mutate: func(d *direct) {
			d.parameter("url").Src.DataTemplate = "https://{{ .Input.call.host }}{{ .Input.call.path }}"
		}, code: problem.CodeInjection, object: webSensor, path: webHTTP + ".parameters"},
		{name: "body of the event in a URL", reason: "only a computed path is allowed", mutate: func(d *direct) {
			d.parameter("url").Src.DataTemplate = argo.ServerTemplate + "{{ .Input.call.body }}"
		}, code: codeGoTemplate, object: webSensor, path: webHTTP + ".parameters"},
		{name: "URL template in another field", reason: "each template is allowed in one field only", mutate: func(d *direct) {
			d.parameter("method").Src.DataTemplate = argo.ServerTemplate + "{{ .Input.call.path }}"
		}, code: codeGoTemplate, object: webSensor, path: webHTTP + ".parameters"},
		{name: "event data in the token", reason: "event data would become part of a header", mutate: func(d *direct) {
			d.parameter("headers.Authorization").Src.DataTemplate = `Bearer {{ env "API_TOKEN" }}{{ .Input.call.path }}`
		}, code: problem.CodeInjection, object: webSensor, path: webHTTP + ".parameters"},
	}
}

func tokenMutations() []directMutation {
	env := func(d *direct) []corev1.EnvVar { return d.sensor().Spec.Template.Container.Env }
	return []directMutation{
		{name: "missing token", reason: "the API server refuses every call", mutate: func(d *direct) {
			d.sensor().Spec.Template.Container.Env = env(d)[1:]
		}, code: codeToken, object: webSensor, path: webEnv},
		{name: "token in the Sensor", reason: "everyone who can read the Sensor can read the token", mutate: func(d *direct) {
			env(d)[0] = corev1.EnvVar{Name: tokenVariable, Value: "secret"}
		}, code: codeToken, object: webSensor, path: webEnv},
		{name: "token from an unknown Secret", reason: "its owner is unknown", mutate: func(d *direct) {
			env(d)[0].ValueFrom.SecretKeyRef.Name = "other"
		}, code: codeToken, object: webSensor, path: webEnv},
		{name: "token of another service account", reason: "it has other permissions", mutate: func(d *direct) {
			d.secret().Annotations[corev1.ServiceAccountNameKey] = "web-source"
		}, code: codeToken, object: webSensor, path: webEnv},
		{name: "Secret has another type", reason: "nothing writes the token", mutate: func(d *direct) {
			d.secret().Type = corev1.SecretTypeOpaque
		}, code: codeToken, object: webSensor, path: webEnv},
		{
			name: "Secret before its service account", reason: "Kubernetes deletes it", mutate: (*direct).serviceAccountLast,
			code: codeToken, object: webToken, path: "metadata.annotations",
		},
		{name: "Secret with data", reason: "Kubernetes writes the token", mutate: func(d *direct) {
			d.secret().Data = map[string][]byte{"token": []byte("x")}
		}, code: codeToken, object: webToken, path: "data"},
		{name: "unused Secret", reason: "the token never expires", mutate: func(d *direct) {
			spare := d.secret().DeepCopy()
			spare.Name = "spare"
			d.objects = append(d.objects, spare)
		}, code: codeToken, object: "Secret/spare"},
		{name: "missing certificate authority", reason: "no call would succeed", mutate: func(d *direct) {
			d.sensor().Spec.Template.Container.Env = env(d)[:1]
		}, code: codeToken, object: webSensor, path: webEnv},
		{name: "no automounted credentials", reason: "the pod would not have the certificate", mutate: func(d *direct) {
			for _, sa := range argo.All[*corev1.ServiceAccount](argo.NewObjects(d.objects)) {
				sa.AutomountServiceAccountToken = ptr.To(false)
			}
		}, code: codeToken, object: webSensor, path: webEnv},
		{name: "certificate is not verified", reason: "any server could receive the token", mutate: func(d *direct) {
			d.http().TLS = &eventsv1.TLSConfig{InsecureSkipVerify: true}
		}, code: codeToken, object: webSensor, path: webHTTP + ".tls"},
		{name: "certificate from another Secret", reason: "its content is unknown", mutate: func(d *direct) {
			d.http().TLS = &eventsv1.TLSConfig{CACertSecret: &corev1.SecretKeySelector{Key: "ca.crt"}}
		}, code: codeToken, object: webSensor, path: webHTTP + ".tls"},
		{name: "Authorization without the token", reason: "the value would come from the event", mutate: func(d *direct) {
			d.parameter("headers.Authorization").Src = &eventsv1.TriggerParameterSource{DependencyName: d.parameter("url").Src.DependencyName, DataKey: "call.type"}
		}, code: codeToken, object: webSensor, path: webHTTP + ".parameters"},
		{name: "missing Authorization header", reason: "the API server refuses every call", mutate: func(d *direct) {
			h := d.http()
			h.Parameters = slices.DeleteFunc(h.Parameters, func(p eventsv1.TriggerParameter) bool { return p.Dest == "headers.Authorization" })
		}, code: codeToken, object: webSensor, path: webHTTP},
	}
}

func rotationMutations() []directMutation {
	const header = webHTTP + ".secureHeaders[0]"
	list := []directMutation{
		{name: "another header from a Secret", reason: "it is not part of a request", mutate: func(d *direct) {
			d.http().SecureHeaders[0].Name = "Impersonate-User"
		}, path: header},
		{name: "rotated token in an unknown Secret", reason: "no CronWorkflow writes it", mutate: func(d *direct) {
			d.http().SecureHeaders[0].ValueFrom.SecretKeyRef.Name = "other"
		}, path: header},
		{name: "rotated token under an unknown key", reason: "no CronWorkflow writes it", mutate: func(d *direct) {
			d.http().SecureHeaders[0].ValueFrom.SecretKeyRef.Key = "token"
		}, path: header},
		{name: "Secret of a rotated token has data", reason: "applying it again would overwrite the token", mutate: func(d *direct) {
			d.secret().StringData = map[string]string{"authorization": "Bearer x"}
		}, path: header},
		{name: "no token rotation", reason: "there would be no token", mutate: func(d *direct) {
			d.objects = slices.DeleteFunc(d.objects, func(o manifest.Object) bool {
				_, cron := o.(*wfv1.CronWorkflow)
				return cron && o.GetName() == "web-token"
			})
		}, path: header},
		{name: "pod starts before the token exists", reason: "events would fail until it exists", mutate: func(d *direct) {
			d.sensor().Spec.Template.Volumes[0].Secret.Items = nil
		}, path: "spec.template.volumes"},
		{name: "volume is not mounted", reason: "the pod would not wait for the token", mutate: func(d *direct) {
			d.sensor().Spec.Template.Container.VolumeMounts = nil
		}, path: "spec.template.volumes"},
	}
	for i := range list {
		list[i].rotatesToken, list[i].code, list[i].object = true, codeToken, webSensor
	}
	return append(list, directMutation{
		name: "unknown condition in a CronWorkflow", reason: "the Workflow controller evaluates it", rotatesToken: true, mutate: func(d *direct) {
			crons := argo.All[*wfv1.CronWorkflow](argo.NewObjects(d.objects))
			crons[len(crons)-1].Spec.When = "{{= len(sprig.repeat(1500000000, 'a')) > 0 }}"
		}, code: problem.CodeInjection, object: "CronWorkflow/web-token", path: "spec.when",
	})
}

func requestMutations() []directMutation {
	return []directMutation{
		{name: "token without TLS", reason: "the URL uses plain HTTP", mutate: func(d *direct) { d.http().URL = "http://kubernetes.default.svc" }, code: codeRequest, object: webSensor, path: webHTTP + ".url"},
		{name: "fixed headers", reason: "they would override the headers of the request", mutate: func(d *direct) {
			d.http().Headers = map[string]string{"Impersonate-User": "admin"}
		}, code: codeRequest, object: webSensor, path: webHTTP},
		{name: "missing body", reason: "the patch would be empty", mutate: func(d *direct) { d.http().Payload = nil }, code: codeRequest, object: webSensor, path: firstTrigger + ".template"},
		{name: "body of another request", reason: "path and body would not match", mutate: func(d *direct) {
			d.http().Payload[0].Src.DataKey = "failed.body"
		}, code: codeRequest, object: webSensor, path: webHTTP + ".payload[0]"},
		{name: "host from the event", reason: "the event would choose the recipient of the token", mutate: func(d *direct) {
			p := *d.parameter("method").DeepCopy()
			p.Dest = "host"
			d.http().Parameters = append(d.http().Parameters, p)
		}, code: codeRequest, object: webSensor, path: webHTTP + ".parameters"},
		{name: "dynamicHeaders with several dependencies", reason: "Argo Events panics", mutate: func(d *direct) {
			s := d.sensor()
			more := s.Spec.Dependencies[0].DeepCopy()
			more.Name = "more"
			s.Spec.Dependencies = append(s.Spec.Dependencies, *more)
			s.Spec.Triggers[0].Template.Conditions += " || more"
			d.http().DynamicHeaders = []eventsv1.TriggerParameter{*d.parameter("headers.Content-Type").DeepCopy()}
		}, code: codeRequest, object: webSensor, path: webHTTP + ".dynamicHeaders"},
		{name: "object as a string", reason: "the trigger needs an object", pods: true, mutate: func(d *direct) {
			d.sensor().Spec.Triggers[1].Parameters[0].Src.UseRawData = false
		}, code: codeRequest, object: webSensor, path: "spec.triggers[1].parameters[0].src.useRawData"},
		{name: "apply without a field manager", reason: "the API server refuses it", mutate: func(d *direct) {
			d.replaceJQ("?fieldManager=web&force=", "?force=")
		}, code: codeRequest, object: webSensor, path: webJQ},
		{name: "apply without force", reason: "the definition must choose", mutate: func(d *direct) {
			d.replaceJQ("?fieldManager=web&force=", "?fieldManager=web&x=")
		}, code: codeRequest, object: webSensor, path: webJQ},
	}
}

func sampleMutations() []directMutation {
	return []directMutation{
		{name: "unescaped body", reason: "the API server's YAML refuses it", mutate: func(d *direct) {
			d.replaceJQ(`if test("[\u007f-`, `if false and test("[\u007f-`)
		}, code: codeRequest, object: webSensor, path: webJQ},
		{name: "body is not a string", reason: "Go would print a map", mutate: func(d *direct) {
			d.replaceJQ(`| tojson | if test(`, `| if tojson | test(`)
		}, code: codeRequest, object: webSensor, path: webJQ},
		{name: "program fails", reason: "the event would be lost", mutate: func(d *direct) {
			d.replaceJQ(`if .type == "DELETE"`, `if .type.x == "DELETE"`)
		}, code: codeRequest, object: webSensor, path: webJQ},
		{name: "program does not end", reason: "later events would wait", mutate: func(d *direct) {
			d.sensor().Spec.Dependencies[0].Transform.JQ = "{go: true, call: last(range(1e9))}"
		}, code: codeCost, object: webSensor, path: webJQ},
		{name: "program returns a list", reason: "the Sensor accepts objects only", mutate: func(d *direct) {
			d.sensor().Spec.Dependencies[0].Transform.JQ = "[{go: true}]"
		}, code: codeRequest, object: webSensor, path: webJQ},
	}
}

func callMutations() []directMutation {
	jqMutation := func(name, reason, old, with string) directMutation {
		return directMutation{name: name, reason: reason, mutate: func(d *direct) { d.replaceJQ(old, with) }, code: codeUnknownRequest, object: webSensor, path: webJQ}
	}
	return []directMutation{
		jqMutation("computed method", "its effect is unknown", `{method: "PATCH", path: "/apis/apps/v1`, `{method: .method, path: "/apis/apps/v1`),
		jqMutation("method PUT", "a PUT overwrites the changes of others", `{method: "PATCH"`, `{method: "PUT"`),
		jqMutation("unescaped path", "a name could change the path", `/deployments/" + ($want.child.metadata.name | @uri)`, `/deployments/" + ($want.child.metadata.name)`),
		jqMutation("kind from the event", "the event would choose the kind", `/apis/apps/v1/`, `/apis/apps/\(.version | @uri)/`),
		jqMutation("name with a prefix", "two objects could get the same name", `/deployments/" + (`, `/deployments/x" + (`),
		jqMutation("path of another API", "only objects are allowed", `"/apis/apps/v1/`, `"/logs/apps/v1/`),
		jqMutation("request from the event", "its content is unknown", `failed: {method`, `failed: .body, other: {method`),
		jqMutation("missing fallback request", "the dead-letter trigger would have no request", `failed: {method`, `other: {method`),
		{name: "no permission to create Workflows", reason: "nothing would ask why a request fails", mutate: func(d *direct) {
			for _, role := range argo.All[*rbacv1.Role](argo.NewObjects(d.objects)) {
				role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Equal(r.Resources, []string{"workflows"}) })
			}
		}, code: codeMissingPermission, object: webSensor, path: firstTrigger + ".dlqTrigger"},
		{name: "Workflow of the text of an event", reason: "Argo would take braces in it for a template", mutate: func(d *direct) {
			src := d.sensor().Spec.Triggers[0].DlqTrigger.Template.HTTP.Payload[0].Src
			src.DataTemplate = strings.Replace(src.DataTemplate, "| b64enc", "", 1)
		}, code: codeGoTemplate, object: webSensor, path: firstTrigger + ".dlqTrigger.template.http.payload[0].src"},
		{name: "creation of another object", reason: "a second delivery could create a second one", mutate: func(d *direct) {
			src := d.sensor().Spec.Triggers[0].DlqTrigger.Template.HTTP.Parameters[0].Src
			src.DataTemplate = strings.Replace(src.DataTemplate, "/workflows", "/pods", 1)
		}, code: codeGoTemplate, object: webSensor, path: firstTrigger + ".dlqTrigger.template.http.parameters[0].src"},
		{name: "creation that counts as a failure", reason: "it would be repeated", mutate: func(d *direct) {
			policy := d.sensor().Spec.Triggers[0].DlqTrigger.Policy
			policy.Status.Allow = slices.DeleteFunc(policy.Status.Allow, func(code int32) bool { return code == 201 })
		}, code: codeDelivery, object: webSensor, path: firstTrigger + ".dlqTrigger.policy.status.allow"},
		{name: "Workflow of an unknown template", reason: "it would not run", mutate: func(d *direct) {
			d.objects = slices.DeleteFunc(d.objects, func(o manifest.Object) bool { return o.GetName() == "web-diagnose" })
		}, code: codeTemplateRef, object: webSensor, path: firstTrigger + ".dlqTrigger"},
		{name: "no permission to create", reason: "the first apply fails", mutate: func(d *direct) {
			d.role().Rules[0].Verbs = []string{"patch"}
		}, code: codeMissingPermission, object: webSensor, path: firstTrigger},
		{name: "unused get of the Sensor", reason: "it never reads children", mutate: func(d *direct) {
			d.role().Rules[0].Verbs = append(d.role().Rules[0].Verbs, "get")
		}, code: codeUnusedPermission, object: webRole, path: "rules[0]"},
		{name: "no permission to delete", reason: "unwanted children would remain", mutate: func(d *direct) {
			d.role().Rules[1].Verbs = []string{"create", "patch"}
		}, code: codeMissingPermission, object: webSensor, path: "spec.triggers[1]"},
	}
}

func responseMutations() []directMutation {
	trigger := func(d *direct) *eventsv1.Trigger { return &d.sensor().Spec.Triggers[0] }
	return []directMutation{
		{
			name: "missing status policy", reason: "every response would be a success", mutate: func(d *direct) { trigger(d).Policy = nil },
			code: codeDelivery, object: webSensor, path: firstTrigger + ".policy.status.allow",
		},
		{name: "failure counts as success", reason: "the API server is overloaded", mutate: func(d *direct) {
			trigger(d).Policy.Status.Allow = append(trigger(d).Policy.Status.Allow, 503)
		}, code: codeDelivery, object: webSensor, path: firstTrigger + ".policy.status.allow[2]"},
		{name: "refusal counts as success", reason: "permissions may arrive later", mutate: func(d *direct) {
			trigger(d).DlqTrigger.Policy.Status.Allow[0] = 403
		}, code: codeDelivery, object: webSensor, path: firstTrigger + ".dlqTrigger.policy.status.allow[0]"},
		{
			name: "fallback without retries", reason: "one failure would lose it", mutate: func(d *direct) { trigger(d).DlqTrigger.RetryStrategy = nil },
			code: codeRetry, object: webSensor, path: firstTrigger + ".dlqTrigger.retryStrategy",
		},
		{name: "fallback repeats the request", reason: "the same request would fail again", mutate: func(d *direct) {
			trigger(d).DlqTrigger.Template.HTTP = d.http().DeepCopy()
		}, code: codeDeadLetter, object: webSensor, path: firstTrigger + ".dlqTrigger"},
	}
}

func livenessMutations() []directMutation {
	const calendar = "spec.calendar[heartbeat]"
	tick := func(d *direct, do func(*eventsv1.CalendarEventSource)) {
		s := argo.All[*eventsv1.EventSource](argo.NewObjects(d.objects))[0]
		e := s.Spec.Calendar["heartbeat"]
		do(&e)
		s.Spec.Calendar["heartbeat"] = e
	}
	return []directMutation{
		{name: "invalid interval", reason: "it would never fire", mutate: func(d *direct) {
			tick(d, func(e *eventsv1.CalendarEventSource) { e.Interval = "often" })
		}, code: codeEventSource, object: "EventSource/web", path: calendar},
		{name: "unsupported schedule", reason: "no check supports it", mutate: func(d *direct) {
			tick(d, func(e *eventsv1.CalendarEventSource) { e.Schedule = "* * * * *" })
		}, code: codeEventSource, object: "EventSource/web", path: calendar},
		{name: "missing calendar", reason: "the dependency would have no events", mutate: func(d *direct) {
			argo.All[*eventsv1.EventSource](argo.NewObjects(d.objects))[0].Spec.Calendar = nil
		}, code: codeDependency, object: webSensor},
		{name: "liveness check without permission", reason: "the last event would not be recorded", mutate: func(d *direct) {
			sensorRole(d).Rules[0].Verbs = []string{"get"}
		}, code: codeMissingPermission, object: webSensor},
		{name: "liveness check with any name", reason: "the name is known", mutate: func(d *direct) {
			sensorRole(d).Rules[0].ResourceNames = nil
		}, code: codeUnusedPermission, object: "Role/web-sensor"},
		{name: "liveness check with create", pods: true, reason: "the object is emitted and exists", mutate: func(d *direct) {
			rule := &sensorRole(d).Rules[1] // after that for Workflows
			rule.Verbs = append(rule.Verbs, "create")
		}, code: codeUnusedPermission, object: "Role/web-sensor"},
	}
}

func relistMutations() []directMutation {
	replace := func(d *direct, old, by string) {
		for _, t := range d.resync().Spec.WorkflowSpec.Templates {
			if t.Resource != nil {
				t.Resource.Manifest = strings.ReplaceAll(t.Resource.Manifest, old, by)
			}
		}
	}
	return []directMutation{
		{name: "relist of another EventSource", reason: "the Sensor would receive no events", mutate: func(d *direct) {
			replace(d, `"name": "web"`, `"name": "other"`)
		}, code: codeResync, object: webSensor},
		{name: "relist without a change", reason: "the second patch would change nothing", mutate: func(d *direct) {
			replace(d, "{{workflow.name}}", "again")
		}, code: codeResync, object: webSensor},
		{name: "relist without permission", reason: "the resync would fail", mutate: func(d *direct) {
			resyncRole(d).Rules[0].ResourceNames = []string{"other"}
		}, code: codeMissingPermission, object: "CronWorkflow/web-resync", path: "spec.workflowSpec.templates[1]"},
		{name: "relist with any name", reason: "the name is known", mutate: func(d *direct) {
			resyncRole(d).Rules[0].ResourceNames = nil
		}, code: codeUnusedPermission, object: "Role/web-resync", path: "rules[0]"},
		{name: "unused resource name", reason: "only one name is needed", mutate: func(d *direct) {
			resyncRole(d).Rules[0].ResourceNames = append(resyncRole(d).Rules[0].ResourceNames, "other")
		}, code: codeUnusedPermission, object: "Role/web-resync", path: "rules[0]"},
	}
}
