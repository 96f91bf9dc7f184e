package argoperator

import (
	"strings"
	"testing"
)

// TestChangedChildren covers what diff says of the objects that the children of an earlier definition made.
func TestChangedChildren(t *testing.T) {
	definition := func(engine, children string) Source {
		return Source{Name: "operator.yaml", Data: []byte(strings.NewReplacer("ENGINE", engine, "CHILDREN", children).Replace(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: app}
spec:
  api: {group: example.com, kind: App, versions: [{name: v1, schema: {spec: {size: integer | default=1}}}]}
  reconcile: {engine: ENGINE}
  children:
  - {name: other, template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name }"}}}
CHILDREN
`))}
	}
	const (
		claim   = `  - {name: data, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-data"}}}`
		moved   = `  - {name: data, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-data", namespace: prod}}}`
		list    = `  - {name: data, forEach: '["a", "b"]', template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }-${ $item }"}}}`
		binding = `  - {name: bind, UPDATE template: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: "${ .metadata.name }"}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: jane}]}}`
		pod     = `  - {name: pod, template: {apiVersion: v1, kind: Pod, metadata: {name: "${ .metadata.name }"}, spec: {containers: [{name: a, image: "busybox:1", command: [sleep]}]}}}`
	)
	edit := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	bound := edit(binding, "UPDATE ", "")
	for _, tt := range []struct{ name, engine, before, now, want string }{
		{"nothing", "direct", claim, claim, ""},
		{"removed", "worker", claim, "", "child data was removed from the definition: its objects are kept"},
		{"renamed", "worker", claim, edit(claim, "name: data", "name: state"), "child data is now child state: its objects are kept"},
		{"moved, worker", "worker", claim, edit(claim, "-data", "-state"), "child data has another name: its objects are created anew, and the old ones are deleted"},
		{"moved, workflow", "workflow", claim, edit(claim, "-data", "-state"), "and the old ones are deleted"},
		{"moved, direct", "direct", claim, edit(claim, "-data", "-state"), "and the old ones stay"},
		{"moved, a list in direct", "direct", list, edit(list, "}-$", "}-x-$"), "and the old ones are deleted"},
		{"namespace", "worker", claim, moved, "child data has another namespace"},
		{"immutable", "worker", bound, edit(bound, "name: view", "name: edit"), "roleRef of a RoleBinding is immutable, and child bind has another one"},
		{"immutable, replaced", "worker", bound, edit(binding, "UPDATE ", "update: Recreate, ", "name: view", "name: edit"), ""},
		{"mutable", "worker", bound, edit(bound, "jane", "joe"), ""},
		{"mutable part", "worker", pod, edit(pod, "busybox:1", "busybox:2"), ""},
		{"the rest of it", "worker", pod, edit(pod, "sleep", "ls"), "spec.containers of a Pod is immutable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			earlier, findings, err := Earlier([]Source{definition(tt.engine, tt.before)}, Options{})
			if err != nil || findings.HasErrors() {
				t.Fatal(err, findings)
			}
			result, err := Generate([]Source{definition(tt.engine, tt.now)}, Options{})
			if err != nil || result.Findings.HasErrors() {
				t.Fatal(err, result.Findings)
			}
			comparison, err := result.Compare(earlier)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range comparison.Findings {
				got = append(got, f.Message)
			}
			if text := strings.Join(got, "\n"); !strings.Contains(text, tt.want) || tt.want == "" && text != "" {
				t.Errorf("%q, want %q", text, tt.want)
			}
		})
	}
}
