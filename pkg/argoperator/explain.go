package argoperator

import (
	"slices"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/operator/explain"
)

// Explanation is the result of Explain.
type Explanation struct {
	// Reports in the order of the sources; empty if any finding is an error.
	Reports []explain.Report
	// Findings about the sources, as in Generate.
	Findings diag.List
}

// Explain describes operators: their engine and the reason for it, the cost of each
// event, the permissions, and how close they are to a limit. It explains only
// operators that Generate accepts.
func Explain(sources []Source, options Options) (Explanation, error) {
	result, err := Generate(sources, options)
	if err != nil || result.Findings.HasErrors() {
		return Explanation{Findings: result.Findings}, err
	}
	out := Explanation{Findings: result.Findings}
	for _, o := range result.Operators {
		p, objects := o.plan, o.Objects
		for _, shared := range result.Groups {
			if shared.sharesWith(o.Bundle) {
				p, objects = p.In(shared.plan), slices.Concat(objects, shared.Objects)
			}
		}
		out.Reports = append(out.Reports, explain.New(p, o.definition, objects))
	}
	return out, nil
}
