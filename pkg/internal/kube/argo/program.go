package argo

import (
	"sync"

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
)

// Program is the jq of a transform.
type Program struct {
	Query    *gojq.Query
	Err      error // parse error
	Compiled func() (*jq.Program, error)
}

// NewProgram parses a text.
func NewProgram(text string) Program {
	query, err := gojq.Parse(text)
	return Program{query, err, sync.OnceValues(func() (*jq.Program, error) { return jq.Compile(query) })}
}

// Check reports why a Sensor cannot run the program.
func (p Program) Check(r *problem.Report, code string, at *field.Path) {
	if p.Err != nil {
		r.Add(at, code, "", "jq does not parse: %v", p.Err)
		return
	}
	if _, err := p.Compiled(); err != nil {
		r.Add(at, code, "", "jq does not compile: %v", err)
	}
	calls := p.calls()
	for _, name := range []string{"$ENV", "env", "input", "inputs", "input_line_number"} {
		if calls[name] {
			r.Add(at, code, "read nothing but the event", "jq uses %s, which a Sensor does not support", name)
		}
	}
}

// calls returns the functions and variables that the program uses.
func (p Program) calls() map[string]bool {
	out := map[string]bool{}
	jq.Walk(p.Query, func(node any) bool {
		if f, ok := node.(*gojq.Func); ok {
			out[f.Name] = true
		}
		return true
	})
	return out
}
