package expression

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// Program is a compiled expression or template: jq that yields exactly one
// value for one input.
type Program struct {
	source string
	code   *jq.Program
	reads  reads
	needs  []Need
}

// Need is an expression of a template that may come out null and reads other
// children: the template loses the field then.
type Need struct {
	Text   string // as written
	Source string // as jq that can stand wherever jq takes a term
	Fields []ChildField
}

// ChildField is a field of a child that an expression reads.
type ChildField struct {
	Child string
	Keys  []string // below the child
	Text  string   // as an expression names it
}

// Needs lists the expressions that may come out null because a field of another
// child is missing. One that ends in `// null` says that the field is optional.
func (p *Program) Needs() []Need { return p.needs }

// variables are in the order in which Run hands them over.
func variables() []string { return []string{"$children", "$item", "$index", "$related"} }

// Source is the program as jq that can stand wherever jq takes a term. It reads
// "." and, if they are used, the variables $children, $item, $index and $related.
func (p *Program) Source() string { return p.source }

// Reads lists the paths below "." that the program reads, and maybe some more.
// A path means everything below it; the empty path is all of the input.
func (p *Program) Reads() [][]string { return p.reads.paths(inputRoot) }

// ReadsChildren is Reads for $children.NAME.
func (p *Program) ReadsChildren() map[string][][]string { return p.reads.children() }

// UsesItem says that the program reads $item or $index.
func (p *Program) UsesItem() bool { return p.reads.has(itemRoot) }

// UsesRelated says that the program reads $related.
func (p *Program) UsesRelated() bool { return p.reads.has(relatedRoot) }

// ReadsRelated says that the program reads $related.NAME.
func (p *Program) ReadsRelated(name string) bool {
	return slices.ContainsFunc(p.reads, func(one read) bool {
		return one.root == relatedRoot && (len(one.path) == 0 || one.path[0] == name)
	})
}

// Knows tells whether a value has everything that the program reads of a root:
// ".", $children or $related. Of a list without items all is known.
func (p *Program) Knows(root string, value map[string]any) bool {
	return !slices.ContainsFunc(p.reads, func(one read) bool {
		variable := one.root != inputRoot && len(one.path) == 0 // it is read for what follows
		return string(one.root) == root && !variable && !found(value, one.path)
	})
}

// Const is the value of a program that depends on nothing; false for any other.
func (p *Program) Const() (any, bool) {
	if len(p.reads) > 0 {
		return nil, false
	}
	v, err := p.Run(nil, Vars{})
	return v, err == nil
}

// Run evaluates the program as a Sensor would, but within bounds: every number
// of the input is a float64. It does not change its input, and nobody may change
// what it yields.
func (p *Program) Run(input any, vars Vars) (any, error) {
	values := make([]any, 5)
	for i, v := range [...]any{input, vars.Children, vars.Item, vars.Index, vars.Related} {
		var err error
		if values[i], err = plain(v); err != nil {
			return nil, fmt.Errorf("reading the input of an expression: %w", err)
		}
	}
	return p.code.Run(context.Background(), values[0], values[1:]...)
}

// plain is a value as encoding/json would read it back.
func plain(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, float64:
		return v, nil
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var back any
	err = json.Unmarshal(data, &back)
	return back, err
}

// compile makes a program of jq that is ours.
func compile(source string, r reads) (*Program, error) {
	query, err := gojq.Parse(source)
	if err != nil {
		return nil, err
	}
	code, err := jq.Compile(query, variables()...)
	if err != nil {
		return nil, err
	}
	return &Program{source: source, code: code, reads: r}, nil
}
