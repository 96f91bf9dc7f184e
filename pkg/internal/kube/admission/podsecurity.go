package admission

import (
	"sync"

	"k8s.io/pod-security-admission/policy"
)

// PodStandard returns the evaluator of the API server's admission plugin.
var PodStandard = sync.OnceValue(func() policy.Evaluator {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		panic("check: the Pod Security Standard's own checks are refused: " + err.Error()) // unreachable
	}
	return evaluator
})
