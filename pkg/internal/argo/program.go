package argo

import (
	"regexp"
	"sync"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// Program is the jq of a transform, read once for all checks.
type Program struct {
	Query    *gojq.Query
	Err      error // it does not parse
	Compiled func() (*jq.Program, error)
	requests map[string]computed // by the key under which they are
}

// computed are requests, or why they cannot be told.
type computed struct {
	list    []Request
	problem string
}

// portion is how a program tells by the uid which objects are its own: the
// first four digits leave a remainder.
var portion = regexp.MustCompile(`% [1-9][0-9]* != [0-9]+`)

// Program reads a text. Those that differ only in which objects are their own
// are one, which takes all.
func (o Objects) Program(text string) *Program {
	if known, ok := o.programs[text]; ok {
		return known
	}
	if of := portion.ReplaceAllString(text, "% 1 != 0"); of != text {
		o.programs[text] = o.Program(of)
		return o.programs[text]
	}
	p := &Program{requests: map[string]computed{}}
	p.Query, p.Err = gojq.Parse(text)
	p.Compiled = sync.OnceValues(func() (*jq.Program, error) { return jq.Compile(p.Query) })
	o.programs[text] = p
	return p
}

// Calls are the functions and variables that are used anywhere in the program.
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

// ObjectsIn visits the object literals of a query, from the outside in; visit
// says whether to look inside of one.
func ObjectsIn(query *gojq.Query, visit func(*gojq.Object) bool) {
	jq.Walk(query, func(node any) bool {
		object, ok := node.(*gojq.Object)
		return !ok || visit(object)
	})
}
