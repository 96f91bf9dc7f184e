package expression

import (
	"context"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// Weighed is a program that counts what its runs cost. It is not safe for concurrent use.
type Weighed struct{ code *jq.Weighed }

// Weighed compiles the program again, with a count. It returns nil for a program with fewer
// loops.
func (p *Program) Weighed(loops int) *Weighed {
	query, _, err := parseOwn(p.source)
	if err != nil {
		return nil
	}
	code, err := jq.CompileWeighed(query, loops, variables()...)
	if err != nil || code == nil {
		return nil
	}
	return &Weighed{code}
}

// Cost returns the cost of a run in steps of jq. A run that exceeds a limit costs at least
// jq.MaxSteps.
func (w *Weighed) Cost(input any, vars Vars) int {
	values, err := vars.values(input)
	if err != nil {
		return 0
	}
	return w.code.Run(context.Background(), values[0], values[1:]...)
}

// Costliest returns the path of the value of a template whose expression costs most, and the
// offset of the expression in that value.
func (p *Program) Costliest(input any, vars Vars) (path []string, offset int) {
	most := 0
	for _, part := range p.apart() {
		if w := part.program.Weighed(0); w != nil {
			if cost := w.Cost(input, vars); cost > most {
				most, path, offset = cost, part.path, part.at
			}
		}
	}
	return path, offset
}
