package explain_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
	"github.com/argoperator/argoperator/pkg/internal/explain"
	"github.com/argoperator/argoperator/pkg/internal/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// things is shorthand for the JSON of an object.
type things = map[string]any

// subject is a definition with a custom resource, and one of its children to do things to.
type subject struct {
	file, namespace string
	spec, changed   things
	child           string // its path
	reported        string // by its controller; empty: it has none
	touched         string // by hand

	apiVersion, kind string
	objects          []manifest.Object
}

// ready is what the controller of a Deployment of one replica says of it.
const ready = `{"status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}}`

const deployments = "/apis/apps/v1/namespaces/default/deployments/"

var subjects = map[string]subject{
	"memcached": {
		file: "../../../examples/memcached-logic/operator.yaml", namespace: "default",
		spec: things{"size": int64(2)}, changed: things{"size": int64(3)}, child: deployments + "one",
		reported: `{"status": {"readyReplicas": 1}}`, touched: `{"spec": {"replicas": 7}}`,
	},
	"memcached-direct": {
		file: "../../../examples/memcached/operator.yaml", namespace: "default",
		spec: things{"size": int64(2)}, changed: things{"size": int64(3)}, child: deployments + "one",
		reported: `{"status": {"readyReplicas": 1}}`, touched: `{"spec": {"replicas": 7}}`,
	},
	"web": {
		file: "testdata/web/operator.yaml", namespace: "default",
		spec: things{"public": true}, changed: things{"public": true, "page": "hello"}, child: deployments + "one",
		reported: ready, touched: `{"spec": {"replicas": 7}}`,
	},
	"tables": {
		file: "testdata/tables/operator.yaml", namespace: "default",
		spec: things{"columns": []any{"a"}}, changed: things{"columns": []any{"a", "b"}},
		child: "/api/v1/namespaces/default/configmaps/one", touched: `{"data": {"columns": "z"}}`,
	},
	"clean-up": {
		file: "testdata/clean-up/operator.yaml", namespace: "blue",
		spec: things{"names": []any{"a"}, "title": "x"}, changed: things{"names": []any{"a"}, "title": "x", "text": "new"},
		child: "/api/v1/namespaces/blue/configmaps/one-a", touched: `{"data": {"text": "9"}}`,
	},
	"annotator": {
		file: "testdata/annotator/operator.yaml", changed: things{"finalizers": []any{"kubernetes"}},
		child: "/api/v1/namespaces/one/limitranges/one-defaults", touched: `{"spec": {"limits": []}}`,
	},
	"deployments": {
		file: "testdata/deployments/operator.yaml", namespace: "default",
		spec: things{"size": int64(1)}, changed: things{"size": int64(2)}, child: deployments + "one-0",
		reported: `{"status": {"readyReplicas": 1}}`, touched: `{"spec": {"replicas": 7}}`,
	},
}

// TestCosts lets every kind of event happen to operators in a simulation, and
// counts. What is told to be the cost is the cost; what is told to be the most
// is never exceeded, and is what it comes to for one of the operators, but for a
// status that stays as it is and is not written.
func TestCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Argo's own trigger code")
	}
	reached := map[string]bool{} // by engine and event
	heard := map[string]int{}    // the most Events that one event led to, by engine
	want := map[string]int{}     // as it is told
	for _, name := range slices.Sorted(maps.Keys(subjects)) {
		one := subjects[name]
		r, p, objects := explained(t, one.file)
		one.apiVersion, one.kind, one.objects = p.API.Kind.APIVersion(), p.API.Kind.Kind, objects
		happenings := one.happenings()
		for _, told := range r.Events {
			if told.Event == "Ready at last, or failed" {
				want[r.Engine.Name] = told.Calls
			}
			act, known := happenings[told.Event]
			if !known {
				continue
			}
			t.Run(name+"/"+told.Event, func(t *testing.T) {
				got, tellings := one.count(t, told.Event, act)
				heard[r.Engine.Name] = max(heard[r.Engine.Name], tellings)
				key := r.Engine.Name + ": " + told.Event
				reached[key] = reached[key] || got.Pods == told.Pods && got.Calls >= told.Calls-1
				if got != told.Cost && (!told.AtMost || got.Pods > told.Pods || got.Calls > told.Calls) {
					t.Errorf("cost %+v, told %+v, at most %t", got, told.Cost, told.AtMost)
				}
			})
		}
	}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Errorf("Events that come on top of an event -told +made:\n%s", diff)
	}
	for key, yes := range reached {
		if !yes {
			t.Errorf("%s: what is told to be the most is never reached", key)
		}
	}
}

func (one subject) resource(spec, labels things) things {
	metadata := things{"name": "one", "labels": labels}
	if one.namespace != "" {
		metadata["namespace"] = one.namespace
	}
	out := things{"apiVersion": one.apiVersion, "kind": one.kind, "metadata": metadata}
	if spec != nil {
		out["spec"] = spec
	}
	return out
}

// happenings are what can happen, by how it is told; nil is the custom resource
// being added.
func (one subject) happenings() map[string]func(*testing.T, *simulate.Simulation) {
	all := map[string]func(*testing.T, *simulate.Simulation){
		"custom resource added": nil,
		"its spec changed": func(t *testing.T, s *simulate.Simulation) {
			check(t, s.Apply(one.resource(one.changed, nil)))
		},
		"its labels or annotations changed": func(t *testing.T, s *simulate.Simulation) {
			check(t, s.Apply(one.resource(one.spec, things{"team": "x"})))
		},
		"child changed by hand": func(t *testing.T, s *simulate.Simulation) {
			do(t, s, http.MethodPatch, one.child+"?fieldManager=hand", one.touched)
		},
		"child deleted": func(t *testing.T, s *simulate.Simulation) {
			do(t, s, http.MethodDelete, one.child, "")
		},
		"custom resource deleted": func(t *testing.T, s *simulate.Simulation) {
			check(t, s.Delete(one.resource(nil, nil)))
		},
	}
	if one.reported != "" {
		all["child changed by its controller"] = one.report
	}
	return all
}

func (one subject) report(t *testing.T, s *simulate.Simulation) {
	do(t, s, http.MethodPatch, one.child+"/status", one.reported)
}

func do(t *testing.T, s *simulate.Simulation, method, path, body string) {
	t.Helper()
	req, err := http.NewRequest(method, path, strings.NewReader(body))
	check(t, err)
	req.Header.Set("Content-Type", "application/merge-patch+json")
	_, err = s.Do(req)
	check(t, err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count is what an event costs, and how many Events come on top.
func (one subject) count(t *testing.T, event string, act func(*testing.T, *simulate.Simulation)) (explain.Cost, int) {
	t.Helper()
	runner := simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}}
	s, err := simulate.New(simulate.Inputs{Objects: one.objects, Runner: runner})
	check(t, err)
	settle := func() { check(t, s.Run(context.Background())) }
	check(t, s.Apply(one.resource(one.spec, nil)))
	settle()
	if act == nil {
		return cost(t, s.Trace())
	}
	if event == "child deleted" && one.reported != "" {
		one.report(t, s)
		settle()
	}
	before := len(s.Trace())
	act(t, s)
	settle()
	return cost(t, s.Trace()[before:])
}

func cost(t *testing.T, trace simulate.Trace) (c explain.Cost, tellings int) {
	t.Helper()
	add := func(calls []cluster.Call) {
		for _, call := range calls {
			if call.Method == http.MethodPost && strings.Contains(call.Path, "/events?") {
				tellings++
			} else {
				c.Calls++
			}
		}
	}
	for _, step := range trace {
		if step.Delivery != nil {
			for _, a := range step.Delivery.Attempts {
				add(a.Calls)
			}
		}
		if step.Workflow == nil {
			continue
		}
		if step.Workflow.Failure != "" {
			t.Fatalf("a Workflow failed: %s", step.Workflow.Failure)
		}
		pods := map[string]bool{}
		for _, container := range step.Workflow.Containers {
			add(container.Calls)
			pods[container.Template] = pods[container.Template] || container.Skipped == ""
		}
		c.Pods += len(pods)
	}
	return c, tellings
}
