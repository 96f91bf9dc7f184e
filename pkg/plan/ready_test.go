package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
)

// states are objects in states that readiness is asked of, one a line.
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

// TestReadyOfAnything runs the rules on objects that no controller has looked at
// yet, with numbers that the API server would refuse: a rule that fails loses
// the event.
func TestReadyOfAnything(t *testing.T) {
	kinds := []string{
		"apps/v1/Deployment", "apps/v1/StatefulSet", "apps/v1/DaemonSet", "apps/v1/ReplicaSet", "batch/v1/Job", "v1/Pod",
		"v1/PersistentVolumeClaim", "v1/Service", "v1/ConfigMap", "policy/v1/PodDisruptionBudget", "example.com/v1/Other",
		"apiextensions.k8s.io/v1/CustomResourceDefinition",
	}
	specs := []string{
		`null`, `{}`, `{"replicas":-5}`, `{"replicas":0}`, `{"replicas":1e15}`, `{"replicas":null}`, `{"replicas":2.5}`,
		`{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":-7}}}`, `{"updateStrategy":{"rollingUpdate":{"partition":null}}}`,
		`{"type":"LoadBalancer"}`,
	}
	statuses := []string{
		`null`, `{}`, `{"replicas":null}`, `{"replicas":-1}`, `{"conditions":null}`, `{"conditions":[]}`, `{"conditions":[{}]}`,
		`{"observedGeneration":null}`, `{"loadBalancer":null}`, `{"conditions":[{"type":"Stalled","status":"True"}]}`,
	}
	for _, kind := range kinds {
		at := strings.LastIndex(kind, "/")
		for _, spec := range specs {
			for _, status := range statuses {
				object := map[string]any{}
				text := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"generation":1},"spec":%s,"status":%s}`, kind[:at], kind[at+1:], spec, status)
				if err := json.Unmarshal([]byte(text), &object); err != nil {
					t.Fatal(err)
				}
				t.Run(text, func(t *testing.T) { unreadyInJQ(t, object) })
			}
		}
	}
}

// TestReadyAsThePodSays holds the rules in jq to those of the pod-side script:
// the engines must agree on what is ready.
func TestReadyAsThePodSays(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on the PATH")
	}
	cmd := exec.Command(python, "-c", "import json, sys, reconcile\nfor line in sys.stdin:\n    one = json.loads(line)\n    print(json.dumps(reconcile.unready(one, one['kind'] == 'Reporting')))")
	cmd.Dir = filepath.Join("..", "..", "templates", "runtime")
	cmd.Stdin = strings.NewReader(strings.TrimSpace(states))
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	verdicts := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range strings.Split(strings.TrimSpace(states), "\n") {
		var object map[string]any
		var want string
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(verdicts[i]), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, unreadyInJQ(t, object)); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

func unreadyInJQ(t *testing.T, object map[string]any) string {
	t.Helper()
	version := object["apiVersion"].(string)
	group, _, grouped := strings.Cut(version, "/")
	if !grouped {
		group = ""
	}
	child := Child{Kind: Kind{Group: group, Kind: object["kind"].(string)}}
	if child.Kind.Kind == "Reporting" {
		child.Reports = true
	}
	query, err := gojq.Parse(unreadyJQ(child))
	if err != nil {
		t.Fatal(err)
	}
	value, _ := query.Run(object).Next()
	text, ok := value.(string)
	if !ok {
		t.Fatalf("%v is no text", value)
	}
	return text
}
