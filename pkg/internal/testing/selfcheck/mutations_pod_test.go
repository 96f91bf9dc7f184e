package selfcheck

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func podMutations() []mutation {
	return []mutation{
		{
			"EventSource without a security context", "a restricted namespace refuses the pod", func(f *fixture) { f.source.Spec.Template.Container = nil },
			codePodSecurity, sourceName, "spec.template",
		},
		{
			"Sensor as root", "a restricted namespace refuses the pod", func(f *fixture) { f.sensor.Spec.Template.SecurityContext = nil },
			codePodSecurity, sensorName, "spec.template",
		},
		{"Sensor with a host path", "a restricted namespace refuses the pod", func(f *fixture) {
			f.sensor.Spec.Template.Volumes = []corev1.Volume{{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		}, codePodSecurity, sensorName, "spec.template"},
		{"container with escalation", "a restricted namespace refuses the pod", func(f *fixture) {
			f.template.Spec.Templates[0].ContainerSet.Containers[1].SecurityContext = nil
		}, codePodSecurity, reconcileName, "spec.templates[0]"},
		{"init container with capabilities", "a restricted namespace refuses the pod", func(f *fixture) {
			c := goodContainer("read")
			c.Name, c.SecurityContext = "extra", nil
			f.template.Spec.Templates[0].InitContainers = []wfv1.UserContainer{{Container: c}}
		}, codePodSecurity, reconcileName, "spec.templates[0]"},
		{"sidecar with capabilities", "a restricted namespace refuses the pod", func(f *fixture) {
			c := goodContainer("read")
			c.Name, c.SecurityContext = "extra", nil
			f.template.Spec.Templates[0].Sidecars = []wfv1.UserContainer{{Container: c}}
		}, codePodSecurity, reconcileName, "spec.templates[0]"},
		{
			"missing security context of Argo's containers", "init and wait have none by default", func(f *fixture) { f.template.Spec.PodSpecPatch = "" },
			codePodSecurity, reconcileName, "spec.templates[0]",
		},
		{"patch of an unknown container", "it would add a container without an image", func(f *fixture) {
			f.cron.Spec.WorkflowSpec.Templates[0].PodSpecPatch = `{"containers":[{"name":"weit"}]}`
		}, codePodSecurity, resyncName, "spec.workflowSpec.templates[0].podSpecPatch"},
		{
			"invalid patch", "Argo could not create the pod", func(f *fixture) { f.cron.Spec.WorkflowSpec.Templates[0].PodSpecPatch = `{"containers": 1}` },
			codePodSecurity, resyncName, "spec.workflowSpec.templates[0].podSpecPatch",
		},
		{"security context of a template", "it replaces the Workflow's", func(f *fixture) {
			f.cron.Spec.WorkflowSpec.Templates[0].SecurityContext = &corev1.PodSecurityContext{}
		}, codePodSecurity, resyncName, "spec.workflowSpec.templates[0]"},
		{
			"host network", "a restricted namespace refuses the pod", func(f *fixture) { f.cron.Spec.WorkflowSpec.HostNetwork = ptr.To(true) },
			codePodSecurity, resyncName, "spec.workflowSpec.templates[0]",
		},
	}
}
