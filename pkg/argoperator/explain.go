package argoperator

import (
	"github.com/argoperator/argoperator/pkg/definition"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/explain"
	"github.com/argoperator/argoperator/pkg/manifest"
	"github.com/argoperator/argoperator/pkg/plan"
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
	for _, source := range sources {
		definitions, _ := definition.Parse(source)
		for _, d := range definitions {
			local := *d
			local.Operator.Spec.Install.Namespace = namespace(d, options)
			p, _ := plan.New(&local)
			out.Reports = append(out.Reports, explain.New(p, &local, manifest.Build(p)))
		}
	}
	return out, nil
}
