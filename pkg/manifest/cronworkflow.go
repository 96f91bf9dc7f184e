package manifest

import (
	"fmt"

	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// cronWorkflows reconcile everything at an interval. They use the API server and Argo
// Workflows only, so they find what the event bus has lost.
func cronWorkflows(p *plan.Plan) []Object {
	if p.Reconcile.Execution.Stays {
		return nil
	}
	resync := replaySpec
	if p.Reconcile.Execution.RunsPods {
		resync = resyncSpec
	}
	list := []Object{cronWorkflow(p, p.Names.CronWorkflow, p.Shared.Schedule, resync(p))}
	if p.RotatesToken() {
		list = append(list, rotationCron(p))
	}
	return list
}

// rotationCron checks every minute whether a token is due, and starts a pod only then.
// The first token is needed at once, and each minute until there is one.
func rotationCron(p *plan.Plan) Object {
	c := cronWorkflow(p, p.TokenRotationName(), "* * * * *", rotationSpec(p))
	c.Spec.When = fmt.Sprintf(
		"{{= cronworkflow.succeeded == 0 || (now() - cronworkflow.lastScheduledTime).Hours() >= %d }}",
		p.Install.TokenHours,
	)
	return c
}

// cronWorkflow runs a Workflow at its times. It contains the Workflow's spec: Argo checks
// a CronWorkflow once, when it sees it first, and if its cache does not have a
// WorkflowTemplate yet that the CronWorkflow refers to, it schedules nothing for 20 minutes.
func cronWorkflow(p *plan.Plan, name, schedule string, spec wfv1.WorkflowSpec) *wfv1.CronWorkflow {
	deadline, one := int64(60), int32(1)
	return &wfv1.CronWorkflow{
		TypeMeta:   workflowType(workflow.CronWorkflowKind),
		ObjectMeta: meta(p, name),
		Spec: wfv1.CronWorkflowSpec{
			Schedules:                  []string{schedule},
			ConcurrencyPolicy:          wfv1.ForbidConcurrent,
			StartingDeadlineSeconds:    &deadline,
			SuccessfulJobsHistoryLimit: &one,
			FailedJobsHistoryLimit:     &one,
			WorkflowSpec:               spec,
		},
	}
}
