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

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/explain"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// object is shorthand for the JSON of an object.
type object = map[string]any

// subject is a definition with a custom resource, and one of its children to change.
type subject struct {
	file, namespace string
	spec, changed   object
	child           string // its path
	reported        string // by its controller; empty: none
	touched         string // by hand

	apiVersion, kind string
	objects          []manifest.Object
}

// ready is the status that the controller sets on a Deployment with one replica.
const ready = `{"status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}}`

const deployments = "/apis/apps/v1/namespaces/default/deployments/"

var subjects = map[string]subject{
	"memcached": {
		file: "../../../../examples/memcached-logic/operator.yaml", namespace: "default",
		spec: object{"size": int64(2)}, changed: object{"size": int64(3)}, child: deployments + "one",
		reported: `{"status": {"readyReplicas": 1}}`, touched: `{"spec": {"replicas": 7}}`,
	},
	"memcached-direct": {
		file: "../../../../examples/memcached/operator.yaml", namespace: "default",
		spec: object{"size": int64(2)}, changed: object{"size": int64(3)}, child: deployments + "one",
		reported: `{"status": {"readyReplicas": 1}}`, touched: `{"spec": {"replicas": 7}}`,
	},
	"web": {
		file: "testdata/web/operator.yaml", namespace: "default",
		spec: object{"public": true}, changed: object{"public": true, "page": "hello"}, child: deployments + "one",
		reported: ready, touched: `{"spec": {"replicas": 7}}`,
	},
	"tables": {
		file: "testdata/tables/operator.yaml", namespace: "default",
		spec: object{"columns": []any{"a"}}, changed: object{"columns": []any{"a", "b"}},
		child: "/api/v1/namespaces/default/configmaps/one", touched: `{"data": {"columns": "z"}}`,
	},
	"worker": {
		file: "testdata/worker/operator.yaml", namespace: "default",
		spec: object{"columns": []any{"a"}}, changed: object{"columns": []any{"a", "b"}},
		child: "/api/v1/namespaces/default/configmaps/one", touched: `{"data": {"columns": "z"}}`,
	},
	"clean-up": {
		file: "testdata/clean-up/operator.yaml", namespace: "blue",
		spec: object{"names": []any{"a"}, "title": "x"}, changed: object{"names": []any{"a"}, "title": "x", "text": "new"},
		child: "/api/v1/namespaces/blue/configmaps/one-a", touched: `{"data": {"text": "9"}}`,
	},
	"annotator": {
		file: "testdata/annotator/operator.yaml", changed: object{"finalizers": []any{"kubernetes"}},
		child: "/api/v1/namespaces/one/limitranges/one-defaults", touched: `{"spec": {"limits": []}}`,
	},
	"deployments": {
		file: "testdata/deployments/operator.yaml", namespace: "default",
		spec: object{"size": int64(1)}, changed: object{"size": int64(2)}, child: deployments + "one-0",
		reported: `{"status": {"readyReplicas": 1}}`, touched: `{"spec": {"replicas": 7}}`,
	},
}

const rejected = "child rejected by the API server"

// TestCosts simulates every kind of event for several operators, and counts requests. A
// reported cost must be exact. A reported maximum is never exceeded, and is reached by
// one of the operators, except that an unchanged status is not written.
func TestCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Argo's own trigger code")
	}
	reached := map[string]bool{}    // by engine and event
	eventCounts := map[string]int{} // the most Events that one event caused, by engine
	want := map[string]int{}        // the reported cost
	for _, name := range slices.Sorted(maps.Keys(subjects)) {
		one := subjects[name]
		r, p, objects := explained(t, one.file)
		one.apiVersion, one.kind, one.objects = p.API.Kind.APIVersion(), p.API.Kind.Kind, objects
		actions := one.actions()
		for _, reported := range r.Events {
			if reported.Event == "Ready condition changed" {
				want[r.Engine.Name] = reported.Calls
			}
			act, known := actions[reported.Event]
			if !known {
				continue
			}
			t.Run(name+"/"+reported.Event, func(t *testing.T) {
				got, eventsResource := one.count(t, reported.Event, act)
				if reported.Event != rejected { // another Event has the answer of the API server
					eventCounts[r.Engine.Name] = max(eventCounts[r.Engine.Name], eventsResource)
				}
				key := r.Engine.Name + ": " + reported.Event
				reached[key] = reached[key] || got.Pods == reported.Pods && got.Calls >= reported.Calls-1
				if got != reported.Cost && (!reported.AtMost || got.Pods > reported.Pods || got.Calls > reported.Calls) {
					t.Errorf("cost %+v, reported %+v, at most %t", got, reported.Cost, reported.AtMost)
				}
			})
		}
	}
	if diff := cmp.Diff(want, eventCounts); diff != "" {
		t.Errorf("additional Events of an event -reported +counted:\n%s", diff)
	}
	for key, yes := range reached {
		if !yes {
			t.Errorf("%s: the reported maximum is never reached", key)
		}
	}
}

func (one subject) resource(spec, labels object) object {
	metadata := object{"name": "one", "labels": labels}
	if one.namespace != "" {
		metadata["namespace"] = one.namespace
	}
	out := object{"apiVersion": one.apiVersion, "kind": one.kind, "metadata": metadata}
	if spec != nil {
		out["spec"] = spec
	}
	return out
}

// actions returns the possible changes by their reported name; nil is the creation of
// the custom resource.
func (one subject) actions() map[string]func(*testing.T, *simulate.Simulation) {
	all := map[string]func(*testing.T, *simulate.Simulation){
		"custom resource added": nil,
		"its spec changed": func(t *testing.T, s *simulate.Simulation) {
			check(t, s.Apply(one.resource(one.changed, nil)))
		},
		"its labels or annotations changed": func(t *testing.T, s *simulate.Simulation) {
			check(t, s.Apply(one.resource(one.spec, object{"team": "x"})))
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
	if strings.HasSuffix(one.file, "memcached/operator.yaml") { // it has no other child
		all[rejected] = one.reject
	}
	return all
}

// reject changes the spec while the API server rejects the child.
func (one subject) reject(t *testing.T, s *simulate.Simulation) {
	s.Intercept(func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, one.child) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte(`{"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "exceeded quota"}`))
				return
			}
			api.ServeHTTP(w, r)
		})
	})
	check(t, s.Apply(one.resource(one.changed, nil)))
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

// count returns the cost of an event, and the number of Events in addition.
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

func cost(t *testing.T, trace simulate.Trace) (c explain.Cost, eventsResource int) {
	t.Helper()
	add := func(calls []cluster.Call) {
		for _, call := range calls {
			if call.Method == http.MethodPost && strings.Contains(call.Path, "/events?") {
				eventsResource++
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
		stays := step.Workflow.Reconciles()
		for _, container := range step.Workflow.Containers {
			add(container.Calls)
			pods[container.Template] = pods[container.Template] || container.Skipped == ""
		}
		if !stays {
			c.Pods += len(pods)
		}
	}
	return c, eventsResource
}
