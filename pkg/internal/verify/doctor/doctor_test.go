package doctor

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// cluster maps parts of kubectl's arguments to its output; the first match counts,
// and output that starts with ! is an error.
type cluster [][2]string

func (c cluster) ask(_ context.Context, _ []byte, arguments ...string) ([]byte, string, error) {
	text := strings.Join(arguments, " ")
	for _, answer := range c {
		if !strings.Contains(text, answer[0]) {
			continue
		}
		if stderr, failed := strings.CutPrefix(answer[1], "!"); failed {
			return nil, stderr, errors.New("exit status 1")
		}
		return []byte(answer[1]), "", nil
	}
	return nil, "", errors.New("nobody knows " + text)
}

func (c cluster) with(question, answer string) cluster {
	return append(cluster{{question, answer}}, c...)
}

func deployment(image, more string) string {
	return `{"metadata":{"namespace":"argo","name":"controller"},"spec":{"template":{"spec":{"containers":[{"image":"` + image + `"` + more + `}]}}},"status":{"availableReplicas":1}}`
}

// owned returns a Deployment that Argo Events created.
func owned(namespace, name, label string) string {
	return `{"metadata":{"namespace":"` + namespace + `","name":"` + name + `","labels":{"owner-name":"page","` + label + `":"page"}}}`
}

const listStart = `{"apiVersion":"v1","kind":"List","items":[`

func items(list ...string) string { return listStart + strings.Join(list, ",") + `]}` }

// healthy returns a cluster without errors.
func healthy() cluster {
	var kinds []string
	for name := range ofArgo {
		kinds = append(kinds, `{"metadata":{"name":"`+name+`"}}`)
	}
	return cluster{
		{"version", `{"serverVersion":{"gitVersion":"v1.34.0"}}`},
		{"customresourcedefinitions", items(kinds...)},
		{"deployments", items(deployment("quay.io/argoproj/argo-events:v1.9.11", ""), deployment("quay.io/argoproj/workflow-controller:v4.0.5", ""))},
		{"configmaps", `{"items":[]}`},
		{"get namespace", `{"status":{"phase":"Active"}}`},
		{"get eventbus", `{"spec":{"jetstream":{"maxPayload":"8MB"}},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}`},
		{"api-resources", ""},
		{"apply", ""},
	}
}

func TestExamine(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		cluster cluster
		brings  bool
		want    string // checks that are not ok
	}{
		{"all is well", healthy(), false, ""},
		{"nobody answers", healthy().with("version", "!\nThe connection was refused"), false, "API server: does not respond: The connection was refused"},
		{
			"no Argo", healthy().with("customresourcedefinitions", items()), false,
			"Argo's kinds: missing: Argo Events (eventbus, eventsources, sensors); Argo Workflows (cronworkflows, workflows, workflowtaskresults, workflowtemplates)",
		},
		{"one kind is missing", healthy().with("customresourcedefinitions", strings.Replace(healthy()[1][1], "sensors.", "censors.", 1)), false, "Argo's kinds: missing: Argo Events (sensors)"},
		{"kinds may not be listStart", healthy().with("customresourcedefinitions", "!Error from server (Forbidden): no"), false, "Argo's kinds: cannot be read: Error from server (Forbidden): no"},
		{
			"another version", healthy().with("deployments", items(deployment("quay.io/argoproj/argo-events:v1.8.0", ""), deployment("quay.io/argoproj/workflow-controller:v3.6.4", ""))), false,
			"Argo Events: argo/controller is version 1.8; argoperator is tested with 1.9, Argo Workflows: argo/controller is version 3.6; argoperator is tested with 4.0, 3.7",
		},
		{"a registry with a port", healthy().with("deployments", items(deployment("mirror:5000/argo-events:v1.9.10", ""), deployment("mirror:5000/workflow-controller:v3.7.1", ""))), false, ""},
		{
			"no version", healthy().with("deployments", items(deployment("argo-events:latest", ""), deployment("workflow-controller@sha256:00", ""))), false,
			"Argo Events: argo/controller runs an image without a version: argo-events:latest, Argo Workflows: argo/controller runs an image without a version: workflow-controller@sha256:00",
		},
		{"a controller that is not available", healthy().with("deployments", strings.Replace(healthy()[2][1], `"availableReplicas":1`, `"availableReplicas":0`, 1)), false, "Argo Events: argo/controller is not available"},
		{
			"no controller", healthy().with("deployments", items()), false,
			"Argo Events: no Deployment found; it may run in another way, Argo Workflows: no Deployment found; it may run in another way",
		},
		{
			"a controller of another namespace", healthy().with("deployments", items(healthy()[2][1][len(listStart):strings.Index(healthy()[2][1], ",{")], deployment("workflow-controller:v4.0.5", `,"args":["--namespaced"]`))), false,
			"Argo Workflows: argo/controller, version 4.0, watches another namespace only",
		},
		{"a controller of this namespace", healthy().with("deployments", items(healthy()[2][1][len(listStart):strings.Index(healthy()[2][1], ",{")], deployment("workflow-controller:v4.0.5", `,"args":["--namespaced","--managed-namespace","ours"]`))), false, ""},
		{"an instance", healthy().with("configmaps", items(`{"data":{"instanceID":"other"}}`)), false, "Workflow controller: runs Workflows of instanceID other only"},
		{"an instance in a block", healthy().with("configmaps", items(`{"data":{"config":"instanceID: other\n"}}`)), false, "Workflow controller: runs Workflows of instanceID other only"},
		{"no instance", healthy().with("configmaps", items(`{"data":{"config":"instanceID: \"\"\n"}}`)), false, ""},
		{
			"WorkflowTemplates only", healthy().with("configmaps", items(`{"data":{"config":"workflowRestrictions: {templateReferencing: Strict}\n"}}`)), false,
			"Workflow controller: runs only Workflows of WorkflowTemplates (templateReferencing), and those of the resync are not",
		},
		{"no namespace", healthy().with("get namespace", "!Error from server (NotFound): no"), false, "Namespace ours: does not exist"},
		{"a namespace that goes", healthy().with("get namespace", `{"status":{"phase":"Terminating"}}`), false, "Namespace ours: is Terminating"},
		{"no bus", healthy().with("get eventbus", "!Error from server (NotFound): no"), false, "EventBus default: does not exist: the operator would receive no events"},
		{"no bus, and the operator brings one", healthy().with("get eventbus", "!Error from server (NotFound): no"), true, ""},
		{"a bus that is not ready", healthy().with("get eventbus", `{"status":{"conditions":[{"type":"Deployed","status":"False","message":"no storage"}]}}`), false, "EventBus default: Deployed is False: no storage"},
		{"a bus that nobody has seen", healthy().with("get eventbus", `{}`), false, "EventBus default: has no status: no controller reconciled it"},
		{
			"a bus without a password", healthy().with("get eventbus", `{"spec":{"jetstreamExotic":{"url":"nats://x"}},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}`), false,
			"EventBus default: is ready, but without authentication: everyone who can connect to it can read and forge events",
		},
		{
			"Kafka without a password", healthy().with("get eventbus", `{"spec":{"kafka":{"url":"x"}},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}`), false,
			"EventBus default: is ready, but without authentication: everyone who can connect to it can read and forge events",
		},
		{"a bus with a password", healthy().with("get eventbus", `{"spec":{"jetstreamExotic":{"accessSecret":{"name":"x","key":"y"}}},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}`), false, ""},
		{"Kafka with a password", healthy().with("get eventbus", `{"spec":{"kafka":{"sasl":{}}},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}`), false, ""},
		{
			"a bus for small events", healthy().with("get eventbus", `{"spec":{"jetstream":{"version":"latest"}},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}`), false,
			"EventBus default: is ready, but accepts events of at most 1MB: an update event contains the object twice, in base64, and one that is too large delays all events of its kind by seconds",
		},
		{
			"a bus for somewhat larger ones", healthy().with("get eventbus", `{"spec":{"jetstream":{"maxPayload":"3072KB"}},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}`), false,
			"EventBus default: is ready, but accepts events of at most 3072KB: an update event contains the object twice, in base64, and one that is too large delays all events of its kind by seconds",
		},
		{"a bus for large events", healthy().with("get eventbus", `{"spec":{"jetstream":{"maxPayload":"4MB"}},"status":{"conditions":[{"type":"Deployed","status":"True"}]}}`), false, ""},
		{"an old bus", healthy().with("get eventbus", `{"spec":{"nats":{"native":{}}}}`), false, "EventBus default: uses NATS Streaming, which loses events"},
		{
			"two Deployments of an EventSource", healthy().with("deployments", items(healthy()[2][1][len(listStart):len(healthy()[2][1])-2],
				owned("ours", "page-a", "sensor-name"), owned("ours", "page-b", "eventsource-name"), owned("theirs", "page-c", "eventsource-name"), owned("ours", "page-d", "eventsource-name"))), false,
			"EventSource page: has two Deployments, page-b and page-d: each event is handled twice",
		},
		{
			"others' Deployments with such a label", healthy().with("deployments", items(healthy()[2][1][len(listStart):len(healthy()[2][1])-2],
				strings.Replace(owned("ours", "a", "sensor-name"), "owner-name", "app", 1), strings.Replace(owned("ours", "b", "sensor-name"), "owner-name", "app", 1))), false, "",
		},
		{"no rights", healthy().with("apply", "!Warning: x\nError from server (Forbidden): no\nError from server (Forbidden): no\n"), false, "kubectl apply: Error from server (Forbidden): no\nexit status 1"},
	} {
		checks := Examine(t.Context(), tt.cluster.ask, Requirements{Operator: "page", Namespace: "ours", EventBus: "default", IncludesBus: tt.brings})
		var got []string
		for _, c := range checks {
			if c.State != OK {
				got = append(got, c.Name+": "+c.Message)
			}
			if c.State == Error && c.Fix == "" {
				t.Errorf("%s: no hint for %s", tt.reason, c.Name)
			}
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.reason, text, tt.want)
		}
	}
}

func TestPrint(t *testing.T) {
	var out bytes.Buffer
	report := Report{Operator: "page", Namespace: "ours", Checks: []Check{{"a", OK, "fine", ""}, {"b", Error, "one\ntwo\n", "do it"}}}
	if err := report.Print(&out, false); err != nil || report.Ready() {
		t.Errorf("ready: %v, %v", report.Ready(), err)
	}
	want := "page, in ours\n  ok       a: fine\n  error    b: one\n           two\n           fix: do it\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
