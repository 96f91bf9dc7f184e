package differential

import (
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// Record plays a case on one engine, and returns the requests to the API server in memory:
// those of the operator and of all others. There are none if the engine does not support the
// definition.
func Record(c *Case, engine plan.Engine, runner simulate.Runner) ([]cluster.Call, error) {
	o, findings := c.planned(engine)
	if findings.HasErrors() {
		return nil, nil
	}
	var calls []cluster.Call
	o.requests = func(call cluster.Call) { calls = append(calls, call) }
	j := &player{c: c, runner: runner}
	return calls, j.life([]operator{o})
}
