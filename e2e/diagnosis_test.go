//go:build e2e

package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var trials = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "trials"}

// TestDiagnosis has the API server reject children, a status and a finalizer for
// several reasons. kubectl describe must show its own words, in the condition and in an
// Event.
func TestDiagnosis(t *testing.T) { withBothEngines(t, (*cluster).playDiagnosis) }

func (c *cluster) playDiagnosis(t *testing.T, engine string) {
	namespace := "e2e-rejected-" + engine
	c.namespace(t, namespace, "")
	run(t, nil, "kubectl", "delete", "resourcequota,deployments", "--all", "-n", namespace) // of a run that was killed
	o := c.install(t, "diagnosis/"+engine, forEngine(t, "../testdata/behaviour/rejected", engine, "  finalizer: {}\n"))
	d := &diagnoses{operator: o, namespace: namespace}

	d.explains(t, "invalid", map[string]any{"size": int64(-5)}, "spec.replicas: Invalid value: -5: must be greater than or equal to 0")
	d.explains(t, "escalates", map[string]any{"role": "edit"}, "is attempting to grant RBAC permissions not currently held")
	d.explains(t, "status", map[string]any{"level": int64(9)}, "status.level: Invalid value: 9")

	t.Log("an immutable field")
	cr := o.create(t, "example.com/v1", "trials", namespace, "immutable", map[string]any{})
	o.awaitOwned(t, cr, map[schema.GroupVersionResource]int{deployments: 1})
	began := time.Now()
	o.merge(t, trials, cr, `{"spec":{"app":"b"}}`)
	d.await(t, cr, began, "field is immutable")

	c.refuse(t, namespace, map[string]*refusal{"webhook": {code: 403, times: 1 << 30}, "probe-webhook": {code: 403, times: 1 << 30}})
	d.explains(t, "webhook", map[string]any{}, "refused with 403 on purpose")

	run(t, []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"few","namespace":%q},"spec":{"hard":{"count/deployments.apps":"1"}}}`, namespace)), "kubectl", "apply", "-f", "-")
	d.explains(t, "quota", map[string]any{}, "exceeded quota: few")

	if engine == "direct" {
		t.Log("the same failure is not asked for again")
		before := d.asked(t)
		o.startResync(t)
		o.awaitIdle(t)
		if after := d.asked(t); after != before {
			t.Errorf("%d Workflows asked why, and %d after a resync", before, after)
		}
	}

	t.Log("what the API server accepts again is created by the next event")
	run(t, nil, "kubectl", "delete", "resourcequota", "few", "-n", namespace)
	quota := d.get(t, "quota")
	o.merge(t, trials, quota, `{"spec":{"app":"c"}}`)
	o.awaitOwned(t, quota, map[schema.GroupVersionResource]int{deployments: 1})
	d.rejectFinalizers(t)
}

// diagnoses are the custom resources of one operator whose requests are rejected.
type diagnoses struct {
	*operator
	namespace string
}

// explains creates a custom resource that the API server rejects something of.
func (d *diagnoses) explains(t *testing.T, name string, spec map[string]any, words string) {
	t.Helper()
	began := time.Now()
	d.await(t, d.create(t, "example.com/v1", "trials", d.namespace, name, spec), began, words)
}

// await waits until kubectl describe shows words of the API server twice: in the
// condition, and in an Event.
func (d *diagnoses) await(t *testing.T, cr *unstructured.Unstructured, began time.Time, words string) {
	t.Helper()
	d.awaitUnready(t, cr, words)
	took := time.Since(began)
	for deadline := time.Now().Add(slow); ; pause(t.Context()) {
		described := string(run(t, nil, "kubectl", "describe", "trials.example.com", cr.GetName(), "-n", d.namespace))
		_, events, _ := strings.Cut(described, "\nEvents:")
		if strings.Contains(events, words) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no Event of %s says %q:\n%s", cr.GetName(), words, described)
		}
	}
	t.Logf("%s: explained after %.1f s", cr.GetName(), took.Seconds())
	out, err := exec.CommandContext(t.Context(), binary(t), "doctor", "trials.example.com/"+cr.GetName(), "-n", d.namespace).Output() //nolint:gosec // ourselves
	if cause, _, _ := strings.Cut(string(out), "Other checks:"); err == nil || !strings.Contains(cause, words) {
		t.Errorf("doctor does not name %q as the cause: %v\n%s", words, err, out)
	}
}

// asked counts the Workflows that asked why.
func (d *diagnoses) asked(t *testing.T) int {
	t.Helper()
	list, err := d.cluster.objects.Resource(workflows).Namespace(operators).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range list.Items {
		if nested(&list.Items[i], "spec", "workflowTemplateRef", "name") == d.only("Sensor").GetName()+"-diagnose" {
			n++
		}
	}
	return n
}

func (d *diagnoses) get(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	cr, err := d.cluster.objects.Resource(trials).Namespace(d.namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cr
}

// rejectFinalizers has a policy reject every finalizer of new custom resources.
func (d *diagnoses) rejectFinalizers(t *testing.T) {
	t.Helper()
	const policy = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":%[1]q},"spec":{"failurePolicy":"Fail",` +
		`"matchConstraints":{"resourceRules":[{"apiGroups":["example.com"],"apiVersions":["*"],"operations":["UPDATE"],"resources":["trials"]}]},` +
		`"validations":[{"expression":"!(has(object.metadata.labels) && 'probe' in object.metadata.labels) && (object.metadata.name != 'finalizer' || !has(object.metadata.finalizers))","message":"no finalizers here"}]}}` +
		`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":%[1]q},"spec":{"policyName":%[1]q,"validationActions":["Deny"],` +
		`"matchResources":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%[1]q}}}}}`
	run(t, fmt.Appendf(nil, policy, d.namespace), "kubectl", "apply", "-f", "-")
	t.Cleanup(func() {
		_, _ = try(nil, "kubectl", "delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", d.namespace)
	})
	for deadline := time.Now().Add(time.Minute); ; pause(t.Context()) { // it takes a moment to come into force
		if _, err := try(nil, "kubectl", "label", "--dry-run=server", "trials.example.com", "quota", "probe=1", "-n", d.namespace); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the policy never came into force")
		}
	}
	d.explains(t, "finalizer", map[string]any{}, "no finalizers here")
}
