package selfcheck

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// useTemplates passes the children computed from templates to the pod.
func useTemplates(f *fixture) {
	f.config["sensorTemplates"] = true
	f.template.Spec.Arguments.Parameters = append(f.template.Spec.Arguments.Parameters, wfv1.Parameter{Name: "desired", Value: wfv1.AnyStringPtr("")})
	for i := range f.template.Spec.Templates[0].ContainerSet.Containers {
		c := &f.template.Spec.Templates[0].ContainerSet.Containers[i]
		c.Env = append(c.Env,
			corev1.EnvVar{Name: "ARGOPERATOR_DESIRED", Value: "{{workflow.parameters.desired}}"},
			corev1.EnvVar{Name: "ARGOPERATOR_RESPONSE", Value: "/workspace/response.json"})
	}
	arguments := f.workflow["spec"].(map[string]any)["arguments"].(map[string]any)
	arguments["parameters"] = append(arguments["parameters"].([]any), map[string]any{"name": "desired", "value": ""})
	for i, d := range f.sensor.Spec.Dependencies {
		k8sOf(f).Parameters = append(k8sOf(f).Parameters, eventsv1.TriggerParameter{
			Src: &eventsv1.TriggerParameterSource{DependencyName: d.Name, DataKey: "desired"}, Dest: "spec.arguments.parameters.1.value",
		})
		setDesired(f, i, `($new | tojson | @base64)`)
	}
	addVerb(f, "workflow", "patch")
	addVerb(f, "resync", "patch")
	f.roles["resync"].Rules = f.roles["resync"].Rules[1:]
}

func setDesired(f *fixture, i int, jq string) {
	f.sensor.Spec.Dependencies[i].Transform.JQ = `(.body.Obj // .body) as $new | {go: true, key: ($new.metadata.namespace + "." + $new.metadata.name), desired: ` + jq + `}`
}

func templateMutations() []mutation {
	templateMutation := func(name, reason string, mutate func(*fixture), code, object, path string) mutation {
		return mutation{name, reason, func(f *fixture) { useTemplates(f); mutate(f) }, code, object, path}
	}
	return []mutation{
		templateMutation("children without base64", "Argo would substitute braces in them", func(f *fixture) {
			setDesired(f, 0, "($new | tojson)")
		}, problem.CodeInjection, sensorName, "spec.dependencies[0].transform.jq"),
		templateMutation("children in another encoding", "the pod reads base64", func(f *fixture) {
			setDesired(f, 0, "($new.metadata.name | ascii_upcase)")
		}, problem.CodeInjection, sensorName, "spec.dependencies[0].transform.jq"),
		templateMutation("resync of another kind", "the resync would not trigger the Sensor", func(f *fixture) {
			f.config["parent"].(map[string]any)["plural"] = "others"
		}, codeResync, sensorName, ""),
	}
}
