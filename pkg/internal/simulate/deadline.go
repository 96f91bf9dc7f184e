package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
)

// pastDeadline is what the Workflow controller says of a step that it ends.
const pastDeadline = "Step exceeded its deadline"

// deadline is the end of a Workflow or a pod that activeDeadlineSeconds sets. Here
// it is time of the machine, as programs take it.
type deadline struct{ after time.Duration }

func (d *deadline) Error() string {
	return fmt.Sprintf("ended after %s, which is all the time that the definition gives it (reconcile.timeout)", d.after)
}

// overdue is the deadline that has ended a context; nil where it was none of ours.
func overdue(ctx context.Context) *deadline {
	var d *deadline
	errors.As(context.Cause(ctx), &d)
	return d
}

func withDeadline(ctx context.Context, seconds int64) (context.Context, context.CancelFunc) {
	after := time.Duration(seconds) * time.Second
	return context.WithTimeoutCause(ctx, after, &deadline{after})
}

// workflowDeadline bounds all of a Workflow but its exit handler.
func workflowDeadline(ctx context.Context, spec wfv1.WorkflowSpec) (context.Context, context.CancelFunc) {
	if spec.ActiveDeadlineSeconds == nil {
		return ctx, func() {}
	}
	return withDeadline(ctx, *spec.ActiveDeadlineSeconds)
}

// podDeadline bounds one pod.
func podDeadline(ctx context.Context, t wfv1.Template) (context.Context, context.CancelFunc) {
	if t.ActiveDeadlineSeconds == nil || t.ActiveDeadlineSeconds.IntValue() <= 0 {
		return ctx, func() {}
	}
	return withDeadline(ctx, int64(t.ActiveDeadlineSeconds.IntValue()))
}
