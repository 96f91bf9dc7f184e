package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/diag"
)

// TestTaint requires that data of events is followed through the calls of templates, and that
// nothing else is taken for it.
func TestTaint(t *testing.T) {
	const sensor = `apiVersion: argoproj.io/v1alpha1
kind: Sensor
metadata: {name: sensor, namespace: events}
spec:
  template: {serviceAccountName: sensor}
  dependencies: [{name: change, eventSourceName: source, eventName: things}]
  triggers:
  - template:
      name: act
      k8s:
        operation: create
        source:
          resource:
            apiVersion: argoproj.io/v1alpha1
            kind: Workflow
            metadata: {generateName: work-}
            spec:
              entrypoint: main
              arguments: {parameters: [{name: text, value: ""}, {name: level, value: info}]}
              templates:
%s
        parameters:
        - {src: {dependencyName: change, dataKey: body.text}, dest: %s}
    atLeastOnce: true
    retryStrategy: {steps: 3, duration: 1s}
    dlqTrigger: {template: {name: lost, log: {}}, atLeastOnce: true}
`
	const dest = "spec.arguments.parameters.0.value"
	shell := func(tag string) string {
		return `container: {image: "busybox:1.36", command: [sh, -c], args: ["echo ` + tag + `"]}`
	}
	call := func(value string) string {
		return "- {name: main, steps: [[{name: call, template: work, arguments: {parameters: [{name: in, value: '" + value + "'}]}}]]}\n" +
			"- {name: work, inputs: {parameters: [{name: in}]}, " + shell("{{inputs.parameters.in}}") + "}"
	}
	for name, test := range map[string]struct {
		templates, dest string
		want            bool
	}{
		"the argument":                       {"- {name: main, " + shell("{{workflow.parameters.text}}") + "}", dest, true},
		"a number":                           {"- {name: main, " + shell("{{=asInt(workflow.parameters.text)}}") + "}", dest, false},
		"a choice of constants":              {"- {name: main, " + shell("{{=workflow.parameters.text == 'x' ? 'a' : 'b'}}") + "}", dest, false},
		"joined with a constant":             {"- {name: main, " + shell("{{='a' + workflow.parameters.text}}") + "}", dest, true},
		"in an expression":                   {"- {name: main, " + shell("{{=workflow.parameters['text']}}") + "}", dest, true},
		"another argument":                   {"- {name: main, " + shell("{{workflow.parameters.level}}") + "}", dest, false},
		"all arguments":                      {"- {name: main, " + shell("{{workflow.parameters}}") + "}", dest, true},
		"an input of the entrypoint":         {"- {name: main, inputs: {parameters: [{name: text}]}, " + shell("{{inputs.parameters.text}}") + "}", dest, true},
		"another input of the entrypoint":    {"- {name: main, inputs: {parameters: [{name: level}]}, " + shell("{{inputs.parameters.level}}") + "}", dest, false},
		"passed to another template":         {call("{{workflow.parameters.text}}"), dest, true},
		"a constant for another template":    {call("constant"), dest, false},
		"something else is passed":           {call("{{workflow.parameters.level}}"), dest, false},
		"the event writes all arguments":     {"- {name: main, " + shell("{{workflow.parameters.level}}") + "}", "spec.arguments.parameters", true},
		"the event writes only the name":     {"- {name: main, " + shell("{{workflow.parameters.text}}") + "}", "metadata.generateName", false},
		"in the environment":                 {`- {name: main, container: {image: "busybox:1.36", command: [sh, -c, 'echo "$A"'], env: [{name: A, value: "{{workflow.parameters.text}}"}]}}`, dest, false},
		"an argument of a program":           {`- {name: main, container: {image: "busybox:1.36", command: [echo, "{{workflow.parameters.text}}"]}}`, dest, false},
		"a login shell":                      {`- {name: main, container: {image: "busybox:1.36", command: [bash, -lc, "echo {{workflow.parameters.text}}"]}}`, dest, true},
		"an option of another program":       {`- {name: main, container: {image: "busybox:1.36", command: [tar, -xcf, "{{workflow.parameters.text}}"]}}`, dest, false},
		"a template that nobody calls":       {"- {name: main, suspend: {}}\n- {name: unused, " + shell("{{workflow.parameters.text}}") + "}", dest, false},
		"a script with two, one of an event": {`- {name: main, script: {image: "python:3.13", command: [python], source: "print('{{workflow.parameters.level}} {{workflow.parameters.text}}')"}}`, dest, true},
	} {
		t.Run(name, func(t *testing.T) {
			templates := "                " + strings.ReplaceAll(test.templates, "\n", "\n                ")
			list := lintText(t, "sensor.yaml", fmt.Sprintf(sensor, templates, test.dest), nil)
			i := slices.IndexFunc(list, func(f diag.Finding) bool { return f.Code == "injection" })
			if (i >= 0) != test.want {
				t.Fatalf("injection %v, want %v: %v", i >= 0, test.want, list)
			}
			if i >= 0 && test.dest == dest && strings.Contains(list[i].Message, "level") {
				t.Errorf("it names a tag that no event writes: %s", list[i].Message)
			}
		})
	}
}
