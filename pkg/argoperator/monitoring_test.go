package argoperator_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/telemetry"
	argometrics "github.com/argoproj/argo-workflows/v3/workflow/metrics"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// monitoredOperators returns the operators of the definitions with monitoring.
func monitoredOperators(t *testing.T) []argoperator.Result {
	t.Helper()
	var out []argoperator.Result
	for _, name := range []string{"monitored", "monitored-pods", "monitored-worker"} {
		dir := filepath.Join(root, "testdata", "operators", name)
		data, err := os.ReadFile(filepath.Join(dir, "operator.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		result, err := argoperator.Generate([]argoperator.Source{{Name: name, Data: data, Dir: os.DirFS(dir)}}, argoperator.Options{})
		if err != nil || result.Findings.HasErrors() {
			t.Fatal(err, result.Findings)
		}
		out = append(out, result)
	}
	return out
}

// TestWorkflowMetrics runs the workflow controller's own code on the metrics of the
// emitted Workflows, and requires that the series of the alerts exist.
func TestWorkflowMetrics(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	registry := prometheus.NewRegistry()
	registerer := prometheus.DefaultRegisterer
	prometheus.DefaultRegisterer = registry // the controller supports no other
	defer func() { prometheus.DefaultRegisterer = registerer }()
	controller, err := argometrics.New(ctx, "workflows-controller", "argo_workflows", &telemetry.Config{Enabled: true}, argometrics.Callbacks{})
	if err != nil {
		t.Fatal(err)
	}
	values := strings.NewReplacer("{{workflow.status}}", "Failed", "{{workflow.duration}}", "2.500000", "{{workflow.creationTimestamp.s}}", "1700000000")
	results := monitoredOperators(t)
	for _, result := range results {
		argo.EachSpec(argo.NewObjects(result.Objects()), func(_ *problem.Report, _ *field.Path, spec wfv1.WorkflowSpec) {
			if spec.Metrics == nil {
				return
			}
			for _, m := range spec.Metrics.Prometheus {
				m = m.DeepCopy()
				m.SetValueString(values.Replace(m.GetValueString()))
				for _, l := range m.Labels {
					l.Value = values.Replace(l.Value)
				}
				if err := controller.UpsertCustomMetric(ctx, m, "uid", nil); err != nil {
					t.Errorf("%s: %v", m.Name, err)
				}
			}
		})
	}
	counted, ofHistogram := gathered(t, registry), regexp.MustCompile("_(sum|count)$")
	used := regexp.MustCompile(`(argo_workflows_\w+)\{operator="([^"]+)", operator_namespace="([^"]+)"`)
	for _, result := range results {
		for _, r := range rulesOf(result) {
			for _, series := range used.FindAllStringSubmatch(r.Expr.String(), -1) {
				if !slices.Contains(counted[ofHistogram.ReplaceAllString(series[1], "")], series[2]+" "+series[3]) {
					t.Errorf("%s%s uses %s, which the workflow controller does not have; it has %v", r.Record, r.Alert, series[0], counted)
				}
			}
		}
	}
}

// gathered returns what Prometheus reads: for each metric, the operator and
// namespace of its series.
func gathered(t *testing.T, registry *prometheus.Registry) map[string][]string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			out[family.GetName()] = append(out[family.GetName()], labels["operator"]+" "+labels["operator_namespace"])
		}
	}
	return out
}

func rulesOf(result argoperator.Result) []monitoringv1.Rule {
	return rulesObject(result).Spec.Groups[0].Rules
}

// TestAlertsAreDocumented requires that the heading to which an alert links exists.
func TestAlertsAreDocumented(t *testing.T) {
	checked := 0
	for _, result := range monitoredOperators(t) {
		for _, r := range rulesOf(result) {
			if r.Alert == "" {
				continue
			}
			page, anchor, _ := strings.Cut(r.Annotations["docs"], "#")
			text, err := os.ReadFile(filepath.Join(root, page))
			if err != nil {
				t.Fatal(err)
			}
			if anchor != strings.ToLower(r.Alert) || !strings.Contains(string(text), "\n### "+r.Alert+"\n") {
				t.Errorf("%s links to %s, but no heading has this name", r.Alert, r.Annotations["docs"])
			}
			checked++
		}
	}
	if checked < 12 {
		t.Errorf("only %d alerts", checked)
	}
}
