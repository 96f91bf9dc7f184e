package expression

import (
	"context"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// Traced is a program that records which of its branches its runs reach. It is not safe
// for concurrent use.
type Traced struct{ code *jq.Traced }

// Traced compiles the program again, with a record. It returns nil for a program without
// branches: every run of it evaluates the same parts.
func (p *Program) Traced() *Traced {
	query, _, err := parseOwn(p.source)
	if err != nil {
		return nil
	}
	code, err := jq.CompileTraced(query, isOwn, variables()...)
	if err != nil || code == nil {
		return nil
	}
	return &Traced{code}
}

// Run is Program.Run. It also reports whether a branch was reached for the first time.
func (t *Traced) Run(input any, vars Vars) (value any, fresh bool, err error) {
	values, err := vars.values(input)
	if err != nil {
		return nil, false, err
	}
	value, err = t.code.Run(context.Background(), values[0], values[1:]...)
	return value, t.code.Fresh(), err
}

// Forget removes the record, so that every branch is new.
func (t *Traced) Forget() { t.code.Forget() }

// isOwn reports whether a function is one of ownFunctions.
func isOwn(name string) bool {
	return slices.ContainsFunc(ownFunctions, func(f ownFunction) bool { return f.name == name })
}

// Failing returns the path of the value of a template that cannot be evaluated, and the
// offset of its expression in that value.
func (p *Program) Failing(input any, vars Vars) (path []string, offset int, found bool) {
	for _, part := range p.apart() {
		if _, err := part.program.Run(input, vars); err != nil {
			return part.path, part.at, true
		}
	}
	return nil, 0, false
}

// compiledPart is an expression that runs without the rest of its template.
type compiledPart struct {
	located
	program *Program
}

// compiledParts compiles the expressions of a template one by one.
func (p *Program) compiledParts() []compiledPart {
	var out []compiledPart
	for _, part := range p.parts {
		if program, err := compile(part.source, nil); err == nil {
			out = append(out, compiledPart{part, program})
		}
	}
	return out
}
