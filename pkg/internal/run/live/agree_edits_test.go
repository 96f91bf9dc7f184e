package live

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// TestServersAgreeOnEdits creates realistic objects of about 30 kinds, edits random fields
// of each by server-side apply and by merge patches, and deletes it, on both servers. It
// needs argoperator-dev, as TestServersAgree does.
func TestServersAgreeOnEdits(t *testing.T) {
	program := realServer(t)
	edits := 200
	if testing.Short() {
		edits = 8
	}
	r := newReplay(t, program, argoperator.Result{})
	for i, object := range realistic(t) {
		o := &unstructured.Unstructured{Object: object}
		t.Run(fmt.Sprintf("%02d %s %s", i, o.GetKind(), o.GetName()), func(t *testing.T) {
			r.t, r.stopped = t, false
			e := newEditor(t, o, fmt.Sprintf("edits-%d", i))
			e.apply(o.Object)
			for range edits {
				e.edit()
			}
			for n, call := range e.recorder.TakeCalls() {
				r.edited = n >= e.created || o.GetKind() == "Pod" // which admission plugins complete
				r.compare(n, call)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// realistic returns the objects that `make agreement` compares.
func realistic(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, name := range []string{"objects.yaml", "updates.yaml"} {
		data, err := os.ReadFile(filepath.Join("../../../../e2e/agreement", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range bytes.Split(data, []byte("\n---\n")) {
			encoded, err := yaml.YAMLToJSON(text)
			if err != nil {
				t.Fatal(err)
			}
			var object map[string]any
			if err := json.Unmarshal(encoded, &object); err != nil {
				t.Fatal(err)
			}
			out = append(out, object)
		}
	}
	return out
}

// editor edits an object on the server in memory.
type editor struct {
	t        *testing.T
	random   *rand.Rand
	recorder *cluster.Recorder
	path     string
	created  int                        // the number of requests that create the object
	object   *unstructured.Unstructured // as it is applied; nothing has been refused
}

// newEditor returns an editor of an object in a namespace of its own, so that no quota
// counts objects of others.
func newEditor(t *testing.T, o *unstructured.Unstructured, namespace string) *editor {
	c := cluster.NewCluster(nil, cluster.Ticks())
	kind := c.Kind(o.GroupVersionKind())
	path := "/api/" + kind.Version
	if kind.Group != "" {
		path = "/apis/" + kind.Group + "/" + kind.Version
	}
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(t.Name()))
	e := &editor{t: t, created: 1, random: rand.New(rand.NewPCG(seed.Sum64(), 1)), recorder: &cluster.Recorder{Cluster: c}, object: o} //nolint:gosec // not a secret
	if kind.Namespaced {
		o.SetNamespace(namespace)
		path += "/namespaces/" + namespace
		e.created++
		e.send(http.MethodPost, "/api/v1/namespaces", "application/json", map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace},
		})
	}
	e.path = path + "/" + kind.Plural + "/" + o.GetName()
	return e
}

func (e *editor) send(method, path, contentType string, body map[string]any) {
	data, err := json.Marshal(body)
	if err != nil {
		e.t.Fatal(err)
	}
	request, err := http.NewRequest(method, path, bytes.NewReader(data))
	if err != nil {
		e.t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	if _, err := e.recorder.RoundTrip(request); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) apply(object map[string]any) {
	e.send(http.MethodPatch, e.path+"?fieldManager=kubectl&force=true", "application/apply-patch+yaml", object)
}

// edit changes a random field.
func (e *editor) edit() {
	if e.random.IntN(4) == 0 {
		labels := map[string]any{"a": fmt.Sprint(e.random.IntN(3)), "b": nil}
		e.send(http.MethodPatch, e.path+"?fieldManager=kubectl-edit", "application/merge-patch+json",
			map[string]any{"metadata": map[string]any{"labels": labels}})
		return
	}
	object := e.object.DeepCopy().Object
	for range 1 + e.random.IntN(2) {
		e.change(object)
	}
	e.apply(object)
}

// change changes one field below the metadata or the fields of an object.
func (e *editor) change(object map[string]any) {
	key := pick(e.random, slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(key string) bool {
		if key == "template" && e.object.GetKind() == "StatefulSet" {
			return true // from 1.34, Kubernetes validates it like other templates of Pods
		}
		return slices.Contains([]string{"apiVersion", "kind", "metadata", "status", "name", "namespace"}, key)
	}))
	if e.random.IntN(10) == 0 {
		object[key] = e.empty(object[key])
		return
	}
	switch value := object[key].(type) {
	case nil:
	case map[string]any:
		if e.random.IntN(8) == 0 {
			delete(object, key)
		} else if len(value) > 0 {
			e.change(value)
		}
	case []any:
		object[key] = e.changedList(value)
	default:
		if e.random.IntN(5) == 0 {
			delete(object, key)
		} else {
			object[key] = e.changedScalar(value)
		}
	}
}

// empty returns an empty value in the place of another one: what a template leaves of a field
// without a value.
func (e *editor) empty(value any) any {
	switch value.(type) {
	case map[string]any:
		return pick(e.random, []any{nil, map[string]any{}})
	case []any:
		return pick(e.random, []any{nil, []any{}})
	case string:
		return pick(e.random, []any{nil, ""})
	case bool:
		return pick(e.random, []any{nil, false})
	}
	return pick(e.random, []any{nil, int64(0)})
}

func (e *editor) changedList(list []any) any {
	if len(list) == 0 {
		return list
	}
	i := e.random.IntN(len(list))
	switch fields, isObject := list[i].(map[string]any); {
	case e.random.IntN(6) == 0:
		return slices.Delete(list, i, i+1)
	case e.random.IntN(6) == 0 && len(list) > 1:
		list[0], list[i] = list[i], list[0]
	case isObject:
		e.change(fields)
	default:
		list[i] = e.changedScalar(list[i])
	}
	return list
}

func (e *editor) changedScalar(value any) any {
	switch value := value.(type) {
	case string:
		if slices.Contains(serviceTypes, value) && e.random.IntN(2) == 0 {
			return pick(e.random, serviceTypes)
		}
		switch e.random.IntN(4) {
		case 0:
			return value + "x"
		case 1:
			return strings.ToUpper(value)
		}
		return pick(e.random, []string{"a", "1", "2Gi", "0.5", "1000m", "IPv6", "Always", "true"})
	case bool:
		return !value
	case int64:
		return value + int64(e.random.IntN(5)-2)
	}
	return value
}

var serviceTypes = []string{"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}

func pick[T any](random *rand.Rand, of []T) T {
	var none T
	if len(of) == 0 {
		return none
	}
	return of[random.IntN(len(of))]
}
