package monitoring

import (
	"fmt"
	"time"
)

// Record is a recording rule. With it, operators of all engines have the same series. Expr
// is PromQL, and Labels are added to its result.
type Record struct {
	Name, Expr string
	Labels     map[string]string
}

// The recorded series.
const (
	reconcileRate     = "argoperator:reconciles:rate"
	reconcileDuration = "argoperator:reconcile_duration_seconds:mean"
	eventRate         = "argoperator:events:rate"
	givenUpRate       = "argoperator:events_given_up:rate"
	queueLength       = "argoperator:queue_length"
)

// shortestWindow is the window of a rate; longer, if Prometheus scrapes so rarely that it has
// fewer than four values.
const shortestWindow = 5 * time.Minute

func records(o Operator, interval time.Duration) []Record {
	r := recorder{o, fmt.Sprintf("[%ds]", max(shortestWindow, 4*interval)/time.Second)}
	triggered := "argo_events_action_triggered_total" + sensorSelector(o, "")
	list := r.reconciles(triggered)
	sent := "argo_events_events_sent_total" + eventSourceSelector(o)
	list = append(
		list,
		r.shared(eventRate, r.rate(sent, ""), "success"),
		r.shared(eventRate, r.orZero("argo_events_events_processing_failed_total"+eventSourceSelector(o), sent), "error"),
		r.shared(givenUpRate, r.orZero("argo_events_action_retries_failed_total"+sensorSelector(o, ""), triggered), ""),
	)
	if len(o.Workers) > 0 {
		list = append(list, r.shared(queueLength, fmt.Sprintf("sum(argoperator_queue_length%s)", workerSelector(o, "")), ""))
	}
	return list
}

// recorder writes rules. A rate of a counter that Argo creates with its first increment is 0
// before it, if another series shows that Prometheus scrapes the pod.
type recorder struct {
	o      Operator
	window string
}

// reconciles are the rates and the duration: of reconciles, or of the requests of triggers.
func (r recorder) reconciles(triggered string) []Record {
	switch {
	case len(r.o.Workers) > 0:
		labels := ", " + operatorMatcher(r.o)
		total := func(result string) string { return reconcilesTotal + workerSelector(r.o, labels+", "+result) }
		return []Record{
			r.each(reconcileRate, r.rate(total(`result="success"`), byOperator), "success"),
			r.each(reconcileRate, r.rate(total(`result!="success"`), byOperator), "error"),
			r.each(reconcileDuration, r.mean(reconcileSeconds, workerSelector(r.o, labels), byOperator, 1), ""),
		}
	case r.o.RunsPods:
		total := func(more string) string { return MetricPrefix + reconcilesTotal + workflowSelector(r.o, more) }
		return []Record{
			r.shared(reconcileRate, r.orZero(total(`, result="Succeeded"`), total("")), "success"),
			r.shared(reconcileRate, r.orZero(total(`, result!="Succeeded"`), total("")), "error"),
			r.shared(reconcileDuration, r.mean(MetricPrefix+reconcileSeconds, workflowSelector(r.o, ""), "", 1), ""),
		}
	}
	return []Record{
		r.shared(reconcileRate, r.rate(triggered, ""), "success"),
		r.shared(reconcileRate, r.orZero("argo_events_action_failed_total"+sensorSelector(r.o, ""), triggered), "error"),
		r.shared(reconcileDuration, r.mean("argo_events_action_duration_milliseconds", sensorSelector(r.o, ""), "", 1000), ""),
	}
}

// byOperator keeps apart the operators of a worker.
const byOperator = " by (operator) "

func (r recorder) rate(series, by string) string {
	return fmt.Sprintf("sum%s(rate(%s%s))", by, series, r.window)
}

func (r recorder) orZero(series, scraped string) string {
	return fmt.Sprintf("%s or 0 * %s", r.rate(series, ""), r.rate(scraped, ""))
}

// mean divides the sum of a histogram or summary by its count. It has no value without a count.
func (r recorder) mean(metric, selector, by string, unit int) string {
	sum, count := r.rate(metric+"_sum"+selector, by), r.rate(metric+"_count"+selector, by)
	if unit != 1 {
		count = fmt.Sprintf("%d * %s", unit, count)
	}
	return fmt.Sprintf("%s / (%s > 0)", sum, count)
}

// each is a rule whose result has the label operator.
func (r recorder) each(name, expr, result string) Record {
	labels := map[string]string{"operator_namespace": r.o.Namespace}
	if result != "" {
		labels["result"] = result
	}
	return Record{name, expr, labels}
}

// shared is a rule about all operators of a group.
func (r recorder) shared(name, expr, result string) Record {
	out := r.each(name, expr, result)
	out.Labels["operator"] = r.o.Name
	return out
}
