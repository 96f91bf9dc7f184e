package selfcheck

import (
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// Program is the jq of a transform, parsed once for all checks.
type Program struct {
	argo.Program
	requests map[string]computed // by key
}

// computed holds requests, or why they cannot be derived.
type computed struct {
	list    []Request
	problem string
}

// program parses a text.
func (o objects) program(text string) *Program {
	if known, ok := o.programs[text]; ok {
		return known
	}
	o.programs[text] = &Program{argo.NewProgram(text), map[string]computed{}}
	return o.programs[text]
}

// objectsIn visits the object literals of a query from the outside in; visit
// returns whether to descend into one.
func objectsIn(query *gojq.Query, visit func(*gojq.Object) bool) {
	jq.Walk(query, func(node any) bool {
		object, ok := node.(*gojq.Object)
		return !ok || visit(object)
	})
}
