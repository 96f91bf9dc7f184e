//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	networks = schema.GroupVersionResource{Group: "aws.example.com", Version: "v1", Resource: "networks"}
	caches   = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "caches"}
	viewers  = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "viewers"}

	roleBindings = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

// TestNestedOperator has a child with an operator of its own, which the test
// plays: the other children wait for it, keep what they were made of, and fail
// where they cannot do without it.
func TestNestedOperator(t *testing.T) {
	c := connectLong(t)
	dir := "../testdata/behaviour/nested-operator"
	run(t, nil, "kubectl", "apply", "-f", dir+"/network.yaml")
	t.Cleanup(func() {
		run(t, nil, "kubectl", "delete", "--ignore-not-found", "-f", dir+"/network.yaml")
	})
	for _, engine := range []string{"direct", "worker", "workflow"} {
		t.Run(engine, func(t *testing.T) { c.playNestedOperator(t, dir, engine) })
	}
}

func (c *cluster) playNestedOperator(t *testing.T, dir, engine string) {
	o := c.install(t, "nested/"+engine, forEngine(t, dir, engine, `
  - name: report
    dependsOn: [network]
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "${ .metadata.name }-report"}
      data: {text: "the network is ${ $children.network.status.arn // null }"}
`))
	cr := o.create(t, "example.com/v1", "caches", nsA, "one", map[string]any{"size": int64(1)})

	t.Log("the network has not reported a status, so the others wait")
	o.awaitUnready(t, cr, "its controller has not reported a status yet")
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{networks: 1, configMaps: 0})
	network := c.await(t, "the network", slow, networks, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 1 }).ownedBy(cr)[0]

	t.Log("the children appear when the status is set")
	o.merge(t, networks, network, `{"status":{"arn":"a","observedGeneration":1,"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, "status")
	o.awaitReady(t, caches, cr)
	o.awaitData(t, cr, "arn", "a")
	o.awaitData(t, cr, "text", "the network is a")

	t.Log("where it loses the field, one child waits and the template of the other fails; a resync does not hide it")
	o.merge(t, networks, network, `{"status":{"arn":null}}`, "status")
	o.awaitUnready(t, cr, "null inside a text")
	o.startResync(t)
	o.awaitIdle(t)
	o.awaitUnready(t, cr, "null inside a text")
	o.awaitData(t, cr, "arn", "a")
	o.awaitData(t, cr, "text", "the network is a")

	t.Log("another value reaches both")
	o.merge(t, networks, network, `{"status":{"arn":"b"}}`, "status")
	o.awaitReady(t, caches, cr)
	o.awaitData(t, cr, "arn", "b")
	o.awaitData(t, cr, "text", "the network is b")
}

// TestChain has children that read each other, declared in the wrong order: eight, or as many as
// one Sensor has room for.
func TestChain(t *testing.T) { withBothEngines(t, (*cluster).playChain) }

var chains = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "chains"}

// withBothEngines plays something with each engine that has templates.
func withBothEngines(t *testing.T, play func(c *cluster, t *testing.T, engine string)) {
	t.Helper()
	withEngines(t, play, "direct", "worker", "workflow")
}

// withPods plays something with each engine whose pods reconcile.
func withPods(t *testing.T, play func(c *cluster, t *testing.T, engine string)) {
	t.Helper()
	withEngines(t, play, "worker", "workflow")
}

func withEngines(t *testing.T, play func(c *cluster, t *testing.T, engine string), engines ...string) {
	t.Helper()
	c := connectLong(t)
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) { play(c, t, engine) })
	}
}

func (c *cluster) playChain(t *testing.T, engine string) {
	dir, first := "chain", map[schema.GroupVersionResource]int{configMaps: 5, deployments: 1}
	second := map[schema.GroupVersionResource]int{configMaps: 6}
	if engine == "direct" {
		dir, first = "chain-lists", map[schema.GroupVersionResource]int{configMaps: 4}
		second = first
	}
	o := c.install(t, "chain/"+engine, forEngine(t, "../testdata/behaviour/"+dir, engine, ""))
	began := time.Now()
	cr := o.create(t, "example.com/v1", "chains", nsA, "one", map[string]any{})
	o.awaitReady(t, chains, cr)
	t.Logf("ready after %.1f s", time.Since(began).Seconds())
	o.awaitOwned(t, cr, first)
	o.awaitData(t, cr, "parts", "one-part-a one-part-b")

	t.Log("each was made after those that it reads")
	made := map[string]time.Time{}
	versions := map[string]int{}
	for _, gvr := range []schema.GroupVersionResource{configMaps, deployments} {
		list, err := c.objects.Resource(gvr).Namespace(nsA).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var all seen
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		for _, object := range all.ownedBy(cr) {
			name := object.GetLabels()["argoperator.dev/child"]
			made[name] = object.GetCreationTimestamp().Time
			versions[name]++
		}
	}
	for _, pair := range [][2]string{{"web", "config"}, {"config", "part"}, {"config", "last"}} {
		if made[pair[1]].Before(made[pair[0]]) {
			t.Errorf("%s was made before %s", pair[1], pair[0])
		}
	}
	if versions["part"] != 2 {
		t.Errorf("%d parts", versions["part"])
	}

	t.Log("a change passes through all of them")
	more := ""
	if engine != "direct" {
		more = `,"extra":true`
	}
	o.merge(t, chains, cr, `{"spec":{"text":"b","parts":["b","c"]`+more+`}}`)
	o.awaitData(t, cr, "parts", "one-part-b one-part-c")
	o.awaitOwned(t, cr, second)
	if more != "" {
		o.awaitData(t, cr, "extra", "b")
	}
}

// TestUpdate changes immutable fields of children that are replaced, and children that
// are never updated.
func TestUpdate(t *testing.T) { withBothEngines(t, (*cluster).playUpdate) }

var (
	batches = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "batches"}
	jobs    = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

func (c *cluster) playUpdate(t *testing.T, engine string) {
	o := c.install(t, "update/"+engine, forEngine(t, "../testdata/behaviour/update", engine, ""))
	cr := o.create(t, "example.com/v1", "batches", nsA, "one", map[string]any{})
	o.awaitReady(t, batches, cr)
	o.awaitData(t, cr, "sealed", "600")
	job := c.await(t, "the Job", slow, jobs, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 1 }).ownedBy(cr)[0]
	c.await(t, "its Pod", slow, pods, nsA, func(s seen) bool { return len(s.ownedBy(job)) == 1 })

	t.Log("what is immutable is replaced, with its Pods")
	o.merge(t, batches, cr, `{"spec":{"seconds":700,"nodes":["a","b"]}}`)
	var next *unstructured.Unstructured
	c.await(t, "another Job", slow, jobs, nsA, func(s seen) bool {
		for _, one := range s.ownedBy(cr) {
			next = one
		}
		return next != nil && next.GetUID() != job.GetUID()
	})
	if made := next.GetCreationTimestamp(); job.GetCreationTimestamp().After(made.Time) {
		t.Errorf("the next Job is older")
	}
	c.await(t, "the Pods of the first Job to go", slow, pods, nsA, func(s seen) bool { return len(s.ownedBy(job)) == 0 && len(s.ownedBy(next)) == 1 })
	o.awaitReady(t, batches, cr)
	c.await(t, "two sealed ConfigMaps of the change, and the other as it was", slow, configMaps, nsA, func(s seen) bool {
		sealed, once := 0, ""
		for _, one := range s.ownedBy(cr) {
			if nested(one, "data", "sealed") == "700" {
				sealed++
			}
			once += nested(one, "data", "once")
		}
		return sealed == 2 && once == "600"
	})

	t.Log("what is never updated is created again")
	if err := c.objects.Resource(configMaps).Namespace(nsA).Delete(t.Context(), "one-once", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.awaitData(t, cr, "once", "700")
	o.awaitReady(t, batches, cr)

	t.Log("a Job that is not wanted goes with its Pods")
	o.merge(t, batches, cr, `{"spec":{"run":false}}`)
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{jobs: 0})
	c.await(t, "its Pods to go", slow, pods, nsA, func(s seen) bool { return len(s.ownedBy(next)) == 0 })
}

// TestPatches sets fields of an object of others, loses one of them, and gives up the
// rest.
func TestPatches(t *testing.T) {
	c := connectLong(t)
	o := c.install(t, "patches", "../testdata/behaviour/patches")
	restarts := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "restarts"}
	cr := o.create(t, "example.com/v1", "restarts", nsA, "one", map[string]any{"map": "of-others"})
	o.awaitUnready(t, cr, "stamp: there is no ConfigMap "+nsA+"/of-others")

	t.Log("the object comes, and the custom resource changes")
	maps := c.objects.Resource(configMaps).Namespace(nsA)
	theirs := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "of-others", "labels": map[string]any{"app.kubernetes.io/managed-by": "Helm"}},
		"data":     map[string]any{"theirs": "a"},
	}}
	if _, err := maps.Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = maps.Delete(context.Background(), "of-others", metav1.DeleteOptions{}) })
	o.merge(t, restarts, cr, `{"spec":{"stamp":"b"}}`)
	o.awaitReady(t, restarts, cr)
	holds := func(want string) {
		t.Helper()
		c.await(t, "the ConfigMap with "+want, slow, configMaps, nsA, func(s seen) bool {
			for _, one := range s {
				if one.GetName() == "of-others" {
					got := nested(one, "data", "theirs") + nested(one, "data", "stamp") + one.GetAnnotations()["example.com/stamp"]
					return got == want && one.GetLabels()["app.kubernetes.io/managed-by"] == "Helm" && len(one.GetOwnerReferences()) == 0
				}
			}
			return false
		})
	}
	holds("abb")

	t.Log("what others take over is theirs")
	theirs.SetNamespace(nsA)
	o.merge(t, configMaps, theirs, `{"data":{"stamp":"x"}}`)
	o.merge(t, restarts, cr, `{"spec":{"stamp":"c"}}`)
	o.awaitUnready(t, cr, "others manage .data.stamp")
	holds("axb")

	t.Log("the rest is given up with the custom resource")
	if err := c.objects.Resource(restarts).Namespace(nsA).Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	holds("ax")
	c.await(t, "the custom resource to go", slow, restarts, nsA, func(s seen) bool { return s.by(cr.GetUID()) == nil })
}

// forEngine is a copy of a definition for one engine, with more children.
func forEngine(t *testing.T, dir, engine, more string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(copied, "operator.yaml")
	definition, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, placeholder := range []string{"ENGINE", "PODS"} {
		definition = bytes.ReplaceAll(definition, []byte(placeholder), []byte(engine))
	}
	definition = append(definition, strings.TrimLeft(more, "\n")...)
	if err := os.WriteFile(path, definition, 0o644); err != nil {
		t.Fatal(err)
	}
	return copied
}

// awaitUnready waits until a custom resource says why it is not ready.
func (o *operator) awaitUnready(t *testing.T, cr *unstructured.Unstructured, why string) {
	t.Helper()
	o.cluster.await(t, cr.GetName()+" to say: "+why, slow, o.resource(), cr.GetNamespace(), func(s seen) bool {
		now := s.by(cr.GetUID())
		if now == nil {
			return false
		}
		status, _, message := condition(now, "Ready")
		return status == "False" && strings.Contains(message, why)
	})
}

// awaitData waits until one of the ConfigMaps of a custom resource has a value.
func (o *operator) awaitData(t *testing.T, cr *unstructured.Unstructured, key, value string) {
	t.Helper()
	o.cluster.await(t, "a ConfigMap with "+key+": "+value, slow, configMaps, cr.GetNamespace(), func(s seen) bool {
		for _, one := range s.ownedBy(cr) {
			if nested(one, "data", key) == value {
				return true
			}
		}
		return false
	})
}

// TestRoleBinding has children that grant rights: the operator holds those that the
// definition says in plain text. A role that the custom resource chooses is refused until
// the definition has what lint says.
func TestRoleBinding(t *testing.T) { withBothEngines(t, (*cluster).playRoleBinding) }

func (c *cluster) playRoleBinding(t *testing.T, engine string) {
	const dir = "../testdata/behaviour/role-binding"
	definition := forEngine(t, dir, engine, "")
	o := c.install(t, "role-binding/"+engine, definition)
	roles := roleBindings.GroupVersion().WithResource("roles")
	cr := o.create(t, "example.com/v1", "viewers", nsA, "one", map[string]any{"user": "jane"})
	o.awaitReady(t, viewers, cr)
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{roleBindings: 1, roles: 1})

	t.Log("a role that the custom resource chooses is refused")
	chosen := o.create(t, "example.com/v1", "viewers", nsA, "two", map[string]any{"user": "jane", "role": "edit"})
	c.await(t, "the refusal", slow, viewers, nsA, func(s seen) bool {
		now := s.by(chosen.GetUID())
		status, reason, _ := condition(now, "Ready")
		return status == "False" && reason != "Progressing"
	})
	o.awaitOwned(t, chosen, map[schema.GroupVersionResource]int{roleBindings: 1})

	t.Log("until the definition has what lint says")
	_, typed, found := strings.Cut(string(run(t, nil, binary(t), "lint", "-f", definition)), "in place of NAME: ")
	if !found {
		t.Fatal("lint does not report the permission")
	}
	typed, _, _ = strings.Cut(strings.Replace(typed, "NAME", "edit", 1), "\n")
	run(t, generate(t, forEngine(t, dir, engine, "  "+typed+"\n")), "kubectl", "apply", "-f", "-") // the same objects
	o.merge(t, viewers, chosen, `{"spec":{"user":"joe"}}`)
	o.awaitReady(t, viewers, chosen)
	o.awaitOwned(t, chosen, map[schema.GroupVersionResource]int{roleBindings: 2, roles: 1})
}
