package simulate

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// exchange is a request with the expected parts of the answer.
type exchange struct {
	method, path, contentType, body string
	code                            int
	// want maps paths to expected fields of the answer; nil: absent.
	want map[string]any
}

const (
	configMaps  = "/api/v1/namespaces/default/configmaps"
	deployments = "/apis/apps/v1/namespaces/default/deployments"
	crs         = "/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds"
	uid         = "00000000-0000-0000-0000-00000000000"
)

// TestCluster sends requests as to an API server.
func TestCluster(t *testing.T) {
	deployment := func(fields string) string {
		return smallestJSON("apps/v1", "Deployment", "d", `{"spec":`+fields+`}`)
	}
	cr := func(metadata, rest string) string {
		return `{"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached","metadata":{"name":"m"` + metadata + `},"spec":{"size":1}` + rest + `}`
	}
	mine, theirs := deployments+"/d?fieldManager=mine", deployments+"/d?fieldManager=theirs"
	tests := []struct {
		name, reason string
		exchanges    []exchange
	}{
		{
			name: "create and read", reason: "the server sets name, uid and creationTimestamp",
			exchanges: []exchange{
				{"POST", configMaps, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"c-"},"data":{"a":"1"}}`, 201, map[string]any{
					"metadata.name": "c-00001", "metadata.uid": uid + "1", "metadata.resourceVersion": "2", "metadata.namespace": "default",
					"metadata.creationTimestamp": "2000-01-01T00:00:01Z", "metadata.generation": nil, "data.a": "1",
				}},
				{"GET", configMaps + "/c-00001", "", "", 200, map[string]any{"data.a": "1"}},
				{"GET", configMaps + "/other", "", "", 404, map[string]any{"reason": "NotFound", "kind": "Status", "message": `configmaps "other" not found`}},
				{"POST", configMaps, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c-00001"}}`, 409, map[string]any{"reason": "AlreadyExists"}},
			},
		},
		{
			name: "list", reason: "by label, in one namespace or in all",
			exchanges: []exchange{
				{"POST", configMaps, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","labels":{"x":"y"}}}`, 201, nil},
				{"POST", configMaps, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, 201, nil},
				{"POST", "/api/v1/namespaces/other/configmaps", "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"x":"y"}}}`, 201, nil},
				{"GET", configMaps, "", "", 200, map[string]any{"items.0.metadata.name": "a", "items.1.metadata.name": "b", "items.2": nil}},
				{"GET", "/api/v1/configmaps?labelSelector=x%3Dy", "", "", 200, map[string]any{"items.0.metadata.name": "b", "items.1.metadata.name": "c", "items.2": nil}},
				{"GET", configMaps + "?labelSelector=x%3D%3D%3D", "", "", 400, nil},
			},
		},
		{
			name: "apply again", reason: "fields removed from the applied object are removed; fields of other managers stay",
			exchanges: []exchange{
				{"PATCH", mine, applyPatch, deployment(`{"replicas":1,"paused":true}`), 201, map[string]any{"spec.paused": true, "metadata.generation": float64(1)}},
				{"PATCH", theirs, applyPatch, deployment(`{"minReadySeconds":5}`), 200, map[string]any{"spec.paused": true, "spec.minReadySeconds": float64(5)}},
				{"PATCH", mine, applyPatch, deployment(`{"replicas":1}`), 200, map[string]any{"spec.paused": nil, "spec.minReadySeconds": float64(5), "metadata.generation": float64(3)}},
				{"PATCH", mine, applyPatch, deployment(`{"replicas":1}`), 200, map[string]any{"metadata.resourceVersion": "4"}},
			},
		},
		{
			name: "apply conflict", reason: "fields of another manager are not changed without force",
			exchanges: []exchange{
				{"PATCH", mine, applyPatch, deployment(`{"replicas":1}`), 201, nil},
				{"PATCH", theirs, applyPatch, deployment(`{"replicas":2}`), 409, map[string]any{"reason": "Conflict", "details.causes.0.reason": "FieldManagerConflict", "details.causes.0.field": ".spec.replicas"}},
				{"PATCH", theirs + "&force=true", applyPatch, deployment(`{"replicas":2}`), 200, map[string]any{"spec.replicas": float64(2)}},
				{"PATCH", mine, applyPatch, deployment(`{}`), 200, map[string]any{"spec.replicas": float64(2)}},
			},
		},
		{
			name: "apply merges lists by key", reason: "two managers share the containers of a pod",
			exchanges: []exchange{
				{"PATCH", mine, applyPatch, deployment(`{"template":{"spec":{"containers":[{"name":"a","image":"a:1"}]}}}`), 201, nil},
				{"PATCH", theirs, applyPatch, deployment(`{"template":{"spec":{"containers":[{"name":"b","image":"b:1"}]}}}`), 200, map[string]any{
					"spec.template.spec.containers.0.name": "a", "spec.template.spec.containers.1.name": "b",
				}},
			},
		},
		{
			name: "apply is typed", reason: "the server validates the fields of built-in kinds",
			exchanges: []exchange{
				{"PATCH", mine, applyPatch, deployment(`{"replica":1}`), 500, map[string]any{
					"message": "failed to create typed patch object (default/d; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema",
				}},
				{"PATCH", deployments + "/d", applyPatch, deployment(`{}`), 400, nil},
			},
		},
		{
			name: "merge patch", reason: "null removes a field; a write without a change is skipped",
			exchanges: []exchange{
				{"PATCH", configMaps + "/a", mergePatch, `{"data":{"a":"1"}}`, 404, nil},
				{"POST", configMaps, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","b":"2"}}`, 201, nil},
				{"PATCH", configMaps + "/a", mergePatch, `{"data":{"a":null,"c":"3"}}`, 200, map[string]any{"data.a": nil, "data.b": "2", "data.c": "3", "metadata.resourceVersion": "3"}},
				{"PATCH", configMaps + "/a", mergePatch, `{"data":{"c":"3"}}`, 200, map[string]any{"metadata.resourceVersion": "3"}},
				{"PATCH", configMaps + "/a", "application/strategic-merge-patch+json", `{}`, 200, nil},
			},
		},
		{
			name: "preconditions", reason: "a wrong resourceVersion or uid is a conflict",
			exchanges: []exchange{
				{"POST", configMaps, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, 201, nil},
				{"PATCH", configMaps + "/a", mergePatch, `{"metadata":{"resourceVersion":"7"},"data":{"a":"1"}}`, 409, map[string]any{"reason": "Conflict"}},
				{"PATCH", configMaps + "/a", mergePatch, `{"metadata":{"resourceVersion":"2"},"data":{"a":"1"}}`, 200, nil},
				{"PATCH", configMaps + "/a", mergePatch, `{"metadata":{"uid":"other"},"data":{"a":"2"}}`, 422, nil},
				{"PATCH", configMaps + "/b?fieldManager=m", applyPatch, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","uid":"gone"}}`, 409, nil},
				{"DELETE", configMaps + "/a", "application/json", `{"preconditions":{"uid":"other"}}`, 409, nil},
				{"DELETE", configMaps + "/a", "application/json", `{"preconditions":{"uid":"` + uid + `1"}}`, 200, nil},
				{"DELETE", configMaps + "/a", "", "", 404, nil},
			},
		},
		{
			name: "status", reason: "the status subresource and the rest are written separately, and only the latter increments the generation",
			exchanges: []exchange{
				{"POST", crs, "application/json", cr("", `,"status":{"readyReplicas":9}`), 201, map[string]any{"status": nil, "metadata.generation": float64(1), "spec.memory": float64(64)}},
				{"PATCH", crs + "/m/status", mergePatch, `{"spec":{"size":5},"status":{"readyReplicas":1}}`, 200, map[string]any{"spec.size": float64(1), "status.readyReplicas": float64(1), "metadata.generation": float64(1)}},
				{"PATCH", crs + "/m", mergePatch, `{"spec":{"size":5},"status":{"readyReplicas":2}}`, 200, map[string]any{"spec.size": float64(5), "status.readyReplicas": float64(1), "metadata.generation": float64(2)}},
				{"PATCH", configMaps + "/a/status", mergePatch, `{}`, 404, nil},
			},
		},
		{
			name: "custom resources are checked", reason: "by the schema of their CustomResourceDefinition",
			exchanges: []exchange{
				{"POST", crs, "application/json", strings.Replace(cr("", ""), `"size":1`, `"size":-1`, 1), 422, map[string]any{
					"message": `Memcached.cache.example.com "m" is invalid: spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0`,
				}},
				{"POST", crs, "application/json", cr("", `,"other":{"x":1}`), 201, map[string]any{"other": nil}},
				{"POST", crs, "application/json", strings.Replace(cr("", ""), `"m"`, `"M"`, 1), 422, nil},
				{"POST", crs, "application/json", strings.Replace(cr("", ""), "v1alpha1", "v2", 1), 400, nil},
			},
		},
		{
			name: "finalizers", reason: "deletion sets the deletionTimestamp until the last finalizer is removed",
			exchanges: []exchange{
				{"POST", crs, "application/json", cr(`,"finalizers":["example.com/a"]`, ""), 201, nil},
				{"DELETE", crs + "/m", "", "", 200, map[string]any{"metadata.deletionTimestamp": "2000-01-01T00:00:02Z", "metadata.generation": float64(2)}},
				{"PATCH", crs + "/m", mergePatch, `{"metadata":{"deletionTimestamp":null}}`, 200, map[string]any{"metadata.deletionTimestamp": "2000-01-01T00:00:02Z"}},
				{"PATCH", crs + "/m", mergePatch, `{"metadata":{"finalizers":null}}`, 200, nil},
				{"GET", crs + "/m", "", "", 404, nil},
			},
		},
		{
			name: "replace", reason: "fields missing in the new object are removed, except the status",
			exchanges: []exchange{
				{"PUT", crs + "/m", "application/json", cr("", ""), 404, nil},
				{"POST", crs, "application/json", cr(`,"labels":{"a":"b"}`, ""), 201, nil},
				{"PATCH", crs + "/m/status", mergePatch, `{"status":{"readyReplicas":1}}`, 200, nil},
				{"PUT", crs + "/m", "application/json", cr("", ""), 200, map[string]any{"metadata.labels": nil, "status.readyReplicas": float64(1), "metadata.uid": uid + "1"}},
			},
		},
		{
			name: "paths", reason: "paths that are not served return 404",
			exchanges: []exchange{
				{"GET", "/apis/apps/v1/deployments/d", "", "", 404, nil},
				{"GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles/c", "", "", 404, nil},
				{"GET", "/healthz", "", "", 404, nil},
				{"POST", configMaps + "/a", "application/json", `{}`, 405, nil},
				{"GET", configMaps + "?watch=true", "", "", 400, nil},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := cluster.NewCluster(cluster.CustomKinds(operator(t, "direct.yaml"), nil), cluster.Ticks())
			for i, e := range tt.exchanges {
				code, answer := ask(t, c, e.method, e.path, e.contentType, e.body)
				if code != e.code {
					t.Errorf("%s: %d: %s %s returns %d, want %d: %v", tt.reason, i, e.method, e.path, code, e.code, answer["message"])
				}
				for path, want := range e.want {
					if diff := cmp.Diff(want, at(answer, path)); diff != "" {
						t.Errorf("%s: %d: %s %s: %s\n%s", tt.reason, i, e.method, e.path, path, diff)
					}
				}
			}
		})
	}
}

// at returns the value at a dotted path.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			var i int
			if err := json.Unmarshal([]byte(name), &i); err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// TestCollect checks that objects without any existing owner are deleted together
// with their dependents, and so are those whose owner never existed.
func TestCollect(t *testing.T) {
	owned := func(name string, uids ...string) string {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}}
		var owners []any
		for _, u := range uids {
			owners = append(owners, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "any", "uid": u})
		}
		if err := unstructured.SetNestedSlice(o.Object, owners, "metadata", "ownerReferences"); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	tests := []struct{ name, reason, options, want string }{
		{"background", "children and grandchildren go; who has another owner stays", "", "c"},
		{"foreground", "children go first, and with them the grandchildren", `{"propagationPolicy":"Foreground"}`, "c"},
		{"orphan", "children stay, and are nobody's", `{"propagationPolicy":"Orphan"}`, "b c d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := cluster.NewCluster(nil, cluster.Ticks())
			for _, body := range []string{owned("a"), owned("b", uid+"1"), owned("c"), owned("d", uid+"2"), owned("e", uid+"1", uid+"3"), owned("f", uid+"9")} {
				if code, answer := ask(t, c, http.MethodPost, configMaps, "application/json", body); code != 201 {
					t.Fatal(answer)
				}
			}
			if code, answer := ask(t, c, http.MethodDelete, configMaps+"/a", "application/json", tt.options); code != 200 {
				t.Fatal(answer)
			}
			for c.CollectGarbage() > 0 {
			}
			var remaining []string
			for _, o := range c.List(c.Kinds.At(schemaV1, "configmaps").Resource(), "") {
				remaining = append(remaining, o.GetName())
				if o.GetName() == "e" && len(o.GetOwnerReferences()) != 1 {
					t.Errorf("e has %d owners, want only the existing one", len(o.GetOwnerReferences()))
				}
			}
			if diff := cmp.Diff(tt.want+" e", strings.Join(remaining, " ")); diff != "" {
				t.Errorf("%s:\n%s", tt.reason, diff)
			}
		})
	}
}

// TestDeletionOfAJob shows that the Pods of a Job stay unless the request says
// otherwise, and that an object whose dependents are deleted first is there until they
// are gone.
func TestDeletionOfAJob(t *testing.T) {
	const jobs, pods = "/apis/batch/v1/namespaces/default/jobs", "/api/v1/namespaces/default/pods"
	for _, tt := range []struct{ policy, options, meanwhile, left string }{
		{"none", "", "pod", "pod"},
		{"background", `{"propagationPolicy":"Background"}`, "pod", ""},
		{"foreground", `{"propagationPolicy":"Foreground"}`, "job pod", ""},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			c := cluster.NewCluster(nil, cluster.Ticks())
			must := func(method, path, contentType, body string) {
				t.Helper()
				if code, answer := ask(t, c, method, path, contentType, body); code/100 != 2 {
					t.Fatal(answer)
				}
			}
			left := func() string {
				for c.CollectGarbage() > 0 {
				}
				var names []string
				for _, k := range []schema.GroupResource{{Group: "batch", Resource: "jobs"}, {Resource: "pods"}} {
					for _, o := range c.List(k, "") {
						names = append(names, o.GetName())
					}
				}
				return strings.Join(names, " ")
			}
			must(http.MethodPost, jobs, "application/json", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job"},
				"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"a"}]}}}}`)
			must(http.MethodPost, pods, "application/json", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod","finalizers":["example.com/slow"],
				"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"job","blockOwnerDeletion":true,"uid":"`+uid+`1"}]},"spec":{"containers":[{"name":"a","image":"a"}]}}`)
			must(http.MethodDelete, jobs+"/job", "application/json", tt.options)
			if diff := cmp.Diff(tt.meanwhile, left()); diff != "" {
				t.Error(diff)
			}
			must(http.MethodPatch, pods+"/pod", "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
			if diff := cmp.Diff(tt.left, left()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
