package selfcheck

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
)

func referenceMutations() []mutation {
	return []mutation{
		{
			"service account of the Sensor is not emitted", "the pod would never start", func(f *fixture) { f.sensor.Spec.Template.ServiceAccountName = "sensor" },
			codeServiceAccount, "Sensor/memcached", "spec.template.serviceAccountName",
		},
		{
			"service account of a template is not emitted", "the pod would never start", func(f *fixture) { f.template.Spec.Templates[2].ServiceAccountName = "reporter" },
			codeServiceAccount, "WorkflowTemplate/memcached-reconcile", "spec.templates[2]",
		},
		{"executor's service account is not emitted", "the Workflow would fail", func(f *fixture) {
			f.template.Spec.Executor = &wfv1.ExecutorConfig{ServiceAccountName: "executor"}
		}, codeServiceAccount, "WorkflowTemplate/memcached-reconcile", "spec.templates[0].executor"},
		{
			"unused service account", "its token could be stolen", func(f *fixture) { f.addAccount("spare", nil, nil); f.extra = append(f.extra, f.accounts["spare"]) },
			codeUnusedServiceAccount, "ServiceAccount/memcached-spare", "",
		},
		{
			"binding to an unknown role", "it would grant nothing", func(f *fixture) { f.roleBindings["sensor"].RoleRef.Name = "sensor" },
			codeRoleBinding, "RoleBinding/memcached-sensor", "roleRef",
		},
		{
			"binding for an unknown service account", "another user could create it", func(f *fixture) { f.roleBindings["sensor"].Subjects[0].Name = "sensor" },
			codeRoleBinding, "RoleBinding/memcached-sensor", "subjects[0]",
		},
		{"binding for a group", "operators use service accounts", func(f *fixture) {
			f.clusterRoleBindings["source"].Subjects = []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:authenticated"}}
		}, codeRoleBinding, "ClusterRoleBinding/memcached-source", "subjects[0]"},
		{
			"binding without subjects", "it would grant nothing", func(f *fixture) { f.roleBindings["sensor"].Subjects = nil },
			codeRoleBinding, "RoleBinding/memcached-sensor", "subjects",
		},
		{
			"role without a binding", "it grants nothing", func(f *fixture) { f.roleBindings["sensor"] = nil },
			codeUnboundRole, "Role/memcached-sensor", "",
		},
		{
			"cluster role without a binding", "only user roles are unbound", func(f *fixture) { f.clusterRoles["view"].Labels = nil },
			codeUnboundRole, "ClusterRole/memcacheds:view", "",
		},
		{
			"ConfigMap is not emitted", "the pod would never start", func(f *fixture) { f.cron.Spec.WorkflowSpec.Templates[0].Volumes[0].ConfigMap.Name = "runtime" },
			codeConfigMap, resyncName, "spec.workflowSpec.templates[0]",
		},
		{
			"key is not in the ConfigMap", "the pod would never start", func(f *fixture) { delete(f.runtime.Data, "reconcile.py") },
			codeConfigMap, "WorkflowTemplate/memcached-reconcile", "spec.templates[0]",
		},
		{
			"unknown volume", "Argo would fail the step", func(f *fixture) { f.template.Spec.Templates[2].Container.VolumeMounts[0].Name = "run" },
			codeVolume, "WorkflowTemplate/memcached-reconcile", "spec.templates[2]",
		},
		{"Workflow volume in a container set", "Argo does not mount it there", func(f *fixture) {
			f.template.Spec.Volumes, f.template.Spec.Templates[0].Volumes = goodVolumes(), nil
		}, codeVolume, "WorkflowTemplate/memcached-reconcile", "spec.templates[0]"},
		{"WorkflowTemplate of the Sensor is not emitted", "every event would fail", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["workflowTemplateRef"] = map[string]any{"name": "other"}
		}, codeTemplateRef, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec.workflowTemplateRef"},
		{
			"CronWorkflow of a WorkflowTemplate", "Argo may see it first", func(f *fixture) {
				f.cron.Spec.WorkflowSpec.WorkflowTemplateRef = &wfv1.WorkflowTemplateRef{Name: "memcached-reconcile"}
			},
			codeCronWorkflow, resyncName, "spec.workflowSpec.workflowTemplateRef",
		},
		{
			"WorkflowTemplate that the script submits is not emitted", "the resync would start nothing", func(f *fixture) { f.config["workflowTemplate"] = "other" },
			codeTemplateRef, resyncName, "spec.workflowSpec.templates[0].workflowTemplateRef",
		},
		{"unused WorkflowTemplate", "no Workflow uses it", func(f *fixture) {
			t := goodTemplate()
			t.Name = "memcached-old"
			f.extra = append(f.extra, t)
		}, codeUnusedTemplate, "WorkflowTemplate/memcached-old", ""},
		{
			"undeclared argument", "Argo accepts it", func(f *fixture) { addArgument(f, "name") },
			codeArgument, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec.arguments.parameters[1]",
		},
		{"missing argument", "the script passes the key only", func(f *fixture) {
			f.template.Spec.Arguments.Parameters = append(f.template.Spec.Arguments.Parameters, wfv1.Parameter{Name: "mode"})
			addArgument(f, "mode")
		}, codeArgument, resyncName, "spec.workflowSpec.templates[0].arguments.parameters"},
		{"step argument without an input", "Argo accepts it", func(f *fixture) {
			f.template.Spec.Templates[1].Steps[0].Steps[0].Arguments.Parameters = []wfv1.Parameter{{Name: "x", Value: wfv1.AnyStringPtr("1")}}
		}, codeArgument, "WorkflowTemplate/memcached-reconcile", "spec.templates[1].steps[0][0].arguments"},
	}
}

func addArgument(f *fixture, name string) {
	arguments := f.workflow["spec"].(map[string]any)["arguments"].(map[string]any)
	arguments["parameters"] = append(arguments["parameters"].([]any), map[string]any{"name": name, "value": ""})
}
