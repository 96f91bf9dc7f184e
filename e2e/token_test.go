//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var secretsGVR = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// TestTokenRotation has the Sensors' token replaced, and then revoked: without a
// restart of the Sensors the operator goes on.
func TestTokenRotation(t *testing.T) {
	c := connectLong(t)
	s := subjects[0]
	w := &world{subject: s, operator: c.install(t, "a token that is replaced", variant(t, s.definition(t), "  install: {tokenRotation: 1h}\n"))}
	w.measured = record(t, "token-rotation", s.name)
	cr := w.make(t, "kept", 1)
	w.has(t, cr, 1)
	pods := w.sensorPods(t)

	first := w.token(t, "")
	const condition = "{{= cronworkflow.succeeded == 0 || (now() - cronworkflow.lastScheduledTime).Hours() >= 0 }}" // an hour is long
	run(t, nil, "kubectl", "patch", "-n", operators, "cronworkflow/memcached-token", "--type=merge", "-p", `{"spec":{"when":"`+condition+`"}}`)
	second := w.token(t, first)

	run(t, nil, "kubectl", "delete", "-n", operators, "secret/memcached-rotated-token", "cronworkflow/memcached-token")
	run(t, w.manifest, "kubectl", "apply", "-f", "-")
	if w.token(t, second) == first {
		t.Error("an old token is back")
	}
	w.awaitReceivedAfter(t, time.Now().Add(2*time.Minute)) // by the third, as the others are no longer valid
	run(t, nil, "kubectl", "delete", "pod", "-n", operators, "-l", "eventsource-name=memcached")
	w.edit(t, cr, 2)
	w.has(t, cr, 2)
	if now := w.sensorPods(t); now != pods {
		t.Errorf("the pods of the Sensors are %s, they were %s", now, pods)
	}
	w.measured("replaced, then revoked and replaced; the Sensors' pods are the same")
}

// token waits for one other than before.
func (w *world) token(t *testing.T, before string) string {
	t.Helper()
	var header string
	w.cluster.await(t, "another token", slow, secretsGVR, operators, func(s seen) bool {
		for _, secret := range s {
			if secret.GetName() == "memcached-rotated-token" {
				header = nested(secret, "data", "authorization")
			}
		}
		return header != "" && header != before
	})
	return header
}

// awaitReceivedAfter waits until the Sensor received the heartbeat, and could write, after a time.
func (w *world) awaitReceivedAfter(t *testing.T, after time.Time) {
	t.Helper()
	w.cluster.await(t, "the Sensor to write", slow, eventSources, operators, func(s seen) bool {
		for _, source := range s {
			if source.GetName() != "memcached" { // of a test beside this one
				continue
			}
			at, err := time.Parse(time.RFC3339, source.GetAnnotations()["argoperator.dev/last-received-memcached"])
			return err == nil && !at.Before(after)
		}
		return false
	})
}

func (w *world) sensorPods(t *testing.T) string {
	t.Helper()
	out := run(t, nil, "kubectl", "get", "pods", "-n", operators, "-l", "sensor-name=memcached",
		"--field-selector=status.phase=Running", "-o", "name")
	return strings.Join(strings.Fields(string(out)), " ")
}
