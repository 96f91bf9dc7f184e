//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	confs = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "confs"}
	kept  = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
)

// TestAttacks lets somebody with few rights try to have an operator use its own
// for them. What they aim at stays as it is, byte for byte.
func TestAttacks(t *testing.T) {
	c := connectLong(t)
	mallory := c.mallory(t)
	for _, engine := range []string{"direct", "worker", "workflow"} {
		t.Run("spoofed child/"+engine, func(t *testing.T) { c.spoof(t, mallory, engine) })
		t.Run("taken name/"+engine, func(t *testing.T) { c.takeName(t, mallory, engine) })
		t.Run("prune of others' objects/"+engine, func(t *testing.T) { c.prune(t, mallory, engine) })
	}
	t.Run("observed annotations", func(t *testing.T) { c.forgeObserved(t, mallory) })
}

// mallory is a user who may write Confs in one namespace, create ConfigMaps in
// another, and change, but not delete, those of two.
func (c *cluster) mallory(t *testing.T) dynamic.Interface {
	t.Helper()
	grant := func(namespace string, rule rbacv1.PolicyRule) {
		meta := metav1.ObjectMeta{Name: "mallory-" + rule.Resources[0], Namespace: namespace}
		roles, bindings := c.kube.RbacV1().Roles(namespace), c.kube.RbacV1().RoleBindings(namespace)
		_, err := roles.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		_, err = bindings.Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "mallory"}},
		}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	maps := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "patch", "update"}}
	grant(nsA, maps)
	grant(nsC, maps)
	maps.Verbs = append(maps.Verbs, "create")
	grant(nsB, maps)
	grant(nsA, rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{"confs", "things"}, Verbs: []string{"*"}})
	return as(t, "mallory")
}

// as is the cluster as somebody else sees it.
func as(t *testing.T, user string) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// spoof has a ConfigMap of mallory's pass for a child of a custom resource.
func (c *cluster) spoof(t *testing.T, mallory dynamic.Interface, engine string) {
	o := c.install(t, "spoofed child/"+engine, forEngine(t, "../testdata/behaviour/spoofed-child", engine, ""))
	cr := o.create(t, "example.com/v1", "confs", "", "important", map[string]any{"value": "1"})
	o.awaitReady(t, confs, cr)
	c.await(t, "the second child to have the text of the first", slow, configMaps, "kube-system", func(s seen) bool {
		return slices.ContainsFunc(s, func(o *unstructured.Unstructured) bool {
			return o.GetName() == "important-second" && nested(o, "data", "b") == "1"
		})
	})
	untouched := c.victims(t, "kube-system", "important", "important-second")

	for name, owner := range map[string]map[string]any{
		"fake":      {"name": "important", "uid": string(cr.GetUID())},
		"wrong-uid": {"name": "important", "uid": "00000000-0000-0000-0000-000000000000"},
		"elsewhere": {"name": "kube-system/configmaps/important", "uid": string(cr.GetUID())},
		"evaluated": {"name": "{{=1+1}}", "uid": string(cr.GetUID())},
	} {
		owner["apiVersion"], owner["kind"], owner["controller"] = "example.com/v1", "Conf", true
		fake := aConfigMap(nsB, name, map[string]any{
			"labels": map[string]any{
				"app.kubernetes.io/managed-by": "conf", "argoperator.dev/child": "map", "argoperator.dev/owner-uid": string(cr.GetUID()),
			},
			"annotations":     map[string]any{"argoperator.dev/generation": "1", "argoperator.dev/owner": ".{{=1+1}}"},
			"ownerReferences": []any{owner},
		}, map[string]any{"a": "evil"})
		if _, err := mallory.Resource(configMaps).Namespace(nsB).Create(t.Context(), fake, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := mallory.Resource(configMaps).Namespace(nsB).Patch(t.Context(), "fake", types.MergePatchType, []byte(`{"data":{"a":"worse"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	o.later(t, "", cr)
	untouched()
	if now := c.get(t, confs, "", "important"); nested(now, "status", "readback") != "1" {
		t.Errorf("the status shows %q", nested(now, "status", "readback"))
	}
	started, err := c.objects.Resource(workflows).Namespace(operators).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range started.Items {
		unstructured.RemoveNestedField(w.Object, "spec", "templates") // argoperator's own
		if text, _ := json.Marshal(w.Object["spec"]); strings.Contains(string(text), "{{") {
			t.Errorf("Workflow %s has something to evaluate: %s", w.GetName(), text)
		}
	}
}

// takeName has a custom resource of mallory's take over an object of its name.
func (c *cluster) takeName(t *testing.T, mallory dynamic.Interface, engine string) {
	o := c.install(t, "taken name/"+engine, forEngine(t, "../testdata/behaviour/taken-name", engine, ""))
	c.precious(t, nsA, "important")
	untouched := c.victims(t, nsA, "important")
	mine := mallory.Resource(confs).Namespace(nsA)
	cr, err := mine.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Conf", "metadata": map[string]any{"name": "important"}, "spec": map[string]any{"value": "1"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.awaitUnready(t, cr, "adopt: true")
	untouched()
	cr, err = mine.Patch(t.Context(), "important", types.MergePatchType, []byte(`{"spec":{"value":"evil"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.await(t, "the edit to be refused", slow, confs, nsA, func(s seen) bool {
		now := s.by(cr.GetUID())
		return now != nil && number(now, "status", "observedGeneration") == 2
	})
	o.awaitUnready(t, cr, "adopt: true")
	untouched()
	account := "conf-sensor"
	if engine == "worker" {
		account = "conf-worker"
	}
	_, err = as(t, "system:serviceaccount:"+operators+":"+account).Resource(eventSources).Namespace(operators).
		Patch(t.Context(), "conf", types.MergePatchType, []byte(`{"spec":{"template":{"serviceAccountName":"default"}}}`), metav1.PatchOptions{})
	if err == nil || !strings.Contains(err.Error(), "may change annotations only") {
		t.Errorf("the account %s chooses the service account of the EventSource: %v", account, err)
	}
	o.remove(t, cr)
	o.later(t, nsA, nil)
	untouched()
}

// prune has labels of mallory's make others' objects look like children that
// nobody wants any more.
func (c *cluster) prune(t *testing.T, mallory dynamic.Interface, engine string) {
	more := ""
	if engine != "direct" {
		more = "\n  finalizer: {}\n" // it looks for children in all namespaces
	}
	o := c.install(t, "prune/"+engine, forEngine(t, "../testdata/behaviour/foreign-prune", engine, more))
	cr := o.create(t, "example.com/v1", "confs", nsA, "victim", map[string]any{"value": "1"})
	o.awaitReady(t, confs, cr)
	label := []byte(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"conf","argoperator.dev/child":"map","argoperator.dev/owner-uid":"` + string(cr.GetUID()) + `"}}}`)
	var checks []func()
	for _, namespace := range []string{nsA, nsC} {
		c.precious(t, namespace, "foreign")
		if _, err := mallory.Resource(configMaps).Namespace(namespace).Patch(t.Context(), "foreign", types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		checks = append(checks, c.victims(t, namespace, "foreign"))
	}
	o.merge(t, confs, cr, `{"spec":{"value":"2"}}`)
	o.awaitData(t, cr, "b", "2")
	o.later(t, nsA, cr)
	for _, untouched := range checks {
		untouched()
	}
	o.remove(t, cr)
	o.later(t, nsA, nil)
	for _, untouched := range checks {
		untouched()
	}
}

// forgeObserved writes into a custom resource what the operator keeps there.
func (c *cluster) forgeObserved(t *testing.T, mallory dynamic.Interface) {
	o := c.install(t, "observed annotations", "../testdata/behaviour/taken-name-annotations")
	victim := c.precious(t, nsA, "important")
	untouched := c.victims(t, nsA, "important")
	mine := mallory.Resource(kept).Namespace(nsA)
	forged := func(owner types.UID) string {
		text, _ := json.Marshal(map[string]any{"ownerUID": owner, "uid": victim.GetUID(), "generation": 1})
		return string(text)
	}
	cr, err := mine.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "spec": map[string]any{"value": "evil"},
		"metadata": map[string]any{"name": "important", "annotations": map[string]any{"conf.argoperator.dev/child-map": forged("a guess")}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patch, _ := json.Marshal(map[string]any{
		"spec":     map[string]any{"value": "worse"},
		"metadata": map[string]any{"annotations": map[string]any{"conf.argoperator.dev/child-map": forged(cr.GetUID())}},
	})
	_, err = mine.Patch(t.Context(), "important", types.MergePatchType, patch, metav1.PatchOptions{})
	if err == nil || !strings.Contains(err.Error(), "only operator conf writes annotations that begin with conf.argoperator.dev/") {
		t.Errorf("what the operator observes was written: %v", err)
	}
	o.later(t, nsA, nil)
	untouched()
}

// later returns when the operator has handled all that came before: another
// custom resource has been through, and a resync.
func (o *operator) later(t *testing.T, namespace string, cr *unstructured.Unstructured) {
	t.Helper()
	name := "bystander-" + strconv.FormatInt(time.Now().UnixMilli(), 36)
	next := o.create(t, "example.com/v1", o.resource().Resource, namespace, name, map[string]any{"value": "3"})
	o.cluster.await(t, "the bystander's ConfigMap", slow, configMaps, "", func(s seen) bool { return len(s.ownedBy(next)) > 0 })
	o.startResync(t)
	o.awaitIdle(t)
	if cr != nil {
		o.awaitReady(t, confs, cr)
	}
}

// precious makes a ConfigMap that is nobody's child.
func (c *cluster) precious(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	client := c.objects.Resource(configMaps).Namespace(namespace)
	made, err := client.Create(t.Context(), aConfigMap(namespace, name, map[string]any{"labels": map[string]any{"owner": "platform-team"}},
		map[string]any{"a": "1", "keep": "precious"}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("what was to stay cannot be deleted: %v", err)
		}
	})
	return made
}

func aConfigMap(namespace, name string, metadata, data map[string]any) *unstructured.Unstructured {
	metadata["namespace"], metadata["name"] = namespace, name
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}}
}

func (c *cluster) get(t *testing.T, gvr schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	one, err := c.objects.Resource(gvr).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return one
}

// victims remembers ConfigMaps. What it returns fails the test unless they are
// the same, byte for byte.
func (c *cluster) victims(t *testing.T, namespace string, names ...string) func() {
	t.Helper()
	look := func() map[string]string {
		found := map[string]string{}
		for _, name := range names {
			text, err := c.get(t, configMaps, namespace, name).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			found[name] = string(text)
		}
		return found
	}
	before := look()
	return func() {
		t.Helper()
		for name, now := range look() {
			if now != before[name] {
				t.Errorf("ConfigMap %s/%s was\n%s\nand is\n%s", namespace, name, before[name], now)
			}
		}
	}
}
