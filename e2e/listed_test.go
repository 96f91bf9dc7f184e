//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	groups         = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "groups"}
	ingressClasses = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingressclasses"}
)

// ownerUID is the label that names the custom resource of a child.
const ownerUID = "argoperator.dev/owner-uid"

// TestListed leads an operator whose observed state lists the objects through what
// happens to them: their number, names and namespaces change, nothing owns some of
// them, and users do what they should not.
func TestListed(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	c := connect(t)
	o := c.install(t, "listed", "testdata/listed")
	for _, one := range []struct {
		name string
		play func(*testing.T, *operator)
	}{
		{"rename", listedRename},
		{"many", listedMany},
		{"foreign-namespace", listedForeignNamespace},
		{"contention", listedContention},
		{"hostile-items", listedHostileItems},
		{"state-edited", listedStateEdited},
		{"copies", listedCopies},
		{"operator-away", listedOperatorAway},
		{"finalizer-removed", listedFinalizerRemoved},
		{"namespace-deleted", listedNamespaceDeleted},
	} {
		t.Run(one.name, func(t *testing.T) {
			record(t, "listed-"+one.name, "direct/listed")
			one.play(t, o)
		})
	}
}

func (o *operator) group(t *testing.T, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	t.Helper()
	cr := o.create(t, "example.com/v1", "groups", namespace, name, spec)
	t.Cleanup(func() {
		_, err := try(nil, "kubectl", "delete", "groups", "-n", namespace, name, "--ignore-not-found", "--timeout=90s")
		if err != nil {
			t.Error(err)
		}
	})
	return cr
}

// awaitMaps waits until the ConfigMaps of a custom resource in all namespaces have
// exactly these names and this text.
func (o *operator) awaitMaps(t *testing.T, cr *unstructured.Unstructured, text string, names ...string) seen {
	t.Helper()
	slices.Sort(names)
	return o.cluster.await(t, fmt.Sprintf("the ConfigMaps %v of %s", names, cr.GetName()), slow, configMaps, "", func(s seen) bool {
		var got []string
		for _, one := range s.withLabel(ownerUID, string(cr.GetUID())) {
			if nested(one, "data", "text") == text {
				got = append(got, one.GetNamespace()+"/"+one.GetName())
			}
		}
		slices.Sort(got)
		return slices.Equal(got, names)
	})
}

// awaitNoObjects waits until nothing is left of a custom resource.
func (o *operator) awaitNoObjects(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	o.cluster.await(t, cr.GetName()+" to go", slow, groups, cr.GetNamespace(), func(s seen) bool { return s.by(cr.GetUID()) == nil })
	for _, kind := range []schema.GroupVersionResource{configMaps, ingressClasses} {
		o.cluster.await(t, "the "+kind.Resource+" of "+cr.GetName()+" to go", slow, kind, "", func(s seen) bool {
			return len(s.withLabel(ownerUID, string(cr.GetUID()))) == 0
		})
	}
}

func listedRename(t *testing.T, o *operator) {
	cr := o.group(t, nsA, "renamed", map[string]any{"members": []any{"a"}})
	o.awaitMaps(t, cr, "none", nsA+"/badge-renamed", nsA+"/renamed-a")
	o.awaitReady(t, groups, cr)
	began := time.Now()
	o.merge(t, groups, cr, `{"spec":{"members":["b","c"],"space":"`+nsB+`","text":"new"}}`)
	o.awaitMaps(t, cr, "new", nsB+"/badge-renamed", nsA+"/renamed-b", nsA+"/renamed-c")
	o.awaitMaps(t, cr, "none") // the former ones are deleted
	t.Logf("renamed within %s", seconds(time.Since(began)))
	o.awaitReady(t, groups, cr)
	o.drop(t, cr)
	o.awaitNoObjects(t, cr)
}

func (o *operator) drop(t *testing.T, cr *unstructured.Unstructured) {
	t.Helper()
	if err := o.cluster.objects.Resource(groups).Namespace(cr.GetNamespace()).Delete(t.Context(), cr.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// listedMany grows and shrinks a list to and from 200 items.
func listedMany(t *testing.T, o *operator) {
	const many = 200
	items := func(n int) (list []any, names []string) {
		names = []string{nsA + "/badge-many"}
		for i := range n {
			list = append(list, fmt.Sprintf("i%03d", i))
			names = append(names, fmt.Sprintf("%s/many-i%03d", nsA, i))
		}
		return list, names
	}
	all, names := items(many)
	began := time.Now()
	cr := o.group(t, nsA, "many", map[string]any{"members": all})
	o.awaitMaps(t, cr, "none", names...)
	t.Logf("%d items within %s", many, seconds(time.Since(began)))
	o.awaitReady(t, groups, cr)

	began = time.Now()
	few, fewNames := items(20)
	o.merge(t, groups, cr, `{"spec":{"members":[`+quoted(few)+`]}}`)
	o.awaitMaps(t, cr, "none", fewNames...)
	t.Logf("shrunk to %d within %s", len(few), seconds(time.Since(began)))
	o.awaitReady(t, groups, cr)
	o.drop(t, cr)
	o.awaitNoObjects(t, cr)
}

func quoted(items []any) string {
	var list []string
	for _, item := range items {
		list = append(list, fmt.Sprintf("%q", item))
	}
	return strings.Join(list, ",")
}

// listedForeignNamespace deletes objects by hand that nothing owns.
func listedForeignNamespace(t *testing.T, o *operator) {
	cr := o.group(t, nsA, "abroad", map[string]any{"space": nsB})
	o.awaitMaps(t, cr, "none", nsB+"/badge-abroad")
	run(t, nil, "kubectl", "delete", "configmap", "-n", nsB, "badge-abroad")
	run(t, nil, "kubectl", "delete", "ingressclass", nsA+"-abroad")
	o.awaitMaps(t, cr, "none", nsB+"/badge-abroad")
	o.cluster.await(t, "the IngressClass to be back", slow, ingressClasses, "", func(s seen) bool {
		return len(s.withLabel(ownerUID, string(cr.GetUID()))) == 1
	})
	o.awaitReady(t, groups, cr)
	o.drop(t, cr)
	o.awaitNoObjects(t, cr)
}

// listedContention has two custom resources that want one object.
func listedContention(t *testing.T, o *operator) {
	first := o.group(t, nsA, "wanted", map[string]any{"space": nsB})
	o.awaitReady(t, groups, first)
	second := o.group(t, nsB, "wanted", map[string]any{"space": nsB})
	o.awaitUnready(t, second, "does not belong to this Group")
	o.awaitMaps(t, first, "none", nsB+"/badge-wanted")
	o.drop(t, second)
	o.awaitNoObjects(t, second)
	o.awaitMaps(t, first, "none", nsB+"/badge-wanted")
}

// listedHostileItems has names that the API server refuses, beside a good one.
func listedHostileItems(t *testing.T, o *operator) {
	items := []any{"good", "../../secrets/x", "ü\u2028", strings.Repeat("x", 253), "", "a\"b"}
	cr := o.group(t, nsA, "hostile", map[string]any{"members": items})
	o.awaitMaps(t, cr, "none", nsA+"/badge-hostile", nsA+"/hostile-good")
	o.awaitUnready(t, cr, "the API server rejected it")
	o.merge(t, groups, cr, `{"spec":{"members":["good"]}}`)
	o.awaitReady(t, groups, cr)
}

// listedStateEdited tries to have the operator delete what is not its own.
func listedStateEdited(t *testing.T, o *operator) {
	cr := o.group(t, nsA, "edited", map[string]any{})
	o.awaitReady(t, groups, cr)
	out := run(t, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"precious","namespace":"`+nsA+`"}}`), "kubectl", "create", "-f", "-", "-o", "jsonpath={.metadata.uid}")
	t.Cleanup(func() { run(t, nil, "kubectl", "delete", "configmap", "-n", nsA, "precious") })
	patch := fmt.Sprintf(`{"status":{"children":{"member/precious":{"uid":%q,"unwanted":true}}}}`, out)
	_, err := o.cluster.objects.Resource(groups).Namespace(nsA).Patch(t.Context(), "edited", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	if err == nil || !strings.Contains(err.Error(), "only operator groups writes status.children") {
		t.Errorf("the edit of the state is not refused: %v", err)
	}
	run(t, nil, "kubectl", "get", "configmap", "-n", nsA, "precious")
}

// listedCopies copies a child with its labels and its owner: it is not in the list.
func listedCopies(t *testing.T, o *operator) {
	cr := o.group(t, nsA, "copied", map[string]any{"members": []any{"a"}})
	o.awaitReady(t, groups, cr)
	fake := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": "copied-z", "namespace": nsA,
		"labels": map[string]any{ownerUID: string(cr.GetUID()), "argoperator.dev/child": "member"},
		"ownerReferences": []any{map[string]any{
			"apiVersion": "example.com/v1", "kind": "Group", "name": cr.GetName(), "uid": string(cr.GetUID()), "controller": true,
		}},
	}}}
	if _, err := o.cluster.objects.Resource(configMaps).Namespace(nsA).Create(t.Context(), fake, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	fake.SetLabels(map[string]string{ownerUID: string(cr.GetUID()), "argoperator.dev/child": "member", "app.kubernetes.io/managed-by": "groups"})
	if _, err := o.cluster.objects.Resource(configMaps).Namespace(nsA).Update(t.Context(), fake, metav1.UpdateOptions{}); err == nil {
		t.Error("the label of the operator is not refused")
	}
	o.merge(t, groups, cr, `{"spec":{"members":["a","b"]}}`)
	o.awaitReady(t, groups, cr)
	if nested(o.cluster.get(t, groups, nsA, cr.GetName()), "status", "children", "member/copied-z", "uid") != "" {
		t.Error("the copy is in the list")
	}
	run(t, nil, "kubectl", "get", "configmap", "-n", nsA, "copied-z")
}

// listedOperatorAway deletes, renames and shrinks while the Sensors and the
// EventSource are away.
func listedOperatorAway(t *testing.T, o *operator) {
	deleted := o.group(t, nsA, "away-deleted", map[string]any{"space": nsB})
	edited := o.group(t, nsA, "away-edited", map[string]any{"members": []any{"a", "b", "c", "d", "e"}})
	o.awaitReady(t, groups, deleted)
	o.awaitReady(t, groups, edited)
	alone := field{{operator: o}}
	for _, part := range []string{"sensor-name", "eventsource-name"} {
		alone.without(t, part, func() {
			switch part {
			case "sensor-name":
				o.drop(t, deleted)
			default:
				run(t, nil, "kubectl", "delete", "configmap", "-n", nsA, "away-edited-b", "away-edited-d", "away-edited-e")
				o.merge(t, groups, edited, `{"spec":{"members":["b","c","e"]}}`)
			}
		})
	}
	o.awaitNoObjects(t, deleted)
	o.awaitMaps(t, edited, "none", nsA+"/badge-away-edited", nsA+"/away-edited-b", nsA+"/away-edited-c", nsA+"/away-edited-e")
	o.awaitReady(t, groups, edited)
}

// listedFinalizerRemoved removes the finalizer by force: what the operator would
// have deleted stays, and a custom resource of the same name says so.
func listedFinalizerRemoved(t *testing.T, o *operator) {
	cr := o.group(t, nsA, "forced", map[string]any{"space": nsB})
	o.awaitReady(t, groups, cr)
	alone := field{{operator: o}}
	alone.without(t, "sensor-name", func() {
		o.drop(t, cr)
		o.merge(t, groups, cr, `{"metadata":{"finalizers":null}}`)
		o.cluster.await(t, "forced to go", slow, groups, nsA, func(s seen) bool { return s.by(cr.GetUID()) == nil })
	})
	run(t, nil, "kubectl", "get", "configmap", "-n", nsB, "badge-forced")
	again := o.group(t, nsA, "forced", map[string]any{"space": nsB})
	o.awaitUnready(t, again, "does not belong to this Group")
	run(t, nil, "kubectl", "delete", "configmap", "-n", nsB, "badge-forced")
	run(t, nil, "kubectl", "delete", "ingressclass", nsA+"-forced")
	o.awaitReady(t, groups, again)
}

// listedNamespaceDeleted deletes the namespace of a custom resource that has objects in
// another one: its finalizer holds the namespace until they are gone.
func listedNamespaceDeleted(t *testing.T, o *operator) {
	const going = "e2e-listed-going"
	o.cluster.namespace(t, going, "")
	cr := o.group(t, going, "held", map[string]any{"space": nsB, "members": []any{"a", "b"}})
	o.awaitReady(t, groups, cr)
	o.cluster.drop(t, going)
	o.awaitNoObjects(t, cr)
	run(t, nil, "kubectl", "wait", "--for=delete", "namespace/"+going, "--timeout="+slow.String())
}
