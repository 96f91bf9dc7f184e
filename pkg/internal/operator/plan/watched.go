package plan

import (
	"regexp"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan/monitoring"
)

// watched returns what Prometheus watches of an operator.
func watched(p *configured, sensors []Sensor) monitoring.Operator {
	out := monitoring.Operator{
		Name: p.Operator.Name, Operators: []string{p.Operator.Name}, Namespace: p.Shared.Namespace, EventSource: p.Names.EventSource,
		RunsPods: p.Reconcile.Execution.RunsPods, Resync: p.Shared.Resync, Workers: p.Workers(),
	}
	for _, s := range sensors {
		out.Sensors = append(out.Sensors, s.Name)
		for _, t := range s.Triggers {
			if name := workerSuffix.ReplaceAllString(t.Name, ""); t.Call != nil && t.Call.Fallback != nil &&
				!slices.Contains(out.Fallbacks, name) {
				out.Fallbacks = append(out.Fallbacks, name)
			}
		}
	}
	return out
}

var workerSuffix = regexp.MustCompile(`-worker[0-9]+$`)
