package check

import (
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// podSecurity holds every pod that will run to the restricted Pod Security
// Standard, with the code that the API server's admission runs.
func podSecurity(o objects) []Problem {
	evaluator := podStandard()
	var out []Problem
	for _, p := range o.pods() {
		r := about(p.in)
		spec, err := p.podSpec()
		if err != nil {
			r.add(p.path.Child("podSpecPatch"), CodePodSecurity, "", "%v", err)
		} else {
			imagined(r, p.path, spec)
			restricted(r, p.path, evaluator, spec)
		}
		out = append(out, r.problems...)
	}
	template := field.NewPath("spec", "template")
	out = append(out, each(o, func(r *report, s *eventsv1.EventSource) {
		restricted(r, template, evaluator, eventsPod(s.Spec.Template))
	})...)
	return append(out, each(o, func(r *report, s *eventsv1.Sensor) {
		restricted(r, template, evaluator, eventsPod(s.Spec.Template))
	})...)
}

// podStandard is the code that the API server's admission runs.
var podStandard = sync.OnceValue(func() policy.Evaluator {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		panic("check: the Pod Security Standard's own checks are refused: " + err.Error()) // unreachable
	}
	return evaluator
})

func restricted(r *report, at *field.Path, evaluator policy.Evaluator, spec *corev1.PodSpec) {
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(level, &metav1.ObjectMeta{}, spec) {
		if !result.Allowed {
			r.add(at, CodePodSecurity, "set the securityContext; of Argo's own containers init and wait by podSpecPatch",
				"%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
}

// imagined finds containers that only a podSpecPatch speaks of: a patch for a
// container that the pod does not have adds one without an image.
func imagined(r *report, at *field.Path, spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for _, c := range list {
			if c.Image == "" {
				r.add(at.Child("podSpecPatch"), CodePodSecurity, "patch the containers that there are", "the pod has no container %q", c.Name)
			}
		}
	}
}
