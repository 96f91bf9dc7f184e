//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

var controlling sync.Mutex // of two that restart the same part one would lose sight of it

// control stops and starts parts of the cluster by a program, $E2E_CONTROL,
// which takes `stop NAME` and `restart NAME`. Scenarios that need it are skipped
// without it: a shared cluster cannot be broken on purpose.
func control(t *testing.T, verb, component string) {
	t.Helper()
	controlling.Lock()
	defer controlling.Unlock()
	program := os.Getenv("E2E_CONTROL")
	if program == "" {
		t.Skip("E2E_CONTROL is not set: there is nothing to stop and start parts of the cluster with")
	}
	run(t, nil, program, verb, component)
}

// The parts of a cluster.
const (
	theBus        = "nats"
	theAPIServer  = "kube-apiserver"
	theController = "workflow-controller"
)

// during stops a part of the cluster while something happens.
func during(t *testing.T, component string, happens func()) {
	t.Helper()
	control(t, "stop", component)
	stopped := true
	t.Cleanup(func() { // a scenario that fails must not spoil the next one
		if stopped {
			control(t, "restart", component)
		}
	})
	happens()
	control(t, "restart", component)
	stopped = false
}

// loseBus makes the bus forget everything: streams, consumers, what was not
// delivered. $E2E_BUS_STORE is its directory.
func loseBus(t *testing.T, happens func()) {
	t.Helper()
	store := os.Getenv("E2E_BUS_STORE")
	if run := os.Getenv("LAB_RUN"); store == "" && run != "" {
		store = run + "/nats"
	}
	if store == "" {
		t.Skip("E2E_BUS_STORE is not set: the bus cannot be made to lose its store")
	}
	during(t, theBus, func() {
		happens()
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
	})
}

// without takes pods of Argo Events away while something happens: those of the
// EventSources (eventsource-name) or of the Sensors (sensor-name).
func (f field) without(t *testing.T, label string, happens func()) {
	t.Helper()
	c := f[0].cluster
	c.scaleParts(t, label, 0)
	c.await(t, "the pods of "+label+" to go", slow, pods, operators, func(s seen) bool {
		for _, pod := range s {
			if pod.GetLabels()[label] != "" {
				return false
			}
		}
		return true
	})
	happens()
	c.scaleParts(t, label, 1)
	for _, w := range f {
		w.awaitParts(t)
	}
}

func (c *cluster) scaleParts(t *testing.T, label string, replicas int) {
	t.Helper()
	client := c.objects.Resource(deployments).Namespace(operators)
	list, err := client.List(t.Context(), metav1.ListOptions{LabelSelector: label})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("no Deployment with the label %s: %v", label, err)
	}
	for i := range list.Items {
		patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
		if _, err := client.Patch(t.Context(), list.Items[i].GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitParts waits until the pods of the EventSource and of every Sensor are there.
func (o *operator) awaitParts(t *testing.T) {
	t.Helper()
	for _, object := range o.objects {
		label := podLabels[object.GetKind()]
		if label == "" {
			continue
		}
		o.cluster.await(t, label+" "+object.GetName()+" to be available", starting, deployments, operators, func(s seen) bool {
			list := s.withLabel(label, object.GetName())
			return len(list) == 1 && available(list[0])
		})
	}
}

func available(d *unstructured.Unstructured) bool {
	status, _, _ := condition(d, "Available")
	return status == "True" && number(d, "status", "observedGeneration") == d.GetGeneration() &&
		number(d, "status", "updatedReplicas") == number(d, "spec", "replicas") && number(d, "status", "replicas") == number(d, "spec", "replicas")
}

// awaitReady waits until the API server says that it is ready.
func (c *cluster) awaitReady(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(slow); ; pause(t.Context()) {
		answer, err := c.kube.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the API server is not ready: %v %s", err, answer)
		}
	}
}
