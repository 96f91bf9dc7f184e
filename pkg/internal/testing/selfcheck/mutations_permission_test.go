package selfcheck

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

func permissionMutations() []mutation {
	list := []mutation{
		{
			"missing watch of the EventSource", "the informer would retry forever", func(f *fixture) { f.clusterRoles["source"].Rules[0].Verbs = []string{"list"} },
			codeMissingPermission, sourceName, "spec.resource[memcached]",
		},
		{
			"missing create of the Sensor", "every event would reach the dead-letter trigger", func(f *fixture) { f.roles["sensor"].Rules = nil },
			codeMissingPermission, sensorName, firstTrigger,
		},
		{
			"missing workflowtaskresults of the resync", "the node fails since Workflows 3.6", func(f *fixture) { f.roles["resync"].Rules = f.roles["resync"].Rules[:1] },
			codeMissingPermission, resyncName, "spec.workflowSpec.templates[0]",
		},
		{"missing leases for two replicas", "no replica would become leader", func(f *fixture) {
			f.source.Annotations = map[string]string{argo.LeaderElection: "k8s"}
		}, codeMissingPermission, sourceName, "metadata.annotations"},
		{"grant in one namespace for a cluster-wide watch", "the scope is too small", func(f *fixture) {
			f.clusterRoleBindings["source"] = nil
			b := &rbacv1.RoleBinding{
				TypeMeta: rbac("RoleBinding"), ObjectMeta: meta("memcached-source"),
				RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "memcached-source"},
				Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "memcached-source"}},
			}
			f.roleBindings["source"] = b
		}, codeMissingPermission, sourceName, "spec.resource[memcached]"},
		{
			"grant for one named object", "list does not support names", func(f *fixture) { f.clusterRoles["source"].Rules[0].ResourceNames = []string{"a"} },
			codeMissingPermission, sourceName, "spec.resource[memcached]",
		},
	}
	return append(list, unusedPermissionMutations()...)
}

func unusedPermissionMutations() []mutation {
	return []mutation{
		{
			"unused get of the EventSource", "an informer only lists and watches", func(f *fixture) { addVerb(f, "source", "get") },
			codeUnusedPermission, "ClusterRole/memcached-source", "rules[0]",
		},
		{"unused get of Secrets", "a stolen token could read them", func(f *fixture) {
			f.roles["sensor"].Rules = append(f.roles["sensor"].Rules, rule("", "secrets", "get"))
		}, codeUnusedPermission, "Role/memcached-sensor", "rules[1]"},
		{"non-resource URLs", "an operator does not call them", func(f *fixture) {
			f.clusterRoles["source"].Rules = append(f.clusterRoles["source"].Rules, rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics"}})
		}, codeUnusedPermission, "ClusterRole/memcached-source", "rules[2].nonResourceURLs"},
		{
			"wildcard verb", "it grants unknown resources", func(f *fixture) { f.roles["sensor"].Rules[0].Verbs = []string{"*"} },
			codeWildcard, "Role/memcached-sensor", "rules[0]",
		},
		{
			"wildcard in a user role", "user roles name their resources too", func(f *fixture) { f.clusterRoles["view"].Rules[0].Resources = []string{"*"} },
			codeWildcard, "ClusterRole/memcacheds:view", "rules[0]",
		},
		{
			"unknown command of the script", "the pod would fail", func(f *fixture) { f.cron.Spec.WorkflowSpec.Templates[0].Container.Args = []string{"resink"} },
			codeUnknownRequest, resyncName, "spec.workflowSpec.templates[0]",
		},
		{"script without its configuration", "the pod would fail", func(f *fixture) { f.config = nil }, codeUnknownRequest, reconcileName, "spec.templates[0]"},
		{"http trigger", "its API calls are unknown", func(f *fixture) {
			f.workflow = nil
			t := f.sensor.Spec.Triggers[0].Template
			t.K8s, t.HTTP = nil, &eventsv1.HTTPTrigger{URL: "https://kubernetes.default.svc", Method: "PATCH", Timeout: 2}
		}, codeUnknownRequest, sensorName, firstTrigger + ".template"},
		{"plural that Argo Events does not guess", "the trigger would call a missing URL", func(f *fixture) {
			f.crd.Spec.Names.Plural, f.crd.Name = "memcached", "memcached.cache.example.com"
			f.workflow = map[string]any{"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": map[string]any{"generateName": "a-"}}
		}, codeUnknownRequest, sensorName, firstTrigger + ".template.k8s.source.resource"},
		{"inline object of a trigger", "its content is unknown", func(f *fixture) {
			f.workflow = nil
			k8sOf(f).Source.Inline = ptr.To("kind: Workflow")
		}, codeUnknownRequest, sensorName, firstTrigger + ".template.k8s.source"},
	}
}

func addVerb(f *fixture, name, verb string) {
	rules := f.clusterRoles[name].Rules
	rules[0].Verbs = append(rules[0].Verbs, verb)
}
