package manifest

import (
	"encoding/json"
	"fmt"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// replaySpec is the resync of the direct engine: it sets an annotation of the
// EventSource's pod, so that a new pod replaces it and replays all objects. If Sensors
// stopped receiving events, it replaces their pods, too; the replay then reaches the
// other Sensors, and each replaced Sensor requests its own when it subscribes. Argo's
// executor does all of this without another image.
func replaySpec(p *plan.Plan) wfv1.WorkflowSpec {
	spec := workflowSpecOf(p, plan.ResyncAccount)
	spec.Entrypoint = "resync"
	spec.Metrics = metrics(p, p.Monitoring.Resyncs)
	spec.ActiveDeadlineSeconds = &p.Shared.TimeoutSeconds
	source, subscribed := identify(p, "EventSource", p.Names.EventSource), []string{}
	var restarts []wfv1.Template
	for _, s := range p.Sensors {
		subscribed = append(subscribed, plan.SubscribedAnnotation(s.Name))
		restarts = append(
			restarts,
			patchTemplate("restart-"+s.Name, restartPatch(identify(p, "Sensor", s.Name), "argoperator.dev/restarted-by", nil)),
		)
	}
	spec.Templates = append([]wfv1.Template{
		resyncSteps(p),
		checkSensorsTemplate(p),
		patchTemplate("replay", restartPatch(source, "argoperator.dev/resync", nil)),
		patchTemplate("reset-subscriptions", restartPatch(source, "argoperator.dev/resync", subscribed)),
	}, restarts...)
	return spec
}

func resyncSteps(p *plan.Plan) wfv1.Template {
	const restart = "{{steps.check-sensors.outputs.parameters.restart}} == "
	repair := wfv1.ParallelSteps{}
	for _, s := range p.Sensors {
		repair.Steps = append(
			repair.Steps,
			wfv1.WorkflowStep{Name: "restart-" + s.Name, Template: "restart-" + s.Name, When: restart + "true"},
		)
	}
	return wfv1.Template{Name: "resync", Steps: []wfv1.ParallelSteps{
		{Steps: []wfv1.WorkflowStep{{Name: "check-sensors", Template: "check-sensors"}}},
		repair,
		{Steps: []wfv1.WorkflowStep{
			{Name: "replay", Template: "replay", When: restart + "false"},
			{Name: "reset-subscriptions", Template: "reset-subscriptions", When: restart + "true"},
		}},
	}}
}

// checkSensorsTemplate checks whether a Sensor's last heartbeat is too old.
func checkSensorsTemplate(p *plan.Plan) wfv1.Template {
	var times []string
	for _, s := range p.Sensors {
		times = append(times, fmt.Sprintf("[.metadata.annotations[%q], .metadata.creationTimestamp]", plan.LastReceivedAnnotation(s.Name)))
	}
	restart := fmt.Sprintf(`[%s] | any((max | fromdate? // 0) < now - %d)`, strings.Join(times, ", "), plan.HeartbeatTimeoutSeconds)
	return wfv1.Template{
		Name:     "check-sensors",
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
