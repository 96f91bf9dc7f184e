package manifest

import (
	"encoding/json"
	"fmt"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// replaySpec is the resync of the direct engine: it sets an annotation of the
// EventSource's pod, so that a new pod replaces it and replays all objects. If the Sensor
// stopped receiving events, it replaces its pod, too, which requests another replay when it
// subscribes. Argo's executor does all of this without another image.
func replaySpec(p *plan.Plan) wfv1.WorkflowSpec {
	spec := workflowSpecOf(p, plan.ResyncAccount)
	spec.Entrypoint = "resync"
	spec.Metrics = metrics(p, p.Monitoring.Resyncs)
	spec.ActiveDeadlineSeconds = &p.Shared.TimeoutSeconds
	source, sensor := identify(p, "EventSource", p.Names.EventSource), identify(p, "Sensor", p.Names.Sensor)
	subscribed := []string{plan.SubscribedAnnotation(p.Names.Sensor)}
	spec.Templates = []wfv1.Template{
		resyncSteps(),
		checkSensorTemplate(p),
		patchTemplate("replay", restartPatch(source, "argoperator.dev/resync", nil)),
		patchTemplate("reset-subscriptions", restartPatch(source, "argoperator.dev/resync", subscribed)),
		patchTemplate("restart-sensor", restartPatch(sensor, "argoperator.dev/restarted-by", nil)),
	}
	return spec
}

func resyncSteps() wfv1.Template {
	const restart = "{{steps.check-sensor.outputs.parameters.restart}} == "
	return wfv1.Template{Name: "resync", Steps: []wfv1.ParallelSteps{
		{Steps: []wfv1.WorkflowStep{{Name: "check-sensor", Template: "check-sensor"}}},
		{Steps: []wfv1.WorkflowStep{{Name: "restart-sensor", Template: "restart-sensor", When: restart + "true"}}},
		{Steps: []wfv1.WorkflowStep{
			{Name: "replay", Template: "replay", When: restart + "false"},
			{Name: "reset-subscriptions", Template: "reset-subscriptions", When: restart + "true"},
		}},
	}}
}

// checkSensorTemplate checks whether the Sensor's last heartbeat is too old.
func checkSensorTemplate(p *plan.Plan) wfv1.Template {
	restart := fmt.Sprintf(`[.metadata.annotations[%q], .metadata.creationTimestamp] | (max | fromdate? // 0) < now - %d`,
		plan.LastReceivedAnnotation(p.Names.Sensor), plan.HeartbeatTimeoutSeconds)
	return wfv1.Template{
		Name:     "check-sensor",
		Resource: &wfv1.ResourceTemplate{Action: "get", Manifest: indented(identify(p, "EventSource", p.Names.EventSource))},
		Outputs: wfv1.Outputs{Parameters: []wfv1.Parameter{
			{Name: "restart", ValueFrom: &wfv1.ValueFrom{JQFilter: restart}},
		}},
	}
}

func patchTemplate(name string, patch any) wfv1.Template {
	return wfv1.Template{
		Name:     name,
		Resource: &wfv1.ResourceTemplate{Action: "patch", MergeStrategy: "merge", Manifest: indented(patch)},
	}
}

// identified is an object with its name.
type identified struct {
	metav1.TypeMeta `                  json:",inline"`
	Metadata        map[string]string `json:"metadata"`
}

func identify(p *plan.Plan, kind, name string) identified {
	return identified{
		TypeMeta: metav1.TypeMeta{APIVersion: eventsv1.SchemeGroupVersion.String(), Kind: kind},
		Metadata: map[string]string{"name": name, "namespace": p.Shared.Namespace},
	}
}

// restartPatch is a patch that changes an annotation of the pod of an EventSource or a
// Sensor, so that Argo Events replaces the pod. The value is the Workflow's name, which
// differs from run to run. Annotations in without are removed.
func restartPatch(of identified, annotation string, without []string) any {
	workflowName := "{{workflow.name}}"
	annotations := map[string]*string{annotation: &workflowName}
	for _, name := range without {
		annotations[name] = nil
	}
	type metadata struct {
		Annotations map[string]*string `json:"annotations"`
	}
	type pod struct {
		Metadata metadata `json:"metadata"`
	}
	type spec struct {
		Template pod `json:"template"`
	}
	return struct {
		identified `json:",inline"`
		Spec       spec `json:"spec"`
	}{of, spec{pod{metadata{annotations}}}}
}

// indented returns the manifest of a resource template.
func indented(object any) string {
	data, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("manifest: plain data does not encode: %v", err)) // unreachable
	}
	return string(data) + "\n"
}
