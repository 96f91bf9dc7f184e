package plan

import (
	"fmt"
	"strings"
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
			if diff := cmp.Diff(test.want, planned(t, text).Children[0].After()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestWaitForDeciders covers which children wait until others exist that decide about their dependencies.
func TestWaitForDeciders(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		first        string // of the first child
		when         string // of the second one, on which the third one depends
		want         []string
	}{
		{"condition", "whether the job is wanted is known when the database exists", "", "$children.database.data == null", []string{"database", "job"}},
		{"no condition", "the job is wanted", "", "", []string{"job"}},
		{"of the resource", "the custom resource is there", "", ".spec.target == \"\"", []string{"job"}},
		{"cycle", "the database waits for the configuration, which would never exist", "    dependsOn: [config]\n", "$children.database == null", []string{"job"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.when != "" {
				test.when = fmt.Sprintf("    when: %q\n", test.when)
			}
			child := func(name, more string) string {
				return fmt.Sprintf("  - name: %s\n%s    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }-%s\"}}\n", name, more, name)
			}
			text := identityDefinition("Namespaced", "", "config", "${ .metadata.name }")
			text = text[:strings.Index(text, "  - name: config")] + child("database", test.first) + child("job", test.when) + child("config", "    dependsOn: [job]\n")
			if diff := cmp.Diff(test.want, planned(t, text).Children[2].After()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// planned returns the plan of a valid definition.
func planned(t *testing.T, text string) *Plan {
	t.Helper()
	definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(text)})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p, findings := New(definitions[0])
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	return p
}
