package live

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/graph"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

var (
	webs        = schema.GroupKind{Group: "example.com", Kind: "Web"}
	deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}
)

// testView is the view of an operator that writes two Deployments and a status.
func testView() View {
	nodes := []graph.Node{
		{ID: "webs", Role: graph.Changes, Kind: webs},
		{ID: "deployments", Role: graph.Changes, Kind: deployments},
		{ID: "source", Role: graph.Source},
		{ID: "bus", Role: graph.Bus},
		{ID: "sensor", Role: graph.Sensor, Name: "web"},
		{ID: "other", Role: graph.Sensor, Name: "web-status"},
		{ID: "logic", Role: graph.Workflow, Text: []string{"web-reconcile"}},
		{ID: "front", Role: graph.Written, Kind: deployments, Name: "front"},
		{ID: "back", Role: graph.Written, Kind: deployments, Name: "back"},
		{ID: "status", Role: graph.Written, Kind: webs},
		{ID: "resync", Role: graph.Resync},
	}
	return View{Target: targetOf, Graphs: map[string]graph.Graph{"web": {Nodes: nodes}}}
}

// targetOf parses the paths of this test: /GROUP/KIND/NAMESPACE/NAME/SUBRESOURCE.
func targetOf(path string) simulate.Target {
	parts := append(strings.Split(strings.TrimPrefix(path, "/"), "/"), make([]string, 5)...)
	out := simulate.Target{Group: parts[0]}
	out.Kind, out.Namespace, out.Name, out.Subresource = parts[1], parts[2], parts[3], parts[4]
	return out
}

func call(method, path string, status int) cluster.Call {
	return cluster.Call{Method: method, Path: path, Status: status, Account: "argo-events/web", Duration: time.Millisecond}
}

func TestViewOfDeliveries(t *testing.T) {
	front := call(http.MethodPatch, "/apps/Deployment/default/shop", 201)
	refused := call(http.MethodPatch, "/apps/Deployment/default/shop", 503)
	status := call(http.MethodPatch, "/example.com/Web/default/shop/status", 200)
	created := call(http.MethodPost, "//Event/default", 201)
	created.Answer = map[string]any{"kind": "Event", "metadata": map[string]any{"name": "shop.1"}}
	tests := []struct {
		name     string
		delivery simulate.Delivery
		state    State
		text     string
		nodes    []string
		calls    []string
	}{
		{
			name:     "a child is written",
			delivery: simulate.Delivery{Sensor: "web", Trigger: "child-front", Attempts: []simulate.Attempt{{Trigger: "child-front", Calls: []cluster.Call{front}}}},
			state:    StateDone, nodes: []string{"bus", "sensor", "front"}, calls: []string{"PATCH Deployment default/shop 201"},
		},
		{
			name:     "one of two children of a kind, whose name says nothing",
			delivery: simulate.Delivery{Sensor: "web", Trigger: "child", Attempts: []simulate.Attempt{{Trigger: "child", Calls: []cluster.Call{front}}}},
			state:    StateDone, nodes: []string{"bus", "sensor", "front", "back"}, calls: []string{"PATCH Deployment default/shop 201"},
		},
		{
			name:     "the status and an Event are written",
			delivery: simulate.Delivery{Sensor: "web-status", Trigger: "status", Attempts: []simulate.Attempt{{Trigger: "status", Calls: []cluster.Call{status, created}}}},
			state:    StateDone, nodes: []string{"bus", "other", "status"}, calls: []string{"PATCH Web default/shop, status 200", "POST Event default/shop.1 201"},
		},
		{
			name:     "the filter rejects the event",
			delivery: simulate.Delivery{Sensor: "web", Trigger: "child-front", Stopped: "no child of a Web"},
			state:    StateSkipped, text: "no child of a Web", nodes: []string{"bus", "sensor"},
		},
		{
			name:     "the transform fails",
			delivery: simulate.Delivery{Sensor: "web", Trigger: "child-front", Stopped: "jq: null has no keys", Lost: true},
			state:    StateLost, text: "jq: null has no keys", nodes: []string{"bus", "sensor"},
		},
		{
			name: "the second attempt succeeds",
			delivery: simulate.Delivery{Sensor: "web", Trigger: "child-front", Attempts: []simulate.Attempt{
				{Trigger: "child-front", Failure: "503 Service Unavailable", Calls: []cluster.Call{refused}},
				{Trigger: "child-front", Calls: []cluster.Call{front}},
			}},
			state: StateDone, nodes: []string{"bus", "sensor", "front", "front"}, calls: []string{"PATCH Deployment default/shop 503", "PATCH Deployment default/shop 201"},
		},
		{
			name: "all attempts fail",
			delivery: simulate.Delivery{Sensor: "web", Trigger: "child-front", Attempts: []simulate.Attempt{
				{Trigger: "child-front", Failure: "503 Service Unavailable", Calls: []cluster.Call{refused}},
			}},
			state: StateFailed, text: "503 Service Unavailable", nodes: []string{"bus", "sensor", "front"}, calls: []string{"PATCH Deployment default/shop 503"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.delivery.Program = ".body"
			got := testView().Delivery(&test.delivery, "web")
			if got.Type != TypeDelivery || got.State != test.state || got.Text != test.text || got.Operator != "web" || got.Program != ".body" || got.Title != test.delivery.Trigger {
				t.Errorf("%+v", got.Summary)
			}
			check(t, got, test.nodes, test.calls)
		})
	}
}

// check compares the nodes and the requests of a record.
func check(t *testing.T, got Record, nodes, calls []string) {
	t.Helper()
	if d := cmp.Diff(nodes, got.Nodes); d != "" {
		t.Errorf("nodes (-want +got):\n%s", d)
	}
	var shown []string
	for _, c := range got.Calls {
		shown = append(shown, fmt.Sprintf("%s %s %d", c.Method, c.What, c.Status))
	}
	if d := cmp.Diff(calls, shown); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

func TestViewOfWorkflows(t *testing.T) {
	w := simulate.Workflow{
		Namespace: "argo-events", Name: "web-x7", Origin: simulate.Origin{Kind: "WorkflowTemplate", Name: "web-reconcile"}, Failure: "exit code 1",
		Containers: []simulate.Container{
			{Name: "main", Command: []string{"python3", "main.py"}, Output: "Traceback", ExitCode: 1, Calls: []cluster.Call{call(http.MethodGet, "/example.com/Web/default/shop", 200)}},
			{Name: "apply", Skipped: "the program failed"},
		},
	}
	got := testView().Workflow(&w, "web")
	if got.Type != TypeWorkflow || got.State != StateFailed || got.Text == "" || got.Object != (Object{"Workflow", "argo-events", "web-x7", ""}) {
		t.Errorf("%+v", got.Summary)
	}
	check(t, got, []string{"logic"}, []string{"GET Web default/shop 200"})
	if len(got.Containers) != 2 || got.Containers[0].Output != "Traceback" || got.Containers[0].ExitCode != 1 || got.Containers[1].Skipped == "" {
		t.Errorf("%+v", got.Containers)
	}

	resync := testView().Workflow(&simulate.Workflow{Name: "web-resync-1", Origin: simulate.Origin{Kind: "CronWorkflow", Name: "web-resync"}}, "web")
	if resync.State != StateDone {
		t.Errorf("%+v", resync.Summary)
	}
	check(t, resync, []string{"resync"}, nil)
}

func TestChangedFields(t *testing.T) {
	const old = `{"metadata": {"name": "a", "resourceVersion": "1", "labels": {"a": "b"}}, "spec": {"size": 1, "deep": {"one": {"two": 1}}}, "status": {"ready": 1}}`
	tests := []struct{ name, body, want string }{
		{"nothing but bookkeeping", `{"metadata": {"name": "a", "resourceVersion": "2", "generation": 2, "managedFields": [], "labels": {"a": "b"}}, "spec": {"size": 1, "deep": {"one": {"two": 1}}}, "status": {"ready": 1}}`, ""},
		{"a field", `{"metadata": {"name": "a", "labels": {"a": "b"}, "resourceVersion": "2"}, "spec": {"size": 2, "deep": {"one": {"two": 1}}}, "status": {"ready": 1}}`, "spec.size"},
		{"a deep field", `{"metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"size": 1, "deep": {"one": {"two": 2}}}, "status": {"ready": 1}}`, "spec.deep.one"},
		{"a field that is new, and some that are gone", `{"metadata": {"name": "a"}, "spec": {"size": 1, "color": "red"}, "status": {"ready": 2}}`, "metadata.labels, spec.color, spec.deep, …"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := simulate.Event{Data: []byte(`{"body": ` + test.body + `, "oldBody": ` + old + `}`)}
			if got := payloadOf(e).changedFields(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := payloadOf(simulate.Event{Data: []byte(`{"body": ` + old + `}`)}).changedFields(); got != "" {
		t.Errorf("of a new object: %q", got)
	}
}
