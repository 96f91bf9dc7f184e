package selfcheck

import (
	"regexp"

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

// partition matches the condition by which a shard selects its custom resources, by the
// first four digits of the uid, and a worker its objects.
var partition = regexp.MustCompile(`% [1-9][0-9]* != [0-9]+`)

// program parses a text. Programs that differ only in their partition share one
// Program, which handles all objects.
func (o objects) program(text string) *Program {
	if known, ok := o.programs[text]; ok {
		return known
	}
	if of := partition.ReplaceAllString(text, "% 1 != 0"); of != text {
		o.programs[text] = o.program(of)
		return o.programs[text]
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
