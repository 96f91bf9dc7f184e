package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
)

// states lists objects whose readiness the tests evaluate, one per line.
const states = `
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2}}
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2}}
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"replicas":3,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2}}
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1},"spec":{},"status":{"observedGeneration":1,"updatedReplicas":1,"availableReplicas":0}}
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1},"spec":{"replicas":0},"status":{}}
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1},"spec":{"replicas":-5},"status":{}}
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1},"spec":{"replicas":1},"status":{"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}]}}
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":1,"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"replicas":1}}
{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":3},"status":{"replicas":3,"readyReplicas":3,"updatedReplicas":2,"currentRevision":"a","updateRevision":"b"}}
{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":1}}},"status":{"replicas":3,"readyReplicas":3,"updatedReplicas":2,"currentRevision":"a","updateRevision":"b"}}
{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":3,"updateStrategy":{"type":"OnDelete"}},"status":{}}
{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"generation":1},"spec":{"replicas":1},"status":{"replicas":1,"readyReplicas":1,"updatedReplicas":1,"currentRevision":"a","updateRevision":"a"}}
{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"generation":1},"spec":{},"status":{}}
{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"generation":1},"spec":{},"status":{"observedGeneration":1,"desiredNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":1,"numberReady":2}}
{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"generation":1},"spec":{"replicas":2},"status":{"replicas":2,"readyReplicas":1}}
{"apiVersion":"batch/v1","kind":"Job","metadata":{"generation":1},"spec":{},"status":{}}
{"apiVersion":"batch/v1","kind":"Job","metadata":{"generation":1},"spec":{"suspend":true},"status":{}}
{"apiVersion":"batch/v1","kind":"Job","metadata":{"generation":1},"spec":{},"status":{"startTime":"2026-01-01T00:00:00Z"}}
{"apiVersion":"batch/v1","kind":"Job","metadata":{"generation":1},"spec":{},"status":{"startTime":"x","conditions":[{"type":"Failed","status":"True"}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{}}
{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{},"spec":{},"status":{"phase":"Pending"}}
{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{},"spec":{},"status":{"phase":"Bound"}}
{"apiVersion":"v1","kind":"Service","metadata":{},"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{}}}
{"apiVersion":"v1","kind":"Service","metadata":{},"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}
{"apiVersion":"v1","kind":"Service","metadata":{},"spec":{"type":"ClusterIP"}}
{"apiVersion":"v1","kind":"ConfigMap","metadata":{},"data":{}}
{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"generation":1},"spec":{},"status":{"observedGeneration":1}}
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{},"spec":{},"status":{"conditions":[{"type":"Established","status":"False"}]}}
{"apiVersion":"example.com/v1","kind":"Other","metadata":{"generation":3},"spec":{},"status":{"observedGeneration":2}}
{"apiVersion":"example.com/v1","kind":"Other","metadata":{},"spec":{},"status":{"conditions":[{"type":"Ready","status":"False","message":"warming up"}]}}
{"apiVersion":"example.com/v1","kind":"Other","metadata":{},"spec":{},"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Stalled","status":"True"}]}}
{"apiVersion":"example.com/v1","kind":"Other","metadata":{},"spec":{},"status":{"conditions":[{"type":"Reconciling","status":"True"}]}}
{"apiVersion":"example.com/v1","kind":"Other","metadata":{},"spec":{},"status":{"conditions":[{"type":"Ready","status":"False","message":""}]}}
{"apiVersion":"example.com/v1","kind":"Reporting","metadata":{"generation":1},"spec":{}}
{"apiVersion":"example.com/v1","kind":"Reporting","metadata":{"generation":1},"spec":{},"status":{}}
{"apiVersion":"example.com/v1","kind":"Reporting","metadata":{"generation":1},"spec":{},"status":{"observedGeneration":0}}
{"apiVersion":"example.com/v1","kind":"Reporting","metadata":{"generation":1},"spec":{},"status":{"arn":"a"}}
{"apiVersion":"example.com/v1","kind":"Reporting","metadata":{"generation":1},"spec":{},"status":{"observedGeneration":1}}
{"apiVersion":"example.com/v1","kind":"Reporting","metadata":{"generation":1},"spec":{},"status":{"conditions":[{"type":"Ready","status":"True"}]}}
{"apiVersion":"example.com/v1","kind":"Reporting","metadata":{"generation":1},"spec":{},"status":{"conditions":[{"type":"Synced","status":"False"}]}}
`

// TestReadyOfAnything evaluates the rule of every kind as a Sensor and as a pod,
// including objects without a status and fields that the API server would reject: if a
// rule fails, the Sensor drops the event.
func TestReadyOfAnything(t *testing.T) {
	children := map[string]Child{}
	for _, c := range readyChildren(t) {
		children[c.Name] = c
	}
	var asked []question
	for line := range strings.Lines(strings.TrimSpace(states)) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		version := object["apiVersion"].(string)
		asked = append(asked, question{children[version[:max(0, strings.LastIndex(version, "/"))]+"/"+object["kind"].(string)], strings.TrimSpace(line)})
	}
	for _, c := range children {
		for _, object := range oddObjects() {
			asked = append(asked, question{c, object})
		}
	}
	got := inPods(t, asked)
	for i, q := range asked {
		want := unreadyInJQ(t, q)
		if want != got[i] {
			t.Errorf("%s, %s: %q in a Sensor, %q in a pod", q.child.Name, q.object, want, got[i])
		}
	}
}

// readyChildren returns a child of each kind with its own rule, of a kind without one,
// of one that reports conditions, and with a readyWhen.
func readyChildren(t *testing.T) []Child {
	t.Helper()
	kinds := []Kind{
		{Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "StatefulSet"},
		{Group: "apps", Kind: "DaemonSet"},
		{Group: "apps", Kind: "ReplicaSet"},
		{Group: "batch", Kind: "Job"},
		{Kind: "Pod"},
		{Kind: "PersistentVolumeClaim"},
		{Kind: "Service"},
		{Kind: "ConfigMap"},
		{Group: "policy", Kind: "PodDisruptionBudget"},
		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		{Group: "serving.knative.dev", Kind: "Service"},
		{Group: "example.com", Kind: "Other"},
		{Group: "example.com", Kind: "Reporting"},
	}
	var out []Child
	for _, kind := range kinds {
		out = append(out, Child{Name: kind.Group + "/" + kind.Kind, Kind: kind, ReportsStatus: kind.Kind == "Reporting"})
	}
	for _, readyWhen := range []string{
		"true", "null", ".status.replicas", ".status.replicas == .spec.replicas", "empty", `.status.replicas + "a" == "a"`, "any(.status.conditions[]; .status)",
		"def f($x): $x > 1; f(.spec.replicas) # a comment", `(.spec | fingerprint) != ""`, "true, error",
	} {
		program, problems := expression.Expression(readyWhen, expression.Scope{Input: schema.Any()}, "boolean")
		if program == nil {
			t.Fatal(readyWhen, problems)
		}
		out = append(out, Child{Name: readyWhen, Kind: Kind{Group: "apps", Kind: "Deployment"}, Ready: program})
	}
	return out
}

func oddObjects() []string {
	metadata := []string{`{"generation":1}`, `{"generation":1,"deletionTimestamp":"2026-01-01T00:00:00Z"}`, `null`, `{"generation":"2"}`}
	specs := []string{
		`null`, `{}`, `"text"`, `[]`, `{"replicas":-5}`, `{"replicas":0}`, `{"replicas":1e15}`, `{"replicas":9007199254740991}`, `{"replicas":null}`, `{"replicas":2.5}`, `{"replicas":"3"}`,
		`{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":-7}}}`, `{"updateStrategy":{"rollingUpdate":{"partition":null}}}`, `{"updateStrategy":"OnDelete"}`,
		`{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":"1"}}}`, `{"type":"LoadBalancer"}`, `{"suspend":"true"}`, `{"suspend":true}`,
	}
	statuses := []string{
		`null`, `{}`, `7`, `[]`, `{"replicas":null}`, `{"replicas":-1}`, `{"replicas":"many"}`, `{"conditions":null}`, `{"conditions":[]}`, `{"conditions":[{}]}`, `{"conditions":"x"}`,
		`{"conditions":["x",null,3]}`, `{"conditions":{"a":{"type":"Ready","status":"False"}}}`, `{"conditions":[{"type":"Ready","status":"False","message":{"a":1}}]}`,
		`{"conditions":[{"type":"Ready"},{"type":"Ready","status":"True"}]}`, `{"observedGeneration":null}`, `{"observedGeneration":"1"}`, `{"observedGeneration":true}`, `{"observedGeneration":0.5}`,
		`{"observedGeneration":1,"desiredNumberScheduled":"2"}`, `{"loadBalancer":null}`, `{"loadBalancer":{"ingress":7}}`, `{"conditions":[{"type":"Stalled","status":"True"}]}`,
		`{"replicas":1e15,"updatedReplicas":1e15,"readyReplicas":1e15,"availableReplicas":1e15}`, `{"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3}`, `{"phase":1}`,
	}
	objects := []string{`{}`, `{"metadata":{}}`}
	for _, m := range metadata {
		for _, spec := range specs {
			for _, status := range statuses {
				objects = append(objects, fmt.Sprintf(`{"metadata":%s,"spec":%s,"status":%s}`, m, spec, status))
			}
		}
	}
	return objects
}

// question is an object and the child whose readiness rule it is evaluated with.
type question struct {
	child  Child
	object string
}

// inPods returns the results of templates/runtime/expressions.py.
func inPods(t *testing.T, asked []question) []string {
	t.Helper()
	rules := map[string]json.RawMessage{}
	var in bytes.Buffer
	for _, q := range asked {
		if rules[q.child.Name] = unreadyInPod(q.child); rules[q.child.Name] == nil {
			t.Fatalf("a pod cannot evaluate the readiness of %s", q.child.Name)
		}
	}
	fmt.Fprintf(&in, "%s\n", encode(rules))
	for _, q := range asked {
		fmt.Fprintf(&in, "[%s, %s]\n", encode(q.child.Name), q.object)
	}
	cmd := exec.Command("python3", "-B", "-c", `import json, sys
from expressions import built
rules = json.loads(sys.stdin.readline())
for line in sys.stdin:
    name, one = json.loads(line)
    print(json.dumps(built(rules[name], one, {})))`)
	cmd.Dir = filepath.Join("..", "..", "..", "..", "templates", "runtime")
	cmd.Stdin = &in
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	var answers []string
	for decoder := json.NewDecoder(&out); ; {
		var answer any
		if err := decoder.Decode(&answer); errors.Is(err, io.EOF) {
			return answers
		} else if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, fmt.Sprint(answer))
	}
}

func unreadyInJQ(t *testing.T, q question) string {
	t.Helper()
	var object any
	if err := json.Unmarshal([]byte(q.object), &object); err != nil {
		t.Fatal(err)
	}
	query, err := gojq.Parse(unreadyJQ(q.child))
	if err != nil {
		t.Fatal(err)
	}
	value, _ := query.Run(object).Next()
	text, ok := value.(string)
	if !ok {
		t.Fatalf("%s, %s: %v is no text", q.child.Name, q.object, value)
	}
	return text
}

// TestReadyTable lists which objects are ready.
func TestReadyTable(t *testing.T) {
	const full = `"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1`
	yes := func(name string) string { return `{"conditions": [{"type": "` + name + `", "status": "True"}]}` }
	for _, tt := range []struct{ kind, spec, status, want string }{
		{"apps/Deployment", `{}`, `{}`, "updatedReplicas is 0 of 1"},
		{"apps/Deployment", `{}`, `{` + full + `}`, ""},
		{"apps/Deployment", `{"replicas": 0}`, `{}`, ""},
		{"apps/Deployment", `{}`, `{` + full + `, "replicas": 2}`, "1 old replicas are still there"},
		{"apps/Deployment", `{}`, `{` + full + `, "observedGeneration": 4}`, "its latest change is not yet observed"},
		{"apps/Deployment", `{}`, `{"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded"}]}`, "its progress deadline is exceeded"},
		{"apps/StatefulSet", `{}`, `{` + full + `}`, ""},
		{"apps/StatefulSet", `{}`, `{}`, "replicas is 0 of 1"},
		{"apps/StatefulSet", `{}`, `{` + full + `, "currentRevision": "a", "updateRevision": "b"}`, "its revision is being rolled out"},
		{"apps/StatefulSet", `{"updateStrategy": {"type": "OnDelete"}}`, `{}`, ""},
		{"apps/StatefulSet", `{"updateStrategy": {"rollingUpdate": {"partition": 1}}}`, `{` + full + `, "updatedReplicas": 0}`, ""},
		{"apps/DaemonSet", `{}`, `{}`, "is not yet observed"},
		{"apps/DaemonSet", `{}`, `{"observedGeneration": 5}`, ""},
		{"apps/DaemonSet", `{}`, `{"observedGeneration": 5, "desiredNumberScheduled": 2}`, "updatedNumberScheduled is 0 of 2"},
		{"apps/ReplicaSet", `{}`, `{` + full + `}`, ""},
		{"apps/ReplicaSet", `{"replicas": 2}`, `{` + full + `}`, "replicas is 1 of 2"},
		{"batch/Job", `{}`, `{}`, "has not started"},
		{"batch/Job", `{}`, `{"startTime": "t"}`, ""},
		{"batch/Job", `{}`, yes("Failed"), "has failed"},
		{"batch/Job", `{}`, yes("Complete"), ""},
		{"/Pod", `{}`, `{}`, "is Pending and not ready"},
		{"/Pod", `{}`, `{"phase": "Running"}`, "is Running and not ready"},
		{"/Pod", `{}`, `{"phase": "Succeeded"}`, ""},
		{"/PersistentVolumeClaim", `{}`, `{}`, "is not bound"},
		{"/PersistentVolumeClaim", `{}`, `{"phase": "Bound"}`, ""},
		{"/Service", `{}`, `{}`, ""},
		{"/Service", `{"type": "LoadBalancer"}`, `{"loadBalancer": {}}`, "has no load balancer yet"},
		{"/Service", `{"type": "LoadBalancer"}`, `{"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}`, ""},
		{"serving.knative.dev/Service", `{"type": "LoadBalancer"}`, `{}`, ""},
		{"policy/PodDisruptionBudget", `{}`, `{"observedGeneration": 5}`, ""},
		{"policy/PodDisruptionBudget", `{}`, `{"observedGeneration": 4}`, "its latest change is not yet observed"},
		{"autoscaling/HorizontalPodAutoscaler", `{}`, `{"conditions": [{"type": "ScalingActive", "status": "False"}]}`, ""},
		{"apiextensions.k8s.io/CustomResourceDefinition", `{}`, `{}`, "is not established"},
		{"apiextensions.k8s.io/CustomResourceDefinition", `{}`, yes("Established"), ""},
		{"/ConfigMap", `{}`, `{}`, ""},
		{"example.com/Other", `{}`, `{}`, ""},
		{"example.com/Other", `{}`, yes("Ready"), ""},
		{"example.com/Other", `{}`, `{"conditions": [{"type": "Ready", "status": "Unknown", "message": "wait"}]}`, "wait"},
		{"example.com/Other", `{}`, yes("Stalled"), "is stalled"},
		{"example.com/Other", `{}`, yes("Reconciling"), "is reconciling"},
		{"example.com/Reporting", `{}`, `{}`, "its controller has not reported a status yet"},
		{"example.com/Reporting", `{}`, `{"arn": "a"}`, ""},
		{".status.replicas == .spec.replicas", `{"replicas": 1}`, `{"replicas": 1, "observedGeneration": 4}`, "its latest change is not yet observed"},
		{".status.replicas == .spec.replicas", `{"replicas": 1}`, `{"replicas": 1, "observedGeneration": 5}`, ""},
		{".status.replicas", `{}`, `{"replicas": 1}`, "readyWhen is not met"},
	} {
		children := readyChildren(t)
		child := children[slices.IndexFunc(children, func(c Child) bool { return c.Name == tt.kind })]
		object := fmt.Sprintf(`{"metadata": {"generation": 5}, "spec": %s, "status": %s}`, tt.spec, tt.status)
		if got := unreadyInJQ(t, question{child, object}); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.kind, object, got, tt.want)
		}
	}
}

// TestReadinessFile covers that the tests of the pod's program use the same rules as
// the pod.
func TestReadinessFile(t *testing.T) {
	var b bytes.Buffer
	for i, kind := range []Kind{{Group: "apps", Kind: "Deployment"}, {Kind: "ConfigMap"}} {
		fmt.Fprintf(&b, "%s\n%q: %s", []string{"{", ","}[i], kind.Group+"/"+kind.Kind, unreadyInPod(Child{Kind: kind}))
	}
	b.WriteString("\n}\n")
	file := filepath.Join("..", "..", "..", "..", "templates", "runtime", "tests", "testdata", "readiness.json")
	goldenfile.Compare(t, file, b.String())
}
