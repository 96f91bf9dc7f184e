package check

import (
	"encoding/base64"
	"encoding/json"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits in bytes.
const (
	maxVariable    = 128 << 10 // of one NAME=value of a process, with its final zero: Linux
	maxConfigMap   = 1 << 20   // of all data: the API server
	maxAnnotations = 256 << 10 // of an object: the API server
	maxParameter   = 16 << 10  // ours: a Workflow copies its parameters into its status for every step
)

// sizes: what is passed on in one piece fits.
func sizes(o objects) []Problem {
	out := each(o, func(r *report, s *eventsv1.Sensor) {
		variable(r, "SENSOR_OBJECT", &eventsv1.Sensor{ObjectMeta: nameOnly(s.ObjectMeta), Spec: s.Spec})
	})
	out = append(out, each(o, func(r *report, s *eventsv1.EventSource) {
		variable(r, "EVENTSOURCE_OBJECT", &eventsv1.EventSource{ObjectMeta: nameOnly(s.ObjectMeta), Spec: s.Spec})
	})...)
	out = append(out, each(o, func(r *report, cm *corev1.ConfigMap) {
		total := 0
		for _, text := range cm.Data {
			total += len(text)
		}
		for _, data := range cm.BinaryData {
			total += len(data)
		}
		if total > maxConfigMap {
			r.add(field.NewPath("data"), CodeSize, "put large files into the image", "%d bytes: the API server takes %d", total, maxConfigMap)
		}
	})...)
	out = append(out, each(o, func(r *report, t *wfv1.WorkflowTemplate) { parameterSizes(r, t.Spec) })...)
	out = append(out, each(o, func(r *report, c *wfv1.CronWorkflow) { parameterSizes(r, c.Spec.WorkflowSpec) })...)
	for _, object := range o.list {
		r, total := about(object), 0
		for key, value := range object.GetAnnotations() {
			total += len(key) + len(value)
		}
		if total > maxAnnotations {
			r.add(field.NewPath("metadata", "annotations"), CodeSize, "", "%d bytes: the API server takes %d", total, maxAnnotations)
		}
		out = append(out, r.problems...)
	}
	return out
}

func nameOnly(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}
}

// variable: Argo Events hands the whole object to its pod in base64, in one
// environment variable.
func variable(r *report, name string, object any) {
	data, err := json.Marshal(object)
	if err != nil {
		r.add(nil, CodeSize, "", "%v", err)
		return
	}
	if n := len(name) + len("=") + base64.StdEncoding.EncodedLen(len(data)) + 1; n > maxVariable {
		r.add(field.NewPath("spec"), CodeSize, "fewer or shorter expressions, or split the operator",
			"%d bytes as JSON: in the variable %s of its pod it would be %d of at most %d", len(data), name, n, maxVariable)
	}
}

func parameterSizes(r *report, spec wfv1.WorkflowSpec) {
	for i, p := range spec.Arguments.Parameters {
		if p.Value != nil && len(p.Value.String()) > maxParameter {
			r.add(field.NewPath("spec", "arguments", "parameters").Index(i), CodeSize, "put it into a ConfigMap",
				"%d bytes: a parameter is copied for every step, keep it below %d", len(p.Value.String()), maxParameter)
		}
	}
}
