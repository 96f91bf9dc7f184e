package childcheck

import (
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// Emitted checks the objects of an operator for what a definition can cause: its schemas,
// Argo tags in its settings, the size of the objects, and with logic the WorkflowTemplates,
// which contain its image, command and environment. What only a defect of argoperator can
// cause is checked in tests, by pkg/internal/testing/selfcheck.
func Emitted(o argo.Objects, logic bool) []problem.Problem {
	checks := []func(argo.Objects) []problem.Problem{admission.CustomResources, templateTags, admission.Sizes}
	if logic {
		checks = append(checks, tagsInCode, admission.Workflows)
	}
	var problems []problem.Problem
	for _, check := range checks {
		problems = append(problems, check(o)...)
	}
	return problem.Sorted(problems)
}
