package check

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

func referenceMutations() []mutation {
	return []mutation{
		{
			"service account of the Sensor is not emitted", "the pod would never start", func(f *fixture) { f.sensor.Spec.Template.ServiceAccountName = "sensor" },
			problem.CodeServiceAccount, "Sensor/memcached", "spec.template.serviceAccountName",
		},
		{
			"service account of a template is not emitted", "the pod would never start", func(f *fixture) { f.template.Spec.Templates[2].ServiceAccountName = "reporter" },
			problem.CodeServiceAccount, "WorkflowTemplate/memcached-reconcile", "spec.templates[2]",
		},
		{"executor's service account is not emitted", "the Workflow would fail", func(f *fixture) {
			f.template.Spec.Executor = &wfv1.ExecutorConfig{ServiceAccountName: "executor"}
		}, problem.CodeServiceAccount, "WorkflowTemplate/memcached-reconcile", "spec.templates[0].executor"},
		{
			"unused service account", "its token could be stolen", func(f *fixture) { f.addAccount("spare", nil, nil); f.extra = append(f.extra, f.accounts["spare"]) },
			problem.CodeUnusedServiceAccount, "ServiceAccount/memcached-spare", "",
		},
		{
			"binding to an unknown role", "it would grant nothing", func(f *fixture) { f.roleBindings["sensor"].RoleRef.Name = "sensor" },
			problem.CodeRoleBinding, "RoleBinding/memcached-sensor", "roleRef",
		},
		{
			"binding for an unknown service account", "another user could create it", func(f *fixture) { f.roleBindings["sensor"].Subjects[0].Name = "sensor" },
			problem.CodeRoleBinding, "RoleBinding/memcached-sensor", "subjects[0]",
		},
		{"binding for a group", "operators use service accounts", func(f *fixture) {
			f.clusterRoleBindings["source"].Subjects = []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:authenticated"}}
		}, problem.CodeRoleBinding, "ClusterRoleBinding/memcached-source", "subjects[0]"},
		{
			"binding without subjects", "it would grant nothing", func(f *fixture) { f.roleBindings["sensor"].Subjects = nil },
			problem.CodeRoleBinding, "RoleBinding/memcached-sensor", "subjects",
		},
		{
			"role without a binding", "it grants nothing", func(f *fixture) { f.roleBindings["sensor"] = nil },
			problem.CodeUnboundRole, "Role/memcached-sensor", "",
		},
		{
			"cluster role without a binding", "only user roles are unbound", func(f *fixture) { f.clusterRoles["view"].Labels = nil },
			problem.CodeUnboundRole, "ClusterRole/memcacheds:view", "",
		},
		{
			"ConfigMap is not emitted", "the pod would never start", func(f *fixture) { f.resync.Spec.Templates[0].Volumes[0].ConfigMap.Name = "runtime" },
			problem.CodeConfigMap, "WorkflowTemplate/memcached-resync", "spec.templates[0]",
		},
		{
			"key is not in the ConfigMap", "the pod would never start", func(f *fixture) { delete(f.runtime.Data, "reconcile.py") },
			problem.CodeConfigMap, "WorkflowTemplate/memcached-reconcile", "spec.templates[0]",
		},
		{
			"unknown volume", "Argo would fail the step", func(f *fixture) { f.template.Spec.Templates[2].Container.VolumeMounts[0].Name = "run" },
			problem.CodeVolume, "WorkflowTemplate/memcached-reconcile", "spec.templates[2]",
		},
		{"Workflow volume in a container set", "Argo does not mount it there", func(f *fixture) {
			f.template.Spec.Volumes, f.template.Spec.Templates[0].Volumes = goodVolumes(), nil
		}, problem.CodeVolume, "WorkflowTemplate/memcached-reconcile", "spec.templates[0]"},
		{"WorkflowTemplate of the Sensor is not emitted", "every event would fail", func(f *fixture) {
			f.workflow["spec"].(map[string]any)["workflowTemplateRef"] = map[string]any{"name": "other"}
		}, problem.CodeTemplateRef, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec.workflowTemplateRef"},
		{
			"WorkflowTemplate of the CronWorkflow is not emitted", "every resync would fail", func(f *fixture) { f.cron.Spec.WorkflowSpec.WorkflowTemplateRef.Name = "other" },
			problem.CodeTemplateRef, "CronWorkflow/memcached-resync", "spec.workflowSpec.workflowTemplateRef",
		},
		{
			"WorkflowTemplate that the script submits is not emitted", "the resync would start nothing", func(f *fixture) { f.config["workflowTemplate"] = "other" },
			problem.CodeTemplateRef, "WorkflowTemplate/memcached-resync", "spec.templates[0].workflowTemplateRef",
		},
		{"unused WorkflowTemplate", "no Workflow uses it", func(f *fixture) {
			t := goodTemplate()
			t.Name = "memcached-old"
			f.extra = append(f.extra, t)
		}, problem.CodeUnusedTemplate, "WorkflowTemplate/memcached-old", ""},
		{
			"undeclared argument", "Argo accepts it", func(f *fixture) { addArgument(f, "name") },
			problem.CodeArgument, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec.arguments.parameters[1]",
		},
		{"missing argument", "the script passes the key only", func(f *fixture) {
			f.template.Spec.Arguments.Parameters = append(f.template.Spec.Arguments.Parameters, wfv1.Parameter{Name: "mode"})
			addArgument(f, "mode")
		}, problem.CodeArgument, "WorkflowTemplate/memcached-resync", "spec.templates[0].arguments.parameters"},
		{"step argument without an input", "Argo accepts it", func(f *fixture) {
			f.template.Spec.Templates[1].Steps[0].Steps[0].Arguments.Parameters = []wfv1.Parameter{{Name: "x", Value: wfv1.AnyStringPtr("1")}}
		}, problem.CodeArgument, "WorkflowTemplate/memcached-reconcile", "spec.templates[1].steps[0][0].arguments"},
	}
}

func addArgument(f *fixture, name string) {
	arguments := f.workflow["spec"].(map[string]any)["arguments"].(map[string]any)
	arguments["parameters"] = append(arguments["parameters"].([]any), map[string]any{"name": name, "value": ""})
}
