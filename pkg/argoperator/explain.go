package argoperator

import (
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/explain"
)

// Explanation is what there is to say about the operators of the sources.
type Explanation struct {
	// Reports in the order of the sources; empty if any finding is an error.
	Reports []explain.Report
	// Findings about the sources, as Generate has them.
	Findings diag.List
}

// Explain says of definitions what carries them and why, what each event costs,
// who may do what, and how near they are to a limit. Only what Generate would
// let pass is explained.
func Explain(sources []Source, options Options) (Explanation, error) {
	result, err := Generate(sources, options)
	if err != nil || result.Findings.HasErrors() {
		return Explanation{Findings: result.Findings}, err
	}
	out := Explanation{Findings: result.Findings}
	for _, o := range result.Operators {
		out.Reports = append(out.Reports, explain.New(o.plan, o.definition, o.Objects))
	}
	return out, nil
}
