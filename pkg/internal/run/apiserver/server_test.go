package apiserver

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

var (
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// clients are what tests use.
type clients struct {
	dynamic.Interface
	config *rest.Config
	typed  *kubernetes.Clientset
}

func started(t *testing.T, o Options) clients {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, config := s.Access()
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		<-s.Ended()
		if _, err := os.Stat(kubeconfig); !os.IsNotExist(err) {
			t.Errorf("the kubeconfig is left behind: %v", err)
		}
	})
	return clientsOf(t, config)
}

func clientsOf(t *testing.T, config *rest.Config) clients {
	t.Helper()
	d, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients{d, config, typed}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

func (c clients) create(t *testing.T, r schema.GroupVersionResource, text string) *unstructured.Unstructured {
	t.Helper()
	o := object(t, text)
	made, err := c.Resource(r).Namespace(o.GetNamespace()).Create(t.Context(), o, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, maximum: 5, default: 1}}}
          status: {type: object, properties: {size: {type: integer}}}
`

const widget = `{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: default}}`

// TestDefinition is the life of a custom kind.
func TestDefinition(t *testing.T) {
	c := started(t, Options{})
	if _, err := c.Resource(widgets).Namespace("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a kind without definition: %v", err)
	}
	c.create(t, crds, widgetDefinition)
	definition, err := c.Resource(crds).Get(t.Context(), "widgets.example.com", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if len(conditions) != 2 {
		t.Errorf("conditions of the definition: %v", conditions)
	}
	made := c.create(t, widgets, widget)
	if size, _, _ := unstructured.NestedInt64(made.Object, "spec", "size"); size != 0 { // spec is missing, and so has no defaults
		t.Errorf("spec.size is %d", size)
	}
	for text, want := range map[string]string{
		`{apiVersion: example.com/v1, kind: Widget, metadata: {name: b, namespace: default}, spec: {size: 6}}`: "spec.size: Invalid value: 6",
		`{apiVersion: example.com/v1, kind: Widget, metadata: {name: b, namespace: default}, spec: {sise: 2}}`: `unknown field "spec.sise"`,
		`{apiVersion: example.com/v1, kind: Widget, metadata: {name: b, namespace: nowhere}, spec: {size: 2}}`: `namespaces "nowhere" not found`,
	} {
		o := object(t, text)
		_, err := c.Resource(widgets).Namespace(o.GetNamespace()).Create(t.Context(), o, metav1.CreateOptions{FieldValidation: "Strict"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	mapper, err := restmapper.GetAPIGroupResources(c.typed)
	if err != nil {
		t.Fatal(err)
	}
	expander := restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(mapper), c.typed, nil)
	if kind, err := expander.KindFor(schema.GroupVersionResource{Resource: "wd"}); err != nil || kind.Kind != "Widget" {
		t.Errorf("the short name is of %v: %v", kind, err)
	}
	if err := c.Resource(crds).Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Resource(crds).Get(t.Context(), "widgets.example.com", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the definition is still there: %v", err)
	}
	c.create(t, crds, widgetDefinition)
	if list, err := c.Resource(widgets).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		t.Errorf("objects outlive their definition: %v, %v", list, err)
	}
}

// TestHeldDefinition deletes a definition one of whose objects has a finalizer.
func TestHeldDefinition(t *testing.T) {
	c := started(t, Options{})
	c.create(t, crds, widgetDefinition)
	c.create(t, widgets, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: default, finalizers: [example.com/x]}}`)
	if err := c.Resource(crds).Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	held, err := c.Resource(widgets).Namespace("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || held.GetDeletionTimestamp() == nil {
		t.Fatalf("the object is not being deleted: %v, %v", held, err)
	}
	if _, err := c.Resource(widgets).Namespace("default").Patch(
		t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":[]}}`), metav1.PatchOptions{},
	); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Resource(crds).Get(t.Context(), "widgets.example.com", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the definition is still there: %v", err)
	}
}

// next returns the next event of a watch.
func next(t *testing.T, w watch.Interface) string {
	t.Helper()
	select {
	case e := <-w.ResultChan():
		if o, ok := e.Object.(*unstructured.Unstructured); ok {
			return string(e.Type) + " " + o.GetName()
		}
		return string(e.Type)
	case <-time.After(time.Minute):
		t.Fatal("no event")
		return ""
	}
}

func TestWatch(t *testing.T) {
	c := started(t, Options{})
	in := c.Resource(configMaps).Namespace("default")
	c.create(t, configMaps, `{apiVersion: v1, kind: ConfigMap, metadata: {name: old, namespace: default, labels: {a: b}}}`)
	list, err := in.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	all := func(o metav1.ListOptions) watch.Interface {
		w, err := in.Watch(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		return w
	}
	since := all(metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	labelled := all(metav1.ListOptions{LabelSelector: "a=b"})
	named := all(metav1.ListOptions{FieldSelector: "metadata.name=new", ResourceVersion: list.GetResourceVersion()})
	yes := true
	first := all(metav1.ListOptions{
		SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	c.create(t, configMaps, `{apiVersion: v1, kind: ConfigMap, metadata: {name: new, namespace: default}}`)
	c.create(t, configMaps, `{apiVersion: v1, kind: ConfigMap, metadata: {name: elsewhere, namespace: kube-system}}`)
	for _, labels := range []string{`{"a":"b"}`, `{"a":null}`} {
		if _, err := in.Patch(t.Context(), "new", types.MergePatchType, []byte(`{"metadata":{"labels":`+labels+`}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Delete(t.Context(), "new", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		watch watch.Interface
		want  []string
	}{
		{"since a version", since, []string{"ADDED new", "MODIFIED new", "MODIFIED new", "DELETED new"}},
		{"with a label", labelled, []string{"ADDED old", "ADDED new", "DELETED new"}},
		{"of a name", named, []string{"ADDED new", "MODIFIED new", "MODIFIED new", "DELETED new"}},
		{"with initial events", first, []string{"ADDED old", "BOOKMARK ", "ADDED new"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, want := range tt.want {
				if got := next(t, tt.watch); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// TestWatchOfThePast watches from a version that is forgotten.
func TestWatchOfThePast(t *testing.T) {
	var l changeLog
	l.more = make(chan struct{})
	s := newServer(Options{})
	changes := s.log.changes[:1]
	for range kept + 1 {
		o := changes[0].New.DeepCopy()
		o.SetResourceVersion("7")
		c := changes[0].Change
		c.New = o
		l.add([]cluster.Change{c})
	}
	if _, _, ok := l.after(6); ok {
		t.Error("the log knows what it has dropped")
	}
	if _, _, ok := l.after(7); !ok {
		t.Error("the log has forgotten too much")
	}
}

func TestPermissions(t *testing.T) {
	c := started(t, Options{})
	as := rest.CopyConfig(c.config)
	as.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:default:robot"}
	robot := clientsOf(t, as).Resource(configMaps).Namespace("default")
	apply := func() error {
		o := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}`)
		_, err := robot.Apply(t.Context(), "a", o, metav1.ApplyOptions{FieldManager: "robot"})
		return err
	}
	want := `configmaps "a" is forbidden: User "system:serviceaccount:default:robot" cannot patch resource "configmaps" in API group "" in the namespace "default"`
	if err := apply(); err == nil || err.Error() != want {
		t.Errorf("without a role: %v", err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "robot", Namespace: "default"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"patch"}},
	}}
	if _, err := c.typed.RbacV1().Roles("default").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "robot", Namespace: "default"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "robot"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "robot"}},
	}
	if _, err := c.typed.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := apply(); err == nil || !strings.Contains(err.Error(), "cannot create resource") {
		t.Errorf("apply of a new object without create: %v", err)
	}
	role.Rules[0].Verbs = append(role.Rules[0].Verbs, "create")
	if _, err := c.typed.RbacV1().Roles("default").Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := apply(); err != nil {
		t.Errorf("with both: %v", err)
	}
	stranger := rest.CopyConfig(c.config)
	stranger.BearerToken = "wrong"
	if _, err := clientsOf(t, stranger).Resource(configMaps).List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("with a wrong token: %v", err)
	}
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

// TestControllers gives objects a status, again after each change.
func TestControllers(t *testing.T) {
	c := started(t, Options{Ready: func(o map[string]any) map[string]any {
		if o["kind"] != "Deployment" {
			return nil
		}
		replicas, _, _ := unstructured.NestedInt64(o, "spec", "replicas")
		return map[string]any{"readyReplicas": replicas, "conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
	}})
	c.create(t, deployments, deployment)
	ready := func(want int64) {
		t.Helper()
		o, err := c.Resource(deployments).Namespace("default").Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas"); got != want {
			t.Errorf("%d replicas are ready, want %d", got, want)
		}
	}
	ready(2)
	for _, patch := range []struct {
		kind types.PatchType
		data string
		want int64
	}{
		{types.StrategicMergePatchType, `{"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"sidecar","image":"x"}]}}}}`, 3},
		{types.MergePatchType, `{"spec":{"replicas":4}}`, 4},
	} {
		if _, err := c.Resource(deployments).Namespace("default").Patch(
			t.Context(), "web", patch.kind, []byte(patch.data), metav1.PatchOptions{},
		); err != nil {
			t.Fatal(err)
		}
		ready(patch.want)
	}
	o, err := c.typed.AppsV1().Deployments("default").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || len(o.Spec.Template.Spec.Containers) != 2 {
		t.Errorf("the containers are not merged: %v, %v", o.Spec.Template.Spec.Containers, err)
	}
	scale, err := c.typed.AppsV1().Deployments("default").GetScale(t.Context(), "web", metav1.GetOptions{})
	if err != nil || scale.Spec.Replicas != 4 {
		t.Fatalf("the scale is %v: %v", scale, err)
	}
	scale.Spec.Replicas = 7
	if _, err := c.typed.AppsV1().Deployments("default").UpdateScale(t.Context(), "web", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	ready(7)
}

// TestDryRun writes nothing.
func TestDryRun(t *testing.T) {
	c := started(t, Options{})
	in := c.Resource(configMaps).Namespace("default")
	o := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {a: b}}`)
	dry := []string{metav1.DryRunAll}
	if _, err := in.Create(t.Context(), o, metav1.CreateOptions{DryRun: dry}); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a dry run creates: %v", err)
	}
	if _, err := in.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	patched, err := in.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{DryRun: dry})
	if value, _, _ := unstructured.NestedString(patched.Object, "data", "a"); err != nil || value != "c" {
		t.Errorf("a dry run answers %q: %v", value, err)
	}
	if err := in.Delete(t.Context(), "a", metav1.DeleteOptions{DryRun: dry}); err != nil {
		t.Fatal(err)
	}
	there, err := in.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if value, _, _ := unstructured.NestedString(there.Object, "data", "a"); value != "b" {
		t.Errorf("a dry run changes the object: %q", value)
	}
}

// TestForKubectl is what only kubectl asks for.
func TestForKubectl(t *testing.T) {
	c := started(t, Options{})
	c.create(t, crds, widgetDefinition)
	c.create(t, widgets, widget)
	transport, err := rest.HTTPClientFor(c.config)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path, accept string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.config.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		answer, err := transport.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	for _, tt := range []struct{ path, accept, want string }{
		{"/apis/example.com/v1/namespaces/default/widgets", table, `"name":"Size"`},
		{"/apis/example.com/v1/namespaces/default/widgets/a", table, `"cells":["a"`},
		{"/api/v1/namespaces", table, `"Active"`},
		{"/openapi/v3/apis/example.com/v1", "", `"maximum":5`},
		{"/openapi/v3/apis/apps/v1", "", `"fieldValidation"`},
		{"/api/v1/namespaces/default/pods/web/log", "", "runs no containers"},
		{"/apis/apps/v1/namespaces/default/deployments/none/scale", "", "not found"},
	} {
		if got := get(tt.path, tt.accept); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.path, got)
		}
	}
	if v, err := discovery.NewDiscoveryClient(c.typed.RESTClient()).ServerVersion(); err != nil || v.Major != "1" {
		t.Errorf("the version is %v: %v", v, err)
	}
	binary := rest.CopyConfig(c.config)
	binary.ContentType = runtime.ContentTypeProtobuf
	typed := clientsOf(t, binary).typed
	if _, err := typed.CoreV1().ConfigMaps("default").Create(
		t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{},
	); err != nil {
		t.Errorf("in protobuf: %v", err)
	}
}

// TestStopped ends watches with the server.
func TestStopped(t *testing.T) {
	s, err := Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, config := s.Access()
	w, err := clientsOf(t, config).Resource(configMaps).Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	for range w.ResultChan() { //nolint:revive // until it is closed
	}
}
