package manifest

import (
	"fmt"
	"slices"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// diagnosisTemplate sends a request that the API server rejected once more, with the
// Sensor's service account, and records the API server's message. If it fails, the next
// resync asks again.
func diagnosisTemplate(p *plan.Plan) Object {
	spec := workflowSpecOf(p, plan.SensorAccount)
	spec.TTLStrategy.SecondsAfterFailure = spec.TTLStrategy.SecondsAfterSuccess
	spec.Entrypoint = "diagnose"
	spec.WorkflowMetadata = &wfv1.WorkflowMetadata{Labels: map[string]string{plan.ManagedBy: p.Operator.Name}}
	spec.ActiveDeadlineSeconds = &p.Shared.TimeoutSeconds
	spec.Synchronization = mutex(p.DiagnosisName() + ".{{workflow.parameters.partition}}")
	spec.Arguments = wfv1.Arguments{Parameters: []wfv1.Parameter{
		{Name: "partition", Description: wfv1.AnyStringPtr("of the custom resources: one Workflow of each runs at a time")},
		{Name: "rejected", Description: wfv1.AnyStringPtr("the request, and the one that records the failure, as JSON in base64")},
	}}
	diagnose := podTemplate(p, spec.Entrypoint)
	diagnose.Volumes = []corev1.Volume{
		configMapVolume("runtime", p.Names.RuntimeConfigMap, files(clientScript, diagnosisScript)),
		emptyDir("tmp"),
	}
	diagnose.Container = scriptContainer(p, "", diagnosisScript)
	diagnose.Container.Env = []corev1.EnvVar{{Name: "ARGOPERATOR_REJECTED", Value: "{{workflow.parameters.rejected}}"}}
	spec.Templates = []wfv1.Template{diagnose}
	return workflowTemplate(p, p.DiagnosisName(), spec)
}

// IsDiagnosis reports whether a Workflow asks why the API server rejects a request. It runs
// with the Sensor's service account: the answer to another one could be another.
func IsDiagnosis(spec wfv1.WorkflowSpec) bool {
	return slices.ContainsFunc(spec.Templates, func(t wfv1.Template) bool {
		return t.Container != nil && slices.Contains(t.Container.Command, RuntimeDir+"/"+diagnosisScript)
	})
}

// maxRejected limits the body of a request that a Workflow sends once more, in bytes: an
// environment variable of its pod, which takes 128 KiB, has it in JSON and base64.
const maxRejected = 80_000

// diagnosisPartitions is the number of mutexes of the Workflows, and so of the pods that ask
// at the same time. Those for one custom resource have the same mutex.
const diagnosisPartitions = 4

// DiagnosisAsked is the field by which the program of a Sensor says that a Workflow asks why.
const DiagnosisAsked = ".Input.failed.asks"

// DiagnosisTemplates returns the text templates of the request that a Sensor sends after a
// failure, by destination. If the program of the Sensor says so, it creates a Workflow of
// the WorkflowTemplate name, which asks why; otherwise it is the request that the program has
// computed. Values of the event are only inserted in base64, so none of them is taken for a
// template. A Workflow that is created twice does nothing the second time.
func DiagnosisTemplates(name, namespace string) map[string]string {
	either := func(asking, otherwise string) string {
		return fmt.Sprintf(
			`{{ if and `+DiagnosisAsked+` (lt (len .Input.call.body) %d) }}%s{{ else }}%s{{ end }}`,
			maxRejected,
			asking,
			otherwise,
		)
	}
	return map[string]string{
		"url": apiServer + either(
			"/apis/argoproj.io/v1alpha1/namespaces/"+namespace+"/workflows",
			"{{ .Input.failed.path }}",
		),
		"method":               either("POST", "PATCH"),
		"headers.Content-Type": either("application/json", "application/merge-patch+json"),
		"": either(fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"generateName":"%[1]s-"},`+
			`"spec":{"workflowTemplateRef":{"name":"%[1]s"},"arguments":{"parameters":[`+
			`{"name":"partition","value":"{{ mod (atoi (adler32sum `+DiagnosisAsked+`)) %[2]d }}"},`+
			`{"name":"rejected","value":"{{ dict "request" .Input.call "failed" .Input.failed | toJson | b64enc }}"}]}}}`, name,
			diagnosisPartitions),
			"{{ .Input.failed.body }}"),
	}
}
