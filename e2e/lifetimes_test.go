//go:build e2e

package e2e

import (
	"encoding/base64"
	"regexp"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var accountKind = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "accounts"}

// TestGenerated has Secrets with random values, which stay the same through edits, a restart of
// the worker and a resync.
func TestGenerated(t *testing.T) { withPods(t, (*cluster).playGenerated) }

func (c *cluster) playGenerated(t *testing.T, engine string) {
	o := c.install(t, "generated/"+engine, forEngine(t, "../testdata/behaviour/generated", engine, ""))
	cr := o.create(t, "example.com/v1", "accounts", nsA, "one", map[string]any{})
	o.awaitReady(t, accountKind, cr)
	secret := func(name, key, want string) *unstructured.Unstructured {
		t.Helper()
		var found *unstructured.Unstructured
		c.await(t, "Secret "+name+" with "+key+": "+want, slow, secretsGVR, nsA, func(s seen) bool {
			for _, one := range s.ownedBy(cr) {
				if one.GetName() == name && secretText(one, key) == want {
					found = one
				}
			}
			return found != nil
		})
		return found
	}
	same := func(what string, now, before *unstructured.Unstructured) {
		t.Helper()
		for _, key := range []string{"password", "pin", "key"} {
			if secretText(now, key) != secretText(before, key) {
				t.Errorf("%s makes another %s", what, key)
			}
		}
	}
	first := secret("one", "username", "app")
	for key, want := range map[string]string{"password": "^[A-Za-z0-9]{12}$", "pin": "^[01]{4}$"} {
		if !regexp.MustCompile(want).MatchString(secretText(first, key)) {
			t.Errorf("%s does not match %s", key, want)
		}
	}
	if len(secretText(first, "key")) != 3 {
		t.Error("the key has not 3 bytes")
	}

	t.Log("an edit, a restart and a resync change no value")
	o.merge(t, accountKind, cr, `{"spec":{"user":"me"}}`)
	same("an edit", secret("one", "username", "me"), first)
	o.merge(t, secretsGVR, first, `{"metadata":{"annotations":{"argoperator.dev/definition":"older"}}}`)
	o.startResync(t)
	c.await(t, "the resync to repair the Secret", slow, secretsGVR, nsA, func(s seen) bool {
		one := s.by(first.GetUID())
		return one != nil && one.GetAnnotations()["argoperator.dev/definition"] != "older"
	})
	same("a resync", secret("one", "username", "me"), first)

	t.Log("what somebody sets stays, and what is gone is made again")
	o.merge(t, secretsGVR, first, `{"data":{"password":"eHl6","pin":null}}`)
	o.merge(t, accountKind, cr, `{"spec":{"user":"you"}}`)
	now := secret("one", "username", "you")
	if secretText(now, "password") != "xyz" || len(secretText(now, "pin")) != 4 || secretText(now, "key") != secretText(first, "key") {
		t.Error("what was set by hand, or not gone, is another one")
	}
	secret("one-address", "url", "db://you:xyz@db")
	o.awaitReady(t, accountKind, cr)
}

// secretText returns a value of a Secret.
func secretText(secret *unstructured.Unstructured, key string) string {
	value, _ := base64.StdEncoding.DecodeString(nested(secret, "data", key))
	return string(value)
}

// TestDeletedInOrder deletes a custom resource of which something holds a child that was made
// in the middle.
func TestDeletedInOrder(t *testing.T) { withPods(t, (*cluster).playDeletedInOrder) }

func (c *cluster) playDeletedInOrder(t *testing.T, engine string) {
	o := c.install(t, "deleted-in-order/"+engine, forEngine(t, "../testdata/behaviour/deleted-in-order", engine, ""))
	stacks := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "stacks"}
	cr := o.create(t, "example.com/v1", "stacks", nsA, "one", map[string]any{"parts": []any{"a", "b"}})
	held := c.await(t, "two parts", slow, deployments, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 2 }).ownedBy(cr)[0]
	o.merge(t, deployments, held, `{"metadata":{"finalizers":["example.com/backup"]}}`)

	t.Log("the parts go before what they depend on, and one of them is held")
	if err := c.objects.Resource(stacks).Namespace(nsA).Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.awaitUnready(t, cr, "waiting for Deployment "+nsA+"/"+held.GetName())
	c.await(t, "the other part to go", slow, deployments, nsA, func(s seen) bool { return len(s.ownedBy(cr)) == 1 })
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{configMaps: 1})

	t.Log("it is let go")
	o.merge(t, deployments, held, `{"metadata":{"finalizers":null}}`)
	c.await(t, "the custom resource to go", slow, stacks, nsA, func(s seen) bool { return s.by(cr.GetUID()) == nil })
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{configMaps: 0, deployments: 0})
	if err := c.objects.Resource(configMaps).Namespace(nsA).Delete(t.Context(), "one-kept", metav1.DeleteOptions{}); err != nil {
		t.Errorf("the child that outlives its custom resource: %v", err)
	}
}

// TestExpiring deletes custom resources after some seconds, one of them after the worker was
// away when its time was over.
func TestExpiring(t *testing.T) {
	c := connectLong(t)
	o := c.install(t, "expiring", rewritten(t, "../testdata/behaviour/expiring", "* 3600", "* 5"))
	previews := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "previews"}
	stays := o.create(t, "example.com/v1", "previews", nsA, "stays", map[string]any{})
	short := o.create(t, "example.com/v1", "previews", nsA, "short", map[string]any{"hours": int64(3)})
	o.awaitReady(t, previews, stays)
	c.await(t, "the custom resource to go", slow, previews, nsA, func(s seen) bool { return s.by(short.GetUID()) == nil })
	o.awaitOwned(t, short, map[schema.GroupVersionResource]int{configMaps: 0})

	t.Log("the worker is away meanwhile")
	missed := o.create(t, "example.com/v1", "previews", nsA, "missed", map[string]any{"hours": int64(4)})
	o.awaitReady(t, previews, missed)
	name := o.only("Deployment").GetName()
	run(t, nil, "kubectl", "scale", "-n", operators, "deployment/"+name, "--replicas=0")
	run(t, nil, "kubectl", "wait", "-n", operators, "pods", "-l", "argoperator.dev/worker="+name, "--for=delete", "--timeout="+slow.String())
	run(t, nil, "kubectl", "scale", "-n", operators, "deployment/"+name, "--replicas=1")
	c.await(t, "the custom resource to go", slow, previews, nsA, func(s seen) bool { return s.by(missed.GetUID()) == nil })
	o.awaitOwned(t, stays, map[schema.GroupVersionResource]int{configMaps: 1})
}

// TestScheduled reconciles a custom resource each minute, also after the worker was away when a
// minute began.
func TestScheduled(t *testing.T) {
	c := connectLong(t)
	o := c.install(t, "scheduled", "../testdata/behaviour/scheduled")
	offices := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "offices"}
	cr := o.create(t, "example.com/v1", "offices", nsA, "one", map[string]any{"report": "* * * * *"})
	reported := func(after string) string {
		t.Helper()
		is := func(s seen) string {
			if one := s.by(cr.GetUID()); one != nil {
				return nested(one, "status", "reported")
			}
			return ""
		}
		return is(c.await(t, "a report after "+after, slow, offices, nsA, func(s seen) bool { return is(s) > after }))
	}
	first := reported("")
	second := reported(first)
	if at, err := time.Parse(time.RFC3339, second); err != nil || at.Second() != 0 || time.Since(at) > time.Minute {
		t.Errorf("at %s, the last minute is %s, after %s", time.Now().UTC(), second, first)
	}
	c.await(t, "the ConfigMap of "+second, slow, configMaps, nsA, func(s seen) bool {
		owned := s.ownedBy(cr)
		return len(owned) == 1 && nested(owned[0], "data", "report") >= second
	})

	t.Log("the worker is away meanwhile")
	name := o.only("Deployment").GetName()
	run(t, nil, "kubectl", "scale", "-n", operators, "deployment/"+name, "--replicas=0")
	run(t, nil, "kubectl", "wait", "-n", operators, "pods", "-l", "argoperator.dev/worker="+name, "--for=delete", "--timeout="+slow.String())
	missed := nested(c.await(t, "the custom resource", slow, offices, nsA, func(s seen) bool { return s.by(cr.GetUID()) != nil }).by(cr.GetUID()), "status", "reported")
	time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))) // a minute begins
	run(t, nil, "kubectl", "scale", "-n", operators, "deployment/"+name, "--replicas=1")
	reported(missed)
	o.awaitReady(t, offices, cr)
}
