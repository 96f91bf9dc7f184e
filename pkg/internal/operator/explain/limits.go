package explain

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Limit is a limited resource and its use.
type Limit struct {
	What    string  `json:"name"`
	Of      string  `json:"subject"` // the object that is measured
	Used    float64 `json:"used"`    // 0 for a rate, which depends on the load
	Limit   float64 `json:"limit"`
	Unit    string  `json:"unit"`        // bytes, characters, …
	Percent float64 `json:"percent"`     // 0 if there is nothing to compare
	About   bool    `json:"approximate"` // an estimate: it depends on the custom resource
	Note    string  `json:"note"`
}

// Limits in bytes.
const (
	maxVariable  = 128 << 10 // of one NAME=value of a process, with its final zero byte: Linux
	maxConfigMap = 1 << 20   // of all data: the API server
	maxApplied   = 256 << 10 // of an object in the annotation of kubectl apply: the API server
)

// limits returns the limits sorted by use, with rates last.
func limits(p *plan.Plan, objects []manifest.Object) []Limit {
	out := slices.Concat(variables(objects), sensorSize(p), desired(p), data(objects), applied(objects), names(objects))
	slices.SortStableFunc(out, func(a, b Limit) int { return cmp.Compare(b.Percent, a.Percent) })
	return append(out, rates(p)...)
}

func limit(what, of string, used, most int, unit, note string) Limit {
	l := Limit{What: what, Of: of, Used: float64(used), Limit: float64(most), Unit: unit, Note: note}
	l.Percent = float64(int(1000*l.Used/l.Limit+0.5)) / 10
	return l
}

// variables returns the size of the objects that Argo Events passes to its pods in an
// environment variable, in base64.
func variables(objects []manifest.Object) []Limit {
	var out []Limit
	add := func(variable string, o manifest.Object, stripped any) {
		size := len(variable) + len("=") + base64.StdEncoding.EncodedLen(len(encoded(stripped))) + 1
		out = append(out, limit(variable, called(o), size, maxVariable, "bytes",
			"Linux limits an environment variable to 128 KiB"))
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *eventsv1.Sensor:
			add("SENSOR_OBJECT", o, &eventsv1.Sensor{ObjectMeta: bare(o.ObjectMeta), Spec: o.Spec})
		case *eventsv1.EventSource:
			add("EVENTSOURCE_OBJECT", o, &eventsv1.EventSource{ObjectMeta: bare(o.ObjectMeta), Spec: o.Spec})
		}
	}
	return out
}

func bare(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}
}

func called(o manifest.Object) string {
	return o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetName()
}

// sensorSize returns the size of the Sensor of the direct engine.
func sensorSize(p *plan.Plan) []Limit {
	if p.Reconcile.Execution.RunsPods {
		return nil
	}
	const above = "above it, direct does not support the definition"
	return []Limit{limit("programs", "Sensor "+p.Names.Sensor, p.DirectSize(), plan.MaxSensor, "bytes", above)}
}

// desired estimates the size of the children that are passed to the pod: about that of
// the jq that computes them.
func desired(p *plan.Plan) []Limit {
	if !p.Runtime.SensorTemplates || !p.Reconcile.Execution.RunsPods {
		return nil
	}
	size, each := 0, ""
	for _, c := range p.Children {
		if c.Object != nil {
			size += base64.StdEncoding.EncodedLen(len(c.Object.Source()))
		}
		if c.ForEach != nil {
			each = ", with one item per forEach"
		}
	}
	l := limit(
		"children passed to a pod",
		fmt.Sprintf("%d templates", len(p.Children)),
		size,
		plan.MaxDesired,
		"bytes",
		"for one custom resource"+each,
	)
	l.About = true
	return []Limit{l}
}

func data(objects []manifest.Object) []Limit {
	var out []Limit
	for _, o := range objects {
		if m, ok := o.(*corev1.ConfigMap); ok {
			size := 0
			for _, text := range m.Data {
				size += len(text)
			}
			out = append(out, limit("data", called(o), size, maxConfigMap, "bytes", "limit of a ConfigMap"))
		}
	}
	return out
}

// applied returns the largest object: client-side kubectl apply stores a copy in an
// annotation.
func applied(objects []manifest.Object) []Limit {
	var largest Limit
	for _, o := range objects {
		if size := len(encoded(o)); float64(size) > largest.Used {
			largest = limit("largest object", called(o), size, maxApplied, "bytes", "limit of kubectl apply without --server-side")
		}
	}
	return []Limit{largest}
}

// names returns the name that is closest to its limit.
func names(objects []manifest.Object) []Limit {
	var tightest Limit
	for _, o := range objects {
		most, note := nameLimit(o.GetObjectKind().GroupVersionKind().Kind)
		if l := limit("name", called(o), len(o.GetName()), most, "characters", note); l.Percent > tightest.Percent {
			tightest = l
		}
	}
	return []Limit{tightest}
}

func nameLimit(kind string) (characters int, note string) {
	switch kind {
	case "Sensor", "EventSource":
		return 40, "Argo uses it in labels"
	case "CronWorkflow":
		return 52, "Argo adds a timestamp for its Workflows"
	case "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
		return 253, "a DNS name"
	}
	return 63, "a DNS label"
}

// rates returns limits over time.
func rates(p *plan.Plan) []Limit {
	if e := p.Reconcile.Execution; !e.RunsPods || e.Stays {
		return nil // http triggers share one connection without a rate limit
	}
	return []Limit{{
		What: "Workflows created", Of: "Sensor " + p.Sensors[0].Name, Limit: 5, Unit: "per second",
		Note: "5 requests per second for all its k8s triggers; more wait",
	}}
}

func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("explain: an emitted object does not encode: %v", err)) // unreachable
	}
	return data
}
