//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// slow is how long a single step of a scenario may take on a busy machine. With
// the steps engine a reconcile takes 40 s, and it may have to wait for others of
// the same custom resource. $E2E_PATIENCE shortens it where failures are wanted.
var slow = patient(20 * time.Minute)

// starting is how long the pod of an EventSource or a Sensor may take to be
// available: seconds, but minutes on a machine that has just built the cluster.
const starting = 5 * time.Minute

func patient(limit time.Duration) time.Duration {
	if d, err := time.ParseDuration(os.Getenv("E2E_PATIENCE")); err == nil {
		return d
	}
	return limit
}

func TestMemcached(t *testing.T) {
	t.Parallel()
	c := connect(t)
	o := c.install(t, "memcached", "../examples/memcached")
	lifecycle(t, o, "direct", "../examples/memcached", nsA, nsB)
}

func TestMemcachedLogic(t *testing.T) {
	t.Parallel()
	c := connect(t)
	o := c.install(t, "memcached-logic", "../examples/memcached-logic")
	lifecycle(t, o, "workflow", "../examples/memcached-logic", nsA, nsB)
}

func TestMemcachedWorker(t *testing.T) {
	t.Parallel()
	c := connect(t)
	dir := rewritten(t, logicFor(t, "Memworker"), "engine: workflow", "engine: worker")
	o := c.install(t, "memworker", dir)
	lifecycle(t, o, "worker", dir, nsD, nsC)
}

func TestMemcachedTutorial(t *testing.T) {
	t.Parallel()
	c := connect(t)
	o := c.install(t, "memcached-tutorial", tutorialFor(t, "Memlesson"))
	lifecycle(t, o, "steps", "../examples/memcached-tutorial", nsOpen, nsOpenB)
}

// lifecycle leads Memcacheds through all that may happen to them.
func lifecycle(t *testing.T, o *operator, engine, example, here, there string) {
	t.Helper()
	one := sample(t, filepath.Join(example, "samples", "memcached.yaml"))
	one.SetKind(nested(o.only("CustomResourceDefinition"), "spec", "names", "kind")) // the example may have another name here

	start := o.counts.tally()
	began := time.Now()
	one, err := o.cluster.objects.Resource(o.resource()).Namespace(here).Create(t.Context(), one, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.awaitDeployment(t, one)
	created := time.Since(began)
	o.awaitServers(t, one, 3)
	o.told(t, o.only("CustomResourceDefinition").GetName(), one, "Normal", "Ready")
	o.awaitIdle(t)
	creation := o.counts.after(start)

	before := o.counts.tally()
	began = time.Now()
	o.resize(t, one, 2)
	o.cluster.await(t, "the Deployment to be scaled", slow, deployments, here, func(s seen) bool {
		owned := s.ownedBy(one)
		return len(owned) == 1 && number(owned[0], "spec", "replicas") == 2
	})
	scaled := time.Since(began)
	o.awaitServers(t, one, 2)
	o.awaitIdle(t)
	scaling := o.counts.after(before)

	if !testing.Short() {
		o.neighbours(t, one, here, there)
		switch engine {
		case "direct":
			o.forgotten(t, one)
		case "workflow", "worker": // steps has the same one, of many more pods
			o.resync(t, one)
		}
	}

	before = o.counts.tally()
	began = time.Now()
	o.remove(t, one)
	removed := time.Since(began)
	o.awaitIdle(t)
	deletion := o.counts.after(before)

	all := o.counts.after(start)
	fmt.Printf("e2e: memcached %s: CR→Deployment %s, pods per event %s; scaled after %s, gone after %s\n",
		engine, seconds(created), all.perEvent(), seconds(scaled), seconds(removed))
	if !testing.Short() {
		fmt.Printf("e2e: memcached %s: events that started a reconcile: %d by the creation, %d by the scaling, %d by the deletion\n",
			engine, creation.events, scaling.events, deletion.events)
	}
	if !testing.Short() && engine != "steps" { // whose pods render does not know
		o.compare(t, example, here, o.resource())
	}
}

// neighbours makes a second Memcached in the same namespace and one of the same
// name in another: none may touch another's Deployment.
func (o *operator) neighbours(t *testing.T, one *unstructured.Unstructured, here, there string) {
	t.Helper()
	two := o.create(t, one.GetAPIVersion(), o.resource().Resource, here, "two", map[string]any{"size": int64(1)})
	twin := o.create(t, one.GetAPIVersion(), o.resource().Resource, there, one.GetName(), map[string]any{"size": int64(1)})
	o.awaitServers(t, two, 1)
	o.awaitServers(t, twin, 1)
	for _, cr := range []*unstructured.Unstructured{one, two, twin} {
		d := o.awaitDeployment(t, cr)
		t.Logf("%s/%s owns Deployment %s/%s", cr.GetNamespace(), cr.GetName(), d.GetNamespace(), d.GetName())
	}
	o.awaitServers(t, one, 2)
	o.remove(t, two)
	o.remove(t, twin)
	o.awaitServers(t, one, 2)
}

// resync makes a Deployment look like the work of an older definition, which no
// event tells, and lets the resync find it: the Workflow that the CronWorkflow
// would start at its time.
func (o *operator) resync(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	const annotation = "argoperator.dev/definition"
	d := o.awaitDeployment(t, cr)
	was := d.GetAnnotations()[annotation]
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"older"}}}`, annotation)
	if _, err := o.cluster.objects.Resource(deployments).Namespace(d.GetNamespace()).
		Patch(t.Context(), d.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	o.startResync(t)
	o.cluster.await(t, "the resync to repair the Deployment", slow, deployments, d.GetNamespace(), func(s seen) bool {
		owned := s.ownedBy(cr)
		return len(owned) == 1 && owned[0].GetAnnotations()[annotation] == was
	})
	o.awaitIdle(t)
}

// startResync starts what the CronWorkflow would start at its time.
func (o *operator) startResync(t *testing.T) {
	t.Helper()
	if worker := o.only("Deployment"); worker.Object != nil { // a new one looks at all custom resources
		run(t, nil, "kubectl", "rollout", "restart", "-n", operators, "deployment/"+worker.GetName())
		run(t, nil, "kubectl", "rollout", "status", "-n", operators, "deployment/"+worker.GetName(), "--timeout="+slow.String())
		return
	}
	cron := o.only("CronWorkflow")
	if cron.Object == nil {
		return // an operator of others may have none
	}
	run := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
		"metadata": map[string]any{"generateName": "resync-", "labels": map[string]any{cronWorkflowLabel: cron.GetName()}},
		"spec":     nestedMap(cron, "spec", "workflowSpec"),
	}}
	if _, err := o.cluster.objects.Resource(workflows).Namespace(operators).Create(t.Context(), run, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitDeployment waits for the one Deployment of a custom resource.
func (o *operator) awaitDeployment(t *testing.T, cr *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	s := o.cluster.await(t, "one Deployment of "+cr.GetNamespace()+"/"+cr.GetName(), slow, deployments, cr.GetNamespace(), func(s seen) bool {
		return len(s.ownedBy(cr)) == 1
	})
	return s.ownedBy(cr)[0]
}

// awaitServers waits until the Deployment has so many ready replicas and the
// custom resource says so.
func (o *operator) awaitServers(t *testing.T, cr *unstructured.Unstructured, n int64) {
	t.Helper()
	namespace := cr.GetNamespace()
	o.cluster.await(t, fmt.Sprintf("%d ready replicas of %s/%s", n, namespace, cr.GetName()), slow, deployments, namespace, func(s seen) bool {
		owned := s.ownedBy(cr)
		return len(owned) == 1 && number(owned[0], "status", "readyReplicas") == n && number(owned[0], "status", "replicas") == n
	})
	o.cluster.await(t, fmt.Sprintf("status of %s/%s: Ready, readyReplicas %d", namespace, cr.GetName(), n), slow, o.resource(), namespace, func(s seen) bool {
		cr := s.by(cr.GetUID())
		return cr != nil && current(cr, "True") && number(cr, "status", "readyReplicas") == n
	})
}

// resize changes the size by the scale subresource where there is one, as
// `kubectl scale` and autoscalers do.
func (o *operator) resize(t *testing.T, cr *unstructured.Unstructured, n int) {
	t.Helper()
	client := o.cluster.objects.Resource(o.resource()).Namespace(cr.GetNamespace())
	patch, subresources := fmt.Sprintf(`{"spec":{"size":%d}}`, n), []string{}
	if o.scales() {
		patch, subresources = fmt.Sprintf(`{"spec":{"replicas":%d}}`, n), []string{"scale"}
	}
	if _, err := client.Patch(t.Context(), cr.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...); err != nil {
		t.Fatalf("resizing: %v", err)
	}
}

func (o *operator) scales() bool {
	versions, _, _ := unstructured.NestedSlice(o.only("CustomResourceDefinition").Object, "spec", "versions")
	for _, v := range versions {
		if _, found, _ := unstructured.NestedMap(v.(map[string]any), "subresources", "scale"); found {
			return true
		}
	}
	return false
}

// remove deletes a custom resource and waits until its Deployment has gone.
func (o *operator) remove(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	if err := o.cluster.objects.Resource(o.resource()).Namespace(cr.GetNamespace()).Delete(t.Context(), cr.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.cluster.await(t, "the Deployment of "+cr.GetNamespace()+"/"+cr.GetName()+" to go", slow, deployments, cr.GetNamespace(), func(s seen) bool {
		return len(s.ownedBy(cr)) == 0
	})
}

// sample reads an object from a file.
func sample(t *testing.T, path string) *unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var o unstructured.Unstructured
	if err := yaml.Unmarshal(data, &o.Object); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &o
}
