package selfcheck

import (
	"fmt"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

const (
	monitorName = "PodMonitor/memcached"
	ruleName    = "PrometheusRule/memcached"
	firstMetric = "spec.metrics.prometheus[0]"
	firstRule   = "spec.groups[0].rules[0]"

	dashboardName = "ConfigMap/dashboard"
	dashboardText = "data[a.json]"
)

// addMonitoring adds a metric, a PodMonitor and an alert to the fixture.
func addMonitoring(f *fixture) (*wfv1.Prometheus, *monitoringv1.PodMonitor, *monitoringv1.Rule) {
	metric := &wfv1.Prometheus{
		Name: "runs_total", Help: "Runs by result.", Counter: &wfv1.Counter{Value: "1"},
		Labels: []*wfv1.MetricLabel{{Key: "operator", Value: "memcached"}, {Key: "result", Value: "{{workflow.status}}"}},
	}
	f.template.Spec.Metrics = &wfv1.Metrics{Prometheus: []*wfv1.Prometheus{metric}}
	kind := func(name string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: "monitoring.coreos.com/v1", Kind: name}
	}
	monitor := &monitoringv1.PodMonitor{TypeMeta: kind("PodMonitor"), ObjectMeta: meta("memcached"), Spec: monitoringv1.PodMonitorSpec{
		PodMetricsEndpoints: []monitoringv1.PodMetricsEndpoint{{Port: "metrics"}},
		Selector:            metav1.LabelSelector{MatchLabels: map[string]string{"owner-name": "memcached"}},
	}}
	rules := &monitoringv1.PrometheusRule{TypeMeta: kind("PrometheusRule"), ObjectMeta: meta("memcached"), Spec: monitoringv1.PrometheusRuleSpec{
		Groups: []monitoringv1.RuleGroup{{Name: "memcached", Rules: []monitoringv1.Rule{{
			Alert: "Gone", For: ptr.To[monitoringv1.Duration]("5m"),
			Expr:        intstr.FromString(`absent(argo_events_action_triggered_total{namespace="a", sensor_name=~"memcached"}) or argo_workflows_runs_total{operator="memcached"} > 0`),
			Labels:      map[string]string{"severity": "warning"},
			Annotations: map[string]string{"summary": "s", "description": "d"},
		}}}},
	}}
	rules.Spec.Groups[0].Rules = append(rules.Spec.Groups[0].Rules, monitoringv1.Rule{
		Record: "runs:rate", Expr: intstr.FromString(`sum by (operator) (rate(argo_workflows_runs_total[5m]))`),
		Labels: map[string]string{"result": "success"},
	})
	f.extra = append(f.extra, monitor, rules, &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "dashboard", Namespace: meta("").Namespace, Labels: map[string]string{"grafana_dashboard": "1"}},
		Data:       map[string]string{"a.json": panelOf(`runs:rate{operator="memcached", result="success"} or ALERTS{alertname="Gone", severity="warning"}`)},
	})
	return metric, monitor, &rules.Spec.Groups[0].Rules[0]
}

// panelOf is a dashboard with one panel.
func panelOf(expr string) string {
	return fmt.Sprintf(`{"panels": [{"targets": [{"expr": %q}]}]}`, expr)
}

func monitoringMutations() []mutation {
	metric := func(do func(*wfv1.Prometheus)) func(*fixture) {
		return func(f *fixture) { m, _, _ := addMonitoring(f); do(m) }
	}
	monitor := func(do func(*monitoringv1.PodMonitor)) func(*fixture) {
		return func(f *fixture) { _, m, _ := addMonitoring(f); do(m) }
	}
	rule := func(do func(*monitoringv1.Rule)) func(*fixture) {
		return func(f *fixture) { _, _, r := addMonitoring(f); do(r) }
	}
	recorded := func(text string) func(*fixture) {
		return func(f *fixture) {
			addMonitoring(f)
			f.extra[len(f.extra)-2].(*monitoringv1.PrometheusRule).Spec.Groups[0].Rules[1].Expr = intstr.FromString(text)
		}
	}
	expr := func(text string) func(*fixture) {
		return rule(func(r *monitoringv1.Rule) { r.Expr = intstr.FromString(text) })
	}
	dashboard := func(text string) func(*fixture) {
		return func(f *fixture) {
			addMonitoring(f)
			f.extra[len(f.extra)-1].(*corev1.ConfigMap).Data["a.json"] = text
		}
	}
	return []mutation{
		{"metric without help", "Argo ignores it", metric(func(m *wfv1.Prometheus) { m.Help = "" }), codeMetric, reconcileName, firstMetric},
		{"metric name with a dash", "Argo ignores it", metric(func(m *wfv1.Prometheus) { m.Name = "a-b" }), codeMetric, reconcileName, firstMetric},
		{"label name with a dash", "Argo ignores it", metric(func(m *wfv1.Prometheus) { m.Labels[0].Key = "a-b" }), codeMetric, reconcileName, firstMetric + ".labels"},
		{"metric without a value", "Argo ignores it", metric(func(m *wfv1.Prometheus) { m.Counter = nil }), codeMetric, reconcileName, firstMetric},
		{"label with the Workflow's name", "every Workflow would add a series", metric(func(m *wfv1.Prometheus) { m.Labels[0].Value = "{{workflow.name}}" }), codeMetric, reconcileName, firstMetric + ".labels[0]"},
		{"expression in a metric", "Argo evaluates it", metric(func(m *wfv1.Prometheus) { m.Counter.Value = "{{=1+1}}" }), problem.CodeInjection, reconcileName, firstMetric + ".counter.value"},
		{"unknown port", "no pod has it", monitor(func(m *monitoringv1.PodMonitor) { m.Spec.PodMetricsEndpoints[0].Port = "http" }), codePodMonitor, monitorName, "spec.podMetricsEndpoints[0].port"},
		{"unknown pod label", "no pod matches", monitor(func(m *monitoringv1.PodMonitor) { m.Spec.Selector.MatchLabels["app"] = "memcached" }), codePodMonitor, monitorName, "spec.selector"},
		{"pods in another namespace", "no pod matches", monitor(func(m *monitoringv1.PodMonitor) { m.Spec.NamespaceSelector.MatchNames = []string{"argo"} }), codePodMonitor, monitorName, "spec.selector"},
		{"alert without for", "a single sample would fire it", rule(func(r *monitoringv1.Rule) { r.For = nil }), codeAlert, ruleName, firstRule},
		{"alert without severity", "it would have no receiver", rule(func(r *monitoringv1.Rule) { r.Labels = nil }), codeAlert, ruleName, firstRule},
		{"alert on a metric that Argo Events does not have", "it would never fire", expr(`argo_events_actions_total{namespace="a"} > 0`), codeAlert, ruleName, firstRule + ".expr"},
		{"alert on a metric that no template defines", "it would never fire", expr(`argo_workflows_other_total{operator="a"} > 0`), codeAlert, ruleName, firstRule + ".expr"},
		{"alert on an unknown label", "it would never fire", expr(`argo_events_action_failed_total{event_name="a"} > 0`), codeAlert, ruleName, firstRule + ".expr"},
		{"alert on an unknown Sensor", "it would never fire", expr(`argo_events_action_failed_total{sensor_name="other"} > 0`), codeAlert, ruleName, firstRule + ".expr"},
		{"alert that is not PromQL", "Prometheus refuses the rules", expr(`sum(argo_events_action_failed_total`), codeAlert, ruleName, firstRule + ".expr"},
		{"series of an unknown metric", "it would have no value", recorded(`sum(rate(argo_workflows_walks_total[5m]))`), codeAlert, ruleName, "spec.groups[0].rules[1].expr"},
		{"dashboard that is not JSON", "Grafana refuses it", dashboard(`panels`), codeDashboard, dashboardName, dashboardText},
		{"panel about an unknown series", "it would be empty", dashboard(panelOf(`walks:rate`)), codeDashboard, dashboardName, dashboardText},
		{"panel about an unknown label", "it would be empty", dashboard(panelOf(`runs:rate{outcome="success"}`)), codeDashboard, dashboardName, dashboardText},
		{"alert without a metric", "it would always fire, or never", expr(`vector(1)`), codeAlert, ruleName, firstRule + ".expr"},
	}
}
