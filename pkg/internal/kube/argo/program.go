package argo

import (
	"regexp"
	"sync"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// Program is the jq of a transform, parsed once for all checks.
type Program struct {
	Query    *gojq.Query
	Err      error // parse error
	Compiled func() (*jq.Program, error)
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

// Program parses a text. Programs that differ only in their partition share one
// Program, which handles all objects.
func (o Objects) Program(text string) *Program {
	if known, ok := o.programs[text]; ok {
		return known
	}
	if of := partition.ReplaceAllString(text, "% 1 != 0"); of != text {
		o.programs[text] = o.Program(of)
		return o.programs[text]
	}
	p := &Program{requests: map[string]computed{}}
	p.Query, p.Err = gojq.Parse(text)
	p.Compiled = sync.OnceValues(func() (*jq.Program, error) { return jq.Compile(p.Query) })
	o.programs[text] = p
	return p
}

// Calls returns the functions and variables that the program uses.
func (p *Program) Calls() map[string]bool {
	out := map[string]bool{}
	jq.Walk(p.Query, func(node any) bool {
		if f, ok := node.(*gojq.Func); ok {
			out[f.Name] = true
		}
		return true
	})
	return out
}

// ObjectsIn visits the object literals of a query from the outside in; visit
// returns whether to descend into one.
func ObjectsIn(query *gojq.Query, visit func(*gojq.Object) bool) {
	jq.Walk(query, func(node any) bool {
		object, ok := node.(*gojq.Object)
		return !ok || visit(object)
	})
}
