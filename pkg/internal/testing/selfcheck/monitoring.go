package selfcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	argometrics "github.com/argoproj/argo-workflows/v3/workflow/metrics"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// workflowMetrics validates the metrics of Workflows, because Argo only
// reports invalid ones after a Workflow has ended.
func workflowMetrics(o objects) []problem.Problem {
	return argo.EachSpec(o.Objects, func(r *problem.Report, path *field.Path, spec wfv1.WorkflowSpec) {
		if spec.Metrics == nil {
			return
		}
		for i, m := range spec.Metrics.Prometheus {
			at := path.Child("metrics", "prometheus").Index(i)
			if !argometrics.IsValidMetricName(m.Name) || m.Help == "" {
				r.Add(at, codeMetric, "", "%q: a metric needs a name of letters, digits and '_', and a help", m.Name)
			}
			if err := argometrics.ValidateMetricLabels(m.GetMetricLabels()); err != nil {
				r.Add(at.Child("labels"), codeMetric, "", "%v", err)
			}
			if err := argometrics.ValidateMetricValues(m); err != nil || m.Counter == nil && m.Gauge == nil && m.Histogram == nil {
				r.Add(at, codeMetric, "", "the metric has no value: %v", err)
			}
			for j, l := range m.Labels {
				if strings.Contains(l.Value, "{{") && l.Value != "{{workflow.status}}" {
					r.Add(
						at.Child("labels").Index(j),
						codeMetric,
						"leave it to the logs",
						"a label with as many values as there are Workflows: the controller keeps every one for good",
					)
				}
			}
		}
	})
}

// podMonitors reports pods of the operator's EventSources, Sensors and workers that no PodMonitor
// selects, by the labels that Argo Events or the Deployment sets, and PodMonitors for a port that
// the selected pods do not have.
func podMonitors(o objects) []problem.Problem {
	pods := monitoredPods(o)
	found := make([]bool, len(pods))
	out := argo.Each(o.Objects, func(r *problem.Report, m *monitoringv1.PodMonitor) {
		at := field.NewPath("spec", "selector")
		selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
		if err != nil {
			r.Add(at, codePodMonitor, "", "%v", err)
			return
		}
		selects := false
		for i, p := range pods {
			if inNamespaces(m, p.namespace) && selector.Matches(p.labels) {
				found[i], selects = true, true
				checkPort(r, m, p)
			}
		}
		if !selects {
			r.Add(at, codePodMonitor, "", "does not find pods of an EventSource, a Sensor or a worker")
		}
	})
	monitors := argo.All[*monitoringv1.PodMonitor](o.Objects)
	for i, p := range pods {
		if len(monitors) > 0 && !found[i] {
			r := problem.About(monitors[0])
			r.Add(field.NewPath("spec", "selector"), codePodMonitor, "", "no PodMonitor finds the pods of the %s %s", p.kind, p.name)
			out = append(out, r.Problems...)
		}
	}
	return out
}

// monitoredPod is a pod that has metrics.
type monitoredPod struct {
	kind, name, namespace string
	labels                labels.Set
	hasPort               func(string) bool
}

func monitoredPods(o objects) []monitoredPod {
	var out []monitoredPod
	metrics := func(port string) bool { return port == "metrics" }
	for _, s := range argo.All[*eventsv1.EventSource](o.Objects) {
		out = append(out, monitoredPod{"EventSource", s.Name, s.Namespace, labels.Set{
			"controller": "eventsource-controller", eventsv1.LabelEventSourceName: s.Name, eventsv1.LabelOwnerName: s.Name,
		}, metrics})
	}
	for _, s := range argo.All[*eventsv1.Sensor](o.Objects) {
		out = append(out, monitoredPod{"Sensor", s.Name, s.Namespace, labels.Set{
			"controller": "sensor-controller", eventsv1.LabelSensorName: s.Name, eventsv1.LabelOwnerName: s.Name,
		}, metrics})
	}
	for _, w := range o.Workers() {
		out = append(out, monitoredPod{"worker", w.Name, w.Namespace, w.Spec.Template.Labels, w.HasPort})
	}
	return out
}

func inNamespaces(m *monitoringv1.PodMonitor, namespace string) bool {
	selector := m.Spec.NamespaceSelector
	return selector.Any || slices.Contains(selector.MatchNames, namespace) || len(selector.MatchNames) == 0 && m.Namespace == namespace
}

func checkPort(r *problem.Report, m *monitoringv1.PodMonitor, p monitoredPod) {
	for i, e := range m.Spec.PodMetricsEndpoints {
		if !p.hasPort(e.Port) {
			at := field.NewPath("spec", "podMetricsEndpoints").Index(i).Child("port")
			r.Add(at, codePodMonitor, "write metrics", "the pods of the %s %s have no port %q", p.kind, p.name, e.Port)
		}
	}
}

// podMetrics returns the metrics of Argo Events' pods that alerts may use, with
// their labels. Each of them also has the label namespace.
func podMetrics() map[string][]string {
	source, sensor := []string{"eventsource_name", "event_name"}, []string{"sensor_name", "trigger_name"}
	return map[string][]string{
		"argo_events_event_service_running_total":    {"eventsource_name"},
		"argo_events_events_sent_total":              source,
		"argo_events_events_sent_failed_total":       source,
		"argo_events_events_processing_failed_total": source,
		"argo_events_action_triggered_total":         sensor,
		"argo_events_action_failed_total":            sensor,
		"argo_events_action_retries_failed_total":    sensor,
	}
}

// workerMetrics matches a metric, with its labels, in the program of a worker.
var workerMetrics = regexp.MustCompile(`["'](argoperator_[a-z_]+)(?: |\{\{(.*?)\}\})`)

// knownMetrics returns podMetrics, those of the programs of workers and the metrics of the
// emitted Workflows.
func knownMetrics(o objects) map[string][]string {
	known := podMetrics()
	for _, w := range o.Workers() {
		for _, text := range w.Texts(o.Objects) {
			for _, m := range workerMetrics.FindAllStringSubmatch(text, -1) {
				known[m[1]] = []string{"pod"}
				for _, l := range matcherPattern().FindAllStringSubmatch(m[2], -1) {
					known[m[1]] = append(known[m[1]], l[1])
				}
			}
		}
	}
	for name := range known {
		known[name] = append(slices.Clone(known[name]), "namespace")
	}
	argo.EachSpec(o.Objects, func(_ *problem.Report, _ *field.Path, spec wfv1.WorkflowSpec) {
		if spec.Metrics == nil {
			return
		}
		for _, m := range spec.Metrics.Prometheus {
			for _, l := range m.Labels {
				known["argo_workflows_"+m.Name] = append(known["argo_workflows_"+m.Name], l.Key)
			}
		}
	})
	return known
}

var (
	seriesPattern  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([A-Za-z_:][A-Za-z0-9_:]*)\{([^}]*)\}`) })
	matcherPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	})
)

// alerts reports alerts that use unknown metrics or lack a required field.
func alerts(o objects) []problem.Problem {
	known := knownMetrics(o)
	return argo.Each(o.Objects, func(r *problem.Report, p *monitoringv1.PrometheusRule) {
		for i, g := range p.Spec.Groups {
			for j, rule := range g.Rules {
				at := field.NewPath("spec", "groups").Index(i).Child("rules").Index(j)
				if rule.Alert == "" || rule.For == nil || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" ||
					rule.Annotations["description"] == "" {
					r.Add(at, codeAlert, "", "an alert needs a name, for, a severity, a summary and a description")
				}
				for _, message := range expressionErrors(o, known, rule.Expr.String()) {
					r.Add(at.Child("expr"), codeAlert, "", "%s", message)
				}
			}
		}
	})
}

// expressionErrors reports the series of an expression that cannot exist.
func expressionErrors(o objects, known map[string][]string, text string) []string {
	found := seriesPattern().FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return []string{"is about no metric"}
	}
	var out []string
	for _, s := range found {
		names, ok := known[s[1]]
		if !ok {
			out = append(out, fmt.Sprintf("the operator does not emit the metric %s", s[1]))
			continue
		}
		for _, m := range matcherPattern().FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(names, m[1]) {
				out = append(out, fmt.Sprintf("the metric %s has no label %s", s[1], m[1]))
			} else if missing := missingObject(o, m[1], m[2], m[3]); missing != "" {
				out = append(out, missing)
			}
		}
	}
	return out
}

// missingObject reports that the EventSource or Sensor in a matcher does not exist.
func missingObject(o objects, label, operator, value string) string {
	kind := map[string]string{"eventsource_name": "EventSource", "sensor_name": "Sensor"}[label]
	if kind == "" || operator != "=" && operator != "=~" {
		return ""
	}
	for _, name := range strings.Split(value, "|") {
		if !slices.ContainsFunc(o.List, func(object manifest.Object) bool { return problem.Reference(object) == kind+"/"+name }) {
			return fmt.Sprintf("there is no %s %s", kind, name)
		}
	}
	return ""
}
