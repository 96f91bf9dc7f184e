package argoperator

import (
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

const placedDefinition = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: web}
spec:
  api:
    group: example.com
    kind: Web
    versions:
    - name: v1
      schema: {spec: {size: integer}}
  children:
  - name: config
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}
`

func TestFindingsOf(t *testing.T) {
	definitions, findings := definition.Parse(source.Input{Name: "operator.yaml", Data: []byte(placedDefinition)})
	if len(definitions) != 1 {
		t.Fatal(findings)
	}
	for _, test := range []struct {
		name, object, path, code string
		line                     int // 0 expects an error
	}{
		{"a field of the schema", "CustomResourceDefinition/webs.example.com", "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size]", problem.CodeCRD, 10},
		{"templates that do not fit into a Sensor", "Sensor/web", "spec", problem.CodeSize, 12},
		{"a tag where there is no logic", "WorkflowTemplate/web", "spec.templates[0]", problem.CodeInjection, 0},
		{"a program that fails", "Sensor/web", "spec.dependencies[0].transform.jq", "check-request", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := findingsOf(definitions[0], []problem.Problem{{Object: test.object, Path: test.path, Code: test.code, Message: "no"}})
			switch {
			case test.line == 0 && (err == nil || !strings.Contains(err.Error(), test.object) || !strings.Contains(err.Error(), "please report")):
				t.Errorf("got findings %v and error %v, want an error that asks for a report", found, err)
			case test.line != 0 && (err != nil || len(found) != 1 || found[0].Line != test.line):
				t.Errorf("got findings %v and error %v, want one finding in line %d", found, err, test.line)
			}
		})
	}
}
