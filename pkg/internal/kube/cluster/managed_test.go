package cluster_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// TestManagedInVersions writes an object in two versions. Each client keeps the fields that it manages in its own
// version, also when another one writes.
func TestManagedInVersions(t *testing.T) {
	open := true
	fields := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"spec": {Type: "object", XPreserveUnknownFields: &open}, "status": {Type: "object", XPreserveUnknownFields: &open},
	}}
	var kinds []cluster.Kind
	for _, version := range []string{"v1", "v1alpha1"} {
		kinds = append(kinds, cluster.Kind{
			GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Web"},
			Plural:           "webs", Namespaced: true, Status: true, Generation: true, Fields: fields,
		})
	}
	c := cluster.NewCluster(kinds, cluster.Ticks())
	recorder := &cluster.Recorder{Cluster: c}
	for _, write := range []struct{ version, subresource, manager, fields string }{
		{"v1alpha1", "", "user", "spec: {size: 1}"},
		{"v1", "/status", "operator", "status: {url: a}"},
		{"v1alpha1", "", "user", "spec: {size: 2}"},
		{"v1", "", "other", "spec: {color: red}"},
	} {
		path := "/apis/example.com/" + write.version + "/namespaces/default/webs/a" + write.subresource + "?fieldManager=" + write.manager
		body := "{apiVersion: example.com/" + write.version + ", kind: Web, metadata: {name: a}, " + write.fields + "}"
		r, err := http.NewRequest(http.MethodPatch, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/apply-patch+yaml")
		answer, err := recorder.RoundTrip(r)
		if err != nil || answer.StatusCode >= 300 {
			t.Fatal(answer, err)
		}
	}
	var got []string
	for _, entry := range c.Objects[c.Order[0]].GetManagedFields() {
		got = append(got, entry.APIVersion+" "+entry.Manager)
	}
	slices.Sort(got)
	if want := []string{"example.com/v1 operator", "example.com/v1 other", "example.com/v1alpha1 user"}; !slices.Equal(got, want) {
		t.Errorf("the fields are managed by %q, not %q", got, want)
	}
}

// TestStoredVersion writes an object in a version that is not the stored one. It gets the defaults of the stored version, and may
// lack what that requires as long as nothing changes there: so it was on Kubernetes 1.34.
func TestStoredVersion(t *testing.T) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(`
spec:
  group: example.com
  names: {kind: Web, plural: webs}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: integer}, old: {type: string}}}}}}
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [b]
            properties: {a: {type: integer}, b: {type: string}, c: {type: integer, default: 1}}
          status: {type: object, properties: {seen: {type: boolean}}}
`), &crd); err != nil {
		t.Fatal(err)
	}
	recorder := &cluster.Recorder{Cluster: cluster.NewCluster(cluster.CustomKinds(nil, []*apiextensionsv1.CustomResourceDefinition{&crd}), cluster.Ticks())}
	for _, step := range []struct {
		method, version, path, body string
		status                      int
		answer                      string // a part of it
	}{
		{"POST", "v1alpha1", "", `{"apiVersion":"example.com/v1alpha1","kind":"Web","metadata":{"name":"a"},"spec":{"a":2,"old":"x"}}`, 201, `"apiVersion":"example.com/v1alpha1"`},
		{"GET", "v1", "/a", "", 200, `"spec":{"a":2,"c":1}`},
		{"PATCH", "v1", "/a/status", `{"status":{"seen":true}}`, 200, `"seen":true`},
		{"PATCH", "v1", "/a", `{"metadata":{"labels":{"a":"b"}}}`, 200, `"labels":{"a":"b"}`},
		{"PATCH", "v1", "/a", `{"spec":{"a":3}}`, 422, "spec.b: Required value"},
		{"PATCH", "v1alpha1", "/a", `{"spec":{"a":3}}`, 200, `"spec":{"a":3`},
	} {
		r, err := http.NewRequest(step.method, "/apis/example.com/"+step.version+"/namespaces/default/webs"+step.path, strings.NewReader(step.body))
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Set("Content-Type", "application/json"); step.method == "PATCH" {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
		answer, err := recorder.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != step.status || !strings.Contains(string(body), step.answer) {
			t.Errorf("%s %s%s: %d %s, %v", step.method, step.version, step.path, answer.StatusCode, body, err)
		}
	}
}
