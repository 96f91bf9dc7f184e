package argoperator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hazard is a definition with the findings that it must have, as SEVERITY CODE.
type hazard struct {
	name, reason string
	api          string // more keys of spec.api
	fields       string // of the schema, one per line; "size: integer" if empty
	rest         string // the definition below spec.api, without indentation
	want         []string
}

// definition returns the definition of the case.
func (h hazard) definition() string {
	indented := func(text, by string) string {
		return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by) + "\n"
	}
	fields := h.fields
	if fields == "" {
		fields = "size: integer"
	}
	return "apiVersion: argoperator.dev/v1alpha1\nkind: Operator\nmetadata: {name: thing}\nspec:\n  api:\n    group: example.com\n" +
		"    kind: Thing\n" + indented(h.api, "    ") + "    versions:\n    - name: v1\n      schema:\n        spec:\n" +
		indented(fields, "          ") + indented(h.rest, "  ")
}

// checkHazards compares the findings of each case.
func checkHazards(t *testing.T, cases []hazard) {
	t.Helper()
	for _, h := range cases {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			findings := findingsOf(t, h.definition())
			for _, f := range findings {
				got = append(got, fmt.Sprintf("%s %s", f.Severity, f.Code))
			}
			if !slices.Equal(got, h.want) {
				t.Errorf("%s: the findings are %q, want %q:\n%v", h.reason, got, h.want, findings)
			}
		})
	}
}

// TestNamespaceOfClusterScoped covers namespaces of objects that cannot have one.
func TestNamespaceOfClusterScoped(t *testing.T) {
	of := func(kind, namespace string) string {
		return "- name: a\n  template: {" + kind + ", metadata: {name: \"${ .metadata.namespace }-${ .metadata.name }\", namespace: " + namespace + "}}"
	}
	const space, class = "apiVersion: v1, kind: Namespace", "apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: a.b/c"
	const refused, possible = "error conflicting-keys", "warning conflicting-keys"
	checkHazards(t, []hazard{
		{
			name: "fixed", reason: "the API server rejects each request",
			rest: "children:\n" + of(space, "default"), want: []string{refused},
		},
		{name: "another kind", reason: "the scope decides", rest: "children:\n" + of(class, "x"), want: []string{refused}},
		{
			name: "own namespace", reason: "every custom resource has one",
			rest: "children:\n" + of(class, `"${ .metadata.namespace }"`), want: []string{refused},
		},
		{
			name: "text and expression", reason: "it is never empty",
			rest: "children:\n" + of(class, `"team-${ .metadata.name }"`), want: []string{refused},
		},
		{
			name: "optional field", reason: "without the field, the key is left out", fields: "in: namespace",
			rest: "children:\n" + of(class, `"${ .spec.in }"`), want: []string{possible},
		},
		{name: "empty", reason: "it is no namespace", rest: "children:\n" + of(class, `""`)},
		{
			name: "custom kind", reason: "the definition states the scope",
			rest: "children:\n" + strings.Replace(of("apiVersion: a.b/v1, kind: Zone", "x"), "\n", "\n  plural: zones\n  scope: Cluster\n", 1),
			want: []string{refused},
		},
		{
			name: "namespaced custom kind", reason: "the definition states the scope",
			rest: "children:\n" + strings.Replace(of("apiVersion: a.b/v1, kind: Zone", "x"), "\n", "\n  plural: zones\n  scope: Namespaced\n", 1),
		},
		{name: "namespaced kind", reason: "it needs one", rest: "children:\n" + of("apiVersion: v1, kind: ConfigMap", "default")},
		{
			name: "patch", reason: "the request of a patch has the same path",
			rest: "children: []\npatches:\n" + of(space, "default"), want: []string{refused},
		},
		{
			name: "patch in the own namespace", reason: "every custom resource has one",
			rest: "children: []\npatches:\n" + of(space, `"${ .metadata.namespace }"`), want: []string{refused},
		},
	})
}
