package selfcheck

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
)

const (
	sensorName    = "Sensor/memcached"
	sourceName    = "EventSource/memcached"
	reconcileName = "WorkflowTemplate/memcached-reconcile"
	resyncName    = "CronWorkflow/memcached-resync"
	firstTrigger  = "spec.triggers[0]"
)

func sensorMutations() []mutation {
	parameters := firstTrigger + ".template.k8s.parameters"
	return []mutation{
		{
			"unknown EventSource", "the Sensor would receive no events", func(f *fixture) { f.sensor.Spec.Dependencies[0].EventSourceName = "other" },
			codeDependency, sensorName, "spec.dependencies[0].eventSourceName",
		},
		{
			"unknown event", "the Sensor would receive no events", func(f *fixture) { f.sensor.Spec.Dependencies[0].EventName = "other" },
			codeDependency, sensorName, "spec.dependencies[0].eventName",
		},
		{
			"bus differs from the EventSource's", "the Sensor would receive no events", func(f *fixture) { f.source.Spec.EventBusName = "other" },
			codeDependency, sensorName, "spec.dependencies[0].eventSourceName",
		},
		{
			"bus differs from the emitted one", "the pods would never start", func(f *fixture) { f.bus.Name = "other" },
			codeDependency, sensorName, "spec.eventBusName",
		},
		{
			"no conditions", "the default waits for all dependencies", func(f *fixture) { f.sensor.Spec.Triggers[0].Template.Conditions = "" },
			codeConditions, sensorName, firstTrigger + ".template.conditions",
		},
		{
			"condition on an unknown dependency", "the Sensor would not start", func(f *fixture) { f.sensor.Spec.Triggers[0].Template.Conditions += " || other" },
			codeConditions, sensorName, firstTrigger + ".template.conditions",
		},
		{
			"dependency without a trigger", "its events would be ignored", func(f *fixture) { f.sensor.Spec.Triggers[0].Template.Conditions = "memcached" },
			codeConditions, sensorName, "spec.dependencies[1]",
		},
		{
			"parameter of an unknown dependency", "Argo skips it", func(f *fixture) { k8sOf(f).Parameters[0].Src.DependencyName = "other" },
			codeParameterSource, sensorName, parameters + "[0].src.dependencyName",
		},
		{
			"dependency without a parameter", "its events would use an empty key", func(f *fixture) { k8sOf(f).Parameters = k8sOf(f).Parameters[:1] },
			codeParameterSource, sensorName, parameters + "[0]",
		},
		{
			"destination after the end of a list", "the list would be padded with nulls", func(f *fixture) { k8sOf(f).Parameters[0].Dest = "spec.arguments.parameters.1.value" },
			codeParameterDestination, sensorName, parameters + "[0].dest",
		},
		{
			"destination appends to a list", "each dependency would add an element", func(f *fixture) { k8sOf(f).Parameters[0].Dest = "spec.arguments.parameters.-1" },
			codeParameterDestination, sensorName, parameters + "[0].dest",
		},
		{
			"destination below a string", "the string would be replaced", func(f *fixture) { k8sOf(f).Parameters[0].Dest = "metadata.generateName.x" },
			codeParameterDestination, sensorName, parameters + "[0].dest",
		},
		{
			"destination in a missing list", "the result would be an object with the key 0", func(f *fixture) { k8sOf(f).Parameters[0].Dest = "spec.tolerations.0" },
			codeParameterDestination, sensorName, parameters + "[0].dest",
		},
		{
			"jq does not parse", "every event would be dropped", func(f *fixture) { f.sensor.Spec.Dependencies[0].Transform.JQ = "{go: " },
			codeJQ, sensorName, "spec.dependencies[0].transform.jq",
		},
		{
			"jq with an unknown function", "every event would be dropped", func(f *fixture) { f.sensor.Spec.Dependencies[0].Transform.JQ = "{go: (.body|sha256)}" },
			codeJQ, sensorName, "spec.dependencies[0].transform.jq",
		},
		{
			"jq with input", "the Sensor has none", func(f *fixture) { f.sensor.Spec.Dependencies[0].Transform.JQ = "{go: input}" },
			codeJQ, sensorName, "spec.dependencies[0].transform.jq",
		},
		{
			"jq with the environment", "the Sensor has none", func(f *fixture) { f.sensor.Spec.Dependencies[0].Transform.JQ = "{go: ([1] | map($ENV.HOME))}" },
			codeJQ, sensorName, "spec.dependencies[0].transform.jq",
		},
		{"Lua", "it can run programs", func(f *fixture) {
			f.sensor.Spec.Dependencies[0].Transform = &eventsv1.EventDependencyTransformer{Script: "return event"}
		}, codeJQ, sensorName, "spec.dependencies[0].transform.script"},
		{
			"Lua filter", "it can run programs", func(f *fixture) { f.sensor.Spec.Dependencies[0].Filters.Script = "return true" },
			codeJQ, sensorName, "spec.dependencies[0].filters.script",
		},
		{"filter expression", "a missing field would drop the event", func(f *fixture) {
			f.sensor.Spec.Dependencies[0].Filters.Exprs = []eventsv1.ExprFilter{{Expr: "a == 1", Fields: []eventsv1.PayloadField{{Path: "a", Name: "a"}}}}
		}, codeJQ, sensorName, "spec.dependencies[0].filters.exprs"},
		{"filter on a string", "Argo uses it as an unanchored regular expression", func(f *fixture) {
			f.sensor.Spec.Dependencies[0].Filters.Data[0].Type = eventsv1.JSONTypeString
		}, codeJQ, sensorName, "spec.dependencies[0].filters.data[0]"},
		{
			"filter template", "text templates can read the environment", func(f *fixture) { f.sensor.Spec.Dependencies[0].Filters.Data[0].Template = "{{ .Input }}" },
			codeGoTemplate, sensorName, "spec.dependencies[0].filters.data[0].template",
		},
		{
			"text template", "text templates can read the environment", func(f *fixture) { k8sOf(f).Parameters[0].Src.DataTemplate = "{{ .Input.key }}" },
			codeGoTemplate, sensorName, parameters + "[0].src",
		},
	}
}

func k8sOf(f *fixture) *eventsv1.StandardK8STrigger { return f.sensor.Spec.Triggers[0].Template.K8s }
