package check

import (
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Where the problems of a direct operator show.
const (
	webSensor = "Sensor/web"
	webHTTP   = firstTrigger + ".template.http"
	webEnv    = "spec.template.container.env"
	webJQ     = "spec.dependencies[0].transform.jq"
	webRole   = "ClusterRole/argo-events:web-sensor"
	webToken  = "Secret/web-sensor-token"
)

func directMutations() []directMutation {
	return slices.Concat(templateTextMutations(), tokenMutations(), rotationMutations(), requestMutations(), trialMutations(), callMutations(), answerMutations(), heartbeatMutations(), replayMutations(), eventMutations())
}

func templateTextMutations() []directMutation {
	return []directMutation{
		{name: "another text template in a url", reason: "text of the event decides where the token goes", do: func(d *direct) {
			d.parameter("url").Src.DataTemplate = "https://{{ .Input.call.host }}{{ .Input.call.path }}"
		}, code: problem.CodeGoTemplate, object: webSensor, path: webHTTP + ".parameters"},
		{name: "another tag in a url", reason: "text of the event decides where the token goes", do: func(d *direct) {
			d.parameter("url").Src.DataTemplate = "https://{{ .Input.call.host }}{{ .Input.call.path }}"
		}, code: problem.CodeInjection, object: webSensor, path: webHTTP + ".parameters"},
		{name: "the body of an event in the address", reason: "only a computed path may go there", do: func(d *direct) {
			d.parameter("url").Src.DataTemplate = argo.ServerTemplate + "{{ .Input.call.body }}"
		}, code: problem.CodeGoTemplate, object: webSensor, path: webHTTP + ".parameters"},
		{name: "the template of a url elsewhere", reason: "a template is legal in one place only", do: func(d *direct) {
			d.parameter("method").Src.DataTemplate = argo.ServerTemplate + "{{ .Input.call.path }}"
		}, code: problem.CodeGoTemplate, object: webSensor, path: webHTTP + ".parameters"},
		{name: "the event in the token", reason: "text of the event in a header", do: func(d *direct) {
			d.parameter("headers.Authorization").Src.DataTemplate = `Bearer {{ env "API_TOKEN" }}{{ .Input.call.path }}`
		}, code: problem.CodeInjection, object: webSensor, path: webHTTP + ".parameters"},
	}
}

func tokenMutations() []directMutation {
	env := func(d *direct) []corev1.EnvVar { return d.sensor().Spec.Template.Container.Env }
	return []directMutation{
		{name: "no token", reason: "every call is refused", do: func(d *direct) {
			d.sensor().Spec.Template.Container.Env = env(d)[1:]
		}, code: problem.CodeToken, object: webSensor, path: webEnv},
		{name: "token in the definition", reason: "everybody who reads the Sensor has it", do: func(d *direct) {
			env(d)[0] = corev1.EnvVar{Name: tokenVariable, Value: "secret"}
		}, code: problem.CodeToken, object: webSensor, path: webEnv},
		{name: "token of another Secret", reason: "nothing here says whose it is", do: func(d *direct) {
			env(d)[0].ValueFrom.SecretKeyRef.Name = "other"
		}, code: problem.CodeToken, object: webSensor, path: webEnv},
		{name: "token of another service account", reason: "it may do other things", do: func(d *direct) {
			d.secret().Annotations[corev1.ServiceAccountNameKey] = "web-source"
		}, code: problem.CodeToken, object: webSensor, path: webEnv},
		{name: "Secret of another type", reason: "nothing fills it", do: func(d *direct) {
			d.secret().Type = corev1.SecretTypeOpaque
		}, code: problem.CodeToken, object: webSensor, path: webEnv},
		{
			name: "Secret before its service account", reason: "Kubernetes deletes it", do: (*direct).serviceAccountLast,
			code: problem.CodeToken, object: webToken, path: "metadata.annotations",
		},
		{name: "Secret with a token", reason: "a token is for Kubernetes to write", do: func(d *direct) {
			d.secret().Data = map[string][]byte{"token": []byte("x")}
		}, code: problem.CodeToken, object: webToken, path: "data"},
		{name: "Secret that nobody uses", reason: "a token is valid for ever", do: func(d *direct) {
			spare := d.secret().DeepCopy()
			spare.Name = "spare"
			d.objects = append(d.objects, spare)
		}, code: problem.CodeToken, object: "Secret/spare"},
		{name: "no trust in the cluster", reason: "no call succeeds", do: func(d *direct) {
			d.sensor().Spec.Template.Container.Env = env(d)[:1]
		}, code: problem.CodeToken, object: webSensor, path: webEnv},
		{name: "no credentials in the pod", reason: "with them the certificate goes", do: func(d *direct) {
			for _, sa := range argo.All[*corev1.ServiceAccount](argo.NewObjects(d.objects)) {
				sa.AutomountServiceAccountToken = ptr.To(false)
			}
		}, code: problem.CodeToken, object: webSensor, path: webEnv},
		{name: "certificate is not checked", reason: "anybody can take the token", do: func(d *direct) {
			d.http().TLS = &eventsv1.TLSConfig{InsecureSkipVerify: true}
		}, code: problem.CodeToken, object: webSensor, path: webHTTP + ".tls"},
		{name: "certificate of another Secret", reason: "anybody may have written it", do: func(d *direct) {
			d.http().TLS = &eventsv1.TLSConfig{CACertSecret: &corev1.SecretKeySelector{Key: "ca.crt"}}
		}, code: problem.CodeToken, object: webSensor, path: webHTTP + ".tls"},
		{name: "another header than the token", reason: "it comes from the event", do: func(d *direct) {
			d.parameter("headers.Authorization").Src = &eventsv1.TriggerParameterSource{DependencyName: d.parameter("url").Src.DependencyName, DataKey: "call.type"}
		}, code: problem.CodeToken, object: webSensor, path: webHTTP + ".parameters"},
		{name: "no header", reason: "every call is refused", do: func(d *direct) {
			h := d.http()
			h.Parameters = slices.DeleteFunc(h.Parameters, func(p eventsv1.TriggerParameter) bool { return p.Dest == "headers.Authorization" })
		}, code: problem.CodeToken, object: webSensor, path: webHTTP},
	}
}

func rotationMutations() []directMutation {
	const header = webHTTP + ".secureHeaders[0]"
	list := []directMutation{
		{name: "another header from a Secret", reason: "it is no part of a request", do: func(d *direct) {
			d.http().SecureHeaders[0].Name = "Impersonate-User"
		}, path: header},
		{name: "rotated token of another Secret", reason: "nothing here fills it", do: func(d *direct) {
			d.http().SecureHeaders[0].ValueFrom.SecretKeyRef.Name = "other"
		}, path: header},
		{name: "rotated token of another key", reason: "nothing here fills it", do: func(d *direct) {
			d.http().SecureHeaders[0].ValueFrom.SecretKeyRef.Key = "token"
		}, path: header},
		{name: "Secret of a rotated token with data", reason: "it would be put back when applied again", do: func(d *direct) {
			d.secret().StringData = map[string]string{"authorization": "Bearer x"}
		}, path: header},
		{name: "nothing replaces the token", reason: "there is none", do: func(d *direct) {
			d.objects = slices.DeleteFunc(d.objects, func(o manifest.Object) bool {
				_, cron := o.(*wfv1.CronWorkflow)
				return cron && o.GetName() == "web-token"
			})
		}, path: header},
		{name: "start before the token", reason: "events fail until there is one", do: func(d *direct) {
			d.sensor().Spec.Template.Volumes[0].Secret.Items = nil
		}, path: "spec.template.volumes"},
		{name: "volume that is not mounted", reason: "the pod does not wait for it", do: func(d *direct) {
			d.sensor().Spec.Template.Container.VolumeMounts = nil
		}, path: "spec.template.volumes"},
	}
	for i := range list {
		list[i].rotates, list[i].code, list[i].object = true, problem.CodeToken, webSensor
	}
	return append(list, directMutation{
		name: "condition of others", reason: "it is evaluated in the Workflow controller", rotates: true, do: func(d *direct) {
			crons := argo.All[*wfv1.CronWorkflow](argo.NewObjects(d.objects))
			crons[len(crons)-1].Spec.When = "{{= len(sprig.repeat(1500000000, 'a')) > 0 }}"
		}, code: problem.CodeInjection, object: "CronWorkflow/web-token", path: "spec.when",
	})
}

func requestMutations() []directMutation {
	return []directMutation{
		{name: "token in the open", reason: "plain http", do: func(d *direct) { d.http().URL = "http://kubernetes.default.svc" }, code: problem.CodeRequest, object: webSensor, path: webHTTP + ".url"},
		{name: "headers of its own", reason: "they override those of the request", do: func(d *direct) {
			d.http().Headers = map[string]string{"Impersonate-User": "admin"}
		}, code: problem.CodeRequest, object: webSensor, path: webHTTP},
		{name: "no body", reason: "an empty patch", do: func(d *direct) { d.http().Payload = nil }, code: problem.CodeRequest, object: webSensor, path: firstTrigger + ".template"},
		{name: "body of another request", reason: "path and body do not belong together", do: func(d *direct) {
			d.http().Payload[0].Src.DataKey = "failed.body"
		}, code: problem.CodeRequest, object: webSensor, path: webHTTP + ".payload[0]"},
		{name: "host from the event", reason: "the event decides where the token goes", do: func(d *direct) {
			p := *d.parameter("method").DeepCopy()
			p.Dest = "host"
			d.http().Parameters = append(d.http().Parameters, p)
		}, code: problem.CodeRequest, object: webSensor, path: webHTTP + ".parameters"},
		{name: "headers of several dependencies", reason: "Argo Events crashes", do: func(d *direct) {
			s := d.sensor()
			more := s.Spec.Dependencies[0].DeepCopy()
			more.Name = "more"
			s.Spec.Dependencies = append(s.Spec.Dependencies, *more)
			s.Spec.Triggers[0].Template.Conditions += " || more"
			d.http().DynamicHeaders = []eventsv1.TriggerParameter{*d.parameter("headers.Content-Type").DeepCopy()}
		}, code: problem.CodeRequest, object: webSensor, path: webHTTP + ".dynamicHeaders"},
		{name: "object as text", reason: "it is no object then", k8s: true, do: func(d *direct) {
			d.parameter("k8s.source.resource").Src.UseRawData = false
		}, code: problem.CodeRequest, object: webSensor, path: firstTrigger + ".parameters[0].src.useRawData"},
		{name: "apply without a field manager", reason: "the API server refuses it", do: func(d *direct) {
			d.replace("?fieldManager=web&force=", "?force=")
		}, code: problem.CodeRequest, object: webSensor, path: webJQ},
		{name: "apply that says nothing of conflicts", reason: "the definition decides that", do: func(d *direct) {
			d.replace("?fieldManager=web&force=", "?fieldManager=web&x=")
		}, code: problem.CodeRequest, object: webSensor, path: webJQ},
	}
}

func trialMutations() []directMutation {
	return []directMutation{
		{name: "body without the escape", reason: "the API server's YAML does not take it", do: func(d *direct) {
			d.replace(`if test("[\u007f-`, `if false and test("[\u007f-`)
		}, code: problem.CodeRequest, object: webSensor, path: webJQ},
		{name: "body that is no text", reason: "Go prints a map", do: func(d *direct) {
			d.replace(`| tojson | if test(`, `| if tojson | test(`)
		}, code: problem.CodeRequest, object: webSensor, path: webJQ},
		{name: "program that fails", reason: "the event is lost", do: func(d *direct) {
			d.replace(`if .type == "DELETE"`, `if .type.x == "DELETE"`)
		}, code: problem.CodeRequest, object: webSensor, path: webJQ},
		{name: "program that does not end", reason: "every event behind it waits", do: func(d *direct) {
			d.sensor().Spec.Dependencies[0].Transform.JQ = "{go: true, n: last(range(1e9))}"
		}, code: problem.CodeCost, object: webSensor, path: webJQ},
		{name: "program that yields a list", reason: "the Sensor takes objects only", do: func(d *direct) {
			d.sensor().Spec.Dependencies[0].Transform.JQ = "[{go: true}]"
		}, code: problem.CodeRequest, object: webSensor, path: webJQ},
		{name: "object without a name", reason: "there is nothing to patch", k8s: true, do: func(d *direct) {
			d.sensor().Spec.Dependencies[0].Transform.JQ = `{go: true, call: {operation: "patch", manifest: {apiVersion: "apps/v1", kind: "Deployment", metadata: {}}}, failed: {operation: "patch", manifest: {apiVersion: "apps/v1", kind: "Deployment", metadata: {}}}}`
		}, code: problem.CodeRequest, object: webSensor, path: webJQ},
	}
}

func callMutations() []directMutation {
	wrong := func(name, reason, old, with string) directMutation {
		return directMutation{name: name, reason: reason, do: func(d *direct) { d.replace(old, with) }, code: problem.CodeUnknownRequest, object: webSensor, path: webJQ}
	}
	return []directMutation{
		wrong("computed method", "nothing here can tell what it does", `{method: "PATCH", path: "/apis/apps/v1`, `{method: .method, path: "/apis/apps/v1`),
		wrong("method of no operator", "a PUT overwrites what others wrote", `{method: "PATCH"`, `{method: "PUT"`),
		wrong("path that is not escaped", "a name is more than a name", `/deployments/" + ($want.child.metadata.name | @uri)`, `/deployments/" + ($want.child.metadata.name)`),
		wrong("kind from the event", "the event decides what is written", `/apis/apps/v1/`, `/apis/apps/\(.version | @uri)/`),
		wrong("name joined with text", "two objects could share one", `/deployments/" + (`, `/deployments/x" + (`),
		wrong("path of something else", "an operator talks of objects", `"/apis/apps/v1/`, `"/logs/apps/v1/`),
		wrong("request from elsewhere", "nothing here can tell what it is", `failed: {method`, `failed: .body, other: {method`),
		wrong("no fallback", "the dead letter has nothing to send", `failed: {method`, `other: {method`),
		{name: "no permission to create", reason: "the first apply fails", do: func(d *direct) {
			d.role().Rules[0].Verbs = []string{"patch"}
		}, code: problem.CodeMissingPermission, object: webSensor, path: firstTrigger},
		{name: "get for the Sensor", reason: "it never looks", do: func(d *direct) {
			d.role().Rules[0].Verbs = append(d.role().Rules[0].Verbs, "get")
		}, code: problem.CodeUnusedPermission, object: webRole, path: "rules[0]"},
		{name: "no permission to delete", reason: "what is not wanted stays", do: func(d *direct) {
			d.role().Rules[1].Verbs = []string{"create", "patch"}
		}, code: problem.CodeMissingPermission, object: webSensor, path: "spec.triggers[1]"},
		{name: "create of custom resources", reason: "a k8s trigger would bring back what was deleted", k8s: true, do: func(d *direct) {
			for i := range d.role().Rules {
				if r := &d.role().Rules[i]; r.Resources[0] == "webs" {
					r.Verbs = append(r.Verbs, "create")
				}
			}
		}, code: problem.CodeUnusedPermission, object: webRole, path: "rules"},
		{name: "create in k8s triggers", reason: "a patch of what is not there creates it", k8s: true, do: func(d *direct) {
			d.role().Rules[0].Verbs = []string{"get", "patch"}
		}, code: problem.CodeMissingPermission, object: webSensor, path: firstTrigger},
		{name: "k8s operation from the event", reason: "nothing here can tell what it does", k8s: true, do: func(d *direct) {
			d.replace(`then {operation: "patch"`, `then {operation: .operation`)
		}, code: problem.CodeUnknownRequest, object: webSensor, path: webJQ},
	}
}

func answerMutations() []directMutation {
	trigger := func(d *direct) *eventsv1.Trigger { return &d.sensor().Spec.Triggers[0] }
	return []directMutation{
		{
			name: "no policy", reason: "every answer is a success", do: func(d *direct) { trigger(d).Policy = nil },
			code: problem.CodeDelivery, object: webSensor, path: firstTrigger + ".policy.status.allow",
		},
		{name: "success of a failure", reason: "the API server was overloaded", do: func(d *direct) {
			trigger(d).Policy.Status.Allow = append(trigger(d).Policy.Status.Allow, 503)
		}, code: problem.CodeDelivery, object: webSensor, path: firstTrigger + ".policy.status.allow[2]"},
		{name: "success of a refusal", reason: "permissions may be on their way", do: func(d *direct) {
			trigger(d).DlqTrigger.Policy.Status.Allow[0] = 403
		}, code: problem.CodeDelivery, object: webSensor, path: firstTrigger + ".dlqTrigger.policy.status.allow[0]"},
		{
			name: "fallback without retries", reason: "one failure loses it", do: func(d *direct) { trigger(d).DlqTrigger.RetryStrategy = nil },
			code: problem.CodeRetry, object: webSensor, path: firstTrigger + ".dlqTrigger.retryStrategy",
		},
		{name: "fallback that repeats", reason: "the same fails again", do: func(d *direct) {
			trigger(d).DlqTrigger.Template.HTTP = d.http().DeepCopy()
		}, code: problem.CodeDeadLetter, object: webSensor, path: firstTrigger + ".dlqTrigger"},
	}
}

func heartbeatMutations() []directMutation {
	const calendar = "spec.calendar[heartbeat]"
	tick := func(d *direct, do func(*eventsv1.CalendarEventSource)) {
		s := argo.All[*eventsv1.EventSource](argo.NewObjects(d.objects))[0]
		e := s.Spec.Calendar["heartbeat"]
		do(&e)
		s.Spec.Calendar["heartbeat"] = e
	}
	return []directMutation{
		{name: "no interval", reason: "it never ticks", do: func(d *direct) {
			tick(d, func(e *eventsv1.CalendarEventSource) { e.Interval = "often" })
		}, code: problem.CodeEventSource, object: "EventSource/web", path: calendar},
		{name: "a schedule", reason: "nothing vouches for it", do: func(d *direct) {
			tick(d, func(e *eventsv1.CalendarEventSource) { e.Schedule = "* * * * *" })
		}, code: problem.CodeEventSource, object: "EventSource/web", path: calendar},
		{name: "no tick", reason: "the Sensor would listen to nothing", do: func(d *direct) {
			argo.All[*eventsv1.EventSource](argo.NewObjects(d.objects))[0].Spec.Calendar = nil
		}, code: problem.CodeDependency, object: webSensor},
		{name: "a note without permission", reason: "nobody would be told that it listens", do: func(d *direct) {
			sensorRole(d).Rules[0].Verbs = []string{"get"}
		}, code: problem.CodeMissingPermission, object: webSensor},
		{name: "a note anywhere", reason: "one name is known", do: func(d *direct) {
			sensorRole(d).Rules[0].ResourceNames = nil
		}, code: problem.CodeUnusedPermission, object: "Role/web-sensor"},
		{name: "a note that may create", k8s: true, reason: "what is emitted is there", do: func(d *direct) {
			sensorRole(d).Rules[0].Verbs = append(sensorRole(d).Rules[0].Verbs, "create")
		}, code: problem.CodeUnusedPermission, object: "Role/web-sensor"},
	}
}

func replayMutations() []directMutation {
	replace := func(d *direct, old, by string) {
		for _, t := range d.resync().Spec.Templates {
			if t.Resource != nil {
				t.Resource.Manifest = strings.ReplaceAll(t.Resource.Manifest, old, by)
			}
		}
	}
	return []directMutation{
		{name: "replay of another EventSource", reason: "nothing is announced again", do: func(d *direct) {
			replace(d, `"name": "web"`, `"name": "other"`)
		}, code: problem.CodeResync, object: webSensor},
		{name: "replay that changes nothing", reason: "the second one is no change", do: func(d *direct) {
			replace(d, "{{workflow.name}}", "again")
		}, code: problem.CodeResync, object: webSensor},
		{name: "replay without permission", reason: "the resync fails", do: func(d *direct) {
			ownRole(d).Rules[0].ResourceNames = []string{"other"}
		}, code: problem.CodeMissingPermission, object: "WorkflowTemplate/web-resync", path: "spec.templates[1]"},
		{name: "replay of any EventSource", reason: "one name is known", do: func(d *direct) {
			ownRole(d).Rules[0].ResourceNames = nil
		}, code: problem.CodeUnusedPermission, object: "Role/web-resync", path: "rules[0]"},
		{name: "one name too many", reason: "one name is needed", do: func(d *direct) {
			ownRole(d).Rules[0].ResourceNames = append(ownRole(d).Rules[0].ResourceNames, "other")
		}, code: problem.CodeUnusedPermission, object: "Role/web-resync", path: "rules[0]"},
	}
}
