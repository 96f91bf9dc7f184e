package admission

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// podStandard is the evaluator of the API server's admission plugin.
var podStandard = sync.OnceValue(func() policy.Evaluator {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		panic("admission: the Pod Security Standard's own checks are refused: " + err.Error()) // unreachable
	}
	return evaluator
})

// PodViolations returns what a level of the Pod Security Standard, in its latest version,
// forbids in a pod.
func PodViolations(level api.Level, spec *corev1.PodSpec) []policy.CheckResult {
	results := podStandard().EvaluatePod(api.LevelVersion{Level: level, Version: api.LatestVersion()}, &metav1.ObjectMeta{}, spec)
	return slices.DeleteFunc(results, func(r policy.CheckResult) bool { return r.Allowed })
}
