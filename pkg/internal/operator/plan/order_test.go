package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// TestWaitForNamespaces covers which children wait for the child that is their namespace.
func TestWaitForNamespaces(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		more         string // another child
		forEach      string // of the ConfigMap
		extra        string // of the Namespace child
		labels       string // of the Namespace
		want         []string
	}{
		{name: "same name", reason: "the namespace must exist first", want: []string{"namespace"}},
		{name: "same list", reason: "each item has its own namespace", forEach: ".spec.targets", extra: "    forEach: .spec.targets\n", want: []string{"namespace"}},
		{name: "other list", reason: "the items may differ", forEach: ".spec.targets[1:]", extra: "    forEach: .spec.targets\n"},
		{name: "condition", reason: "the namespace may belong to someone else", extra: "    when: .spec.target == \"\"\n"},
		{
			name: "cycle", reason: "the namespace waits for the ConfigMap, whose namespace therefore exists already",
			labels: ", labels: {a: \"${ $children.config.metadata.uid }\"}",
		},
		{name: "other child", reason: "both namespaces are children, and only one is its own", more: "  - {name: other, template: {apiVersion: v1, kind: Namespace, metadata: {name: \"${ .metadata.name }-other\"}}}\n", want: []string{"namespace"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := "${ .metadata.name }"
			if test.forEach != "" {
				name = "${ .metadata.name }-${ $item }"
			}
			text := identityDefinition("Cluster", test.forEach, "config", name) + test.more + "  - name: namespace\n" + test.extra +
				fmt.Sprintf("    template: {apiVersion: v1, kind: Namespace, metadata: {name: %q%s}}\n", name, test.labels)
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
