// Package monitoring decides what Prometheus watches of an operator: the metrics of its
// Workflows, the series that it records of these and of those of Argo Events, and the
// alerts.
//
// It knows the names of Argo's metrics and nothing of plans or objects.
package monitoring

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// Operator is what is watched.
type Operator struct {
	Name, Namespace string
	Operators       []string // of a group: its operators; else the operator
	EventSource     string
	Sensors         []string
	Fallbacks       []string // the triggers that send another request after a failure; the workers of a child as one
	RunsPods        bool
	Workers         []string // the Deployments that reconcile
	Resync          time.Duration
}

// Names returns the values that the label operator has in the series of the operator.
func (o Operator) Names() []string {
	if slices.Contains(o.Operators, o.Name) {
		return o.Operators
	}
	return append(slices.Clone(o.Operators), o.Name)
}

// Options are the settings of a definition; zero if it asks for no object.
type Options struct {
	PodMonitor, PrometheusRule bool
	Dashboard                  bool // only with PrometheusRule

	Interval    time.Duration     // between two scrapes; zero: the default of Prometheus
	Labels      map[string]string // of the objects
	AlertLabels map[string]string
}

// Monitoring configures the Prometheus objects of the operator.
type Monitoring struct {
	Records    []Record
	Alerts     []Alert
	Dashboard  *Dashboard // nil: none
	Reconciles []Metric   // that the workflow controller emits for the reconciles
	Resyncs    []Metric   // that it emits for the resyncs
}

// Severity is how urgent an alert is.
type Severity string

// The severities: act at once, and act within a day.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
)

// Alert is an alerting rule. Expr is PromQL.
type Alert struct {
	Name        string
	Expr        string
	For         time.Duration // how long the condition must hold
	Severity    Severity
	Summary     string
	Description string // a Prometheus template
}

// Metric is a metric that the workflow controller emits for finished Workflows, under
// its own prefix. Its labels are the operator's name and namespace, so its cardinality
// does not depend on the number of custom resources.
type Metric struct {
	Name    string
	Help    string // identical in every operator: the controller rejects a metric with two help texts
	Kind    MetricKind
	Value   string
	When    string    // empty: always
	Result  bool      // it has a label for the result of the Workflow
	Buckets []float64 // of a histogram
}

// MetricKind is the Prometheus type of a metric.
type MetricKind string

// The kinds of metrics.
const (
	Counter   MetricKind = "counter"
	Gauge     MetricKind = "gauge"
	Histogram MetricKind = "histogram"
)

// MetricPrefix is the prefix that the workflow controller adds to the name of a metric.
const MetricPrefix = "argo_workflows_"

// The metrics of the operator's Workflows. A worker has the first two without the prefix.
const (
	reconcilesTotal  = "argoperator_reconciles_total"
	reconcileSeconds = "argoperator_reconcile_duration_seconds"
	resyncsTotal     = "argoperator_resyncs_total"
	lastResync       = "argoperator_last_resync_timestamp_seconds"
)

// OptionsOf returns the settings of a definition.
func OptionsOf(in *v1alpha1.Monitoring) Options {
	if in == nil || !in.PodMonitor && !in.PrometheusRule {
		return Options{}
	}
	out := Options{
		PodMonitor: in.PodMonitor, PrometheusRule: in.PrometheusRule, Dashboard: in.Dashboard && in.PrometheusRule,
		Labels: in.Labels, AlertLabels: in.AlertLabels,
	}
	if in.Interval != "" {
		out.Interval = duration(in.Interval)
	}
	return out
}

// New returns the monitoring of an operator.
func New(options Options, o Operator) Monitoring {
	if !options.PodMonitor && !options.PrometheusRule {
		return Monitoring{}
	}
	out := Monitoring{}
	if len(o.Workers) == 0 {
		out.Resyncs = resyncMetrics()
		if o.RunsPods {
			out.Reconciles = reconcileMetrics()
		}
	}
	if options.PrometheusRule {
		out.Records, out.Alerts = records(o, options.Interval), alerts(o)
	}
	if options.Dashboard {
		out.Dashboard = dashboard(o)
	}
	return out
}

func reconcileMetrics() []Metric {
	return []Metric{
		{Name: reconcilesTotal, Help: "Finished reconcile Workflows by result.", Kind: Counter, Value: "1", Result: true},
		{
			Name: reconcileSeconds, Help: "Seconds from the start of a reconcile Workflow to its end.",
			Kind: Histogram, Value: "{{workflow.duration}}", Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800},
		},
	}
}

func resyncMetrics() []Metric {
	return []Metric{
		{Name: resyncsTotal, Help: "Finished resync Workflows by result.", Kind: Counter, Value: "1", Result: true},
		{
			Name: lastResync, Help: "When the last resync Workflow that succeeded was created, in seconds since 1970.",
			Kind: Gauge, Value: "{{workflow.creationTimestamp.s}}", When: "{{workflow.status}} == Succeeded",
		},
	}
}

// alerts returns rules over the metrics of the EventSource's and the Sensors' pods, and
// the metrics above.
func alerts(o Operator) []Alert {
	list := []Alert{eventSourceDown(o), sensorDown(o), eventsNotSent(o), deadLetter(o)}
	if len(o.Fallbacks) > 0 {
		list = append(list, writesRejected(o))
	}
	if len(o.Workers) > 0 {
		return append(list, workerDown(o), workerFailing(o), workerBehind(o))
	}
	if o.RunsPods {
		list = append(list, reconcilesFailing(o))
	}
	return append(list, resyncMissing(o))
}

// eventSourceDown requires one running entry, not all: Argo Events resets the gauge
// whenever it starts an entry.
func eventSourceDown(o Operator) Alert {
	return Alert{
		Name: "ArgoperatorEventSourceDown", For: 10 * time.Minute, Severity: Critical,
		Expr:    fmt.Sprintf("absent(argo_events_event_service_running_total%s > 0)", eventSourceSelector(o)),
		Summary: "No EventSource pod of the operator is watching.",
		Description: "The operator does not notice changes of custom resources and children. " +
			"When the pod runs again, it replays all objects, so missed changes are reconciled.",
	}
}

func sensorDown(o Operator) Alert {
	var absent []string
	for _, sensor := range o.Sensors {
		absent = append(
			absent,
			fmt.Sprintf("absent(argo_events_action_triggered_total{namespace=%q, sensor_name=%q})", o.Namespace, sensor),
		)
	}
	return Alert{
		Name: "ArgoperatorSensorDown", For: 10 * time.Minute, Severity: Critical,
		Expr:    strings.Join(absent, "\nor\n"),
		Summary: "A Sensor of the operator is not running.",
		Description: "No pod of the Sensor {{ $labels.sensor_name }} is subscribed. The event bus keeps events until the Sensor runs " +
			"again or their retention ends.",
	}
}

func eventsNotSent(o Operator) Alert {
	return Alert{
		Name: "ArgoperatorEventsNotSent", For: time.Minute, Severity: Warning,
		Expr: fmt.Sprintf(
			"sum by (namespace, eventsource_name) (increase(argo_events_events_processing_failed_total%s[15m])) > 0",
			eventSourceSelector(o),
		),
		Summary: "The EventSource failed to publish events.",
		Description: "The EventSource {{ $labels.eventsource_name }} failed to publish {{ $value | printf \"%.0f\" }} events in 15 " +
			"minutes. They are lost; the next resync reconciles their objects.",
	}
}

// deadLetter covers triggers without a fallback.
func deadLetter(o Operator) Alert {
	return Alert{
		Name: "ArgoperatorDeadLetter", For: time.Minute, Severity: Warning,
		Expr: fmt.Sprintf(
			"sum by (namespace, sensor_name, trigger_name) (%s) > 0",
			increaseOf("argo_events_action_retries_failed_total"+sensorSelector(o, "!~"), "15m"),
		),
		Summary: "A trigger of the operator failed after all retries.",
		Description: "The trigger {{ $labels.trigger_name }} of the Sensor {{ $labels.sensor_name }} failed after all retries, and the " +
			"event is not retried. The log of the Sensor contains the event. The next resync reconciles its object.",
	}
}

// writesRejected covers triggers whose failure is recorded on the custom resource.
func writesRejected(o Operator) Alert {
	return Alert{
		Name: "ArgoperatorWritesRejected", For: 5 * time.Minute, Severity: Warning,
		Expr: fmt.Sprintf(
			"sum by (namespace, sensor_name, trigger_name) (increase(argo_events_action_retries_failed_total%s[15m])) > 0",
			sensorSelector(o, "=~"),
		),
		Summary: "The API server rejects writes of the operator.",
		Description: "Writes of the trigger {{ $labels.trigger_name }} of the Sensor {{ $labels.sensor_name }} are rejected. " +
			"The condition Ready of the affected custom resources has the reason Failed.",
	}
}

func reconcilesFailing(o Operator) Alert {
	return Alert{
		Name: "ArgoperatorReconcilesFailing", For: 5 * time.Minute, Severity: Warning,
		Expr: fmt.Sprintf(
			"sum by (operator, operator_namespace) (%s) > 0",
			increaseOf(MetricPrefix+reconcilesTotal+workflowSelector(o, `, result!="Succeeded"`), "30m"),
		),
		Summary: "Reconcile Workflows of the operator fail.",
		Description: "{{ $value | printf \"%.0f\" }} reconcile Workflows failed in 30 minutes, after all retries. The condition Ready " +
			"of the affected custom resources names the Workflow.",
	}
}

// resyncMissing waits for another resync period if the metric is absent: a restarted
// workflow controller has lost it.
func resyncMissing(o Operator) Alert {
	series := MetricPrefix + lastResync + workflowSelector(o, "")
	return Alert{
		Name: "ArgoperatorResyncMissing", For: o.Resync + 10*time.Minute, Severity: Warning,
		Expr: fmt.Sprintf(
			"time() - max by (operator, operator_namespace) (%s) > %d\nor\nabsent(%s)",
			series,
			int64(o.Resync/time.Second),
			series,
		),
		Summary: "The resync of the operator is overdue.",
		Description: "The last two resyncs of {{ $labels.operator }} did not succeed or never started, or Prometheus does not scrape the " +
			"metrics of the workflow controller. Until one succeeds, the effects of lost events are not repaired.",
	}
}

// workerDown does not ask whether a pod runs: of several, one works and the others stand by.
func workerDown(o Operator) Alert {
	var absent []string
	for _, name := range o.Workers {
		pods := fmt.Sprintf("{namespace=%q, pod=~%q}", o.Namespace, name+"-[^-]+-[^-]+")
		absent = append(absent, fmt.Sprintf("absent(argoperator_working%s == 1)", pods))
	}
	return Alert{
		Name: "ArgoperatorWorkerDown", For: 10 * time.Minute, Severity: Critical,
		Expr:    strings.Join(absent, "\nor\n"),
		Summary: "No pod of a worker works.",
		Description: "Nothing reconciles the custom resources of the worker. The event bus keeps events until the worker runs again " +
			"or their retention ends, and a worker that starts looks at all custom resources.",
	}
}

// workerFailing tells failures that go on from those that the next try repairs: the worker
// tries again at least every five minutes. It does not repeat what the API server or the
// definition refuses, so one such failure counts longer.
func workerFailing(o Operator) Alert {
	failed := func(result, window string) string {
		return fmt.Sprintf("sum by (namespace, operator) (increase(%s[%s])) > 0",
			reconcilesTotal+workerSelector(o, fmt.Sprintf(", %s, result=%q", operatorMatcher(o), result)), window)
	}
	return Alert{
		Name: "ArgoperatorReconcilesFailing", For: 15 * time.Minute, Severity: Warning,
		Expr:    failed("error", "10m") + "\nor\n" + failed("refused", "30m"),
		Summary: "Reconciles of the operator fail.",
		Description: "{{ $value | printf \"%.0f\" }} reconciles failed, and retries do not help. The condition Ready of the affected " +
			"custom resources and the log of the worker have the reason.",
	}
}

func workerBehind(o Operator) Alert {
	return Alert{
		Name: "ArgoperatorWorkerBehind", For: 5 * time.Minute, Severity: Warning,
		Expr:    fmt.Sprintf("min_over_time(%s[10m]) > %d", "argoperator_queue_length"+workerSelector(o, ""), longQueue),
		Summary: "Custom resources wait for the worker.",
		Description: "For 10 minutes, at least {{ $value | printf \"%.0f\" }} custom resources have waited for a reconcile: the worker " +
			"reconciles slower than objects change.",
	}
}

// longQueue is the number of custom resources that may wait all the time.
const longQueue = 10

// workerSelector selects the pods of all workers, by the labels that Prometheus adds.
func workerSelector(o Operator, more string) string {
	pods := o.Workers[0] + "-.+" // also those of shards
	for _, name := range o.Workers[1:] {
		if !strings.HasPrefix(name, o.Workers[0]+"-") {
			pods += "|" + name + "-.+"
		}
	}
	return fmt.Sprintf("{namespace=%q, pod=~%q%s}", o.Namespace, pods, more)
}

// operatorMatcher matches the metrics of the operators.
func operatorMatcher(o Operator) string {
	if len(o.Operators) == 1 {
		return fmt.Sprintf("operator=%q", o.Operators[0])
	}
	return fmt.Sprintf("operator=~%q", strings.Join(o.Operators, "|"))
}

// increaseOf returns the PromQL of the increase of a counter within a window. It counts
// a series that is new within the window, because Argo creates most counters with their
// first increment.
func increaseOf(series, window string) string {
	return fmt.Sprintf("\n  (%s unless %s offset %s)\n  or\n  increase(%s[%s])\n", series, series, window, series, window)
}

func eventSourceSelector(o Operator) string {
	return fmt.Sprintf("{namespace=%q, eventsource_name=%q}", o.Namespace, o.EventSource)
}

// sensorSelector selects the triggers of the Sensors: those that have a fallback request
// (=~), all others (!~), or all (empty).
func sensorSelector(o Operator, matches string) string {
	trigger := ""
	if matches != "" && len(o.Fallbacks) > 0 {
		trigger = fmt.Sprintf(", trigger_name%s%q", matches, "("+strings.Join(o.Fallbacks, "|")+")(-worker[0-9]+)?")
	}
	return fmt.Sprintf("{namespace=%q, sensor_name=~%q%s}", o.Namespace, strings.Join(o.Sensors, "|"), trigger)
}

func workflowSelector(o Operator, more string) string {
	return fmt.Sprintf("{operator=%q, operator_namespace=%q%s}", o.Name, o.Namespace, more)
}

// duration returns a duration that the definition package has validated.
func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(fmt.Sprintf("monitoring: %q accepted as a duration: %v", text, err)) // unreachable
	}
	return d
}
