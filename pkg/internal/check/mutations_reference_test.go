package check

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/argoperator/argoperator/pkg/internal/problem"
)

func referenceMutations() []mutation {
	return []mutation{
		{
			"service account of the Sensor is not emitted", "the pod never starts", func(f *fixture) { f.sensor.Spec.Template.ServiceAccountName = "sensor" },
			problem.CodeServiceAccount, "Sensor/memcached", "spec.template.serviceAccountName",
		},
		{
			"service account of a template is not emitted", "the pod never starts", func(f *fixture) { f.template.Spec.Templates[2].ServiceAccountName = "reporter" },
			problem.CodeServiceAccount, "WorkflowTemplate/memcached-reconcile", "spec.templates[2]",
		},
		{"executor's service account is not emitted", "the Workflow fails", func(f *fixture) {
			f.template.Spec.Executor = &wfv1.ExecutorConfig{ServiceAccountName: "executor"}
		}, problem.CodeServiceAccount, "WorkflowTemplate/memcached-reconcile", "spec.templates[0].executor"},
		{
			"service account that nobody uses", "it only widens what can be stolen", func(f *fixture) { f.account("spare", nil, nil); f.more = append(f.more, f.accounts["spare"]) },
			problem.CodeUnusedServiceAccount, "ServiceAccount/memcached-spare", "",
		},
		{
			"binding to a role that is not there", "nothing is granted", func(f *fixture) { f.own["sensor"].RoleRef.Name = "sensor" },
			problem.CodeRoleBinding, "RoleBinding/memcached-sensor", "roleRef",
		},
		{
			"binding for a service account that is not there", "someone else may take the name", func(f *fixture) { f.own["sensor"].Subjects[0].Name = "sensor" },
			problem.CodeRoleBinding, "RoleBinding/memcached-sensor", "subjects[0]",
		},
		{"binding for a group", "operators have service accounts", func(f *fixture) {
			f.bindings["source"].Subjects = []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:authenticated"}}
		}, problem.CodeRoleBinding, "ClusterRoleBinding/memcached-source", "subjects[0]"},
		{
			"binding of nobody", "forgotten subjects", func(f *fixture) { f.own["sensor"].Subjects = nil },
			problem.CodeRoleBinding, "RoleBinding/memcached-sensor", "subjects",
		},
		{
			"role without a binding", "it does nothing, until someone binds it", func(f *fixture) { f.own["sensor"] = nil },
			problem.CodeUnboundRole, "Role/memcached-sensor", "",
		},
		{
			"cluster role without a binding", "only user roles need none", func(f *fixture) { f.clusterRoles["view"].Labels = nil },
			problem.CodeUnboundRole, "ClusterRole/memcacheds:view", "",
		},
		{
			"ConfigMap is not emitted", "the pod never starts", func(f *fixture) { f.resync.Spec.Templates[0].Volumes[0].ConfigMap.Name = "runtime" },
			problem.CodeConfigMap, "WorkflowTemplate/memcached-resync", "spec.templates[0]",
		},
		{
			"key is not in the ConfigMap", "the pod never starts", func(f *fixture) { delete(f.runtime.Data, "reconcile.py") },
			problem.CodeConfigMap, "WorkflowTemplate/memcached-reconcile", "spec.templates[0]",
		},
		{
			"volume is not stated", "Argo fails the step", func(f *fixture) { f.template.Spec.Templates[2].Container.VolumeMounts[0].Name = "run" },
			problem.CodeVolume, "WorkflowTemplate/memcached-reconcile", "spec.templates[2]",
		},
		{"volume of the Workflow in a set of containers", "Argo does not look into them", func(f *fixture) {
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
			"WorkflowTemplate that the script submits is not emitted", "the resync would repair nothing", func(f *fixture) { f.config["workflowTemplate"] = "other" },
			problem.CodeTemplateRef, "WorkflowTemplate/memcached-resync", "spec.templates[0].workflowTemplateRef",
		},
		{"WorkflowTemplate that nobody starts", "left over", func(f *fixture) {
			t := goodTemplate()
			t.Name = "memcached-old"
			f.more = append(f.more, t)
		}, problem.CodeUnusedTemplate, "WorkflowTemplate/memcached-old", ""},
		{
			"argument that the template does not declare", "Argo takes it", func(f *fixture) { giveToo(f, "name") },
			problem.CodeArgument, "Sensor/memcached", "spec.triggers[0].template.k8s.source.resource.spec.arguments.parameters[1]",
		},
		{"argument that nobody gives", "the script gives the key only", func(f *fixture) {
			f.template.Spec.Arguments.Parameters = append(f.template.Spec.Arguments.Parameters, wfv1.Parameter{Name: "mode"})
			giveToo(f, "mode")
		}, problem.CodeArgument, "WorkflowTemplate/memcached-resync", "spec.templates[0].arguments.parameters"},
		{"step's argument without an input", "Argo takes it", func(f *fixture) {
			f.template.Spec.Templates[1].Steps[0].Steps[0].Arguments.Parameters = []wfv1.Parameter{{Name: "x", Value: wfv1.AnyStringPtr("1")}}
		}, problem.CodeArgument, "WorkflowTemplate/memcached-reconcile", "spec.templates[1].steps[0][0].arguments"},
	}
}

func giveToo(f *fixture, name string) {
	arguments := f.workflow["spec"].(map[string]any)["arguments"].(map[string]any)
	arguments["parameters"] = append(arguments["parameters"].([]any), map[string]any{"name": name, "value": ""})
}
