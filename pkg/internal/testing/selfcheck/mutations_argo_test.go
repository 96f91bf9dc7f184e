package selfcheck

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

func argoMutations() []mutation {
	return []mutation{
		{"unresolved tag", "Argo refuses it", func(f *fixture) {
			f.template.Spec.Templates[2].Container.Env[0].Value = "{{inputs.parameters.key}}"
		}, problem.CodeWorkflowTemplate, "WorkflowTemplate/memcached-reconcile", "spec"},
		{
			"unknown entrypoint", "Argo refuses it", func(f *fixture) { f.template.Spec.Entrypoint = "reconcil" },
			problem.CodeWorkflowTemplate, "WorkflowTemplate/memcached-reconcile", "spec",
		},
		{
			"unknown exit handler", "Argo refuses it", func(f *fixture) { f.template.Spec.OnExit = "bye" },
			problem.CodeWorkflowTemplate, "WorkflowTemplate/memcached-reconcile", "spec",
		},
		{
			"invalid schedule", "Argo refuses it", func(f *fixture) { f.cron.Spec.Schedules = []string{"*/30 * *"} },
			codeCronWorkflow, "CronWorkflow/memcached-resync", "spec",
		},
		{
			"missing schedule", "Argo accepts it", func(f *fixture) { f.cron.Spec.Schedules = nil },
			codeCronWorkflow, "CronWorkflow/memcached-resync", "spec.schedules",
		},
		{"triggered Workflow without an argument", "Argo refuses it with the emitted template", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["arguments"] = map[string]any{}
		}, codeTriggeredWorkflow, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource"},
		{"schema is not structural", "the API server refuses it", func(f *fixture) {
			schemaOf(f).Properties["free"] = apiextensionsv1.JSONSchemaProps{}
		}, problem.CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.validation.openAPIV3Schema.properties[free].type"},
		{
			"CEL does not compile", "the API server refuses it", func(f *fixture) { specOf(f).XValidations[0].Rule = "self.sizee < 1" },
			problem.CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
		},
		{"CEL exceeds the cost limit", "the API server refuses it", func(f *fixture) {
			s := specOf(f)
			s.Properties["names"] = apiextensionsv1.JSONSchemaProps{
				Type:  "array",
				Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}},
			}
			s.XValidations[0].Rule = "self.names.all(x, self.names.all(y, x.contains(y)))"
		}, problem.CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"},
		{"default has the wrong type", "the API server refuses it", func(f *fixture) {
			size := specOf(f).Properties["size"]
			size.Default = &apiextensionsv1.JSON{Raw: []byte(`"three"`)}
			specOf(f).Properties["size"] = size
		}, problem.CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.validation.openAPIV3Schema.properties[spec].properties[size].default"},
		{
			"name is not plural.group", "the API server refuses it", func(f *fixture) { f.crd.Name = "memcached.cache.example.com" },
			problem.CodeCRD, "CustomResourceDefinition/memcached.cache.example.com", "metadata.name",
		},
		{"two storage versions", "the API server refuses it", func(f *fixture) {
			v := f.crd.Spec.Versions[0].DeepCopy()
			v.Name = "v1"
			f.crd.Spec.Versions = append(f.crd.Spec.Versions, *v)
		}, problem.CodeCRD, "CustomResourceDefinition/memcacheds.cache.example.com", "spec.versions"},
	}
}

func schemaOf(f *fixture) *apiextensionsv1.JSONSchemaProps {
	return f.crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// specOf returns the schema of .spec and makes its rules writable.
func specOf(f *fixture) *apiextensionsv1.JSONSchemaProps {
	spec := schemaOf(f).Properties["spec"]
	rules := append(apiextensionsv1.ValidationRules(nil), spec.XValidations...)
	spec.XValidations = rules
	schemaOf(f).Properties["spec"] = spec
	return &spec
}
