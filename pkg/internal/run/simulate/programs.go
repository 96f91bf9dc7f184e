package simulate

import (
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// UserPrograms returns the command lines of the programs that definitions bring, sorted.
// argoperator's own programs are not among them.
func UserPrograms(objects []manifest.Object) []string {
	var out []string
	for _, o := range objects {
		t, ok := o.(*wfv1.WorkflowTemplate)
		if !ok {
			continue
		}
		for _, template := range t.Spec.Templates {
			for _, c := range containersOf(template) {
				if !hasToken(c) {
					out = append(out, strings.Join(own(slices.Concat(c.Command, c.Args)), " "))
				}
			}
			for _, c := range template.InitContainers {
				if !hasToken(c.Container) {
					out = append(out, strings.Join(slices.Concat(c.Command, c.Args), " "))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// own returns the user's part of a command that waits for other containers before.
func own(command []string) []string {
	if len(command) > 4 && command[0] == "sh" && command[3] == "logic" {
		return command[4:]
	}
	return command
}

// hasToken reports whether a container has the token of the pod's service account, which
// programs of users do not get.
func hasToken(c corev1.Container) bool {
	return !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == credentials })
}
