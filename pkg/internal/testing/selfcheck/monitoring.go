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

// podMonitors reports PodMonitors that do not select the pods of the operator's
// EventSources and Sensors by the labels and the port that Argo Events sets.
func podMonitors(o objects) []problem.Problem {
	return argo.Each(o.Objects, func(r *problem.Report, m *monitoringv1.PodMonitor) {
		for i, e := range m.Spec.PodMetricsEndpoints {
			if e.Port != "metrics" {
				r.Add(
					field.NewPath("spec", "podMetricsEndpoints").Index(i).Child("port"),
					codePodMonitor,
					"write metrics",
					"the pods of Argo Events have no port %q",
					e.Port,
				)
			}
		}
		at := field.NewPath("spec", "selector")
		selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
		if err != nil {
			r.Add(at, codePodMonitor, "", "%v", err)
			return
		}
		for _, s := range argo.All[*eventsv1.EventSource](o.Objects) {
			checkSelector(r, m, selector, s.Namespace, "EventSource", labels.Set{
				"controller": "eventsource-controller", eventsv1.LabelEventSourceName: s.Name, eventsv1.LabelOwnerName: s.Name,
			})
		}
		for _, s := range argo.All[*eventsv1.Sensor](o.Objects) {
			checkSelector(r, m, selector, s.Namespace, "Sensor", labels.Set{
				"controller": "sensor-controller", eventsv1.LabelSensorName: s.Name, eventsv1.LabelOwnerName: s.Name,
			})
		}
	})
}

func checkSelector(r *problem.Report, m *monitoringv1.PodMonitor, selector labels.Selector, namespace, kind string, pod labels.Set) {
	namespaces := m.Spec.NamespaceSelector
	inNamespace := namespaces.Any || slices.Contains(namespaces.MatchNames, namespace) ||
		len(namespaces.MatchNames) == 0 && m.Namespace == namespace
	if !inNamespace || !selector.Matches(pod) {
		r.Add(
			field.NewPath("spec", "selector"),
			codePodMonitor,
			"",
			"does not find the pods of the %s %s",
			kind,
			pod[eventsv1.LabelOwnerName],
		)
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

// knownMetrics returns podMetrics and the metrics of the emitted Workflows.
func knownMetrics(o objects) map[string][]string {
	known := podMetrics()
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
