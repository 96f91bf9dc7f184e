package selfcheck

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// podSecurity checks every pod against the restricted Pod Security Standard with
// the API server's own code.
func podSecurity(o objects) []problem.Problem {
	var out []problem.Problem
	for _, p := range o.Pods() {
		r := problem.About(p.In)
		spec, err := p.PodSpec()
		if err != nil {
			r.Add(p.Path.Child("podSpecPatch"), codePodSecurity, "", "%v", err)
		} else {
			unknownContainers(r, p.Path, spec)
			restricted(r, p.Path, spec)
		}
		out = append(out, r.Problems...)
	}
	for _, w := range o.Workers() {
		r := problem.About(w.Deployment)
		restricted(r, w.Pod.Path, &w.Spec.Template.Spec)
		out = append(out, r.Problems...)
	}
	template := field.NewPath("spec", "template")
	out = append(out, argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.EventSource) {
		restricted(r, template, argo.EventsPod(s.Spec.Template))
	})...)
	return append(out, argo.Each(o.Objects, func(r *problem.Report, s *eventsv1.Sensor) {
		restricted(r, template, argo.EventsPod(s.Spec.Template))
	})...)
}

func restricted(r *problem.Report, at *field.Path, spec *corev1.PodSpec) {
	for _, v := range admission.PodViolations(api.LevelRestricted, spec) {
		r.Add(at, codePodSecurity, "set the securityContext; of Argo's own containers init and wait by podSpecPatch",
			"%s: %s", v.ForbiddenReason, v.ForbiddenDetail)
	}
}

// unknownContainers reports containers that only a podSpecPatch mentions: a patch
// for a missing container adds one without an image.
func unknownContainers(r *problem.Report, at *field.Path, spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for _, c := range list {
			if c.Image == "" {
				r.Add(
					at.Child("podSpecPatch"),
					codePodSecurity,
					"patch the containers that there are",
					"the pod has no container %q",
					c.Name,
				)
			}
		}
	}
}
