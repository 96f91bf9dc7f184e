package manifest

import (
	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argoperator/argoperator/pkg/plan"
)

// cronWorkflows look at everything again at an interval. They reach the API
// server and Argo Workflows only: what the event bus has lost, they find.
func cronWorkflows(p *plan.Plan) []Object {
	list := []Object{cronWorkflow(p, p.Names.CronWorkflow, p.Reconcile.Schedule)}
	if p.Reconcile.Settle {
		list = append(list, settling(p))
	}
	return list
}

// settling looks three times in the first minutes, then never again. A Sensor
// hears nothing that was said before it first listened, and a custom resource
// may be there before the Sensor is.
func settling(p *plan.Plan) Object {
	c := cronWorkflow(p, p.Operator.Name+"-settle", "* * * * *")
	c.Spec.StopStrategy = &wfv1.StopStrategy{Expression: "cronworkflow.succeeded >= 3"}
	return c
}

func cronWorkflow(p *plan.Plan, name, schedule string) *wfv1.CronWorkflow {
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
		spec.Schedules = []string{schedule}
	} else {
		spec.Schedule = schedule
	}
	return &wfv1.CronWorkflow{
		TypeMeta:   workflowType(workflow.CronWorkflowKind),
		ObjectMeta: meta(p, name),
		Spec:       spec,
	}
}
