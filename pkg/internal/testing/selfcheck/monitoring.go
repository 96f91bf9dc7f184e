package selfcheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	argometrics "github.com/argoproj/argo-workflows/v3/workflow/metrics"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	promlabels "github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	corev1 "k8s.io/api/core/v1"
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

		"argo_events_event_processing_duration_milliseconds_sum":   source,
		"argo_events_event_processing_duration_milliseconds_count": source,

		"argo_events_action_duration_milliseconds_sum":   sensor,
		"argo_events_action_duration_milliseconds_count": sensor,
	}
}

// workerMetrics matches a metric, with its labels, in the program of a worker.
var workerMetrics = regexp.MustCompile(`["'](argoperator_[a-z_]+)(?: |\{\{(.*?)\}\})`)

// workerLabel matches a label of these.
var workerLabel = regexp.MustCompile(`([a-z_]+)="`)

// knownMetrics returns podMetrics, those of the programs of workers and the metrics of the
// emitted Workflows.
func knownMetrics(o objects) map[string][]string {
	known := podMetrics()
	for _, w := range o.Workers() {
		for _, text := range w.Texts(o.Objects) {
			for _, m := range workerMetrics.FindAllStringSubmatch(text, -1) {
				known[m[1]] = []string{"pod"}
				for _, l := range workerLabel.FindAllStringSubmatch(m[2], -1) {
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
			for _, name := range seriesOf(m) {
				for _, l := range m.Labels {
					known["argo_workflows_"+name] = append(known["argo_workflows_"+name], l.Key)
				}
			}
		}
	})
	return known
}

// seriesOf returns the names of the series of a metric.
func seriesOf(m *wfv1.Prometheus) []string {
	if m.Histogram == nil {
		return []string{m.Name}
	}
	return []string{m.Name + "_bucket", m.Name + "_sum", m.Name + "_count"}
}

// rules reports rules of Prometheus that use unknown series or lack a required field.
func rules(o objects) []problem.Problem {
	known := knownMetrics(o)
	return argo.Each(o.Objects, func(r *problem.Report, p *monitoringv1.PrometheusRule) {
		for i, g := range p.Spec.Groups {
			for j, rule := range g.Rules {
				at := field.NewPath("spec", "groups").Index(i).Child("rules").Index(j)
				if rule.Record == "" && (rule.Alert == "" || rule.For == nil || rule.Labels["severity"] == "" ||
					rule.Annotations["summary"] == "" || rule.Annotations["description"] == "") {
					r.Add(at, codeAlert, "", "an alert needs a name, for, a severity, a summary and a description")
				}
				for _, message := range expressionErrors(o, known, rule.Expr.String()) {
					r.Add(at.Child("expr"), codeAlert, "", "%s", message)
				}
			}
		}
	})
}

// dashboards reports panels of Grafana about series that nothing records.
func dashboards(o objects) []problem.Problem {
	known := recordedSeries(o)
	return argo.Each(o.Objects, func(r *problem.Report, c *corev1.ConfigMap) {
		if c.Labels["grafana_dashboard"] == "" {
			return
		}
		for key, text := range c.Data {
			at := field.NewPath("data").Key(key)
			var dashboard struct {
				Panels []struct {
					Targets []struct {
						Expr string `json:"expr"`
					} `json:"targets"`
				} `json:"panels"`
			}
			if err := json.Unmarshal([]byte(text), &dashboard); err != nil || len(dashboard.Panels) == 0 {
				r.Add(at, codeDashboard, "", "Grafana needs JSON with panels")
			}
			for _, p := range dashboard.Panels {
				for _, t := range p.Targets {
					for _, message := range expressionErrors(o, known, t.Expr) {
						r.Add(at, codeDashboard, "", "%s", message)
					}
				}
			}
		}
	})
}

// recordedSeries returns the series that rules make, with their labels.
func recordedSeries(o objects) map[string][]string {
	known := map[string][]string{}
	for _, p := range argo.All[*monitoringv1.PrometheusRule](o.Objects) {
		for _, g := range p.Spec.Groups {
			for _, rule := range g.Rules {
				name, own := rule.Record, []string{"operator"}
				if rule.Alert != "" {
					name, own = "ALERTS", []string{"alertname", "alertstate"}
				}
				known[name] = append(append(known[name], own...), slices.Collect(maps.Keys(rule.Labels))...)
			}
		}
	}
	return known
}

// expressionErrors reports the series of an expression that cannot exist.
func expressionErrors(o objects, known map[string][]string, text string) []string {
	expr, err := parser.ParseExpr(text)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	found := false
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		s, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		found = true
		names, ok := known[s.Name]
		if !ok {
			out = append(out, fmt.Sprintf("nothing emits the metric %s", s.Name))
			return nil
		}
		for _, m := range s.LabelMatchers {
			if m.Name == model.MetricNameLabel {
				continue
			}
			if !slices.Contains(names, m.Name) {
				out = append(out, fmt.Sprintf("the metric %s has no label %s", s.Name, m.Name))
			} else if missing := missingObject(o, m); missing != "" {
				out = append(out, missing)
			}
		}
		return nil
	})
	if !found {
		return []string{"is about no metric"}
	}
	return out
}

// missingObject reports that the EventSource or Sensor in a matcher does not exist.
func missingObject(o objects, m *promlabels.Matcher) string {
	kind := map[string]string{"eventsource_name": "EventSource", "sensor_name": "Sensor"}[m.Name]
	if kind == "" || m.Type != promlabels.MatchEqual && m.Type != promlabels.MatchRegexp {
		return ""
	}
	for _, name := range strings.Split(m.Value, "|") {
		if !slices.ContainsFunc(o.List, func(object manifest.Object) bool { return problem.Reference(object) == kind+"/"+name }) {
			return fmt.Sprintf("there is no %s %s", kind, name)
		}
	}
	return ""
}
