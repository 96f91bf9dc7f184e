package manifest

import (
	"encoding/json"
	"fmt"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/plan"
)

// replayTemplate is the resync of the direct engine: another annotation on the
// EventSource's pod replaces the pod, and the new one announces everything
// there is. Argo's executor does it, with no image of anybody's.
func replayTemplate(p *plan.Plan) Object {
	spec := workflowTemplateSpec(p, plan.Resyncer)
	spec.Entrypoint = "resync"
	spec.Metrics = metrics(p, p.Install.Monitoring.Resyncs)
	spec.ActiveDeadlineSeconds = &p.Reconcile.TimeoutSeconds
	spec.Templates = []wfv1.Template{{
		Name:     "resync",
		Resource: &wfv1.ResourceTemplate{Action: "patch", MergeStrategy: "merge", Manifest: replay(p)},
	}}
	return &wfv1.WorkflowTemplate{
		TypeMeta:   workflowType(workflow.WorkflowTemplateKind),
		ObjectMeta: meta(p, p.Names.CronWorkflow),
		Spec:       spec,
	}
}

// replay is the patch. The Workflow's name differs from run to run.
func replay(p *plan.Plan) string {
	type pod struct {
		Metadata eventsv1.Metadata `json:"metadata"`
	}
	type spec struct {
		Template pod `json:"template"`
	}
	patch := struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        map[string]string `json:"metadata"`
		Spec            spec              `json:"spec"`
	}{
		TypeMeta: metav1.TypeMeta{APIVersion: eventsv1.SchemeGroupVersion.String(), Kind: "EventSource"},
		Metadata: map[string]string{"name": p.Names.EventSource, "namespace": p.Install.Namespace},
		Spec:     spec{pod{eventsv1.Metadata{Annotations: map[string]string{"argoperator.dev/resync": "{{workflow.name}}"}}}},
	}
	data, err := json.MarshalIndent(patch, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("manifest: plain data does not encode: %v", err)) // unreachable
	}
	return string(data) + "\n"
}
