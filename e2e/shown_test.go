//go:build e2e

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shownLabel of a Workflow is the uid of the custom resource whose reconcile it shows.
const shownLabel = "argoperator.dev/shown"

// shows tells whether a worker of the operator made a Workflow to show a reconcile.
func (o *operator) shows(workflow *unstructured.Unstructured) bool {
	labels := workflow.GetLabels()
	return labels[shownLabel] != "" && labels["app.kubernetes.io/managed-by"] == o.only("Sensor").GetName()
}

// TestShown has a worker run custom resources once as Workflows: one that the API server
// rejects a child of, and one that somebody annotates. Others go on meanwhile.
func TestShown(t *testing.T) {
	t.Parallel()
	c := connect(t)
	const namespace = "e2e-shown"
	c.namespace(t, namespace, "")
	o := c.install(t, "shown", forEngine(t, "../testdata/behaviour/rejected", "worker", ""))
	d := &diagnoses{operator: o, namespace: namespace}
	const words = "must be greater than or equal to 0"

	invalid := o.create(t, "example.com/v1", "trials", namespace, "invalid", map[string]any{"size": int64(-5)})
	o.awaitUnready(t, invalid, words+"; see workflow "+operators+"/")
	o.awaitShown(t, invalid, 1, "")
	healthy := o.create(t, "example.com/v1", "trials", namespace, "healthy", map[string]any{})
	began := time.Now()
	o.awaitOwned(t, healthy, map[schema.GroupVersionResource]int{deployments: 1})
	t.Logf("another custom resource has its child after %.1f s", time.Since(began).Seconds())
	one := o.awaitShown(t, invalid, 1, "Failed")[0]
	if took := nested(one, "status", "finishedAt"); took == "" || nested(one, "spec", "serviceAccountName") != o.only("Deployment").GetName() {
		t.Errorf("the Workflow has not finished, or with another account: %s", one.Object)
	}
	logs := string(run(t, nil, "kubectl", "logs", "-n", operators, "-l", "workflows.argoproj.io/workflow="+one.GetName(), "-c", "main", "--tail=-1"))
	if !strings.Contains(logs, words) {
		t.Errorf("the log of the Workflow does not say %q:\n%s", words, logs)
	}
	d.await(t, invalid, began, words)
	if described := string(run(t, nil, "kubectl", "describe", "trials.example.com", "invalid", "-n", namespace)); !strings.Contains(described, "argo get -n "+operators+" "+one.GetName()) {
		t.Errorf("no Event says where the Workflow is:\n%s", described)
	}

	t.Log("the same generation is not shown again, another is")
	worker := "argoperator.dev/worker=" + o.only("Deployment").GetName()
	o.awaitLog(t, worker, "workflow "+one.GetName()+" ended: Failed", 1)
	o.merge(t, trials, invalid, `{"metadata":{"labels":{"look":"again"}}}`)
	o.awaitLog(t, worker, namespace+".invalid: changed", 1)
	o.merge(t, trials, invalid, `{"spec":{"size":-6}}`)
	o.awaitShown(t, invalid, 2, "Failed")

	t.Log("an annotation asks for one")
	run(t, nil, "kubectl", "annotate", "trials.example.com", "healthy", "-n", namespace, "argoperator.dev/show=please")
	o.awaitShown(t, healthy, 1, "Succeeded")
	run(t, nil, "kubectl", "annotate", "--overwrite", "trials.example.com", "healthy", "-n", namespace, "argoperator.dev/show=again")
	o.awaitShown(t, healthy, 2, "Succeeded")

	t.Log("what is corrected while its Workflow runs is reconciled")
	o.merge(t, trials, invalid, `{"spec":{"size":-7}}`)
	o.awaitShown(t, invalid, 3, "")
	o.merge(t, trials, invalid, `{"spec":{"size":0}}`)
	o.awaitOwned(t, invalid, map[schema.GroupVersionResource]int{deployments: 1})

	t.Log("the account of the worker may run nothing else")
	creates := func(change func(map[string]any)) error {
		workflow := map[string]any{
			"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]any{"generateName": "other-", "namespace": operators},
			"spec": o.shownSpec(t),
		}
		change(workflow)
		manifest, err := json.Marshal(workflow)
		if err != nil {
			t.Fatal(err)
		}
		account := "system:serviceaccount:" + operators + ":" + o.only("Deployment").GetName()
		_, err = try(manifest, "kubectl", "create", "--dry-run=server", "-f", "-", "--as", account)
		return err
	}
	if err := creates(func(map[string]any) {}); err != nil {
		t.Errorf("the account of the worker cannot run its own Workflow: %v", err)
	}
	for what, change := range map[string]func(map[string]any){
		"of another account":   func(w map[string]any) { w["spec"].(map[string]any)["serviceAccountName"] = "default" },
		"with another program": func(w map[string]any) { w["spec"].(map[string]any)["templates"] = []any{} },
		"with a status": func(w map[string]any) {
			w["status"] = map[string]any{"storedWorkflowTemplateSpec": map[string]any{"serviceAccountName": "default"}}
		},
	} {
		if err := creates(change); err == nil || !strings.Contains(err.Error(), "may create only Workflows") {
			t.Errorf("the account of the worker ran a Workflow %s: %v", what, err)
		}
	}
}

// shownSpec is the spec of the Workflows that the worker makes, with arguments.
func (o *operator) shownSpec(t *testing.T) map[string]any {
	t.Helper()
	containers, _, _ := unstructured.NestedSlice(o.only("Deployment").Object, "spec", "template", "spec", "containers")
	for _, one := range containers[0].(map[string]any)["env"].([]any) {
		variable := one.(map[string]any)
		if variable["name"] != "ARGOPERATOR_SHOWS" {
			continue
		}
		specs := map[string]map[string]any{}
		if err := json.Unmarshal([]byte(variable["value"].(string)), &specs); err != nil {
			t.Fatal(err)
		}
		for _, spec := range specs {
			spec["arguments"] = map[string]any{"parameters": []any{map[string]any{"name": "key", "value": "nowhere.nothing"}}}
			return spec
		}
	}
	t.Fatal("the worker makes no Workflows")
	return nil
}

// awaitShown waits for the Workflows that show reconciles of a custom resource, until each is in
// a phase; "" is any.
func (o *operator) awaitShown(t *testing.T, cr *unstructured.Unstructured, n int, phase string) seen {
	t.Helper()
	of := func(s seen) seen {
		return slices.DeleteFunc(s, func(w *unstructured.Unstructured) bool { return w.GetLabels()[shownLabel] != string(cr.GetUID()) })
	}
	return of(o.cluster.await(t, cr.GetName()+" to be shown", slow, workflows, operators, func(s seen) bool {
		all := of(s)
		return len(all) == n && !slices.ContainsFunc(all, func(w *unstructured.Unstructured) bool {
			return phase != "" && nested(w, "status", "phase") != phase
		})
	}))
}
