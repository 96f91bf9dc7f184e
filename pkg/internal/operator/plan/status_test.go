package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// TestInferredStatus covers what uses a field of the status whose type follows from its expression.
func TestInferredStatus(t *testing.T) {
	for _, tt := range []struct{ name, value, more, want string }{
		{"an integer", "1", "scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.found}", ""},
		{"a text", ".metadata.name", "scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.found}", ".status.found is a string, want an integer"},
		{"a selector", ".metadata.name", "scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.number, labelSelectorPath: .status.found}", ""},
		{"a number as a selector", "1", "scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.number, labelSelectorPath: .status.found}", ".status.found is an integer, want a string"},
		{"selectable", ".metadata.name", "selectableFields: [.status.found]", ""},
		{"not selectable", "[1]", "selectableFields: [.status.found]", ".status.found cannot be a selectable field"},
		{"a column", "1", "columns: [{name: Found, path: .status.found}]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := fmt.Sprintf(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api:
    group: example.com
    kind: Web
    versions:
    - name: v1
      schema: {spec: {size: integer}}
      %s
  children:
  - {name: a, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}
  status:
    found: ${ %s }
    number: ${ 2 }
`, tt.more, tt.value)
			definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(text)})
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			p, findings := New(definitions[0])
			if got := messages(findings); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if p != nil && strings.Contains(tt.more, "columns") {
				if is := p.API.Versions[0].Columns[0].Type; is != "integer" {
					t.Errorf("the column is of type %q", is)
				}
			}
		})
	}
}

// TestOwnConditions covers the constant parts of conditions, to which the operator adds what is missing.
func TestOwnConditions(t *testing.T) {
	for _, tt := range []struct{ condition, want string }{
		{`{type: Mine, status: "True", reason: A, message: hi}`, ""},
		{`{type: Mine, status: "True"}`, ""},
		{`{type: Mine, status: "Yes", message: "${ .metadata.name }"}`, `status.conditions[0].status: "Yes" is not in enum`},
		{`{type: Mine, status: "True", reason: two words, message: "${ .metadata.name }"}`, `status.conditions[0].reason: "two words" does not match pattern`},
		{`{type: Mine, status: "${ .spec.size == 1 }"}`, "status.conditions[0].status must be a string, and .spec.size == 1 is a boolean"},
		{`{type: Mine, status: "${ .spec.size == 1 | tostring }"}`, "status.conditions[0].status is true or false as text, which is not in its enum"},
		{`{type: Mine, status: '${ if .spec.size == 1 then "True" else "False" end }'}`, ""},
	} {
		text := fmt.Sprintf(`
apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api: {group: example.com, kind: Web, versions: [{name: v1, schema: {spec: {size: integer | default=1}}}]}
  children:
  - {name: a, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}
  status: {conditions: [%s]}
`, tt.condition)
		definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(text)})
		if !findings.HasErrors() {
			_, findings = New(definitions[0])
		}
		if got := messages(findings); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.condition, got, tt.want)
		}
	}
}

func messages(findings diag.List) string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Message)
	}
	return strings.Join(all, "\n")
}
