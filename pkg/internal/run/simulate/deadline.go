package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
)

// deadlineMessage is the message that the Workflow controller sets on a step whose
// activeDeadlineSeconds have passed.
const deadlineMessage = "Step exceeded its deadline"

// deadlineError reports that activeDeadlineSeconds of a Workflow or a pod have
// passed. It is measured in wall time, because the programs run in it.
type deadlineError struct{ after time.Duration }

func (d *deadlineError) Error() string {
	return fmt.Sprintf("stopped after %s, the limit of reconcile.timeout", d.after)
}

// deadlineOf returns the deadline that ended a context, or nil if something else
// ended it.
func deadlineOf(ctx context.Context) *deadlineError {
	var d *deadlineError
	errors.As(context.Cause(ctx), &d)
	return d
}

func withDeadline(ctx context.Context, seconds int64) (context.Context, context.CancelFunc) {
	after := time.Duration(seconds) * time.Second
	return context.WithTimeoutCause(ctx, after, &deadlineError{after})
}

// workflowDeadline applies the Workflow's deadline to everything except its exit
// handler.
func workflowDeadline(ctx context.Context, spec wfv1.WorkflowSpec) (context.Context, context.CancelFunc) {
	if spec.ActiveDeadlineSeconds == nil {
		return ctx, func() {}
	}
	return withDeadline(ctx, *spec.ActiveDeadlineSeconds)
}

// podDeadline applies the deadline of one pod.
func podDeadline(ctx context.Context, t wfv1.Template) (context.Context, context.CancelFunc) {
	if t.ActiveDeadlineSeconds == nil || t.ActiveDeadlineSeconds.IntValue() <= 0 {
		return ctx, func() {}
	}
	return withDeadline(ctx, int64(t.ActiveDeadlineSeconds.IntValue()))
}
