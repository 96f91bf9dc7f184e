package check

import (
	"regexp"
	"sync"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/jq"
)

// program is the jq of a transform, read once for all checks.
type program struct {
	query    *gojq.Query
	err      error // it does not parse
	compiled func() (*jq.Program, error)
	requests map[string]computed // by the key under which they are
}

// computed are requests, or why they cannot be told.
type computed struct {
	list    []request
	problem string
}

// portion is how a program tells by the uid which objects are its own: the
// first four digits leave a remainder.
var portion = regexp.MustCompile(`% [1-9][0-9]* != [0-9]+`)

// program reads a text. Those that differ only in which objects are their own
// are one, which takes all.
func (o objects) program(text string) *program {
	if known, ok := o.programs[text]; ok {
		return known
	}
	if of := portion.ReplaceAllString(text, "% 1 != 0"); of != text {
		o.programs[text] = o.program(of)
		return o.programs[text]
	}
	p := &program{requests: map[string]computed{}}
	p.query, p.err = gojq.Parse(text)
	p.compiled = sync.OnceValues(func() (*jq.Program, error) { return jq.Compile(p.query) })
	o.programs[text] = p
	return p
}

// calls are the functions and variables that are used anywhere in the program.
func (p *program) calls() map[string]bool {
	out := map[string]bool{}
	jq.Walk(p.query, func(node any) bool {
		if f, ok := node.(*gojq.Func); ok {
			out[f.Name] = true
		}
		return true
	})
	return out
}

// objectsIn visits the object literals of a query, from the outside in; visit
// says whether to look inside of one.
func objectsIn(query *gojq.Query, visit func(*gojq.Object) bool) {
	jq.Walk(query, func(node any) bool {
		object, ok := node.(*gojq.Object)
		return !ok || visit(object)
	})
}
