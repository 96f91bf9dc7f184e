package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan/monitoring"
)

// podMonitors make Prometheus scrape the pods of the EventSource and the Sensors, which
// it finds by the labels that Argo Events sets, and those of the worker.
func podMonitors(p *plan.Plan) []Object {
	if !p.Shared.Monitoring.PodMonitor {
		return nil
	}
	owners := []string{p.Names.EventSource}
	for _, s := range p.Sensors {
		if s.Name != p.Names.EventSource {
			owners = append(owners, s.Name)
		}
	}
	list := []Object{podMonitor(p, p.Operator.Name, metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "controller", Operator: metav1.LabelSelectorOpIn, Values: []string{"eventsource-controller", "sensor-controller"}},
		{Key: eventsv1.LabelOwnerName, Operator: metav1.LabelSelectorOpIn, Values: owners},
	}})}
	if workers := p.Workers(); workers != nil {
		list = append(list, podMonitor(p, p.Names.Worker, metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: workerLabel, Operator: metav1.LabelSelectorOpIn, Values: workers},
		}}))
	}
	return list
}

func podMonitor(p *plan.Plan, name string, selector metav1.LabelSelector) Object {
	return &monitoringv1.PodMonitor{
		TypeMeta:   monitoringType(monitoringv1.PodMonitorsKind),
		ObjectMeta: monitoringMeta(p, name),
		Spec: monitoringv1.PodMonitorSpec{
			PodMetricsEndpoints: []monitoringv1.PodMetricsEndpoint{{
				Port: "metrics", Interval: interval(p.Shared.Monitoring.Interval),
			}},
			NamespaceSelector: monitoringv1.NamespaceSelector{MatchNames: []string{p.Shared.Namespace}},
			Selector:          selector,
		},
	}
}

func interval(d time.Duration) monitoringv1.Duration {
	if d == 0 {
		return ""
	}
	return monitoringv1.Duration(fmt.Sprintf("%ds", d/time.Second))
}

// prometheusRules hold the recorded series and the alerts.
func prometheusRules(p *plan.Plan) []Object {
	var rules []monitoringv1.Rule
	for _, r := range p.Monitoring.Records {
		rules = append(rules, monitoringv1.Rule{Record: r.Name, Expr: intstr.FromString(r.Expr), Labels: r.Labels})
	}
	for _, a := range p.Monitoring.Alerts {
		rules = append(rules, rule(p, a))
	}
	if len(rules) == 0 {
		return nil
	}
	return []Object{&monitoringv1.PrometheusRule{
		TypeMeta:   monitoringType(monitoringv1.PrometheusRuleKind),
		ObjectMeta: monitoringMeta(p, p.Operator.Name),
		Spec:       monitoringv1.PrometheusRuleSpec{Groups: []monitoringv1.RuleGroup{{Name: p.Operator.Name, Rules: rules}}},
	}}
}

func rule(p *plan.Plan, a monitoring.Alert) monitoringv1.Rule {
	labels := map[string]string{"severity": string(a.Severity), "operator": p.Operator.Name, "operator_namespace": p.Shared.Namespace}
	maps.Copy(labels, p.Shared.Monitoring.AlertLabels)
	return monitoringv1.Rule{
		Alert:  a.Name,
		Expr:   intstr.FromString(a.Expr),
		For:    ptr.To(monitoringv1.Duration(fmt.Sprintf("%dm", int64(a.For/time.Minute)))),
		Labels: labels,
		Annotations: map[string]string{
			"summary": a.Summary, "description": a.Description,
			"docs": "docs/how-to/monitor.md#" + strings.ToLower(a.Name),
		},
	}
}

func monitoringType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: kind}
}

func monitoringMeta(p *plan.Plan, name string) metav1.ObjectMeta {
	m := meta(p, name)
	maps.Copy(m.Labels, p.Shared.Monitoring.Labels)
	return m
}

// metrics returns the metrics that the workflow controller emits. A label called
// namespace is the controller's own, and Prometheus would rename ours.
func metrics(p *plan.Plan, list []monitoring.Metric) *wfv1.Metrics {
	if len(list) == 0 {
		return nil
	}
	out := &wfv1.Metrics{}
	for _, m := range list {
		metric := &wfv1.Prometheus{
			Name: m.Name, Help: m.Help, When: m.When,
			Labels: []*wfv1.MetricLabel{
				{Key: "operator", Value: p.Operator.Name},
				{Key: "operator_namespace", Value: p.Shared.Namespace},
			},
		}
		if m.Result {
			metric.Labels = append(metric.Labels, &wfv1.MetricLabel{Key: "result", Value: "{{workflow.status}}"})
		}
		switch m.Kind {
		case monitoring.Counter:
			metric.Counter = &wfv1.Counter{Value: m.Value}
		case monitoring.Gauge:
			metric.Gauge = &wfv1.Gauge{Value: m.Value, Realtime: ptr.To(false)}
		case monitoring.Histogram:
			metric.Histogram = &wfv1.Histogram{Value: m.Value, Buckets: buckets(m.Buckets)}
		}
		out.Prometheus = append(out.Prometheus, metric)
	}
	return out
}

func buckets(bounds []float64) []wfv1.Amount {
	var out []wfv1.Amount
	for _, b := range bounds {
		out = append(out, wfv1.Amount{Value: json.Number(strconv.FormatFloat(b, 'g', -1, 64))})
	}
	return out
}
