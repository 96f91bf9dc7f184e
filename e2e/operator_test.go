//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// operator is a generated operator on the cluster.
type operator struct {
	cluster  *cluster
	name     string // of the scenario, for people
	manifest []byte
	objects  []*unstructured.Unstructured
	counts   *counter
	audit    *audit
	process  *os.Process // of one that runs beside the cluster
}

// generate prints the operator of a definition.
func generate(t *testing.T, definition string) []byte {
	t.Helper()
	return run(t, nil, binary(t), "generate", "-f", definition)
}

// kinds are taken: two operators for the same kind would be in each other's way.
var kinds sync.Map // the name of the CustomResourceDefinition to a *sync.Mutex

// take waits until no other test has an operator for the same kind.
func (o *operator) take(t *testing.T) {
	t.Helper()
	kind, _ := kinds.LoadOrStore(o.only("CustomResourceDefinition").GetName(), &sync.Mutex{})
	kind.(*sync.Mutex).Lock()
	t.Cleanup(kind.(*sync.Mutex).Unlock)
}

// install puts the operator of a definition on the cluster and waits until it
// listens. When the test ends, it is removed, and the requests of its service
// accounts are checked.
func (c *cluster) install(t *testing.T, name, definition string) *operator {
	t.Helper()
	return c.installBy(t, name, definition, func(manifest []byte) {
		run(t, manifest, "kubectl", "apply", "-f", "-")
	})
}

// installBy is install by other means than the stream.
func (c *cluster) installBy(t *testing.T, name, definition string, apply func(manifest []byte)) *operator {
	t.Helper()
	o := &operator{cluster: c, name: name, manifest: sabotage(t, generate(t, definition))}
	o.objects = decode(t, o.manifest)
	o.take(t)
	o.audit = openAudit(t)
	o.counts = count(t, c, o.runs)
	t.Cleanup(func() {
		if t.Failed() {
			o.dump(t)
		}
		o.uninstall(t)
		o.audit.checkRequests(t, o)
	})
	apply(o.manifest)
	o.awaitListening(t)
	return o
}

func decode(t *testing.T, manifest []byte) []*unstructured.Unstructured {
	t.Helper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	var objects []*unstructured.Unstructured
	for {
		var o unstructured.Unstructured
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("reading what was generated: %v", err)
		}
		if len(o.Object) > 0 {
			objects = append(objects, &o)
		}
	}
}

// only is the one object of a kind.
func (o *operator) only(kind string) *unstructured.Unstructured {
	for _, object := range o.objects {
		if object.GetKind() == kind {
			return object
		}
	}
	return &unstructured.Unstructured{}
}

// podLabels are the labels by which Argo Events finds the pods of what it runs,
// by kind.
var podLabels = map[string]string{"EventSource": "eventsource-name", "Sensor": "sensor-name"}

// awaitListening waits until the EventSource watches and every Sensor subscribes:
// their Deployments are available, and their logs say so. (Their pods take no
// readiness probes.)
func (o *operator) awaitListening(t *testing.T) {
	t.Helper()
	for _, object := range o.objects {
		label, name, says, times := podLabels[object.GetKind()], object.GetName(), "started subscribing to events", 1
		switch object.GetKind() {
		case "EventSource":
			says, times = "running informer", o.watched()
		case "Sensor":
		case "Deployment": // a worker
			run(t, nil, "kubectl", "rollout", "status", "-n", operators, "deployment/"+name, "--timeout="+starting.String())
			continue
		default:
			continue
		}
		o.cluster.await(t, name+" to be available", starting, deployments, operators, func(s seen) bool {
			list := s.withLabel(label, name)
			o.partTwins(t, list)
			if len(list) != 1 {
				return false
			}
			available, _, _ := condition(list[0], "Available")
			return available == "True" && number(list[0], "status", "observedGeneration") == list[0].GetGeneration()
		})
		o.awaitLog(t, label+"="+name, says, times)
	}
	o.awaitSubscribed(t)
}

// partTwins takes away what Argo Events has made too much: its controller makes
// two Deployments where it looks at a new EventSource or Sensor twice before it
// has seen the first. argoperator doctor says the same to users.
func (o *operator) partTwins(t *testing.T, list seen) {
	t.Helper()
	list = slices.DeleteFunc(slices.Clone(list), func(d *unstructured.Unstructured) bool { return d.GetDeletionTimestamp() != nil })
	for len(list) > 1 {
		one := list[len(list)-1]
		list = list[:len(list)-1]
		t.Logf("two Deployments instead of one: deleting %s", one.GetName())
		err := o.cluster.objects.Resource(deployments).Namespace(one.GetNamespace()).Delete(t.Context(), one.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
}

// subscribed is how a Sensor writes which programs it subscribed with.
var subscribed = regexp.MustCompile(`"(argoperator\.dev/subscribed-[a-z0-9-]+)": "([0-9a-f]{16})"`)

// awaitSubscribed waits until every Sensor has subscribed, and the pod of the
// EventSource is the one that replays all events to it.
func (o *operator) awaitSubscribed(t *testing.T) {
	t.Helper()
	if worker := o.only("Deployment"); worker.Object != nil { // which looks at all custom resources then
		o.awaitLog(t, "argoperator.dev/worker="+worker.GetName(), "the Sensor has subscribed", 1)
		return
	}
	want := map[string]string{}
	for _, object := range o.objects {
		dependencies, _, _ := unstructured.NestedSlice(object.Object, "spec", "dependencies")
		for _, d := range dependencies {
			jq, _, _ := unstructured.NestedString(d.(map[string]any), "transform", "jq")
			if found := subscribed.FindStringSubmatch(jq); found != nil {
				want[found[1]] = found[2]
			}
		}
	}
	source := o.only("EventSource").GetName()
	o.cluster.await(t, "the replay for the Sensors", 3*time.Minute, deployments, operators, func(s seen) bool {
		list := s.withLabel("eventsource-name", source)
		if len(list) != 1 || !available(list[0]) {
			return false
		}
		annotations, _, _ := unstructured.NestedStringMap(list[0].Object, "spec", "template", "metadata", "annotations")
		for key, value := range want {
			if annotations[key] != value {
				return false
			}
		}
		return len(want) > 0
	})
	o.awaitLog(t, "eventsource-name="+source, "running informer", o.watched())
}

// awaitLog waits until one of the pods has said a text so many times.
func (o *operator) awaitLog(t *testing.T, selector, text string, times int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); pause(t.Context()) {
		client := o.cluster.kube.CoreV1().Pods(operators)
		list, err := client.List(t.Context(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			continue
		}
		for _, pod := range list.Items {
			if pod.DeletionTimestamp != nil {
				continue
			}
			log, err := client.GetLogs(pod.Name, &corev1.PodLogOptions{Container: pod.Spec.Containers[0].Name}).DoRaw(t.Context())
			if err == nil && strings.Count(string(log), text) >= times {
				return
			}
		}
	}
	t.Fatalf("the pods of %s never said %q %d times", selector, text, times)
}

// watched is how many kinds of objects the EventSource watches.
func (o *operator) watched() int {
	return len(nestedMap(o.only("EventSource"), "spec", "resource"))
}

// uninstall takes the custom resources away while the operator still works,
// then the operator.
func (o *operator) uninstall(t *testing.T) {
	if o.only("CustomResourceDefinition").Object != nil {
		o.removeAll(t, o.resource())
	}
	o.audit.close()
	if _, err := try(o.manifest, "kubectl", "delete", "--ignore-not-found", "--timeout=5m", "-f", "-"); err != nil {
		t.Error(err)
	}
	o.removeWorkflows(t)
	for _, object := range o.objects {
		label := podLabels[object.GetKind()]
		if label == "" {
			continue
		}
		_, err := try(nil, "kubectl", "wait", "--for=delete", "pods", "-l", label+"="+object.GetName(), "-n", operators, "--timeout=5m")
		if err != nil && !strings.Contains(err.Error(), "no matching resources") {
			t.Error(err)
		}
	}
}

// removeWorkflows takes away what is left of the operator's Workflows.
func (o *operator) removeWorkflows(t *testing.T) {
	client := o.cluster.objects.Resource(workflows).Namespace(operators)
	list, err := client.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	for i := range list.Items {
		if !o.runs(&list.Items[i]) && !o.shows(&list.Items[i]) {
			continue
		}
		if err := client.Delete(context.Background(), list.Items[i].GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}

// removeAll deletes the custom resources of a kind and waits until they are gone.
func (o *operator) removeAll(t *testing.T, gvr schema.GroupVersionResource) {
	client := o.cluster.objects.Resource(gvr)
	list, err := client.List(context.Background(), metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return // the scenario itself took the kind away
	}
	if err != nil {
		t.Error(err)
		return
	}
	namespaces := map[string]bool{}
	for _, cr := range list.Items {
		namespaces[cr.GetNamespace()] = true
	}
	for deadline := time.Now().Add(slow); ; pause(context.Background()) {
		for namespace := range namespaces {
			if err = client.Namespace(namespace).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}); err == nil {
				delete(namespaces, namespace)
			} // a busy API server gives up after a minute
		}
		if rest, failed := client.List(context.Background(), metav1.ListOptions{Limit: 1}); failed == nil && len(rest.Items) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("the custom resources do not go: %v", err)
			return
		}
	}
}

// version is the version that a CustomResourceDefinition stores.
// resource is that of the operator's custom resources, where it brings their
// CustomResourceDefinition.
func (o *operator) resource() schema.GroupVersionResource {
	crd := o.only("CustomResourceDefinition")
	return schema.GroupVersionResource{Group: nested(crd, "spec", "group"), Version: version(crd), Resource: nested(crd, "spec", "names", "plural")}
}

func version(crd *unstructured.Unstructured) string {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if fields, ok := v.(map[string]any); ok && fields["storage"] == true {
			return fmt.Sprint(fields["name"])
		}
	}
	return ""
}

// dump prints what people ask for first when an operator does not work.
func (o *operator) dump(t *testing.T) {
	for _, args := range [][]string{
		{"get", "eventsources,sensors,workflows,pods", "-n", operators, "-o", "wide"},
		{"get", "deployments,replicasets,pods", "-A", "-l", "app.kubernetes.io/managed-by", "-o", "wide"},
		{"get", "events", "-A", "--field-selector", "type=Warning,reason!=MissingClusterDNS", "--sort-by", ".lastTimestamp"},
		{"logs", "-n", operators, "-l", "eventsource-name", "--tail=60", "--prefix"},
		{"logs", "-n", operators, "-l", "sensor-name", "--tail=60", "--prefix"},
		{"logs", "-n", operators, "-l", "argoperator.dev/worker", "--all-containers", "--tail=300", "--prefix", "--timestamps"},
		{"get", "leases", "-n", operators, "-o", "wide"},
		{"logs", "-n", operators, "-l", "workflows.argoproj.io/workflow", "--all-containers", "--tail=40", "--prefix"},
		{"get", "workflows", "-n", operators, "-o", `jsonpath={range .items[*]}{.metadata.name}{": "}{.status.phase}{" "}{.status.message}{range .status.nodes.*}{"\n    "}{.displayName}{": "}{.phase}{" "}{.message}{end}{"\n"}{end}`},
	} {
		out, err := try(nil, "kubectl", args...)
		if err != nil {
			out = []byte(err.Error())
		}
		t.Logf("kubectl %s\n%s", strings.Join(args, " "), out)
	}
}

// create makes a custom resource.
func (o *operator) create(t *testing.T, apiVersion, plural, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	t.Helper()
	return o.createKind(t, apiVersion, nested(o.only("CustomResourceDefinition"), "spec", "names", "kind"), plural, namespace, name, spec)
}

// createKind makes a custom resource of one of several kinds.
func (o *operator) createKind(t *testing.T, apiVersion, kind, plural, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": name}, "spec": spec,
	}}
	made, err := o.cluster.objects.Resource(object.GroupVersionKind().GroupVersion().WithResource(plural)).
		Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating %s/%s: %v", namespace, name, err)
	}
	return made
}

func nested(o *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(o.Object, path...)
	return text
}

func nestedMap(o *unstructured.Unstructured, path ...string) map[string]any {
	fields, _, _ := unstructured.NestedMap(o.Object, path...)
	return fields
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
