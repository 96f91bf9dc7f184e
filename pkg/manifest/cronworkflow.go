package manifest

import (
	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argoperator/argoperator/pkg/plan"
)

// cronWorkflows look at everything again at an interval. They reach the API
// server and Argo Workflows only: what the event bus has lost, they find.
func cronWorkflows(p *plan.Plan) []Object {
	deadline, one := int64(60), int32(1)
	spec := wfv1.CronWorkflowSpec{
		ConcurrencyPolicy:          wfv1.ForbidConcurrent,
		StartingDeadlineSeconds:    &deadline,
		SuccessfulJobsHistoryLimit: &one,
		FailedJobsHistoryLimit:     &one,
		WorkflowSpec: wfv1.WorkflowSpec{
			WorkflowTemplateRef: &wfv1.WorkflowTemplateRef{Name: p.Names.CronWorkflow},
		},
	}
	if p.Reconcile.Schedules {
		spec.Schedules = []string{p.Reconcile.Schedule}
	} else {
		spec.Schedule = p.Reconcile.Schedule
	}
	return []Object{&wfv1.CronWorkflow{
		TypeMeta:   workflowType(workflow.CronWorkflowKind),
		ObjectMeta: meta(p, p.Names.CronWorkflow),
		Spec:       spec,
	}}
}
