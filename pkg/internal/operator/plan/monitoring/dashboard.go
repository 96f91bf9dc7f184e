package monitoring

import (
	"fmt"
	"strings"
)

// Dashboard is a dashboard for Grafana about the recorded series and the alerts.
type Dashboard struct {
	Title  string
	Panels []Panel
}

// Panel is a part of a dashboard. Expr is PromQL, and Legend has the names of its labels.
type Panel struct {
	Title, Description string
	Kind               PanelKind
	Unit               string // as Grafana names it
	Expr               string
	Legend             []string
	Empty              string // shown if there is no series
}

// PanelKind is what a panel shows.
type PanelKind string

// The kinds of panels, as Grafana names them: the series by time, and the names of the series.
const (
	TimeSeries PanelKind = "timeseries"
	Stat       PanelKind = "stat"
)

func dashboard(o Operator) *Dashboard {
	selector := func(more string) string {
		return fmt.Sprintf("{operator=~%q, operator_namespace=%q%s}", strings.Join(o.Names(), "|"), o.Namespace, more)
	}
	sum := func(series string, by ...string) string {
		return fmt.Sprintf("sum by (%s) (%s)", strings.Join(by, ", "), series)
	}
	out := &Dashboard{Title: fmt.Sprintf("Operator %s (namespace %s)", o.Name, o.Namespace), Panels: []Panel{
		{
			Title: "Firing alerts", Kind: Stat, Empty: "None", Legend: []string{"alertname"},
			Expr: sum("ALERTS"+selector(`, alertstate="firing"`), "alertname"),
		},
		{
			Title: "Reconciles per second", Kind: TimeSeries, Unit: "ops", Description: "What is counted: " + o.unit() + ".",
			Expr: sum(reconcileRate+selector(""), "operator", "result"), Legend: []string{"operator", "result"},
		},
		{
			Title: "Mean duration", Kind: TimeSeries, Unit: "s", Description: "Of the same: " + o.unit() + ".",
			Expr: sum(reconcileDuration+selector(""), "operator"), Legend: []string{"operator"},
		},
		{
			Title: "Events per second", Kind: TimeSeries, Unit: "ops",
			Description: "Events that the EventSource sent to the bus, and those that it could not send.",
			Expr:        sum(eventRate+selector(""), "result"), Legend: []string{"result"},
		},
		{
			Title: "Events given up per second", Kind: TimeSeries, Unit: "ops",
			Description: "Events whose trigger failed after all retries.",
			Expr:        sum(givenUpRate+selector(""), "operator"), Legend: []string{"operator"},
		},
	}}
	if len(o.Workers) > 0 {
		out.Panels = append(out.Panels, Panel{
			Title: "Waiting custom resources", Kind: TimeSeries, Unit: "short", Description: "Custom resources that wait for the worker.",
			Expr: sum(queueLength+selector(""), "operator"), Legend: []string{"operator"},
		})
	}
	return out
}

// unit is what the operator counts as a reconcile.
func (o Operator) unit() string {
	switch {
	case len(o.Workers) > 0:
		return "reconciles of the worker"
	case o.RunsPods:
		return "finished reconcile Workflows"
	}
	return "requests of triggers, also what they observe, and retries"
}
