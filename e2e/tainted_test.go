//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// tainted is an operator for nodes that are for operators only, with images of a private registry.
const tainted = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: tainted}
spec:
  reconcile: {engine: ENGINE}
  install:
    podTemplate:
      tolerations: [{key: dedicated, operator: Equal, value: operators, effect: NoSchedule}]
      imagePullSecrets: [{name: registry}]
  api: {group: e2e.example.com, kind: Tainted, plural: tainteds, versions: [{name: v1, schema: {spec: {text: string}}}]}
  children:
  - name: config
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}, data: {text: "${ .spec.text }"}}
`

// TestTainted runs operators on nodes with a taint, with a pull secret. It changes all nodes, so
// it is not parallel to others.
func TestTainted(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	c := connect(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "registry"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths": {"registry.example.com": {"auth": "YTpi"}}}`)},
	}
	if _, err := c.kube.CoreV1().Secrets(operators).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run(t, nil, "kubectl", "delete", "secret", "-n", operators, "registry") })
	run(t, nil, "kubectl", "taint", "nodes", "--all", "dedicated=operators:NoSchedule")
	t.Cleanup(func() { run(t, nil, "kubectl", "taint", "nodes", "--all", "dedicated-") })
	c.refusesOthers(t)
	for engine, number := range map[string]int{"direct": 2, "worker": 3, "workflow": 3} {
		t.Run(engine, func(t *testing.T) {
			definition := filepath.Join(t.TempDir(), "operator.yaml")
			if err := os.WriteFile(definition, []byte(strings.ReplaceAll(tainted, "ENGINE", engine)), 0o600); err != nil {
				t.Fatal(err)
			}
			o := c.install(t, "tainted "+engine, definition)
			cr := o.create(t, "e2e.example.com/v1", o.resource().Resource, nsA, "one", map[string]any{"text": "a"})
			started := o.awaitPods(t, number)
			o.awaitReady(t, o.resource(), cr)
			for name, pod := range started {
				tolerates := func(one corev1.Toleration) bool { return one.Key == "dedicated" && one.Value == "operators" }
				if !slices.ContainsFunc(pod.Spec.Tolerations, tolerates) {
					t.Errorf("%s does not tolerate the taint", name)
				}
				if !slices.Contains(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: "registry"}) {
					t.Errorf("%s has no pull secret", name)
				}
			}
			o.remove(t, cr)
		})
	}
}

// awaitPods waits for a number of pods, and returns all that there were meanwhile, by name.
func (o *operator) awaitPods(t *testing.T, number int) map[string]corev1.Pod {
	t.Helper()
	found := map[string]corev1.Pod{}
	o.cluster.await(t, fmt.Sprintf("%d pods of %s", number, o.name), slow, pods, operators, func(s seen) bool {
		for _, one := range s {
			var pod corev1.Pod
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(one.Object, &pod); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(pod.Name, "tainted-") {
				found[pod.Name] = pod
			}
		}
		return len(found) >= number
	})
	return found
}

// refusesOthers requires that a pod without the toleration is not started.
func (c *cluster) refusesOthers(t *testing.T) {
	t.Helper()
	other := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "docker.io/library/python:3.13-slim"}}},
	}
	if _, err := c.kube.CoreV1().Pods(nsOpen).Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run(t, nil, "kubectl", "delete", "pod", "-n", nsOpen, "elsewhere", "--force", "--grace-period=0")
	})
	c.await(t, "a pod without the toleration to be refused", slow, pods, nsOpen, func(s seen) bool {
		for _, one := range s {
			if one.GetName() == "elsewhere" && strings.Contains(fmt.Sprint(one.Object["status"]), "untolerated taint") {
				return true
			}
		}
		return false
	})
}
