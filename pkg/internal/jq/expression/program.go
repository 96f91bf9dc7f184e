package expression

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Program is a compiled expression or template: jq that yields exactly one value for an
// input.
type Program struct {
	source string
	code   *jq.Program
	reads  reads
	// carried are those of values that may become a part of the result, as more than a fingerprint or a boolean.
	carried  reads
	chosen   reads // those and the ones of which the result has the keys
	shown    reads // of values whose change the result shows
	needs    []Need
	waits    func() []*Program // for the needs
	typ      schema.Type
	needsPod bool // see NeedsPod
	parts    []located
	// computed are the values of a template that expressions compute.
	computed []Part
	apart    func() []compiledPart // the parts
}

// located is an expression of a template, with its place in it.
type located struct {
	source string
	path   []string
	at     int // offset in the value
}

// Type returns the type of the results; unknown parts are of any type.
func (p *Program) Type() schema.Type {
	if p.typ == nil {
		return schema.Any()
	}
	return p.typ
}

// variables returns the variables in the order of Run's arguments.
func variables() []string { return []string{"$children", "$item", "$index", "$related"} }

// Source returns the program as a jq term. It reads "." and, if they are used, the
// variables $children, $item, $index and $related.
func (p *Program) Source() string { return p.source }

// Reads lists the paths below "." that the program reads, possibly with more. A path
// stands for everything below it; the empty path is the whole input.
func (p *Program) Reads() [][]string { return p.reads.paths(inputRoot) }

// Same reports whether two programs are the same text, or both missing.
func Same(a, b *Program) bool {
	return a == b || a != nil && b != nil && a.Source() == b.Source()
}

// ReadsChildren returns the paths that the program reads, by child.
func (p *Program) ReadsChildren() map[string][][]string { return p.reads.children() }

// UsesItem reports whether the program reads $item or $index.
func (p *Program) UsesItem() bool { return p.reads.ofItem() }

// ReadsItem returns the paths below $item that the program reads. All of $item is one of
// them only if it is the only one: reading a field of it reads the variable, too.
func (p *Program) ReadsItem() [][]string {
	below := slices.DeleteFunc(slices.Clone(p.reads), func(one read) bool { return one.root == itemRoot && len(one.path) == 0 })
	if below.has(itemRoot) {
		return below.paths(itemRoot)
	}
	return p.reads.paths(itemRoot)
}

// ReadsIndex reports whether the program reads $index.
func (p *Program) ReadsIndex() bool { return p.reads.has(indexRoot) }

// UsesOthers reports whether the program reads children or related objects.
func (p *Program) UsesOthers() bool { return p.reads.others() }

// UsesRelated reports whether the program reads $related.
func (p *Program) UsesRelated() bool { return p.reads.has(relatedRoot) }

// ReadsRelated reports whether the program reads $related.NAME.
func (p *Program) ReadsRelated(name string) bool {
	return slices.ContainsFunc(p.reads, func(one read) bool {
		return one.root == relatedRoot && (len(one.path) == 0 || one.path[0] == name)
	})
}

// RelatedPaths returns the paths that the program reads of related objects, by name.
func (p *Program) RelatedPaths() map[string][][]string { return p.reads.named(relatedRoot) }

// HasReads reports whether a value has everything that the program reads below a root:
// ".", $children or $related. It returns true for a list without elements.
func (p *Program) HasReads(root string, value map[string]any) bool {
	return !slices.ContainsFunc(p.reads, func(one read) bool {
		variable := one.root != inputRoot && len(one.path) == 0 // the program reads the variable for its fields
		return string(one.root) == root && !variable && !found(value, one.path)
	})
}

// Const returns the value of a program that has no input; false for other programs.
func (p *Program) Const() (any, bool) {
	if len(p.reads) > 0 {
		return nil, false
	}
	v, err := p.Run(nil, Vars{})
	return v, err == nil
}

// Run evaluates the program like a Sensor, but with limits. Every number of the input
// must be a float64. It does not change the input, and the caller must not change the
// result.
func (p *Program) Run(input any, vars Vars) (any, error) {
	values, err := vars.values(input)
	if err != nil {
		return nil, err
	}
	return p.code.Run(context.Background(), values[0], values[1:]...)
}

// values returns the input and the values of the variables as encoding/json would decode
// them.
func (v Vars) values(input any) ([]any, error) {
	values := make([]any, 5)
	for i, v := range [...]any{input, v.Children, v.Item, v.Index, v.Related} {
		var err error
		if values[i], err = plain(v); err != nil {
			return nil, fmt.Errorf("reading the input of an expression: %w", err)
		}
	}
	return values, nil
}

// plain returns a value as encoding/json would decode it.
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

// compile compiles jq that this package generated.
func compile(source string, r reads) (*Program, error) {
	query, needsPod, err := parseOwn(source)
	if err != nil {
		return nil, err
	}
	code, err := jq.Compile(query, variables()...)
	if err != nil {
		return nil, err
	}
	return &Program{source: source, code: code, reads: r, needsPod: needsPod}, nil
}

// parseOwn parses jq that this package generated, and reports whether only a pod can run it.
func parseOwn(source string) (query *gojq.Query, needsPod bool, err error) {
	if query, err = gojq.Parse(source); err != nil {
		return nil, false, err
	}
	return query, jq.WithHash(query, variables()...), nil
}

// NeedsPod reports whether the program calls a function that a pod has and jq has not.
func (p *Program) NeedsPod() bool { return p.needsPod }
