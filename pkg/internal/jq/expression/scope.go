package expression

import (
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Scope describes what an expression can use.
type Scope struct {
	Input schema.Type // of "."; nil if unknown
	Name  string      // of the input in messages: "Memcached v1alpha1", "the live Deployment"
	Live  bool        // the input is a live child, as in readyWhen
	// Zero reports whether a field of a live child can be 0, judging by its template; nil: never.
	Zero func(path []string) bool

	Children   map[string]schema.Type // of $children.NAME; nil: $children is not available
	NoChildren string                 // the hint why $children is not available
	Related    map[string]schema.Type // of $related.NAME; nil: nothing is related, or $related is not available
	Always     []string               // of $related.NAME: those that are never null
	// OpenChildren and OpenRelated tell that there may be others: they are not known.
	OpenChildren, OpenRelated bool
	// Draft tells that the schema of Input has errors: the defaults of its fields stand for
	// what is not known of them.
	Draft bool

	// Given is a condition in jq that is true whenever the expression is evaluated,
	// like the `when` of a child for its template: paths that it tests are not missing.
	// "" is none.
	Given string

	// Waits tells that nothing is done with the result while a field of another object
	// that the expression needs has no value. The program's Needs are these fields.
	Waits bool

	// Optional are the children of which there may be none although the expression is
	// evaluated, because of their `when`. Nothing waits for their values.
	Optional []string

	// Omits tells that a value that fails is left out, as in the status.
	Omits bool

	// List is the path of a list that is compiled, in messages about its items.
	List string

	Variables  map[string]*Variable // of $variables.NAME; nil: $variables is not available
	Parameters map[string]*Variable // of $parameters.NAME; nil: $parameters is not available

	Each bool        // $item and $index are available
	Item schema.Type // of $item; nil if unknown
}

// lists reports whether a child has forEach, so that $children.NAME is a list.
func (s Scope) lists(child string) bool {
	t := s.Children[child]
	return t != nil && t.Kind() == schema.Array
}

// Vars are the values of the variables of a Scope.
type Vars struct {
	Children    map[string]any
	Item, Index any
	Related     map[string]any
}

// Expression compiles a bare jq expression, or one in `${ }`. want is the kind of its
// result: "boolean", "array", "number" (or null) or "" for any.
func Expression(source string, scope Scope, want string) (*Program, []Problem) {
	c := &templates{scope: scope, condition: want == "boolean", loop: want == "array"}
	c.assume()
	e := c.expr(nil, bare(source), func(c *templates, e *expr) {
		switch want {
		case "boolean":
			c.wantBoolean(e)
		case "array":
			c.wantArray(e)
		case "number":
			c.wantKind(nil, e.kinds, schema.Of(schema.Number), "compute a number, such as .spec.hours * 3600")
		}
	})
	if e == nil {
		return nil, c.problems
	}
	p, problems := c.program(node{source: e.one(), typ: e.toType()})
	if p != nil {
		p.computed = []Part{{Whole: true, from: e.from, of: e.of, reads: e.reads, carried: e.carried, chosen: e.chosen}}
	}
	return p, problems
}

// bare removes a ${ } around an expression.
func bare(source string) part {
	p := unbraced(source)
	p.tight = false
	return p
}

func unbraced(source string) part {
	if parts, err := split(source); err == nil && len(parts) == 1 && parts[0].expr {
		return parts[0]
	}
	if trim := trimmed(source, 0); len(trim.text) > 0 && trim.text[0] == '$' {
		if parts, err := split(trim.text); err == nil && len(parts) == 1 && parts[0].expr {
			parts[0].at += trim.at
			return parts[0]
		}
	}
	return trimmed(source, 0)
}
