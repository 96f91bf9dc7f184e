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

// TestWaitForDeciders covers which children wait until others exist that decide about what they depend on or read.
func TestWaitForDeciders(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		first        string // of the first child
		when         string // of the second one
		reads        bool   // the third one reads the second one instead of depending on it
		want         []string
	}{
		{"condition", "whether the job is wanted is known when the database exists", "", "$children.database.data == null", false, []string{"database", "job"}},
		{"condition of what is read", "without the database there is no job to read", "", "$children.database != null", true, []string{"database", "job"}},
		{"condition of a condition", "the base decides about the database", "    when: $children.base != null\n", "$children.database != null", true, []string{"base", "database", "job"}},
		{"no condition", "the job is wanted", "", "", false, []string{"job"}},
		{"of the resource", "the custom resource is there", "", ".spec.target == \"\"", false, []string{"job"}},
		{"cycle", "the database waits for the configuration, which would never exist", "    dependsOn: [config]\n", "$children.database == null", false, []string{"job"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.when != "" {
				test.when = fmt.Sprintf("    when: %q\n", test.when)
			}
			child := func(name, more string) string {
				return fmt.Sprintf("  - name: %s\n%s    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${ .metadata.name }-%s\"}}\n", name, more, name)
			}
			text := identityDefinition("Namespaced", "", "config", "${ .metadata.name }")
			last := child("config", "    dependsOn: [job]\n")
			if test.reads {
				last = strings.Replace(child("config", ""), `-config"`, `-config", annotations: {job: "${ $children.job.metadata.name // \"\" }"}`, 1)
			}
			text = text[:strings.Index(text, "  - name: config")] + child("base", "") + child("database", test.first) + child("job", test.when) + last
			if diff := cmp.Diff(test.want, planned(t, text).Children[3].After()); diff != "" {
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
