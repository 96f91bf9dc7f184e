package selfcheck

import (
	"slices"
	"strconv"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// hasArgument reports whether the creator or a Sensor's parameter sets an argument.
func hasArgument(l argo.Launch, name string) bool {
	for i, p := range l.CreatorSpec.Arguments.Parameters {
		if p.Name == name {
			return p.Value != nil || p.ValueFrom != nil || fills(l, "spec.arguments.parameters."+strconv.Itoa(i)+".value")
		}
	}
	return false
}

// fills reports whether a parameter of the Sensor's trigger writes to a field of the Workflow.
func fills(l argo.Launch, dest string) bool {
	s, ok := l.By.(*eventsv1.Sensor)
	return ok && slices.ContainsFunc(argo.Triggers(s), func(t argo.Trigger) bool {
		return t.Template.K8s != nil && t.ResourcePath().Child("spec").String() == l.Path.String() &&
			slices.ContainsFunc(t.Template.K8s.Parameters, func(p eventsv1.TriggerParameter) bool { return p.Dest == dest })
	})
}

// rotates reports whether a CronWorkflow rotates a token.
func rotates(o objects, l argo.Launch, want argo.RuntimeToken) bool {
	if _, ok := l.By.(*wfv1.CronWorkflow); !ok {
		return false
	}
	return slices.ContainsFunc(l.Pods(), func(p argo.Pod) bool {
		return slices.ContainsFunc(p.Scripts(o.Objects), func(s argo.Script) bool {
			return s.Command == "rotate" && s.Config.Token == want
		})
	})
}
