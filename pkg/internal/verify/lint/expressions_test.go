package lint

import (
	"fmt"
	"strings"
	"testing"
)

// TestScope requires that lint knows what an expression can use, and reports nothing that may be there.
func TestScope(t *testing.T) {
	const text = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: w-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: text, value: x}]}
  templates:
  - name: main
    dag:
      tasks:
      - {name: a, template: work}
      - {name: list, template: work, withItems: [1, 2]}
      - {name: c, template: take, depends: "a && list", arguments: {parameters: [{name: in, value: "{{=%s}}"}]}}
  - name: work
    container: {image: "busybox:1.36", command: [echo]}
    outputs: {parameters: [{name: version, valueFrom: {path: /v}}]}
  - name: take
    inputs: {parameters: [{name: in}]}
    container: {image: "busybox:1.36", command: [echo, "{{inputs.parameters.in}}"]}
`
	for expression, want := range map[string]string{
		"tasks.a.outputs.parameters.version":         "",
		"tasks.a.outputs.parameters.vers":            "there is no tasks.a.outputs.parameters.vers",
		"tasks['a'].outputs.result":                  "",
		"tasks.b.outputs.result":                     "there is no tasks.b",
		"tasks.b?.outputs.result":                    "",
		"tasks.a.outputs.parameters.vers ?? 'x'":     "",
		"tasks.list.outputs.parameters":              "",
		"workflow.parameters.text":                   "",
		"workflow.parameters.txt":                    "there is no workflow.parameters.txt",
		"jsonpath(workflow.parameters.json, '$[0]')": "",
		"jsonpath(workflow.parameters.text, 'a')":    "the path a does not begin with $",
		"workflow.labels.team":                       "the Workflow has no label team, unless somebody adds it when it starts",
		"workflow.labels.team ?? 'x'":                "",
		"workflow.labels['workflows.argoproj.io/a']": "",
		"workflows.name":                             "unknown name workflows",
		"tasks.a.status == 'Failure' ? 1 : 2":        "tasks.a.status is never Failure",
		"let x = tasks.a.status; x":                  "",
		"map([1], {# + 1})":                          "",
	} {
		var found []string
		for _, f := range lintText(t, "w.yaml", fmt.Sprintf(text, expression), nil) {
			found = append(found, f.Message)
		}
		if got := strings.Join(found, "; "); got != want {
			t.Errorf("%s: found %q, want %q", expression, got, want)
		}
	}
}
