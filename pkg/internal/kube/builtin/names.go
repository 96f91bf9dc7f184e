package builtin

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Name returns the validation of names for a kind.
func Name(kind schema.GroupKind) apivalidation.ValidateNameFunc {
	switch kind.String() {
	case "Service":
		return apivalidation.NameIsDNS1035Label
	case "Namespace", "StatefulSet.apps":
		return apivalidation.NameIsDNSLabel
	case "CronJob.batch": // the names of its Jobs add eleven characters
		return atMostLong(52)
	case "Job.batch": // its name becomes a label
		return atMostLong(63)
	case "PodDisruptionBudget.policy":
		return pathvalidation.ValidatePathSegmentName
	}
	if kind.Group == rbacv1.GroupName {
		return pathvalidation.ValidatePathSegmentName
	}
	return apivalidation.NameIsDNSSubdomain
}

func atMostLong(limit int) apivalidation.ValidateNameFunc {
	return func(name string, prefix bool) []string {
		if len(name) > limit {
			return []string{fmt.Sprintf("must be no more than %d characters", limit)}
		}
		return apivalidation.NameIsDNSSubdomain(name, prefix)
	}
}
