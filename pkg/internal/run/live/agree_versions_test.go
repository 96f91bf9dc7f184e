package live

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// kindInVersions has versions with different fields, defaults, limits and rules.
const kindInVersions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.versions.example.com}
spec:
  group: versions.example.com
  names: {kind: Web, listKind: WebList, plural: webs, singular: web}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: false
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {a: {type: integer}, old: {type: string}, list: {type: array, items: {type: string}}}}
          status: {type: object, properties: {seen: {type: integer}, old: {type: string}}}
  - name: v1beta1
    served: true
    storage: false
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: "!has(self.spec) || !has(self.spec.a) || self.spec.a < 9"}]
        properties:
          spec: {type: object, properties: {a: {type: integer, default: 3}, b: {type: string}, list: {type: array, items: {type: string}}}}
          status: {type: object, properties: {seen: {type: integer}}}
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: "!has(self.spec) || !has(self.spec.a) || self.spec.a < 8"}]
        properties:
          spec:
            type: object
            required: [b]
            properties:
              a: {type: integer, maximum: 7}
              b: {type: string, default: x}
              c: {type: integer, default: 1}
              list: {type: array, x-kubernetes-list-type: set, items: {type: string}}
          status: {type: object, properties: {seen: {type: integer}, more: {type: string, default: m}}}
`

// TestServersAgreeOnVersions writes custom resources in random versions, on the API server in memory and on
// Kubernetes' own.
func TestServersAgreeOnVersions(t *testing.T) {
	program := realServer(t)
	lives, writes := 40, 30
	if testing.Short() {
		lives = 5
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(kindInVersions), &crd); err != nil {
		t.Fatal(err)
	}
	described := []*apiextensionsv1.CustomResourceDefinition{&crd}
	r := newReplay(t, program, argoperator.Result{}, described...)
	for life := range lives {
		t.Run(fmt.Sprint(life), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(life), 7)) //nolint:gosec // not a secret
			c := cluster.NewCluster(cluster.CustomKinds(nil, described), cluster.Ticks())
			e := &editor{t: t, random: random, recorder: &cluster.Recorder{Cluster: c}}
			for n := range writes {
				e.write(fmt.Sprintf("web-%d", life), n == 0)
			}
			r.t, r.stopped = t, false
			r.compareAll(e.recorder.TakeCalls())
		})
	}
}

// write sends a random request in a random version. Nothing is applied: once a field is managed that another version
// lacks, Kubernetes itself answers an apply with 500.
func (e *editor) write(name string, first bool) {
	version := pick(e.random, []string{"v1alpha1", "v1beta1", "v1", "v1"})
	kind := e.random.IntN(6)
	collection := "/apis/versions.example.com/" + version + "/namespaces/versions/webs"
	fields := map[string]any{}
	for range 1 + e.random.IntN(2) {
		switch e.random.IntN(5) {
		case 0, 1:
			fields["a"] = e.random.IntN(10)
		case 2:
			fields[pick(e.random, []string{"b", "old"})] = pick(e.random, []any{"x", "y", nil})
		case 3:
			fields["c"] = pick(e.random, []any{2, nil})
		case 4:
			fields["list"] = pick(e.random, []any{[]any{"p"}, []any{"p", "q"}, []any{"p", "p"}})
		}
	}
	object := map[string]any{
		"apiVersion": "versions.example.com/" + version, "kind": "Web", "metadata": map[string]any{"name": name, "namespace": "versions"}, "spec": fields,
	}
	manager := pick(e.random, []string{"one", "two"})
	switch {
	case first:
		e.send(http.MethodPost, collection, "application/json", object)
	case kind < 3:
		e.send(http.MethodPatch, collection+"/"+name+"?fieldManager="+manager, "application/merge-patch+json", map[string]any{"spec": fields})
	case kind == 3:
		status := map[string]any{"seen": e.random.IntN(3), "old": pick(e.random, []any{"x", nil})}
		e.send(http.MethodPatch, collection+"/"+name+"/status?fieldManager=status", "application/merge-patch+json", map[string]any{"status": status})
	case kind == 4:
		e.send(http.MethodPatch, collection+"/"+name+"?fieldManager=labels", "application/merge-patch+json", map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"a": fmt.Sprint(e.random.IntN(3))}},
		})
	default:
		e.send(http.MethodGet, collection+"/"+name, "application/json", nil)
	}
}
