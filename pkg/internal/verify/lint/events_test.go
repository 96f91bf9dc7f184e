package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
)

// errorsOf returns the errors in a text by their codes.
func errorsOf(t *testing.T, text string) string {
	t.Helper()
	var codes []string
	for _, f := range lintText(t, "x.yaml", text, nil) {
		if f.Severity == diag.Error {
			codes = append(codes, f.Code)
		}
	}
	return strings.Join(codes, " ")
}

// TestEventSettings covers settings of EventSources, with neighbours that are correct.
func TestEventSettings(t *testing.T) {
	const text = "apiVersion: argoproj.io/v1alpha1\nkind: EventSource\nmetadata: {name: s}\nspec: {%s: {e: {%s}}}\n"
	hook := `port: "1", authSecret: {name: a, key: b}, `
	for _, test := range []struct{ kind, event, want string }{
		{"calendar", "schedule: 0 9 31 2 *", "invalid-manifest"},
		{"calendar", "schedule: '0 0 31 4,6,9,11 *'", "invalid-manifest"},
		{"calendar", "schedule: 0 0 29 2 *", ""},
		{"calendar", "schedule: 0 0 31 2 1", ""}, // on Mondays
		{"calendar", "interval: 100ms", "invalid-manifest"},
		{"calendar", "interval: 1s", ""},
		{"calendar", "interval: 1h, schedule: 0 9 * * *", "ignored-setting"},
		{"webhook", hook + "endpoint: /a, method: POST", ""},
		{"webhook", hook + "endpoint: /a", "silent-event-source"},
		{"webhook", hook + "endpoint: /a, method: post", "silent-event-source"},
		{"webhook", hook + "endpoint: a, method: POST", "silent-event-source"},
		{"webhook", hook + "endpoint: '/a?b=c', method: POST", "silent-event-source"},
		{"webhook", hook + "endpoint: '/{id}/a', method: POST", ""},
		{"webhook", hook + "endpoint: '{{ .Values.path }}', method: '{{ .Values.method }}'", ""},
		{"webhook", hook + "endpoint: /a, method: POST, serverKeySecret: {name: a, key: b}", "ignored-setting"},
		{"webhook", hook + "endpoint: /a, method: POST, filter: {expression: event.body.a == 1}", "silent-event-source"},
		{"webhook", hook + "endpoint: /a, method: POST, filter: {expression: headers.A == 1}", "silent-event-source"},
		{"webhook", hook + "endpoint: /a, method: POST, filter: {expression: 'action == 1'}", "silent-event-source"},
		{"webhook", hook + "endpoint: /a, method: POST, filter: {expression: 'asInt(body.a) == 1 && sprig.trim(body.b) in [metadata.c]'}", ""},
		{"webhook", hook + "endpoint: /a, method: POST, filter: {expression: 'any(body.list, {#.a == 1})'}", ""},
		{"kafka", "url: 'a:1', topic: t, consumerGroup: {groupName: g}, filter: {expression: body.a == 1}", "silent-event-source"},
		{"kafka", "url: 'a:1,b:1', topic: t, version: 0.10.2.0, partition: '0'", ""},
		{"kafka", "url: 'kafka://a:1', topic: t, partition: '0'", "silent-event-source"},
		{"kafka", "url: 'a:1', topic: t, version: v3.6.0, partition: '0'", "silent-event-source"},
		{"kafka", "url: 'a:1', topic: t, partition: all", "silent-event-source"},
		{"kafka", "url: 'a:1', topic: t, consumerGroup: {}", "silent-event-source"},
		{"kafka", "url: 'a:1', topic: t, consumerGroup: {groupName: g, rebalanceStrategy: round}", "ignored-setting"},
		{"kafka", "url: 'a:1', topic: t, partition: '0', connectionBackoff: {duration: '10'}", "silent-event-source"},
		{"kafka", "url: 'a:1', topic: t, partition: '0', connectionBackoff: {duration: 10s, factor: 2}", ""},
		{"redis", "hostAddress: 'rediss://a:1', channels: [c]", "silent-event-source"},
		{"redis", "hostAddress: /run/redis.sock, channels: [c]", ""},
		{"amqp", "url: 'a:1', exchangeType: topic, routingKey: k", "silent-event-source"},
		{"amqp", "url: 'amqps://a:1', exchangeType: x-delayed-message, routingKey: k", ""},
		{"amqp", "url: 'amqp://a:1', exchangeType: topics, routingKey: k", "silent-event-source"},
		{"file", "eventType: CREATE|WRITE, watchPathConfig: {directory: /a/, path: b}", ""},
		{"file", "eventType: create, watchPathConfig: {directory: /a/, path: b}", "silent-event-source"},
		{"sqs", "region: r, queue: q, waitTimeSeconds: 21", "silent-event-source"},
		{"generic", "url: 'a:1', config: c, authSecret: {name: a, key: b}", "silent-event-source"},
		{"generic", "url: 'a:1', config: c, insecure: true", ""},
		{"resource", "group: batch/v1, version: v1, resource: jobs, eventTypes: [ADD]", "unknown-resource"},
	} {
		if got := errorsOf(t, fmt.Sprintf(text, test.kind, test.event)); got != test.want {
			t.Errorf("%s {%s}: %q, want %q", test.kind, test.event, got, test.want)
		}
	}
}

// TestTriggerSettings covers settings with which triggers fail, with neighbours that work.
func TestTriggerSettings(t *testing.T) {
	const text = "apiVersion: argoproj.io/v1alpha1\nkind: Sensor\nmetadata: {name: s}\nspec:\n  dependencies: [{name: d, eventSourceName: s, eventName: e}]\n" +
		"  triggers:\n  - template: {name: t, %s}\n"
	object := "source: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {%s}}}"
	workflow := "source: {resource: {apiVersion: argoproj.io/v1alpha1, kind: %s, metadata: {%s}}}"
	job := "k8s: {source: {resource: {apiVersion: batch/v1, kind: Job, metadata: {generateName: a-}, spec: {template: {spec: {%s}}}}}%s}"
	for _, test := range []struct{ template, want string }{
		{"http: {url: 'http://a'}", ""},
		{"http: {url: 'a:80/b'}", "failing-trigger"},
		{"http: {url: a, parameters: [{src: {dependencyName: d, dataKey: body}, dest: url}]}", ""},
		{"kafka: {url: 'kafka://a:1', topic: t, payload: []}", "failing-trigger"},
		{"k8s: {source: {url: {path: github.com/a}}}", "failing-trigger"},
		{"k8s: {operation: update, " + fmt.Sprintf(object, "generateName: a-") + "}", "failing-trigger"},
		{"k8s: {operation: delete, " + fmt.Sprintf(object, "") + "}", "failing-trigger"},
		{"k8s: {operation: delete, " + fmt.Sprintf(object, "name: a") + "}", ""},
		{"k8s: {operation: delete, " + fmt.Sprintf(object, "") + ", parameters: [{src: {dependencyName: d, dataKey: body.name}, dest: metadata.name}]}", ""},
		{"k8s: {operation: update, liveObject: true, " + fmt.Sprintf(object, "name: a") + "}", "failing-trigger"},
		{"k8s: {" + fmt.Sprintf(object, "") + "}", "failing-trigger"},
		{"argoWorkflow: {operation: resume, " + fmt.Sprintf(workflow, "Workflow", "generateName: a-") + "}", "failing-trigger"},
		{"argoWorkflow: {operation: submit-from, " + fmt.Sprintf(workflow, "Workflow", "name: a") + "}", "failing-trigger"},
		{"argoWorkflow: {operation: submit-from, " + fmt.Sprintf(workflow, "WorkflowTemplate", "name: a") + "}", ""},
		{"argoWorkflow: {operation: retry, args: ['-p a=b'], " + fmt.Sprintf(workflow, "Workflow", "name: a") + "}", "failing-trigger"},
		{"argoWorkflow: {operation: retry, args: [-p, a=b c, '--parameter=a=b c'], " + fmt.Sprintf(workflow, "Workflow", "name: a") + "}", ""},
		{fmt.Sprintf(job, "containers: [{name: a, image: b}]", ""), "invalid-manifest"},
		{fmt.Sprintf(job, "restartPolicy: Never, containers: [{name: a, image: b}]", ""), ""},
		{fmt.Sprintf(job, "containers: [{name: a, image: b}]", ", parameters: [{src: {dependencyName: d, dataKey: body.pod, useRawData: true}, dest: spec.template.spec}]"), ""},
	} {
		if got := errorsOf(t, fmt.Sprintf(text, test.template)); got != test.want {
			t.Errorf("%s: %q, want %q", test.template, got, test.want)
		}
	}
}

// TestDependencyNames requires that a name is legal if a Sensor reads it as one variable.
func TestDependencyNames(t *testing.T) {
	for name, want := range map[string]bool{
		"push": true, "git-push": true, "git_push": true, "push-2": true, "e2e": true, "Push": true, "1st": false, "git.push": false,
		"git/push": false, "git:push": false, "in": false, "true": false, "2024": false, "git push": false,
	} {
		if got := isVariable(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestLuaFilters covers scripts that let no event pass.
func TestLuaFilters(t *testing.T) {
	const text = "apiVersion: argoproj.io/v1alpha1\nkind: Sensor\nmetadata: {name: s}\nspec:\n  dependencies:\n" +
		"  - {name: d, eventSourceName: s, eventName: e, filters: {script: %q}}\n  triggers:\n  - template: {name: t, log: {}}\n"
	for script, legal := range map[string]bool{
		`return event.body.a == 1`:                                         true,
		`if event.body.a then return true end; return false`:               true,
		`return "true"`:                                                    false,
		`return false`:                                                     false,
		`return event.body.a and "yes"`:                                    true, // may be false and true in other values
		`return payload.body.a == 1`:                                       false,
		`return string.match(event.body.a, "b") ~= nil`:                    true,
		`local b = event.body; return b.a == 1`:                            true,
		`function f(x) return x == 1 end; return f(event.body.a)`:          true,
		`local f = function(x) return x.y end; return f(event.a)`:          true,
		`return contains(event.body.a, "b")`:                               false,
		`if event.body.a then return payload.b end; return true`:           true, // not always
		`for k, v in pairs(event.body) do if v.x then return true end end`: true,
	} {
		if got := errorsOf(t, fmt.Sprintf(text, script)) == ""; got != legal {
			t.Errorf("%s: legal %v, want %v", script, got, legal)
		}
	}
}

// TestSensorErrors requires that each dependency and trigger that Argo Events refuses has its own error.
func TestSensorErrors(t *testing.T) {
	const text = "apiVersion: argoproj.io/v1alpha1\nkind: Sensor\nmetadata: {name: s}\nspec:\n  dependencies:\n" +
		"  - {name: d, eventSourceName: s, eventName: e, filters: {time: {start: '09:00', stop: '10:00:00'}}}\n  triggers:\n" +
		"  - template: {name: t, slack: {channel: c}}\n  - template: {name: u, log: {}}\n    atLeastOnce: true\n" +
		"    dlqTrigger: {template: {name: v, log: {}}}\n"
	var lines []int
	for _, f := range lintText(t, "x.yaml", text, nil).Only(diag.Error) {
		lines = append(lines, f.Line)
	}
	if want := []int{6, 8, 11}; !slices.Equal(lines, want) {
		t.Errorf("errors in the lines %v, want %v", lines, want)
	}
}
