package lint

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// TestPlaceIn has messages of Argo's validators, and the places that they are about.
func TestPlaceIn(t *testing.T) {
	const spec = `
entrypoint: main
onExit: cleanup
podGC: {strategy: OnPodComplete}
concurrencyPolicy: Forbidd
templates:
- name: main
  dag:
    tasks:
    - {name: a, template: work}
    - {name: b, template: work, depends: a.Succeded}
    - {name: c, template: work, dependencies: [aa]}
- name: work
  inputs: {parameters: [{name: message}]}
  retryStrategy: {retryPolicy: Allways}
  container: {image: "busybox:1.36", command: [echo, "{{inputs.parameters.mesage}}"]}
- name: several
  steps:
  - - {name: first, template: work}
  - - {name: second, template: nope}
- name: work
  resource: {action: creat, manifest: ""}
`
	var fields any
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string]string{
		"templates.main.tasks.b task result 'Succeded' for task 'a' is invalid": "spec.templates[0].dag.tasks[1].depends",
		"templates.main sorting failed: invalid dependency aa":                  "spec.templates[0].dag.tasks[2].dependencies[0]",
		"templates.work: failed to resolve {{inputs.parameters.mesage}}":        "spec.templates[1].container.command[1]",
		"templates.several.steps[1].second template name 'nope' undefined":      "spec.templates[2].steps[1][0].template",
		"template name 'cleanup' undefined":                                     "spec.onExit",
		"podGC.strategy unknown strategy 'OnPodComplete'":                       "spec.podGC.strategy",
		"'Forbidd' is not a valid concurrencyPolicy":                            "spec.concurrencyPolicy",
		"Allways is not a valid RetryPolicy":                                    "spec.templates[1].retryStrategy.retryPolicy",
		"spec.templates[3].name 'work' is not unique":                           "spec.templates[3].name",
		"templates.work.resource.action must be one of: get, create, apply":     "spec.templates[1]",
		"nothing in it":           "spec",
		"the entrypoint is wrong": "spec.entrypoint",
		"templates.main sorting failed: graph with cycle":                                         "spec.templates[0]",
		"spec.arguments.parameters[0].value is required, and this object has no arguments at all": "spec",
	} {
		if got := placeIn(fields, field.NewPath("spec"), message).String(); got != want {
			t.Errorf("%s: found at %s, want %s", message, got, want)
		}
	}
}

func TestHintFor(t *testing.T) {
	var fields any
	if err := yaml.Unmarshal([]byte(`
arguments: {parameters: [{name: region}]}
templates:
- {name: build, inputs: {parameters: [{name: message}], artifacts: [{name: source}]}, outputs: {parameters: [{name: digest}]}}
`), &fields); err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string]string{
		"failed to resolve {{inputs.parameters.mesage}}":         "did you mean message?",
		"failed to resolve {{inputs.artifacts.sourc}}":           "did you mean source?",
		"failed to resolve {{workflow.parameters.regoin}}":       "did you mean region?",
		"failed to resolve {{steps.a.outputs.parameters.diget}}": "did you mean digest?",
		"template name 'biuld' undefined":                        "did you mean build?",
		"template name 'other' undefined":                        "",
		"no quoted word":                                         "",
	} {
		if got := hintFor(fields, message); got != want {
			t.Errorf("%s: hint %q, want %q", message, got, want)
		}
	}
}
