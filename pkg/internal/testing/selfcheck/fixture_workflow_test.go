package selfcheck

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func goodSpec(account, entrypoint string) wfv1.WorkflowSpec {
	return wfv1.WorkflowSpec{
		Entrypoint: entrypoint, ServiceAccountName: account, SecurityContext: goodPodSecurity(),
		ActiveDeadlineSeconds: ptr.To[int64](300), PodGC: &wfv1.PodGC{Strategy: wfv1.PodGCOnPodSuccess},
		TTLStrategy: &wfv1.TTLStrategy{SecondsAfterSuccess: ptr.To[int32](60), SecondsAfterFailure: ptr.To[int32](600)},
		PodSpecPatch: `{"initContainers":[{"name":"init","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}],
"containers":[{"name":"wait","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}`,
	}
}

func goodVolumes() []corev1.Volume {
	return []corev1.Volume{{Name: "runtime", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "memcached-runtime"},
		Items:                []corev1.KeyToPath{{Key: "reconcile.py", Path: "reconcile.py"}, {Key: "config.json", Path: "config.json"}},
	}}}}
}

func goodContainer(command string) corev1.Container {
	return corev1.Container{
		Image: "python:3.13-slim", Command: []string{"python3", "/operator/runtime/reconcile.py"}, Args: []string{command},
		Env:             []corev1.EnvVar{{Name: "ARGOPERATOR_WORKFLOW", Value: "{{workflow.name}}"}},
		SecurityContext: goodSecurity(),
		VolumeMounts:    []corev1.VolumeMount{{Name: "runtime", MountPath: "/operator/runtime"}},
	}
}

func goodTemplate() *wfv1.WorkflowTemplate {
	read, apply, report := goodContainer("read"), goodContainer("apply"), goodContainer("report")
	read.Name, apply.Name = "read", "apply"
	spec := goodSpec("memcached-workflow", "reconcile")
	spec.OnExit = "exit"
	spec.Synchronization = &wfv1.Synchronization{Mutexes: []*wfv1.Mutex{{Name: "memcached.{{workflow.parameters.key}}"}}}
	spec.Arguments = wfv1.Arguments{Parameters: []wfv1.Parameter{{Name: "key"}}}
	spec.Templates = []wfv1.Template{
		{Name: "reconcile", Volumes: goodVolumes(), ContainerSet: &wfv1.ContainerSetTemplate{Containers: []wfv1.ContainerNode{
			{Container: read}, {Container: apply, Dependencies: []string{"read"}},
		}}},
		{Name: "exit", Steps: []wfv1.ParallelSteps{{Steps: []wfv1.WorkflowStep{
			{Name: "report", Template: "report", When: "{{workflow.status}} != Succeeded"},
		}}}},
		{Name: "report", Volumes: goodVolumes(), Container: &report},
	}
	return &wfv1.WorkflowTemplate{TypeMeta: argoType("WorkflowTemplate"), ObjectMeta: meta("memcached-reconcile"), Spec: spec}
}

func goodCron() *wfv1.CronWorkflow {
	container := goodContainer("resync")
	spec := goodSpec("memcached-resync", "resync")
	spec.Templates = []wfv1.Template{{Name: "resync", Volumes: goodVolumes(), Container: &container}}
	return &wfv1.CronWorkflow{TypeMeta: argoType("CronWorkflow"), ObjectMeta: meta("memcached-resync"), Spec: wfv1.CronWorkflowSpec{
		Schedules: []string{"*/30 * * * *"}, ConcurrencyPolicy: wfv1.ForbidConcurrent,
		WorkflowSpec: spec,
	}}
}

func goodConfig() map[string]any {
	return map[string]any{
		"operator": "memcached", "engine": "workflow", "namespace": ns, "workflowTemplate": "memcached-reconcile",
		"parent": map[string]any{"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "plural": "memcacheds", "namespaced": true, "status": true},
		"children": []any{map[string]any{
			"name": "deployment", "apiVersion": "apps/v1", "kind": "Deployment", "plural": "deployments", "namespaced": true, "onDelete": "Delete",
		}},
		"watchNamespaces": []any{}, "finalizer": "", "eventSource": "memcached",
	}
}
