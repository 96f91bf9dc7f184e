//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// TestLeastPrivilege takes each right of an operator away, one at a time, and
// plays the whole life of a custom resource: somewhere the right is missed, and
// what is missed names the right. Not part of the suite: $E2E_GUARDS asks for it.
func TestLeastPrivilege(t *testing.T) {
	if os.Getenv("E2E_GUARDS") == "" {
		t.Skip("E2E_GUARDS is not set")
	}
	if os.Getenv("LAB_AUDIT_LOG") == "" {
		t.Skip("no audit log ($LAB_AUDIT_LOG): missing permissions cannot be found")
	}
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // kinds of their own, accounts of their own
			c := connect(t)
			w := &world{subject: s, operator: c.install(t, s.name, s.definition(t))}
			w.measured, w.audit.lenient = record(t, "least-privilege", s.name), true
			list := slices.DeleteFunc(w.removable(t), func(r removable) bool { return !asked(r.String()) })
			var told []string
			for i, one := range list {
				missed := w.lacking(t, one, i)
				told = append(told, fmt.Sprintf("%s: missed when %s", one, missed))
			}
			t.Logf("%s", strings.Join(told, "\n"))
			w.measured("each of %d permissions is needed: without it, a request fails", len(list))
		})
	}
}

// removable is one right in one role.
type removable struct {
	role    schema.GroupVersionResource
	object  *unstructured.Unstructured
	rule    int
	verb    string
	account string
	right   string
}

func (r removable) String() string { return r.account + " may " + r.right }

// removable are the rights of the operator's own accounts.
func (o *operator) removable(t *testing.T) []removable {
	t.Helper()
	bound := map[string]string{}
	for _, object := range o.objects {
		if kind := object.GetKind(); kind == "RoleBinding" || kind == "ClusterRoleBinding" {
			subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
			bound[nested(object, "roleRef", "kind")+"/"+nested(object, "roleRef", "name")] = fmt.Sprint(subjects[0].(map[string]any)["name"])
		}
	}
	var list []removable
	for _, object := range o.objects {
		account := bound[object.GetKind()+"/"+object.GetName()]
		if kind := object.GetKind(); account == "" || kind != "Role" && kind != "ClusterRole" {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
			t.Fatal(err)
		}
		for i, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				list = append(list, removable{
					role:   schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: strings.ToLower(object.GetKind()) + "s"},
					object: object, rule: i, verb: verb, account: account,
					right: right(verb, rule.APIGroups[0], rule.Resources[0]),
				})
			}
		}
	}
	return list
}

// lacking takes a right away, lets happen what needs it, and waits until the API
// server has refused it. Then the right is given back. It returns what happened.
func (w *world) lacking(t *testing.T, r removable, i int) string {
	t.Helper()
	rules, _, _ := unstructured.NestedSlice(r.object.Object, "rules")
	w.setRules(t, r, reduced(rules, r.rule, r.verb))
	defer w.setRules(t, r, rules)
	log, what, missed := openAudit(t), "", false
	for try := 0; try < 3 && !missed; try++ { // what needs the right may come a moment too late
		var happens func()
		what, happens = w.needing(t, r, fmt.Sprintf("life%d-%d", i, try))
		happens()
		missed = log.denies(t, r, 4*time.Minute) // a worker without a heartbeat acts after three
	}
	if !missed {
		t.Errorf("nobody missed that %s when %s", r, what)
	}
	w.setRules(t, r, rules)
	w.cluster.scaleParts(t, w.ofSensor(), 1)
	w.removeAll(t, w.subject.kind)
	w.removeWorkflows(t) // rather than wait until they have tried again
	return what
}

// ofSensor selects the Deployment of the operator's Sensor.
func (w *world) ofSensor() string { return "sensor-name=" + w.only("Sensor").GetName() }

// needing is what an operator needs a right for: the name of it, and how to make
// it happen.
func (w *world) needing(t *testing.T, r removable, name string) (string, func()) {
	created := func() { w.make(t, name, 0) }
	role := r.account[strings.LastIndex(r.account, "-")+1:]
	verb, resource, _ := strings.Cut(r.right, " ")
	switch {
	case role == "source":
		return "the EventSource starts", func() {
			run(t, nil, "kubectl", "delete", "pods", "-n", operators, "-l", "eventsource-name="+w.only("EventSource").GetName(), "--wait=false")
		}
	case role == "resync" && (resource == "argoproj.io/sensors" || r.right == "patch argoproj.io/eventsources" && w.subject.engine != "direct"):
		return "the Sensors stopped receiving events", func() {
			w.awaitAge(t, 3*time.Minute)
			w.stopReceiving(t) // they did not, and may write so before the resync checks
			w.startResync(t)
			w.awaitIdle(t)
		}
	case role == "resync" && (verb == "create" && resource == "argoproj.io/workflows" || verb == "patch" && strings.HasSuffix(resource, "/"+w.subject.kind.Resource)):
		return "the resync finds work", func() {
			cr := w.make(t, name, 0)
			w.has(t, cr, 0)
			w.awaitIdle(t)
			w.merge(t, w.subject.kind, cr, `{"status":{"observedGeneration":0}}`, "status")
			w.startResync(t)
		}
	case w.subject.templates && r.right == "patch "+w.subject.kind.Group+"/"+w.subject.kind.Resource:
		return "a child is deleted", func() { // only the Sensor can say what it was
			w.dropChild(t, w.hasChild(t, w.make(t, name, 0), 0))
		}
	case role == "sensor" && (resource == "argoproj.io/workflows" || resource == "argoproj.io/workflowtaskresults") && w.subject.engine == "direct":
		return "a request is rejected", func() { w.occupy(t, name); created() }
	case r.right == "create coordination.k8s.io/leases":
		return "the Lease is gone", func() { run(t, nil, "kubectl", "delete", "lease", "-n", operators, r.account) }
	case role == "worker" && (resource == "argoproj.io/sensors" || resource == "argoproj.io/eventsources"):
		return "no events arrive any more", func() { w.cluster.scaleParts(t, w.ofSensor(), 0) }
	case role == "worker" && (resource == "argoproj.io/workflows" || resource == "argoproj.io/workflowtaskresults"):
		return "somebody asks for a Workflow", func() {
			worker := w.only("Deployment").GetName()
			run(t, nil, "kubectl", "rollout", "restart", "deployment", worker, "-n", operators) // it asks once whether it may
			run(t, nil, "kubectl", "rollout", "status", "deployment", worker, "-n", operators, "--timeout=10m")
			w.merge(t, w.subject.kind, w.make(t, name, 0), `{"metadata":{"annotations":{"argoperator.dev/show":"x"}}}`)
		}
	case role == "resync":
		return "the resync runs", func() { created(); w.startResync(t) }
	case verb == "delete":
		return "a child is no longer wanted", func() { w.unwanted(t, w.make(t, name, 0), r.account) }
	case r.right == "get argoproj.io/workflows":
		return "a Workflow is stopped", func() {
			defer w.holdPods(t)()
			created()
			w.stopWorkflow(t)
		}
	}
	return "a custom resource is made", created // the heartbeat comes by itself
}

// unwanted makes an object that looks like a child and is none that the
// definition asks for. Nobody but the account that writes the children may.
func (w *world) unwanted(t *testing.T, cr *unstructured.Unstructured, account string) {
	t.Helper()
	child := w.hasChild(t, cr, 0).DeepCopy()
	child.SetName(child.GetName() + "-more")
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "generation", "creationTimestamp"} {
		unstructured.RemoveNestedField(child.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(child.Object, "status")
	writer := as(t, "system:serviceaccount:"+operators+":"+account)
	if _, err := writer.Resource(deployments).Namespace(child.GetNamespace()).Create(t.Context(), child, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.merge(t, w.subject.kind, cr, `{"metadata":{"labels":{"look":"again"}}}`)
}

// holdPods lets the pods of reconciles wait for a node that is not there, but for that of
// the exit handler. The function that it returns ends that.
func (w *world) holdPods(t *testing.T) func() {
	t.Helper()
	template := w.objects[slices.IndexFunc(w.objects, func(o *unstructured.Unstructured) bool { return nested(o, "spec", "onExit") != "" })]
	templates, _, _ := unstructured.NestedSlice(template.Object, "spec", "templates")
	set := func(templates []any) {
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"templates": templates}})
		if err != nil {
			t.Fatal(err)
		}
		w.merge(t, workflows.GroupVersion().WithResource("workflowtemplates"), template, string(patch))
	}
	held := runtime.DeepCopyJSONValue(templates).([]any)
	for _, one := range held {
		if one := one.(map[string]any); one["name"] != "report" && one["name"] != "exit" { // its steps would have the selector, too
			one["nodeSelector"] = map[string]any{"nowhere": "true"}
		}
	}
	set(held)
	return func() { set(templates) }
}

// stopWorkflow stops the next Workflow of the operator before it can say by
// itself how it went.
func (w *world) stopWorkflow(t *testing.T) {
	t.Helper()
	sensor := w.only("Sensor").GetName()
	running := func(o *unstructured.Unstructured) bool {
		nodes, _, _ := unstructured.NestedMap(o.Object, "status", "nodes")
		return o.GetLabels()["events.argoproj.io/sensor"] == sensor && !completed(o) && len(nodes) > 0
	}
	s := w.cluster.await(t, "a Workflow", slow, workflows, operators, func(s seen) bool { return slices.ContainsFunc(s, running) })
	one := s[slices.IndexFunc(s, running)]
	w.merge(t, workflows, one, `{"spec":{"shutdown":"Stop"}}`)
}

func reduced(rules []any, i int, verb string) []any {
	out := runtime.DeepCopyJSONValue(rules).([]any)
	rule := out[i].(map[string]any)
	verbs, _, _ := unstructured.NestedStringSlice(rule, "verbs")
	verbs = slices.DeleteFunc(verbs, func(v string) bool { return v == verb })
	if len(verbs) == 0 {
		return slices.Delete(out, i, i+1)
	}
	_ = unstructured.SetNestedStringSlice(rule, verbs, "verbs")
	return out
}

func (w *world) setRules(t *testing.T, r removable, rules []any) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"rules": rules})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.cluster.objects.Resource(r.role).Namespace(r.object.GetNamespace()).
		Patch(t.Context(), r.object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// denies waits until a request that needs the right was refused.
func (a *audit) denies(t *testing.T, r removable, limit time.Duration) bool {
	t.Helper()
	for deadline := time.Now().Add(limit); ; pause(t.Context()) {
		for _, event := range a.read(t, r.account) {
			if event.Object != nil && event.Annotations["authorization.k8s.io/decision"] == "forbid" && event.right() == r.right {
				return true
			}
			// a server-side apply that would create is let in as a patch and refused as a create
			if event.Object != nil && event.Response != nil && event.Response.Code == 403 && strings.HasPrefix(r.right, "create ") &&
				event.right() == "patch "+strings.TrimPrefix(r.right, "create ") {
				return true
			}
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
