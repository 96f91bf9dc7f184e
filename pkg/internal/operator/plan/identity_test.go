package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// TestIdentity covers that the kind, namespace and name of children are unique among
// custom resources.
func TestIdentity(t *testing.T) {
	const parent = "`.metadata.name` of the custom resource"
	for _, tt := range []struct {
		reason          string
		scope           string
		forEach         string
		name, namespace string
		want            string // in the findings; empty: none
	}{
		{reason: parent + " in the namespace", scope: "Cluster", name: "deny", namespace: "${ .metadata.name }"},
		{reason: parent + " in a part of the namespace", scope: "Cluster", name: "deny", namespace: "team-${ .metadata.name }"},
		{reason: parent + " in both", scope: "Cluster", name: "${ .metadata.name }", namespace: "${ .metadata.name }"},
		{reason: "its uid in the namespace", scope: "Cluster", name: "deny", namespace: "ns-${ .metadata.uid }"},
		{reason: "the user chooses the namespace", scope: "Cluster", name: "deny", namespace: "${ .spec.target }", want: "two of them with the same value in .spec.target would share one child"},
		{reason: "the user chooses the namespace of a namespaced one", scope: "Namespaced", name: "deny", namespace: "${ .spec.target }", want: "two of them with the same value in .spec.target would share one child"},
		{reason: "one namespace per item, which two custom resources may list", scope: "Cluster", forEach: ".spec.targets", name: "deny", namespace: "${ $item }", want: "two of them with the same value in .spec.targets would share one child"},
		{reason: "one namespace per item and a name of the custom resource", scope: "Cluster", forEach: ".spec.targets", name: "${ .metadata.name }", namespace: "${ $item }"},
		{reason: "neither", scope: "Cluster", name: "deny", namespace: "default", want: "every Web would use the same object"},
		{reason: "a namespace shared by custom resources", scope: "Namespaced", name: "deny", namespace: "${ .metadata.namespace }", want: "all in a namespace would share one child"},
		{reason: "a part that they share", scope: "Namespaced", name: "deny", namespace: "x-${ .metadata.namespace }", want: "all in a namespace would share one child"},
		{reason: "an expression that reads nothing", scope: "Cluster", name: "deny", namespace: `${ "default" }`, want: "all of them would share one child"},
		{reason: "no namespace at all", scope: "Namespaced", name: "deny", want: "every Web would use the same object"},
		{reason: "no namespace to be in", scope: "Cluster", name: "${ .metadata.name }", want: `a Web has no namespace, so metadata.namespace of the ConfigMap is missing write namespace: "NAME" for a namespace that exists`},
		{reason: "the namespace of its custom resource", scope: "Namespaced", name: "${ .metadata.name }"},
		{reason: "the namespace of a cluster-scoped custom resource", scope: "Cluster", name: "${ .metadata.name }", namespace: "${ .metadata.namespace }", want: ".metadata.namespace: no such field in Web v1"},
		{reason: "that in a text", scope: "Cluster", name: "${ .metadata.name }", namespace: "x-${ .metadata.namespace }", want: "Web v1 is cluster-scoped, so it has no namespace"},
		{reason: "that in the name", scope: "Cluster", name: "x-${ .metadata.namespace }-${ .metadata.name }", namespace: "default", want: ".metadata.namespace: no such field in Web v1"},
		{reason: "the namespace does not tell the items apart", scope: "Cluster", forEach: ".spec.targets", name: "deny", namespace: "${ .metadata.name }", want: "is the same for all items of forEach"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			findings := findingsOf(identityDefinition(tt.scope, tt.forEach, tt.name, tt.namespace))
			if tt.want == "" && findings.HasErrors() || tt.want != "" && !strings.Contains(fmt.Sprint(findings), tt.want) {
				t.Errorf("findings %v, want %q", findings, tt.want)
			}
		})
	}
}

func TestNamespaceOfChildrenOfExistingKinds(t *testing.T) {
	definition := func(kind, child, metadata string) string {
		return fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api: {existing: {version: v1, kind: %s}}
  children:
  - {name: child, template: {%s, metadata: %s}}
`, kind, child, metadata)
	}
	const config, role, named = "apiVersion: v1, kind: ConfigMap", "apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole", `{name: "${ .metadata.name }-x"}`
	for _, tt := range []struct{ reason, source, want string }{
		{"a cluster-scoped kind", definition("Node", config, named), "a Node has no namespace"},
		{"a cluster-scoped child needs none", definition("Node", role, named), ""},
		{"a namespaced kind", definition("Service", config, named), ""},
		{"an empty namespace", definition("Node", config, `{name: "${ .metadata.name }-x", namespace: ""}`), "a Node has no namespace"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			if got := fmt.Sprint(findingsOf(tt.source)); strings.Contains(got, "has no namespace") != (tt.want != "") || !strings.Contains(got, tt.want) {
				t.Errorf("findings %v, want %q", got, tt.want)
			}
		})
	}
}

// TestNamespaceHint requires that the hint about a missing namespace proposes the name of a
// child that is a Namespace, in quotes.
func TestNamespaceHint(t *testing.T) {
	definition := identityDefinition("Cluster", "", "${ .metadata.name }", "") + `  - name: space
    template: {apiVersion: v1, kind: Namespace, metadata: {name: "web-${ .metadata.name }"}}
`
	const want = `write namespace: "web-${ .metadata.name }", which is the name of child space`
	if got := fmt.Sprint(findingsOf(definition)); !strings.Contains(got, want) {
		t.Errorf("findings %s, want %s", got, want)
	}
}

func TestTwoChildrenOfOneNameInTwoNamespaces(t *testing.T) {
	child := func(name, namespace string) string {
		return fmt.Sprintf("  - name: %s\n    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: deny, namespace: %q}}\n", name, namespace)
	}
	source := identityDefinition("Cluster", "", "deny", "${ .metadata.name }")
	if findings := findingsOf(source + child("more", "${ .metadata.name }-more")); findings.HasErrors() {
		t.Errorf("two namespaces: %v", findings)
	}
	if findings := findingsOf(source + child("more", "${ .metadata.name }")); !findings.HasErrors() {
		t.Error("one namespace: no finding")
	}
}

func identityDefinition(scope, forEach, name, namespace string) string {
	source := fmt.Sprintf(`apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api:
    group: apps.example.com
    kind: Web
    scope: %s
    versions:
    - name: v1
      schema: {spec: {target: string | required=true minLength=1, targets: "[]string | required=true"}}
  children:
  - name: config
`, scope)
	if forEach != "" {
		source += "    forEach: " + forEach + "\n"
	}
	source += fmt.Sprintf("    onDelete: Orphan\n    template:\n      apiVersion: v1\n      kind: ConfigMap\n      metadata:\n        name: %q\n", name)
	if namespace != "" {
		source += fmt.Sprintf("        namespace: %q\n", namespace)
	}
	return source
}

// findingsOf returns the findings of a definition.
func findingsOf(text string) diag.List {
	definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(text)})
	if findings.HasErrors() {
		return findings
	}
	_, findings = New(definitions[0])
	return findings
}
