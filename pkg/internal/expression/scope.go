package expression

import (
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// Scope is what an expression may use.
type Scope struct {
	Input schema.Type // of "."; nil is unknown
	Name  string      // how messages name the input: "Memcached v1alpha1", "the live Deployment"

	Children   map[string]schema.Type // of $children.NAME; nil: $children may not be used here
	NoChildren string                 // why not, as a hint
	Related    map[string]schema.Type // of $related.NAME; nil: there is nothing related, or it may not be used here

	// Given is jq of a condition that is true whenever the expression is evaluated,
	// like the `when` of the child that a template makes: what it shows to be there
	// is not missing. "" is none.
	Given string

	Each bool        // $item and $index exist
	Item schema.Type // of $item; nil is unknown
}

// Vars are the values of the variables that a Scope allows.
type Vars struct {
	Children    map[string]any
	Item, Index any
	Related     map[string]any
}

// Expression compiles a bare jq expression; one `${ }` around all of it is
// accepted. want is what it has to yield: "boolean", "array" or "" for anything.
func Expression(source string, scope Scope, want string) (*Program, []Problem) {
	c := &templates{scope: scope, given: given(scope), condition: want == "boolean"}
	e := c.expr(nil, bare(source))
	if e == nil {
		return nil, c.problems
	}
	switch want {
	case "boolean":
		c.wantBoolean(e)
	case "array":
		c.wantArray(e)
	}
	return c.program(node{source: e.one()})
}

// bare cuts an expression out of the one ${ } around it, if there is one.
func bare(source string) part {
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
