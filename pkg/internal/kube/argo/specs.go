package argo

import (
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// EachSpec runs a check on the spec of every WorkflowTemplate and of the Workflows of
// every CronWorkflow, with its path.
func EachSpec(o Objects, check func(*problem.Report, *field.Path, wfv1.WorkflowSpec)) []problem.Problem {
	out := Each(o, func(r *problem.Report, t *wfv1.WorkflowTemplate) { check(r, field.NewPath("spec"), t.Spec) })
	return append(out, Each(o, func(r *problem.Report, c *wfv1.CronWorkflow) {
		check(r, field.NewPath("spec", "workflowSpec"), c.Spec.WorkflowSpec)
	})...)
}
