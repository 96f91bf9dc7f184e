package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/definition"
	"github.com/argoperator/argoperator/pkg/internal/source"
)

// TestWaitForNamespaces covers which children wait for the child that is their namespace.
func TestWaitForNamespaces(t *testing.T) {
	const namespace = `{apiVersion: v1, kind: Namespace, metadata: {name: "${ .metadata.name }"`
	for _, test := range []struct {
		name, reason string
		more         string // another child
		extra        string // of the Namespace child
		labels       string // of the Namespace
		want         []string
	}{
		{name: "same name", reason: "the namespace must exist first", want: []string{"namespace"}},
		{name: "condition", reason: "the namespace may belong to someone else", extra: "    when: .spec.target == \"\"\n"},
		{
			name: "cycle", reason: "the namespace waits for the ConfigMap, whose namespace therefore exists already",
			labels: ", labels: {a: \"${ $children.config.metadata.uid }\"}",
		},
		{name: "other child", reason: "both namespaces are children, and only one is its own", more: "  - {name: other, template: {apiVersion: v1, kind: Namespace, metadata: {name: \"${ .metadata.name }-other\"}}}\n", want: []string{"namespace"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := identityDefinition("Cluster", "", "config", "${ .metadata.name }") + test.more +
				"  - name: namespace\n" + test.extra + "    template: " + namespace + test.labels + "}}\n"
			definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(text)})
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			p, findings := New(definitions[0])
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			if diff := cmp.Diff(test.want, p.Children[0].After()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
