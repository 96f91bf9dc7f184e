//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// The namespaces of the suite. Those of the custom resources that bear it
// enforce the restricted Pod Security Standard, as does the operators' own.
const (
	operators = "argo-events"
	nsA       = "e2e-a"
	nsB       = "e2e-b"
	nsC       = "e2e-c"
	nsD       = "e2e-d"
	nsOpen    = "e2e-open" // for the tutorial's Deployment, which is not restricted
	nsOpenB   = "e2e-open-b"
)

var (
	deployments    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	configMaps     = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	pods           = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	resourceQuotas = schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}
	eventSources   = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "eventsources"}
	workflows      = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}
	cronWorkflows  = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "cronworkflows"}
	crds           = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	memcacheds     = schema.GroupVersionResource{Group: "cache.example.com", Version: "v1alpha1", Resource: "memcacheds"}
)

// cluster is the cluster of $KUBECONFIG.
type cluster struct {
	objects dynamic.Interface
	kube    kubernetes.Interface
}

// connectLong is connect for a test that runs beside others, and not in the short run.
func connectLong(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	t.Parallel()
	return connect(t)
}

// connect returns the cluster with the suite's namespaces in it.
func connect(t *testing.T) *cluster {
	t.Helper()
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		t.Fatal("KUBECONFIG is not set: the suite needs a cluster with Argo Events and Argo Workflows")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
	config.QPS, config.Burst = 500, 1000
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{objects: objects, kube: kube}
	for name, level := range map[string]string{operators: "restricted", nsA: "restricted", nsB: "restricted", nsC: "restricted", nsD: "restricted", nsOpen: "", nsOpenB: ""} {
		c.namespace(t, name, level)
	}
	return c
}

// namespace makes a namespace that enforces a Pod Security Standard.
func (c *cluster) namespace(t *testing.T, name, level string) {
	t.Helper()
	labels := map[string]string{}
	if level != "" {
		labels["pod-security.kubernetes.io/enforce"] = level
	}
	namespaces := c.kube.CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) && level != "" {
		patch := fmt.Sprintf(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":%q}}}`, level)
		_, err = namespaces.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("namespace %s: %v", name, err)
	}
}

// seen is how far a wait has come: the objects of one resource.
type seen []*unstructured.Unstructured

// await watches a resource until the objects satisfy the condition, and returns
// them as they were then. Namespace "" is all of them.
func (c *cluster) await(t *testing.T, what string, limit time.Duration, gvr schema.GroupVersionResource, namespace string, done func(seen) bool) seen {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	objects := map[types.UID]*unstructured.Unstructured{}
	for ctx.Err() == nil {
		if c.follow(ctx, gvr, namespace, objects, done) {
			return values(objects)
		}
	}
	t.Fatalf("gave up after %s waiting for: %s\n%s", limit, what, describe(values(objects)))
	return nil
}

// follow lists and watches until the condition holds or the watch ends.
func (c *cluster) follow(ctx context.Context, gvr schema.GroupVersionResource, namespace string, objects map[types.UID]*unstructured.Unstructured, done func(seen) bool) bool {
	client := c.objects.Resource(gvr).Namespace(namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		pause(ctx)
		return false
	}
	clear(objects)
	for i := range list.Items {
		objects[list.Items[i].GetUID()] = &list.Items[i]
	}
	if done(values(objects)) {
		return true
	}
	watch, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		pause(ctx)
		return false
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			return false
		}
		if event.Type == "DELETED" {
			delete(objects, object.GetUID())
		} else {
			objects[object.GetUID()] = object
		}
		if done(values(objects)) {
			return true
		}
	}
	return false
}

// pause keeps a wait from asking a cluster that refuses to answer all the time.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
}

func values(objects map[types.UID]*unstructured.Unstructured) seen {
	list := make(seen, 0, len(objects))
	for _, o := range objects {
		list = append(list, o)
	}
	return list
}

// ownedBy are the objects whose controller is the owner.
func (s seen) ownedBy(owner *unstructured.Unstructured) seen {
	var owned seen
	for _, o := range s {
		if ref := metav1.GetControllerOf(o); ref != nil && ref.UID == owner.GetUID() {
			owned = append(owned, o)
		}
	}
	return owned
}

// withLabel are the objects that bear a label.
func (s seen) withLabel(key, value string) seen {
	var labelled seen
	for _, o := range s {
		if o.GetLabels()[key] == value {
			labelled = append(labelled, o)
		}
	}
	return labelled
}

// by is the object of a UID, or nil.
func (s seen) by(uid types.UID) *unstructured.Unstructured {
	for _, o := range s {
		if o.GetUID() == uid {
			return o
		}
	}
	return nil
}

func describe(s seen) string {
	var b strings.Builder
	for _, o := range s {
		status, _ := o.Object["status"].(map[string]any)
		fmt.Fprintf(&b, "  %s %s/%s %v\n", o.GetKind(), o.GetNamespace(), o.GetName(), status)
	}
	return b.String()
}

// condition returns status, reason and message of a condition.
func condition(o *unstructured.Unstructured, kind string) (status, reason, message string) {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["type"] == kind {
			status, _ = c["status"].(string)
			reason, _ = c["reason"].(string)
			message, _ = c["message"].(string)
		}
	}
	return status, reason, message
}

// number is an integer field, or -1 where there is none.
func number(o *unstructured.Unstructured, path ...string) int64 {
	n, found, err := unstructured.NestedInt64(o.Object, path...)
	if !found || err != nil {
		return -1
	}
	return n
}

// current tells whether the operator has reported on the object as it is now
// with Ready in the given state.
func current(o *unstructured.Unstructured, ready string) bool {
	status, _, _ := condition(o, "Ready")
	return status == ready && number(o, "status", "observedGeneration") == o.GetGeneration()
}

// run runs a program with a text on its standard input and returns what it prints.
func run(t *testing.T, input []byte, program string, args ...string) []byte {
	t.Helper()
	out, err := try(input, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func try(input []byte, program string, args ...string) ([]byte, error) {
	var out, problems bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(program), strings.Join(args, " "), err, problems.String(), out.String())
	}
	return out.Bytes(), nil
}

// binary is the program under test.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("ARGOPERATOR")
	if path == "" {
		path = "../bin/argoperator"
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(absolute); err != nil {
		t.Fatalf("no binary to test: %v (make build)", err)
	}
	return absolute
}
