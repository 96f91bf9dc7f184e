//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

var serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}

// TestChart leads the operator of a Helm chart through what users do: values
// change, and objects of the chart come and go with them.
func TestChart(t *testing.T) {
	t.Parallel()
	const example = "../examples/shop"
	c := connect(t)
	c.needImage(t, logicImage(t, example), "helm", "version")
	o := c.install(t, "shop", example)

	began := time.Now()
	shop := o.create(t, "example.com/v1alpha1", "shops", nsA, "books", map[string]any{
		"replicaCount": int64(2), "settings": map[string]any{"title": "Books"},
	})
	o.awaitReplicas(t, shop, 2)
	created := time.Since(began)
	o.awaitData(t, shop, "SHOP_TITLE", "Books")
	o.awaitData(t, shop, "SHOP_CURRENCY", "EUR") // of values.yaml
	o.awaitOwned(t, shop, map[schema.GroupVersionResource]int{services: 1, serviceAccounts: 1, ingresses: 0})
	o.awaitIdle(t)

	t.Log("another value, and one with which the chart has one more object")
	began = time.Now()
	o.merge(t, o.resource(), shop, `{"spec":{"replicaCount":3,"ingress":{"enabled":true,"hosts":[{"host":"books.example.com","paths":[{"path":"/"}]}]}}}`)
	o.awaitReplicas(t, shop, 3)
	changed := time.Since(began)
	o.awaitOwned(t, shop, map[schema.GroupVersionResource]int{ingresses: 1})

	t.Log("values that the chart refuses")
	o.merge(t, o.resource(), shop, `{"spec":{"autoscaling":{"enabled":true,"minReplicas":3,"maxReplicas":2}}}`)
	o.awaitUnready(t, shop, "autoscaling.maxReplicas is less than autoscaling.minReplicas")
	o.merge(t, o.resource(), shop, `{"spec":{"autoscaling":null}}`)

	t.Log("without the object")
	o.merge(t, o.resource(), shop, `{"spec":{"ingress":{"enabled":false}}}`)
	o.awaitOwned(t, shop, map[schema.GroupVersionResource]int{ingresses: 0})

	t.Log("somebody deletes an object of the chart")
	o.deleteOwned(t, shop, services)
	o.awaitOwned(t, shop, map[schema.GroupVersionResource]int{services: 1})

	t.Log("a value that looks like a template")
	o.merge(t, o.resource(), shop, `{"spec":{"settings":{"title":"{{ fail \"closed\" }}"}}}`)
	o.awaitData(t, shop, "SHOP_TITLE", `{{ fail "closed" }}`)
	o.awaitIdle(t)

	began = time.Now()
	o.remove(t, shop)
	removed := time.Since(began)
	o.awaitOwned(t, shop, map[schema.GroupVersionResource]int{configMaps: 0, services: 0, serviceAccounts: 0})
	fmt.Printf("e2e: shop: CR→Deployment %s; changed after %s, gone after %s\n", seconds(created), seconds(changed), seconds(removed))
}

// logicImage is the image of the logic of an operator with a worker.
func logicImage(t *testing.T, definition string) string {
	t.Helper()
	for _, object := range decode(t, generate(t, definition)) {
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		for _, c := range containers {
			if c, _ := c.(map[string]any); c["name"] == "logic" {
				return fmt.Sprint(c["image"])
			}
		}
	}
	t.Fatalf("%s has no worker with logic", definition)
	return ""
}

// awaitReplicas waits until the Deployment of a custom resource is to have so
// many pods, and the custom resource has a status of what it is now.
func (o *operator) awaitReplicas(t *testing.T, cr *unstructured.Unstructured, n int64) {
	t.Helper()
	o.cluster.await(t, fmt.Sprintf("a Deployment with %d replicas", n), slow, deployments, cr.GetNamespace(), func(s seen) bool {
		owned := s.ownedBy(cr)
		return len(owned) == 1 && number(owned[0], "spec", "replicas") == n
	})
	o.cluster.await(t, "the status of "+cr.GetName(), slow, o.resource(), cr.GetNamespace(), func(s seen) bool {
		now := s.by(cr.GetUID())
		return now != nil && number(now, "status", "observedGeneration") == now.GetGeneration()
	})
}

// needImage skips the test if the cluster neither has an image nor can pull it,
// and fails it if the image does not run a command.
func (c *cluster) needImage(t *testing.T, image string, command ...string) {
	t.Helper()
	client := c.kube.CoreV1().Pods(operators)
	pod, err := client.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "image-"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(8737)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "main", Image: image, Command: command,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Delete(context.Background(), pod.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	var phase, waits string
	c.await(t, "a pod of "+image, starting, pods, operators, func(s seen) bool {
		now := s.by(pod.UID)
		if now == nil {
			return false
		}
		phase, waits = nested(now, "status", "phase"), ""
		statuses, _, _ := unstructured.NestedSlice(now.Object, "status", "containerStatuses")
		for _, status := range statuses {
			if status, ok := status.(map[string]any); ok {
				waits, _, _ = unstructured.NestedString(status, "state", "waiting", "reason")
			}
		}
		return phase == "Succeeded" || phase == "Failed" || waits == "ErrImageNeverPull" || waits == "ImagePullBackOff"
	})
	switch {
	case waits != "":
		t.Skipf("the cluster cannot run %s: %s", image, waits)
	case phase == "Failed":
		t.Fatalf("%s does not run %v", image, command)
	}
}
