package admission

import (
	"encoding/base64"
	"encoding/json"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Limits in bytes.
const (
	maxVariable    = 128 << 10 // of one NAME=value in a Linux process, with its final zero
	MaxConfigMap   = 1 << 20   // of all data; limit of the API server
	MaxAnnotations = 256 << 10 // of an object; limit of the API server
	MaxParameter   = 16 << 10  // our own limit: a Workflow copies its parameters into its status for every step
)

// Sizes reports objects that exceed a size limit.
func Sizes(o argo.Objects) []problem.Problem {
	out := argo.Each(o, func(r *problem.Report, s *eventsv1.Sensor) {
		if mayExceedVariable(o, s) {
			Variable(r, "SENSOR_OBJECT", &eventsv1.Sensor{ObjectMeta: NameOnly(s.ObjectMeta), Spec: s.Spec})
		}
	})
	out = append(out, argo.Each(o, func(r *problem.Report, s *eventsv1.EventSource) {
		if mayExceedVariable(o, s) {
			Variable(r, "EVENTSOURCE_OBJECT", &eventsv1.EventSource{ObjectMeta: NameOnly(s.ObjectMeta), Spec: s.Spec})
		}
	})...)
	out = append(out, argo.Each(o, func(r *problem.Report, cm *corev1.ConfigMap) {
		total := 0
		for _, text := range cm.Data {
			total += len(text)
		}
		for _, data := range cm.BinaryData {
			total += len(data)
		}
		if total > MaxConfigMap {
			r.Add(
				field.NewPath("data"),
				problem.CodeSize,
				"move large files into the image",
				"%d bytes: the API server accepts at most %d",
				total,
				MaxConfigMap,
			)
		}
	})...)
	out = append(out, argo.EachSpec(o, parameterSizes)...)
	for _, object := range o.List {
		r, total := problem.About(object), 0
		for key, value := range object.GetAnnotations() {
			total += len(key) + len(value)
		}
		if total > MaxAnnotations {
			r.Add(
				field.NewPath("metadata", "annotations"),
				problem.CodeSize,
				"",
				"%d bytes: the API server accepts at most %d",
				total,
				MaxAnnotations,
			)
		}
		out = append(out, r.Problems...)
	}
	return out
}

// mayExceedVariable reports whether an object may be too large for Variable. It counts the
// characters of the fields, because encoding a Sensor takes many times as long.
func mayExceedVariable(o argo.Objects, object manifest.Object) bool {
	fields, err := o.FieldsOf(object)
	return err != nil || base64.StdEncoding.EncodedLen(atMost(fields)) > maxVariable*9/10
}

// atMost returns about as many bytes as a value has as JSON, rather more than fewer.
func atMost(value any) int {
	total := 0
	switch v := value.(type) {
	case string:
		total = len(v) + len(`"",`)
		for i := range len(v) {
			switch c := v[i]; {
			case c == '"' || c == '\\' || c == '\n' || c == '\t':
				total++
			case c < ' ' || c == '<' || c == '>' || c == '&' || c == 0xE2: // \u0000, and U+2028 begins with E2
				total += 5
			}
		}
	case map[string]any:
		total = len("{},")
		for key, inner := range v {
			total += atMost(key) + atMost(inner)
		}
	case []any:
		total = len("[],")
		for _, inner := range v {
			total += atMost(inner)
		}
	default:
		total = 24 // a number or a boolean
	}
	return total
}

// NameOnly returns the metadata that Argo Events passes to its pods.
func NameOnly(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}
}

// Variable reports an object that does not fit into the environment variable in
// which Argo Events passes it to its pod, in base64.
func Variable(r *problem.Report, name string, object any) {
	data, err := json.Marshal(object)
	if err != nil {
		r.Add(nil, problem.CodeSize, "", "%v", err)
		return
	}
	if n := len(name) + len("=") + base64.StdEncoding.EncodedLen(len(data)) + 1; n > maxVariable {
		r.Add(field.NewPath("spec"), problem.CodeSize, "use fewer or shorter expressions, or split the operator",
			"%d bytes as JSON: in the variable %s of its pod it would be %d of at most %d", len(data), name, n, maxVariable)
	}
}

func parameterSizes(r *problem.Report, at *field.Path, spec wfv1.WorkflowSpec) {
	for i, p := range spec.Arguments.Parameters {
		if p.Value != nil && len(p.Value.String()) > MaxParameter {
			r.Add(at.Child("arguments", "parameters").Index(i), problem.CodeSize, "put it into a ConfigMap",
				"%d bytes: a parameter is copied for every step, keep it below %d", len(p.Value.String()), MaxParameter)
		}
	}
}
