package explain

import (
	"io"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Comparison is what an engine costs a definition.
type Comparison struct {
	Engine  string  `json:"engine"`
	Against *Reason `json:"reason,omitempty"` // it does not support the definition; the other fields are empty
	// Pods that run all the time, and the memory that they request, in bytes.
	Standing int   `json:"standingPods"`
	Memory   int64 `json:"requestedMemory"`
	// What a change of the spec costs, and the time from a new custom resource to its first
	// child, about, on a machine with two cores: docs/explanation/performance.md.
	Change       Cost `json:"change"`
	Milliseconds int  `json:"milliseconds"`
	// Argo projects that the cluster needs.
	Needs []string `json:"requires"`
	// Those that it uses where they are installed.
	Optional []string `json:"optional,omitempty"`
}

// compared are the engines that support templates, the cheapest first, and how long it takes
// from a custom resource to its child.
var compared = []struct {
	engine       plan.Engine
	milliseconds int
}{{plan.Direct, 40}, {plan.Worker, 50}, {plan.Workflow, 2700}}

// comparison returns what each engine costs the definition.
func comparison(p *plan.Plan, d *definition.Definition) []Comparison {
	out := []Comparison{}
	for _, c := range compared {
		one := Comparison{Engine: string(c.engine), Needs: []string{}}
		local := *d
		local.Operator.Spec.Reconcile.Engine = string(c.engine)
		planned, findings := plan.New(&local)
		if why := p.Reconcile.Against[c.engine]; len(why) > 0 {
			one.Against = &Reason{Place: place(d, why[0].Path...), Message: why[0].Message}
		} else if planned == nil || findings.HasErrors() {
			continue // a key that is for another engine only
		} else {
			for _, pods := range standingPods(manifest.Build(planned)) {
				one.Standing += pods.Replicas
				one.Memory += int64(pods.Replicas) * pods.Memory
			}
			one.Change, one.Milliseconds = events(planned)[1].Cost, c.milliseconds
			one.Needs = append(one.Needs, needs(planned.Reconcile.Execution)...)
			if planned.Reconcile.Shows {
				one.Optional = []string{argoWorkflows}
			}
		}
		out = append(out, one)
	}
	return out
}

// needs returns the Argo projects that an engine uses.
func needs(e plan.Execution) []string {
	if e.Stays {
		return []string{"Argo Events"}
	}
	return []string{"Argo Events", argoWorkflows}
}

const argoWorkflows = "Argo Workflows"

func (p Printer) comparison(w io.Writer, list []Comparison) {
	p.heading(w, "ENGINES")
	terminal.Fprintf(w, "  compared; a change is one of the spec, the time that from a custom resource to its child\n")
	rows := [][]string{{"", "STANDING PODS", "REQUEST", "PODS A CHANGE", "REQUESTS", "ABOUT", "NEEDS"}}
	for _, c := range list {
		if c.Against != nil {
			rows = append(rows, []string{c.Engine, "–", "–", "–", "–", "–", "no: " + c.Against.Message + ", " + c.Against.String()})
			continue
		}
		needs := strings.Join(c.Needs, ", ")
		if len(c.Optional) > 0 {
			needs += "; optional: " + strings.Join(c.Optional, ", ")
		}
		rows = append(rows, []string{
			c.Engine, strconv.Itoa(c.Standing), mebibytes(c.Memory), strconv.Itoa(c.Change.Pods),
			strconv.Itoa(c.Change.Calls), strconv.Itoa(c.Milliseconds) + " ms", needs,
		})
	}
	p.table(w, rows, 1, 2, 3, 4, 5)
}
