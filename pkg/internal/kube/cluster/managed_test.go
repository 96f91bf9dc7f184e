package cluster_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
