package argoperator

import (
	"github.com/argoperator/argoperator/pkg/internal/operator/graph"
)

// Graphs returns the event flows of the operators.
func (r Result) Graphs() []graph.Graph {
	var out []graph.Graph
	for _, o := range r.Operators {
		out = append(out, graph.New(o.plan))
	}
	return out
}
