package argoperator_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// TestRules evaluates the rules and the dashboard of each operator with Prometheus' own engine:
// after an hour in which everything went well, one in which everything failed, and without any
// metric. Operators of all engines have the same series, with the values that were put in.
func TestRules(t *testing.T) {
	for _, result := range monitoredOperators(t) {
		name := rulesObject(result).Name
		t.Run(name, func(t *testing.T) {
			fired := map[string]bool{}
			well := newServer(t, load(result, true))
			well.evaluate(t, rulesOf(result), nil)
			for series, want := range map[string]float64{
				`argoperator:reconciles:rate{result="success"}`: float64(actions(result)),
				`argoperator:reconciles:rate{result="error"}`:   0,
				`argoperator:reconcile_duration_seconds:mean`:   0.02,
				`argoperator:events:rate{result="success"}`:     1,
				`argoperator:events:rate{result="error"}`:       0,
				`argoperator:events_given_up:rate`:              0,
			} {
				well.require(t, series, name, want)
			}
			failed := newServer(t, load(result, false))
			failed.evaluate(t, rulesOf(result), fired)
			for _, series := range []string{
				`argoperator:reconciles:rate{result="error"}`, `argoperator:events:rate{result="error"}`,
				`argoperator:events_given_up:rate`,
			} {
				if got := failed.query(t, series); len(got) != 1 || got[0].F <= 0 {
					t.Errorf("%s is %v after failures", series, got)
				}
			}
			for _, expr := range panelsOf(t, result) {
				if len(failed.query(t, expr)) == 0 {
					t.Errorf("the panel %s is empty", expr)
				}
			}
			newServer(t, nil).evaluate(t, rulesOf(result), fired)
			for _, r := range rulesOf(result) {
				if r.Alert != "" && !fired[r.Alert] {
					t.Errorf("%s does not fire", r.Alert)
				}
			}
		})
	}
}

// server is a Prometheus with the metrics of an hour.
type server struct {
	series []storage.Series
	engine *promql.Engine
}

// now is the time at which rules are evaluated.
var now = time.Unix(0, 0).Add(time.Hour)

func newServer(t *testing.T, series []storage.Series) *server {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 100000, Timeout: time.Minute})
	t.Cleanup(func() { _ = engine.Close() })
	return &server{series, engine}
}

func (p *server) Querier(_, _ int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		found := &seriesSet{}
		for _, s := range p.series {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Labels().Get(m.Name)) }) {
				found.list = append(found.list, s)
			}
		}
		return found
	}}, nil
}

// seriesSet implements storage.SeriesSet.
type seriesSet struct {
	list []storage.Series
	at   int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at <= len(s.list) }
func (s *seriesSet) At() storage.Series                { return s.list[s.at-1] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// sample implements chunks.Sample.
type sample struct {
	time  int64
	value float64
}

func (s sample) T() int64                      { return s.time }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// scraped returns a series that begins with a value and grows each minute of the hour.
func scraped(of labels.Labels, value, grows float64) storage.Series {
	var samples []chunks.Sample
	for minute := range 61 {
		at := time.Unix(0, 0).Add(time.Duration(minute) * time.Minute).UnixMilli()
		samples = append(samples, sample{at, value + float64(minute)*grows})
	}
	return storage.NewListSeries(of, samples)
}

func (p *server) query(t *testing.T, expr string) promql.Vector {
	t.Helper()
	query, err := p.engine.NewInstantQuery(context.Background(), p, nil, expr, now)
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	out, err := query.Exec(context.Background()).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return slices.Clone(out)
}

// evaluate stores the recorded series and the alerts, which no metric that went well may fire.
func (p *server) evaluate(t *testing.T, rules []monitoringv1.Rule, fired map[string]bool) {
	t.Helper()
	for _, r := range rules {
		samples := p.query(t, r.Expr.String())
		name, own := r.Record, r.Labels
		if r.Alert != "" {
			name = "ALERTS"
			own = map[string]string{"alertname": r.Alert, "alertstate": "firing"}
			for key, value := range r.Labels {
				own[key] = value
			}
			switch {
			case len(samples) > 0 && fired == nil:
				t.Errorf("%s fires although everything goes well: %v", r.Alert, samples)
			case len(samples) > 0:
				fired[r.Alert] = true
			}
		}
		for _, one := range samples {
			with := labels.NewBuilder(one.Metric).Set(labels.MetricName, name)
			for key, value := range own {
				with.Set(key, value)
			}
			p.series = append(p.series, storage.NewListSeries(with.Labels(), []chunks.Sample{sample{now.UnixMilli(), one.F}}))
		}
	}
}

// require requires that a series has one value, and the labels of the operator.
func (p *server) require(t *testing.T, series, operator string, want float64) {
	t.Helper()
	got := p.query(t, series)
	if len(got) != 1 || got[0].F < want*0.999 || got[0].F > want*1.001 || got[0].Metric.Get("operator") != operator ||
		got[0].Metric.Get("operator_namespace") == "" {
		t.Errorf("%s is %v, not %v of the operator %s", series, got, want, operator)
	}
}

// actions is how often per second load reconciles: once for each trigger of direct.
func actions(result argoperator.Result) int {
	o := argo.NewObjects(result.Objects())
	count := 1
	if len(argo.All[*appsv1.Deployment](o)) == 0 && !strings.Contains(rulesOf(result)[0].Expr.String(), "argo_workflows_") {
		count = 0
		for _, s := range argo.All[*eventsv1.Sensor](o) {
			count += len(s.Spec.Triggers)
		}
	}
	return count
}

// load returns the metrics of an hour: all that the pods and the Workflows of an operator of any
// engine have, each once a second, in 20 ms.
func load(result argoperator.Result, well bool) []storage.Series {
	rule := rulesObject(result)
	name, namespace := rule.Name, rule.Spec.Groups[0].Rules[0].Labels["operator_namespace"]
	o := argo.NewObjects(result.Objects())
	var out []storage.Series
	add := func(metric string, value, grows float64, names ...string) {
		out = append(out, scraped(labels.FromStrings(append(names, labels.MetricName, metric)...), value, grows))
	}
	const everySecond, seconds, milliseconds = 60, 1.2, 1200 // in a minute
	fine, failed, waiting, working := 60.0, 0.0, 0.0, 1.0
	if !well {
		fine, failed, waiting, working = 0, 60, 20, 0
	}
	source := []string{"namespace", namespace, "eventsource_name", argo.All[*eventsv1.EventSource](o)[0].Name}
	add("argo_events_event_service_running_total", 1, 0, source...)
	event := append(source, "event_name", "resource")
	add("argo_events_events_sent_total", 0, fine, event...)
	add("argo_events_events_processing_failed_total", 0, failed, event...)
	for _, s := range argo.All[*eventsv1.Sensor](o) {
		for _, trigger := range s.Spec.Triggers {
			action := []string{"namespace", namespace, "sensor_name", s.Name, "trigger_name", trigger.Template.Name}
			add("argo_events_action_triggered_total", 0, fine, action...)
			add("argo_events_action_failed_total", 0, failed, action...)
			add("argo_events_action_retries_failed_total", 0, failed, action...)
			add("argo_events_action_duration_milliseconds_sum", 0, milliseconds, action...)
			add("argo_events_action_duration_milliseconds_count", 0, everySecond, action...)
		}
	}
	workflow := []string{"operator", name, "operator_namespace", namespace}
	add("argo_workflows_argoperator_reconciles_total", 0, fine, append(workflow, "result", "Succeeded")...)
	add("argo_workflows_argoperator_reconciles_total", 0, failed, append(workflow, "result", "Failed")...)
	add("argo_workflows_argoperator_reconcile_duration_seconds_sum", 0, seconds, workflow...)
	add("argo_workflows_argoperator_reconcile_duration_seconds_count", 0, everySecond, workflow...)
	add("argo_workflows_argoperator_last_resync_timestamp_seconds", 0, fine, workflow...)
	for _, d := range argo.All[*appsv1.Deployment](o) {
		pod := []string{"namespace", namespace, "pod", d.Name + "-5d9f8-x2x4q"}
		operator := append(pod, "operator", name)
		add("argoperator_reconciles_total", 0, fine, append(operator, "result", "success")...)
		add("argoperator_reconciles_total", 0, failed, append(operator, "result", "error")...)
		add("argoperator_reconciles_total", 0, failed, append(operator, "result", "refused")...)
		add("argoperator_reconcile_duration_seconds_sum", 0, seconds, operator...)
		add("argoperator_reconcile_duration_seconds_count", 0, everySecond, operator...)
		add("argoperator_queue_length", waiting, 0, pod...)
		add("argoperator_working", working, 0, pod...)
	}
	return out
}

// rulesObject returns the rules of an operator.
func rulesObject(result argoperator.Result) *monitoringv1.PrometheusRule {
	return argo.All[*monitoringv1.PrometheusRule](argo.NewObjects(result.Objects()))[0]
}

// panelsOf returns the expressions of the dashboard.
func panelsOf(t *testing.T, result argoperator.Result) []string {
	t.Helper()
	var out []string
	for _, c := range argo.All[*corev1.ConfigMap](argo.NewObjects(result.Objects())) {
		if c.Labels["grafana_dashboard"] == "" {
			continue
		}
		for _, text := range c.Data {
			var dashboard struct {
				Panels []struct{ Targets []struct{ Expr string } }
			}
			if err := json.Unmarshal([]byte(text), &dashboard); err != nil {
				t.Fatal(err)
			}
			for _, p := range dashboard.Panels {
				out = append(out, p.Targets[0].Expr)
			}
		}
	}
	if len(out) < 5 {
		t.Fatalf("%d panels", len(out))
	}
	return out
}
