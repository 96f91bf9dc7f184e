package lint

import (
	"regexp"
	"strings"
	"sync"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/metrics"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// monitoringRules check metrics and what collects them.
func monitoringRules() []Rule {
	return []Rule{
		{
			Code:    "invalid-metric",
			Summary: "A metric of a Workflow has an invalid name or label, or no value.",
			Why:     "Argo accepts it, and reports the error only in the status of each Workflow that has ended.",
			Fix:     "use letters, digits and underscores in names, and set help and one of counter, gauge and histogram",
			check:   eachFlow(invalidMetrics),
		},
		{
			Code:    "unbounded-metric-label",
			Warning: true,
			Summary: "A label of a metric has a value of its own for each Workflow.",
			Why: "The workflow controller keeps a time series for each value, and so does Prometheus: their memory grows with every " +
				"Workflow.",
			Fix:   "remove the label; logs have the name of the Workflow",
			check: eachFlow(unboundedLabels),
		},
		{
			Code:    "unknown-metrics-port",
			Warning: true,
			Summary: "A PodMonitor for EventSources or Sensors names another port than metrics.",
			Why:     "The pods of Argo Events have no other port with metrics, so Prometheus collects nothing.",
			Fix:     "write port: metrics",
			check:   on(otherPort),
		},
	}
}

// eachMetric calls check for every metric of a flow.
func (f flow) eachMetric(check func(*field.Path, *wfv1.Prometheus)) {
	each := func(at *field.Path, m *wfv1.Metrics) {
		for n := 0; m != nil && n < len(m.Prometheus); n++ {
			if m.Prometheus[n] != nil {
				check(at.Child("metrics", "prometheus").Index(n), m.Prometheus[n])
			}
		}
	}
	each(f.path, f.spec.Metrics)
	for _, t := range f.templates() {
		each(t.path, t.Metrics)
	}
}

func invalidMetrics(i *inspection, f flow) {
	f.eachMetric(func(at *field.Path, m *wfv1.Prometheus) {
		switch {
		case !metrics.IsValidMetricName(m.Name):
			i.report(at.Child("name"), "%q is no name of a metric", m.Name)
		case m.Help == "":
			i.reportHint(at, "add help", "metric %s has no help", m.Name)
		case m.Counter == nil && m.Gauge == nil && m.Histogram == nil:
			i.reportHint(at, "add counter, gauge or histogram", "metric %s has no value", m.Name)
		default:
			if err := metrics.ValidateMetricValues(m); err != nil {
				i.report(at, "metric %s: %v", m.Name, err)
			} else if m.IsRealtime() && !realtime().MatchString(m.Gauge.Value) {
				i.reportHint(at.Child("gauge", "value"), "remove realtime: true, or write {{duration}}",
					"metric %s: only a duration can be realtime", m.Name)
			} else if value := m.GetValueString(); !m.IsRealtime() && noNumber(value) {
				i.reportHint(at.Child(strings.ToLower(string(m.GetMetricType())), "value"), "write a number, or a tag alone",
					"metric %s: %s is never a number", m.Name, value)
			}
		}
		if err := metrics.ValidateMetricLabels(m.GetMetricLabels()); err != nil {
			i.report(at.Child("labels"), "metric %s: %v", m.Name, err)
		}
	})
}

// realtime matches the values that the controller can compute at any time.
var realtime = lazily(`^\{\{\s*(workflow\.)?duration\s*\}\}$`)

// perWorkflow matches tags whose value is another one in each Workflow or pod.
var perWorkflow = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{\s*(workflow\.(name|uid|creationTimestamp)|pod\.name)\b`)
})

func unboundedLabels(i *inspection, f flow) {
	f.eachMetric(func(at *field.Path, m *wfv1.Prometheus) {
		for n, l := range m.Labels {
			if l != nil && perWorkflow().MatchString(l.Value) {
				i.report(at.Child("labels").Index(n), "each Workflow has another value of label %s", l.Key)
			}
		}
	})
}

func otherPort(i *inspection, m *monitoringv1.PodMonitor) {
	labels := m.Spec.Selector.MatchLabels
	controller := labels["controller"]
	if controller != "eventsource-controller" && controller != "sensor-controller" &&
		labels["eventsource-name"] == "" && labels["sensor-name"] == "" && labels["owner-name"] == "" {
		return // it may select other pods
	}
	for n, e := range m.Spec.PodMetricsEndpoints {
		if e.Port != "" && e.Port != "metrics" {
			i.report(field.NewPath("spec", "podMetricsEndpoints").Index(n).Child("port"), "the pods of Argo Events have no port %q", e.Port)
		}
	}
}
